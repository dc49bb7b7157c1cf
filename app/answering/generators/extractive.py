"""Answer without a language model: the sentences that together cover the question, or an abstention."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from propcite.app.answering.generators import Draft, GenerationContext, Writing
from propcite.app.library.store import Turn
from propcite.attribution import english
from propcite.attribution.english import Exchange, sentences_with_numbers, standalone_question
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.granularity import combine_scores
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Hit, Span

MAX_CANDIDATES = 16
MAX_SENTENCES = 4
# A best sentence below this score is no answer.  With the base's passages .5 was right: 90% of asqa-dev's right
# sentences exceeded it, and half of its wrong ones.  With ours as many questions are answered from .46 on.
MIN_SCORE = 0.46
MIN_WORD_SCORE = 0.3  # below this similarity the best passages do not mention a word of the question
NEAR_BEST = 0.85  # share of the best score below which a sentence is not added
MIN_GAIN = 0.04  # what a sentence must add to the coverage of the question's words
SAME_WORDS = 0.7  # sentences that share this much of the shorter one's words say the same
PARTS = re.compile(r",|\band\b")
YEAR = re.compile(r"1\d{3}|20\d{2}")
LIST_MARK = re.compile(r"^(?:[-*•]|\(?\d{1,2}[.)])\s+")
ABSTENTION = "The collection does not say."


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence, with the best similarity in it of each content token of the question (q,)."""

    hit: Hit
    covers: Floats


class ExtractiveGenerator:
    """Answers in the sources' own words, so nothing in an answer is invented."""

    name = "extractive"
    prompt = ""
    understanding = "rules/1"

    def understand(self, question: str, turns: Sequence[Turn]) -> str:
        return standalone_question(question, [Exchange(turn.understood, turn.text) for turn in turns])

    def stream(self, question: str, context: GenerationContext) -> Writing:
        draft = self._draft(question, context.retriever)
        yield draft.text
        return draft

    def generate_many(self, requests: Sequence[tuple[str, GenerationContext]]) -> list[Draft | PropCiteError]:
        return [self._draft(question, context.retriever) for question, context in requests]

    def _draft(self, question: str, retriever: Retriever) -> Draft:
        query = retriever.encoder.encode_queries([question])[0]
        hits = retriever.search(question, Granularity.SENTENCE, MAX_CANDIDATES)
        hits += rows_with_numbers(question, hits)
        hits = [replace(hit, score=_similarity(query, retriever, hit)) for hit in hits]
        spans = content_spans(question)
        if not hits or hits[0].score < MIN_SCORE or _misses_a_word(query, spans, hits[:3], retriever):
            return Draft(ABSTENTION, abstained=True)
        matching = hits_with_numbers(question, hits)
        if not matching:
            return Draft(ABSTENTION, abstained=True)
        content = query.within(spans) if spans else query.offsets[:, 0] >= 0
        chosen = pick([_Candidate(hit, _best_in_sentence(query, retriever, hit)[content]) for hit in matching])
        return Draft(" ".join(_as_sentence(hit) for hit in in_reading_order(chosen)))


def content_spans(question: str) -> list[Span]:
    """Return the places of the question's content words.

    >>> [span.of("When was it finished?") for span in content_spans("When was it finished?")]
    ['finished']
    """
    spans = (Span(m.start(), m.end()) for m in english.WORD.finditer(question))
    return [span for span in spans if english.content_words(span.of(question))]


def rows_with_numbers(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return sentences beside the hits that state a number of the question, where no hit does; else nothing.

    The rows of a table differ in their numbers only, so a search may find any of them in place of the right one.
    """
    required = english.numbers(question)
    if not required or any(required & _stated(hit) for hit in hits):
        return []
    return sentences_with_numbers(hits, lambda stated: bool(required & stated))


def hits_with_numbers(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that state a number of the question, such as a year: in sentence or title, else in passage."""
    required = english.numbers(question)
    near = [h for h in hits if h.score >= MIN_SCORE and not _is_header(h.text)]
    if not required:
        return near
    stated = [(h, _stated(h)) for h in near]
    exact = [h for h, numbers in stated if required & numbers]
    if not exact:
        of_years = any(map(YEAR.fullmatch, required))
        dated = [h for h in near if of_years and any(map(YEAR.fullmatch, english.numbers(h.text)))]
        return [h for h in near if required & english.numbers(h.passage.text) and h not in dated]
    # A question in several parts may also ask for something without a year: sentences that name no year stay.
    several = PARTS.search(question) is not None
    return [h for h, numbers in stated if required & numbers or (several and not any(map(YEAR.fullmatch, numbers)))]


def _stated(hit: Hit) -> set[str]:
    return english.numbers(f"{hit.passage.title}. {hit.text}")


def pick(candidates: Sequence[_Candidate]) -> list[Hit]:
    """Return the best sentence, then each that adds most to the question's coverage, while it adds enough.

    A sentence that says the same with other numbers is added too: a reader must see that the sources differ.
    """
    near = [c for c in candidates if c.hit.score >= NEAR_BEST * candidates[0].hit.score]
    chosen, covered = [near[0]], near[0].covers
    while len(chosen) < MAX_SENTENCES:
        rest = [c for c in near if not any(c is other or _repeats(c.hit, other.hit) for other in chosen)]
        best = max(rest, key=lambda c: float(np.maximum(c.covers, covered).mean()), default=None)
        if best is None or float(np.maximum(best.covers, covered).mean() - covered.mean()) < MIN_GAIN:
            break
        chosen.append(best)
        covered = np.maximum(covered, best.covers)
    differing = [c for c in near if c not in chosen and any(_differs(c.hit, other.hit) for other in chosen)]
    return [c.hit for c in [*chosen, *differing[: MAX_SENTENCES - len(chosen)]]]


def in_reading_order(hits: Sequence[Hit]) -> list[Hit]:
    """Order hits by document, the one with the best sentence first, and within a document as in its text."""
    documents = list(dict.fromkeys(hit.passage.document_id for hit in hits))
    return sorted(hits, key=lambda h: (documents.index(h.passage.document_id), h.passage.in_document(h.spans[0])))


def _similarity(query: TokenVectors, retriever: Retriever, hit: Hit) -> float:
    """Return the similarity of a sentence, in its passage, and the question."""
    both = combine_scores(
        _best_in_sentence(query, retriever, hit), _best_in_passage(query, retriever, hit), retriever.passage_share
    )
    return float(query.weights() @ both)


def _best_in_sentence(query: TokenVectors, retriever: Retriever, hit: Hit) -> Floats:
    """Return each query token's best similarity in the hit's own words (q,)."""
    tokens = retriever.index.vectors(hit.passage.id)
    best: Floats = (query.vectors @ tokens.vectors[tokens.within(hit.spans)].T).max(axis=1)
    return best


def _best_in_passage(query: TokenVectors, retriever: Retriever, hit: Hit) -> Floats:
    """Return each query token's best similarity anywhere in the hit's passage, its title included (q,)."""
    best: Floats = (query.vectors @ retriever.index.vectors(hit.passage.id).vectors.T).max(axis=1)
    return best


def _misses_a_word(query: TokenVectors, spans: Sequence[Span], hits: Sequence[Hit], retriever: Retriever) -> bool:
    """Return whether the best passages, titles included, have nothing similar to some word of the question."""
    if not spans:
        return False
    best = np.max([_best_in_passage(query, retriever, hit) for hit in hits], axis=0)
    by_word = [best[query.within([span])].max(initial=-1.0) for span in spans]
    return bool(min(by_word) < MIN_WORD_SCORE)


def _is_header(text: str) -> bool:
    """Return whether a text is a table's row that only names its columns."""
    return " | " in text and not any(c.isdecimal() for c in text)


def _overlap(one: Hit, other: Hit) -> float:
    shorter, longer = sorted((_words(one), _words(other)), key=len)
    return english.share_found(shorter, longer)


def _words(hit: Hit) -> list[str]:
    return [w for w in english.content_words(hit.text) if not w[0].isdigit()]


def _repeats(one: Hit, other: Hit) -> bool:
    return _overlap(one, other) >= SAME_WORDS


def _differs(one: Hit, other: Hit) -> bool:
    """Return whether another document says the same with other numbers."""
    return (
        one.passage.document_id != other.passage.document_id
        and _repeats(one, other)
        and english.numbers(one.text) != english.numbers(other.text)
    )


def _as_sentence(hit: Hit) -> str:
    text = LIST_MARK.sub("", " ".join(hit.text.split())).replace(" | ", ": ", 1).replace(" | ", ", ")  # a table row
    return text if text[-1:] in '.!?。！？"”»)' else f"{text.rstrip(':;,')}."
