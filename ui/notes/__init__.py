"""Notes of a collection: pin, write, cite, export."""
