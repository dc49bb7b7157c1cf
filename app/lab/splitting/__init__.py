"""Evaluation of splitters on sentences with propositions that people wrote."""
