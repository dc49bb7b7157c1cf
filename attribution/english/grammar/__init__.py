"""English by rule, without a model: words, tags, phrases, lists, clauses; `facts(tag(...))` is what others use."""

from propcite.attribution.english.grammar.clauses import facts
from propcite.attribution.english.grammar.phrases import Fact, Piece
from propcite.attribution.english.grammar.tagging import Tagged, tag

__all__ = ["Fact", "Piece", "Tagged", "facts", "tag"]
