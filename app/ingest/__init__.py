"""Add files to a collection: read ahead in processes of their own, encoded together, stored whole or not at all."""
