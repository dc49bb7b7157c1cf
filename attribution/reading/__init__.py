"""Networks that read two texts together: what the reader of claims and the reader of questions share."""
