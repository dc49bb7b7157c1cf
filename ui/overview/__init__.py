"""Questions to ask next, and a document in short."""
