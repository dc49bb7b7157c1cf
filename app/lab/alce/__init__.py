"""ALCE's benchmark: its files, its measures, and ways of citing compared on them."""
