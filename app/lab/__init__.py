"""The laboratory: evaluate the parts, train networks, and adapt a collection's alignment."""
