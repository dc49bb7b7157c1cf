"""Two selections of documents side by side: asked the same question, or compared whole."""
