"""Few-shot adaptation: of all alignments a collection takes the one that ranks best for a few examples."""
