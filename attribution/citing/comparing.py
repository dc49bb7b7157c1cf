"""Compare two answers to one question, each over sources of its own: what both say, where they differ, what one says.

Each answer is also cited over the other's sources, so a judge that reads says whether these support or deny its facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from propcite.attribution.citations import CitedAnswer, CitedProposition, Evidence, Label, Verdict


class Relation(StrEnum):
    """What two sources have to do with each other in one fact.

    >>> Relation("differs")
    <Relation.DIFFERS: 'differs'>
    """

    AGREES = "agrees"
    PARTLY = "partly"
    DIFFERS = "differs"
    ALONE = "alone"


RELATIONS = {
    Label.SUPPORTED: Relation.AGREES,
    Label.PARTLY: Relation.PARTLY,
    Label.CONTRADICTED: Relation.DIFFERS,
    Label.UNSUPPORTED: Relation.ALONE,
    Label.UNCHECKED: Relation.ALONE,
}
CLEAREST = (Relation.DIFFERS, Relation.AGREES, Relation.PARTLY)  # the first that either side says is a pair's


@dataclass(frozen=True, slots=True)
class ComparedFact:
    """A fact with the support of its own answer, and what the other side's sources say of it.

    `evidence` are their words; it is empty for a fact of which they do not speak.

    >>> from propcite import PropCite
    >>> sources = ["The fee is due within 30 days."], ["The fee is due within 60 days."]
    >>> compared = PropCite.default().compare("When?", *[(text[0], text) for text in sources])
    >>> left = compared.rows[0].left
    >>> left.relation.value, [evidence.quote for evidence in left.evidence]
    ('differs', ['The fee is due within 60 days.'])
    """

    fact: CitedProposition
    verdict: Verdict | None
    evidence: tuple[Evidence, ...] = ()

    @property
    def relation(self) -> Relation:
        return RELATIONS[self.verdict.label] if self.verdict else Relation.ALONE


@dataclass(frozen=True, slots=True)
class ComparedFacts:
    """A fact of the left answer, of the right one, or one of each that speak of the same.

    >>> from propcite import PropCite
    >>> sources = ["The fee is due within 30 days."], ["The fee is due within 60 days."]
    >>> compared = PropCite.default().compare("When?", *[(text[0], text) for text in sources])
    >>> [(row.relation.value, row.right.fact.proposition.text) for row in compared.rows]
    [('differs', 'The fee is due within 60 days.')]
    """

    left: ComparedFact | None
    right: ComparedFact | None

    @property
    def relation(self) -> Relation:
        found = {side.relation for side in (self.left, self.right) if side}
        return next((relation for relation in CLEAREST if relation in found), Relation.ALONE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two answers to a question, and their facts side by side, in the order of the left one, then of the right one.

    >>> from propcite import PropCite
    >>> sources = ["The fee is due within 30 days."], ["The fee is due within 60 days. The bank is in Oslo."]
    >>> compared = PropCite.default().compare("When is the fee due?", *[(text[0], text) for text in sources])
    >>> [row.relation.value for row in compared.rows]
    ['differs', 'alone']
    """

    question: str
    left: CitedAnswer
    right: CitedAnswer
    rows: tuple[ComparedFacts, ...]

    def count(self, relation: Relation) -> int:
        return sum(row.relation is relation for row in self.rows)


def compared(
    question: str, left: CitedAnswer, right: CitedAnswer, left_elsewhere: CitedAnswer, right_elsewhere: CitedAnswer
) -> Comparison:
    """Match the facts of two answers; `…_elsewhere` is each text cited over the other's sources.

    Two facts belong together where one side's evidence for the other's fact is what that side itself cites.
    """
    lefts, rights = _facts(left, left_elsewhere), _facts(right, right_elsewhere)
    partners = _partners(lefts, rights)
    rows = [ComparedFacts(fact, rights[partners[i]] if i in partners else None) for i, fact in enumerate(lefts)]
    matched = set(partners.values())
    rows += [ComparedFacts(None, fact) for j, fact in enumerate(rights) if j not in matched]
    return Comparison(question, left, right, tuple(rows))


def _partners(lefts: Sequence[ComparedFact], rights: Sequence[ComparedFact]) -> dict[int, int]:
    """Return the places of facts that belong together, each once: those with the most words in common first."""
    places = product(range(len(lefts)), range(len(rights)))
    together = [(i, j) for i, j in places if _belong_together(lefts[i], rights[j])]
    words = [[set(fact.fact.proposition.text.casefold().split()) for fact in side] for side in (lefts, rights)]

    def likeness(pair: tuple[int, int]) -> tuple[float, bool]:
        one, other = words[0][pair[0]], words[1][pair[1]]
        return len(one & other) / max(1, len(one | other)), lefts[pair[0]].relation is rights[pair[1]].relation

    partners: dict[int, int] = {}
    taken: set[int] = set()
    for i, j in sorted(together, key=likeness, reverse=True):
        if i not in partners and j not in taken:
            partners[i] = j
            taken.add(j)
    return partners


def _facts(answer: CitedAnswer, elsewhere: CitedAnswer) -> list[ComparedFact]:
    """Return the facts of an answer, each once; an answer that abstains has none."""
    if answer.abstained:
        return []
    seen = {fact.id: fact for fact in elsewhere.facts}
    once = {" ".join(fact.proposition.text.split()).casefold(): fact for fact in reversed(answer.facts)}.values()
    return [_compared(fact, seen[fact.id]) for fact in answer.facts if fact in once and fact.id in seen]


def _compared(fact: CitedProposition, elsewhere: CitedProposition) -> ComparedFact:
    cited = tuple(citation.evidence for citation in elsewhere.citations)
    nearest = (elsewhere.nearest,) if elsewhere.nearest else ()
    speaks = elsewhere.verdict is not None and elsewhere.verdict.label not in (Label.UNSUPPORTED, Label.UNCHECKED)
    return ComparedFact(fact, elsewhere.verdict, (cited or nearest) if speaks else ())


def _belong_together(one: ComparedFact, other: ComparedFact) -> bool:
    return _overlap(one.evidence, other.fact) or _overlap(other.evidence, one.fact)


def _overlap(words: Sequence[Evidence], fact: CitedProposition) -> bool:
    return any(
        own.passage.id == citation.passage.id and own.span.overlaps(citation.span)
        for own in words
        for citation in fact.citations
    )
