"""Train the cross-encoder judge: rows that tell what supports what become pairs, pairs become weights."""
