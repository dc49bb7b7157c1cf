"""Add documents to a collection: parsed ahead in other processes, encoded in groups, stored whole or not at all."""
