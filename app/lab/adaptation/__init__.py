"""Few-shot adaptation: choose the alignment of a collection that ranks best for a few examples."""
