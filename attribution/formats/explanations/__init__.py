"""Explanations of a fact's evidence, as text and as HTML."""
