"""What a comparison of two texts returns: pairs of sentences, in the order of the texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from propcite.attribution.citations import Evidence
from propcite.attribution.citing.comparing import Relation
from propcite.attribution.versions.words import changed_words, same_words
from propcite.retrieval.text import Span


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A sentence of the left text, of the right one, or one of each that say the same or took each other's place.

    `moved` is true where the two stand in another order than their neighbours.

    >>> from propcite import PropCite
    >>> compared = PropCite.default().compare_texts(["It rained on 3 May."], ["It rained on 4 May."])
    >>> [(pair.relation.value, pair.left.quote, pair.is_copy) for pair in compared.pairs]
    [('differs', 'It rained on 3 May.', False)]
    """

    left: Evidence | None
    right: Evidence | None
    relation: Relation
    moved: bool = False

    @property
    def is_copy(self) -> bool:
        """Return whether both sides say it in the same words; spaces, quotation marks and numbering do not count."""
        return bool(self.left and self.right and same_words(self.left.quote, self.right.quote))

    @property
    def changed(self) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
        """Return the spans of each sentence whose words the other lacks; nothing where there is no other."""
        if not (self.left and self.right):
            return (), ()
        return changed_words(self.left.quote, self.right.quote)


@dataclass(frozen=True, slots=True)
class TextComparison:
    """Two texts sentence by sentence, in the order of the left one; what only the right one says is in its place.

    >>> from propcite import PropCite
    >>> left, right = ["The fee is 30 euros. It rained."], ["The fee is 60 euros. It rained. The bank is in Oslo."]
    >>> compared = PropCite.default().compare_texts(left, right)
    >>> [(pair.relation.value, pair.is_copy) for pair in compared.pairs]
    [('differs', False), ('agrees', True), ('alone', False)]
    """

    pairs: tuple[SentencePair, ...]

    def count(self, relation: Relation) -> int:
        """Count the pairs of a relation that are no copies."""
        return sum(pair.relation is relation and not pair.is_copy for pair in self.pairs)

    @property
    def num_copies(self) -> int:
        return sum(pair.is_copy for pair in self.pairs)

    @property
    def only_left(self) -> int:
        return sum(pair.right is None for pair in self.pairs)

    @property
    def only_right(self) -> int:
        return sum(pair.left is None for pair in self.pairs)

    def runs(self) -> Iterator[tuple[bool, list[SentencePair]]]:
        """Yield the pairs in runs of copies (True), which a reader may fold away, and of others."""
        for is_copy, run in groupby(self.pairs, key=lambda pair: pair.is_copy):
            yield is_copy, list(run)
