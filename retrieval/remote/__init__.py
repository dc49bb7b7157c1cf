"""Indexes and files in an object store, which several machines share; the disk of each is a cache.

| module | what it does |
|---|---|
| `objects` | reads and writes objects under one address, by fsspec: S3, Google, Azure, a folder |
| `versions` | what the object of one version says |
| `published_index` | publishes each version of an index, and fetches the latest |
"""
