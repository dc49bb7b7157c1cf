"""Notes of a collection: what somebody pinned and wrote beside it, cited, exported with its references."""
