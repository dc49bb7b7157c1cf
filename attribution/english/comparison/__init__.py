"""Comparison of a claim with its evidence by plain words."""
