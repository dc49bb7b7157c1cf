"""Compare two texts sentence by sentence: which were copied, which changed, which only one of them has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from propcite.attribution.citations import Evidence, Label
from propcite.attribution.citing.comparing import Relation
from propcite.attribution.citing.sources import as_passages
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import plain_case
from propcite.attribution.versions.pairing import (
    Pairs,
    anywhere,
    copies,
    cut_elsewhere,
    gaps,
    in_order,
    vector_likeness,
    word_likeness,
)
from propcite.attribution.versions.records import SentencePair, TextComparison
from propcite.attribution.versions.words import plain_words
from propcite.retrieval.index import ProgressReport, ignore_progress
from propcite.retrieval.interrupting import in_turn
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Span

if TYPE_CHECKING:
    from propcite.attribution.citations import Verdict
    from propcite.attribution.citing.tools import Source, Tools
    from propcite.attribution.judges import Case, Judge
    from propcite.retrieval.encoding.base import Floats, TokenVectors
    from propcite.retrieval.text import Passage

MAX_SENTENCES = 2_000  # of each text
IN_PLACE_FROM = 0.6  # likeness of two sentences between the same neighbours that are versions of one
ELSEWHERE_FROM = 0.7  # and of those that stand anywhere
JUDGED_FROM = 0.55  # likeness from which a judge is asked whether two sentences say the same
AT_ONCE = 16  # cases that a judge gets together
TOO_LONG = (
    "the {side} text has {number:,} sentences, and texts are compared whole up to {most:,}: "
    "ask a question, or compare parts of it"
)


@dataclass(frozen=True, slots=True)
class _Side:
    """The sentences of a text, in its order, and the vectors of its passages by id."""

    sentences: list[Evidence]
    passages: Mapping[str, TokenVectors]

    @property
    def texts(self) -> list[str]:
        return [one.quote for one in self.sentences]

    def vectors(self, numbers: Iterable[int]) -> list[TokenVectors]:
        """Return the vectors of each of these sentences."""
        chosen = [self.sentences[number] for number in numbers]
        tokens = [self.passages[one.passage.id] for one in chosen]
        return [own.only(own.within([one.span])) for own, one in zip(tokens, chosen, strict=True)]

    def joined(self, runs: Sequence[range]) -> _Side:
        """Return the same text with each of these runs of sentences as one."""
        inside = {number for run in runs for number in run[1:]}
        ends = {run.start: self.sentences[run[-1]].span.end for run in runs}
        joined = [
            replace(one, span=Span(one.span.start, ends.get(number, one.span.end)))
            for number, one in enumerate(self.sentences)
            if number not in inside
        ]
        return _Side(joined, self.passages)

    def is_one_passage(self, run: range) -> bool:
        return self.sentences[run[0]].passage.id == self.sentences[run[-1]].passage.id


def compare_texts(
    tools: Tools, left: Source, right: Source, report: ProgressReport = ignore_progress
) -> TextComparison:
    """Pair the sentences of two texts; AttributionError for a text of too many sentences.  A text may be empty."""
    report("Reading both sides", 0.0)
    one, other = _cut_alike(_side(tools, left, "left"), _side(tools, right, "right"))
    report("Finding what belongs together", 0.0)
    in_place, moved = copies(one.texts, other.texts)
    versions, elsewhere, likeness = _versions(one, other, in_place, moved)
    asked = {**versions, **elsewhere, **_candidates(likeness, {**in_place, **moved, **versions, **elsewhere})}
    relations = _judged(tools.judge, one, other, asked, report)
    certain = versions.keys() | elsewhere.keys()
    kept = {i: j for i, j in asked.items() if i in certain or relations[i] is Relation.AGREES}
    relations |= {i: Relation.DIFFERS for i in certain if relations[i] is Relation.ALONE}
    pairs = {**in_place, **moved, **kept}
    strays = {i for i, j in pairs.items() if i not in in_place and i not in versions}
    rows = [
        SentencePair(
            sentence,
            other.sentences[pairs[i]] if i in pairs else None,
            relations.get(i, Relation.AGREES) if i in pairs else Relation.ALONE,
            moved=i in strays,
        )
        for i, sentence in enumerate(one.sentences)
    ]
    return TextComparison(tuple(_with_right_alone(rows, pairs, other.sentences)))


def _side(tools: Tools, source: Source, name: str) -> _Side:
    given = [] if isinstance(source, Retriever) else list(as_passages(source))
    retriever = tools.retriever(given or source)
    if retriever is None:
        return _Side([], {})
    passages = retriever.passages()
    places = {passage.id: number for number, passage in enumerate(given)}
    passages.sort(key=lambda one: (places.get(one.id, 0), one.document_id, one.start))
    sentences = [sentence for passage in passages for sentence in _sentences(passage)]
    if len(sentences) > MAX_SENTENCES:
        raise AttributionError(TOO_LONG.format(side=name, number=len(sentences), most=MAX_SENTENCES))
    with in_turn(sum(len(one.quote) for one in sentences)):
        vectors = retriever.vectors_of([passage.id for passage in passages])
    return _Side(sentences, vectors)


def _cut_alike(one: _Side, other: _Side) -> tuple[_Side, _Side]:
    """Join sentences of the same words that are cut at other places: lines that are wrapped otherwise may do that."""
    found = [
        runs
        for runs in cut_elsewhere(one.texts, other.texts)
        if one.is_one_passage(runs[0]) and other.is_one_passage(runs[1])
    ]
    return one.joined([run for run, _ in found]), other.joined([run for _, run in found])


def _sentences(passage: Passage) -> list[Evidence]:
    spans = [sentence.span.trimmed(passage.text) for sentence in passage.sentences]
    return [Evidence(passage, span, 0.0, 0.0) for span in spans if any(map(str.isalnum, span.of(passage.text)))]


def _versions(one: _Side, other: _Side, in_place: Pairs, moved: Pairs) -> tuple[Pairs, Pairs, Floats]:
    """Pair sentences that are no copies but alike: between the same neighbours, and elsewhere; with how alike all are.

    The likeness has a row and a column for every sentence; those that are copied are like none.
    """
    taken = {**in_place, **moved}
    left = [i for i in range(len(one.sentences)) if i not in taken]
    right = sorted(set(range(len(other.sentences))) - set(taken.values()))
    likeness = np.zeros((len(one.sentences), len(other.sentences)), np.float32)
    if not (left and right):
        return {}, {}, likeness
    texts = [one.sentences[i].quote for i in left], [other.sentences[j].quote for j in right]
    vectors = one.vectors(left), other.vectors(right)
    with in_turn(sum(map(len, texts[0])) + sum(map(len, texts[1]))):
        likeness[np.ix_(left, right)] = (word_likeness(*texts) + vector_likeness(*vectors)) / 2.0
    versions: Pairs = {}
    for gap in gaps(in_place, *likeness.shape, moved):
        found = in_order(likeness[np.ix_(gap.left, gap.right)], IN_PLACE_FROM)
        versions |= {gap.left[i]: gap.right[j] for i, j in found.items()}
    return versions, anywhere(_without(likeness, versions), ELSEWHERE_FROM), likeness


def _candidates(likeness: Floats, taken: Pairs) -> Pairs:
    return anywhere(_without(likeness, taken), JUDGED_FROM)


def _without(likeness: Floats, taken: Pairs) -> Floats:
    """Return the likeness of those that are free."""
    free = likeness.copy()
    free[list(taken)] = 0.0
    free[:, list(taken.values())] = 0.0
    return free


def _judged(judge: Judge | None, one: _Side, other: _Side, pairs: Pairs, report: ProgressReport) -> dict[int, Relation]:
    """Return what the sentences of each pair have in common: the judge reads each of the two beside the other."""
    if judge is None:
        return dict.fromkeys(pairs, Relation.ALONE)
    cases: list[Case] = []
    for i, j in pairs.items():
        left, right = one.sentences[i], other.sentences[j]
        cases += [_case(left, right), _case(right, left)]
    verdicts: list[Verdict] = []
    for first in range(0, len(cases), AT_ONCE):
        report("Judging what differs", first / len(cases))
        batch = cases[first : first + AT_ONCE]
        with in_turn(sum(len(case.claim) + len(case.text) for case in batch)):
            verdicts += judge.judge(batch)
    both = zip(verdicts[::2], verdicts[1::2], strict=True)
    return {i: _relation({forth.label, back.label}) for i, (forth, back) in zip(pairs, both, strict=True)}


def _case(claim: Evidence, evidence: Evidence) -> Case:
    return plain_case(plain_words(claim.quote), [plain_words(evidence.quote)], evidence.passage.title)


def _relation(labels: set[Label]) -> Relation:
    """Return what two sentences have in common, by what each supports of the other."""
    if Label.CONTRADICTED in labels:
        return Relation.DIFFERS
    if labels == {Label.SUPPORTED}:
        return Relation.AGREES
    return Relation.PARTLY if labels & {Label.SUPPORTED, Label.PARTLY} else Relation.ALONE


def _with_right_alone(rows: Sequence[SentencePair], pairs: Pairs, right: Sequence[Evidence]) -> Iterator[SentencePair]:
    """Yield the rows, with what only the right text says before the pair that it precedes there."""
    row_of = {j: i for i, j in pairs.items()}
    before: dict[int, list[SentencePair]] = {}
    following = len(rows)
    for j in reversed(range(len(right))):
        if j not in row_of:
            before.setdefault(following, []).append(SentencePair(None, right[j], Relation.ALONE))
        elif not rows[row_of[j]].moved:
            following = row_of[j]
    for i in range(len(rows) + 1):
        yield from reversed(before.get(i, ()))
        yield from rows[i : i + 1]
