"""Rewrites of one parsed sentence: each maker yields claims with their label, or nothing where it would be wrong."""
