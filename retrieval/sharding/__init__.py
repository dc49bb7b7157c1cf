"""An index in several shards: folders that each hold the passages of some documents.

A shard's folder is an index by itself.  Which documents it holds follows from the hashes of their ids and the number of
shards.  The folder of an index without shards is its only shard.
"""
