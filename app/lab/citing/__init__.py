"""Citations and judges, measured on rows that say what supports what."""
