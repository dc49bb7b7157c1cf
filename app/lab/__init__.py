"""Measuring the parts on data that a user brings; a module a part."""
