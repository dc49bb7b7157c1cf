"""Train the cross-encoder judge: labelled rows become pairs of claim and evidence, pairs become weights."""
