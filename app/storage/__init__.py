"""Indexes and kept files in an object store that several machines share: what is there, and moving it."""
