"""English by rule, without a model: words, tags, phrases, lists, clauses; `facts(tag(...))` is what others use."""

from attribution.propositions.grammar.clauses import facts
from attribution.propositions.grammar.phrases import Fact, Piece
from attribution.propositions.grammar.tagging import Tagged, tag

__all__ = ["Fact", "Piece", "Tagged", "facts", "tag"]
