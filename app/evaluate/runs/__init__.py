"""Kept runs: their items, what figures are made of them, and how they are compared and shown."""
