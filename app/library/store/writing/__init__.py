"""What people write: notes of a collection, drafts under review."""
