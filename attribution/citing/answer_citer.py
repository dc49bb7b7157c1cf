"""Cite one answer sentence by sentence; the claims of several answers are judged together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from propcite.attribution.citations import (
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Label,
    Proposition,
)
from propcite.attribution.citing.deciding import Claim, Decider, with_whole_quotes
from propcite.attribution.citing.splitting import SplitSentence, with_question
from propcite.attribution.citing.tools import Source, Tools
from propcite.attribution.english import other_language, without_brackets
from propcite.attribution.question_parts import QuestionPart
from propcite.attribution.questions.relevance import AnswerReading
from propcite.retrieval.alignment import NEAREST
from propcite.retrieval.interrupting import check_interrupt
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Hit, Span
from propcite.retrieval.timing import Timer, shared

Rows = list[list[CitedProposition]]  # one row per sentence of an answer
_NOT_WORDS = re.compile(r"\W+")
BATCH = 256  # sentences of a long answer whose vectors are held at the same time


@dataclass(slots=True)
class AnswerCiter:
    """Cites one answer.  Markers number passages from 1, in the order in which the answer first needs them."""

    tools: Tools
    retriever: Retriever | None
    collection: Retriever | None
    timer: Timer
    question: str = ""
    reading: AnswerReading | None = None
    _numbers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def over(cls, tools: Tools, source: Source, collection: Retriever | None = None, question: str = "") -> AnswerCiter:
        """Open an answer's citing over a source: given passages are encoded now.

        What the source does not support is looked for in the `collection`, if there is one.  With a `question`, words
        that make no sentence are read as its answer, and the cited answer says whether it is answered.
        """
        timer, tools = Timer(), tools.cached()
        source, whole = tools.searching(source), collection and tools.searching(collection)
        with timer("encode passages"):
            retriever = tools.retriever(source, whole.alignment if whole else None)
        retriever, whole = (one and replace(one, about=question) for one in (retriever, whole))
        reader = tools.question_reader
        reading = AnswerReading(reader, question) if reader and question.strip() else None
        return cls(tools, retriever, whole, timer, question, reading)

    def cite(self, sentences: Sequence[SplitSentence]) -> list[CitedSentence]:
        """Cite the next sentences of the answer; their markers continue those of earlier sentences."""
        return self.numbered(sentences, self.propositions(sentences))

    def answer(self, text: str, sentences: Sequence[CitedSentence]) -> CitedAnswer:
        """Return the cited answer, given all its sentences."""
        sentences = tuple(sentences)
        parts, reader = self._parts(text, sentences), self.tools.question_reader
        return CitedAnswer(
            text=text,
            sentences=sentences,
            question=self.question,
            index_version=self.index_version,
            models={**self.models, "questions": reader.name} if parts and reader else self.models,
            timings_ms=self.timer.spent,
            notes=(*_notes(text, [p for s in sentences for p in s.propositions]), *missing_note(self.missing)),
            parts=parts,
        )

    def propositions(self, sentences: Sequence[SplitSentence]) -> Rows:
        """Return what each claim of each sentence cites; spans are relative to the sentence, markers not yet set."""
        batches = (sentences[first : first + BATCH] for first in range(0, len(sentences), BATCH))
        return [row for batch in batches for row in propositions_of([(self, batch)])[0]]

    def propositions_within(self, pairs: Sequence[tuple[SplitSentence, str]]) -> Rows:
        """Return what each sentence cites where it may cite one passage only, named by its id."""
        with self.timer("score"):
            claims = [self.claims([one], self.retriever and self.retriever.only([id_]))[0] for one, id_ in pairs]
        with self.timer("judge"):
            return _decided(self.tools.decider, [claims], shown=True)[0]

    def numbered(
        self, sentences: Sequence[SplitSentence], rows: Sequence[Sequence[CitedProposition]]
    ) -> list[CitedSentence]:
        """Return sentences whose citations have markers and whose spans lie in the answer."""
        return [self._sentence(sentence, row) for sentence, row in zip(sentences, rows, strict=True)]

    @property
    def models(self) -> dict[str, str]:
        """Return the names of the parts; the alignment only where it is not the default."""
        whole, names = self.collection or self.retriever, self.tools.models
        return names if whole is None or whole.alignment == NEAREST else {**names, "alignment": str(whole.alignment)}

    @property
    def index_version(self) -> str:
        whole = self.collection or self.retriever
        return whole.index.version if whole else ""

    @property
    def missing(self) -> tuple[str, ...]:
        """Name what the searches so far left out, because it did not answer."""
        searched = [one.index.missing for one in (self.retriever, self.collection) if one]
        return tuple(dict.fromkeys(name for names in searched for name in names))

    def claims(self, sentences: Sequence[SplitSentence], retriever: Retriever | None) -> list[list[Claim]]:
        """Return each sentence's claims with the hits of a search; no hits where there is no retriever."""
        method, depth = self.tools.method, self.tools.decider.depth
        given, sentences = sentences, [with_question(sentence, self.question) for sentence in sentences]
        if retriever:
            hits = method.find(sentences, retriever, depth)
        else:
            hits = [[[] for _ in method.claims(sentence)] for sentence in sentences]
        found = [
            asked if asked is not own and _lies_within(own.text, rows) else own
            for own, asked, rows in zip(given, sentences, hits, strict=True)
        ]
        return [
            [Claim(claim, sentence.text, tuple(row)) for claim, row in zip(method.claims(sentence), rows, strict=True)]
            for sentence, rows in zip(found, hits, strict=True)
        ]

    def claims_elsewhere(self, sentences: Sequence[SplitSentence], decided: Rows) -> dict[int, list[Claim]]:
        """Search the collection for sentences with a claim that the source does not support; keys are places."""
        if self.collection is None:
            return {}
        places = [i for i, row in enumerate(decided) if any(p.verdict and not p.citations for p in row)]
        with self.timer("search the collection"):
            claims = self.claims([sentences[i] for i in places], self.collection)
        shown = {p.id for p in self.retriever.passages()} if self.retriever else set()
        new = [[replace(c, hits=tuple(h for h in c.hits if _ids(h).isdisjoint(shown))) for c in row] for row in claims]
        return dict(zip(places, new, strict=True))

    def _parts(self, text: str, sentences: Sequence[CitedSentence]) -> tuple[QuestionPart, ...]:
        """Return what the question asks, and whether these sentences say it; empty where nobody reads questions."""
        if self.reading is None:
            return ()
        with self.timer("judge"):
            return self.reading.parts(text, [s.span for s in sentences])

    def _sentence(self, sentence: SplitSentence, propositions: Sequence[CitedProposition]) -> CitedSentence:
        numbered = tuple(self._numbered(p, sentence.span) for p in propositions)
        return CitedSentence(sentence.span, numbered, self.tools.max_citations)

    def _numbered(self, cited: CitedProposition, sentence: Span) -> CitedProposition:
        citations = tuple(
            replace(c, number=self._numbers.setdefault(c.passage.id, len(self._numbers) + 1)) for c in cited.citations
        )
        return replace(cited, proposition=_in_answer(cited.proposition, sentence), citations=citations)


def propositions_of(answers: Sequence[tuple[AnswerCiter, Sequence[SplitSentence]]]) -> list[Rows]:
    """Return what each claim of several answers cites: one batch for their sources, one for their collections.

    The answers share their tools; each has its own sources.
    """
    if not answers:
        return []
    decider, timers = answers[0][0].tools.decider, [citer.timer for citer, _ in answers]
    claims = []
    for citer, sentences in answers:
        check_interrupt()
        with citer.timer("score"):
            claims.append(citer.claims(sentences, citer.retriever))
    with shared("judge", timers):
        decided = with_whole_quotes(_decided(decider, claims, shown=True), claims, decider)
    elsewhere = [
        citer.claims_elsewhere(sentences, rows) for (citer, sentences), rows in zip(answers, decided, strict=True)
    ]
    if any(elsewhere):
        with shared("judge", timers):
            decided_elsewhere = _decided(decider, [list(claims.values()) for claims in elsewhere], shown=False)
        for rows, places, others in zip(decided, elsewhere, decided_elsewhere, strict=True):
            for i, row in zip(places, others, strict=True):
                rows[i] = [_better(p, other) for p, other in zip(rows[i], row, strict=True)]
    return [_unchecked(rows, citer.missing) for rows, (citer, _) in zip(decided, answers, strict=True)]


def encode_claims(tools: Tools, sentences: Sequence[SplitSentence]) -> None:
    """Encode sentences and claims in one batch: the search and the judge then find them in the cache."""
    if tools.method.name != "propositions":
        return
    texts = [sentence.text for sentence in sentences] if tools.encoder.knows(Granularity.SENTENCE) else []
    if tools.encoding_judge:
        texts += [without_brackets(p.text) for s in sentences for p in s.propositions if p.check_worthy]
    tools.encoder.encode_queries(list(dict.fromkeys(texts)))


def _decided(decider: Decider, answers: Sequence[Sequence[Sequence[Claim]]], *, shown: bool) -> list[Rows]:
    """Return what each claim cites; one that needs no support has no verdict, one that is repeated is judged once."""
    check_worthy = [claim for rows in answers for row in rows for claim in row if claim.proposition.check_worthy]
    distinct = {_content(claim): claim for claim in check_worthy}
    decided = dict(zip(distinct, decider.decide(list(distinct.values()), shown=shown), strict=True))
    return [
        [
            [
                replace(decided[_content(c)], proposition=c.proposition)
                if c.proposition.check_worthy
                else CitedProposition(c.proposition, None)
                for c in row
            ]
            for row in rows
        ]
        for rows in answers
    ]


def _lies_within(words: str, rows: Sequence[Sequence[Hit]]) -> bool:
    """Return whether words of the answer are part of a sentence that was found, and not all of it.

    Such words without a verb answer the question; others may be a sentence whose verb the rules do not know.
    """
    part = f" {_NOT_WORDS.sub(' ', words).strip().casefold()} "
    found = [f" {_NOT_WORDS.sub(' ', hit.text).strip().casefold()} " for row in rows for hit in row]
    return any(part in sentence for sentence in found) and part not in found


def _ids(hit: Hit) -> frozenset[str]:
    """Return the ids of the passages that have a hit's words."""
    return frozenset(one.passage.id for one in hit.everywhere)


def _content(claim: Claim) -> object:
    """Return what a claim's verdict depends on."""
    hits = tuple((hit.passage.id, hit.passage.text, hit.spans, _ids(hit)) for hit in claim.hits)
    return claim.proposition.text, claim.sentence, hits


def _better(shown: CitedProposition, elsewhere: CitedProposition) -> CitedProposition:
    """Choose between source and collection: support in the source, then elsewhere, then the nearest miss.

    Of two misses a contradiction goes first.
    """
    if shown.citations or shown.verdict is None or elsewhere.verdict is None:
        return shown
    if elsewhere.citations or shown.nearest is None:
        return elsewhere
    contradicts = elsewhere.verdict.label is Label.CONTRADICTED and shown.verdict.label is not Label.CONTRADICTED
    return elsewhere if contradicts else shown


def _notes(text: str, propositions: Sequence[CitedProposition]) -> tuple[str, ...]:
    """Return a note where claims are unsupported and their sources are in another language; else nothing."""
    if not any(p.verdict and not p.citations for p in propositions):
        return ()
    passages = {e.passage.id: e.passage.text for p in propositions for e in (*p.citations, p.nearest) if e}
    return tuple(filter(None, [other_language(text, passages.values())]))


def missing_note(missing: Sequence[str]) -> tuple[str, ...]:
    """Return a note on what was not searched; nothing where all was."""
    return (f"not all documents were searched: {', '.join(missing)}",) if missing else ()


def _unchecked(rows: Rows, missing: Sequence[str]) -> Rows:
    """Leave facts unchecked that found no support where part of the documents was not searched."""
    if not missing:
        return rows
    reason = f"{', '.join(missing)} was not searched"
    return [
        [
            replace(p, verdict=replace(p.verdict, label=Label.UNCHECKED, reason=reason))
            if p.verdict and not p.citations and p.verdict.label is Label.UNSUPPORTED
            else p
            for p in row
        ]
        for row in rows
    ]


def _in_answer(proposition: Proposition, sentence: Span) -> Proposition:
    return replace(proposition, spans=tuple(span.shifted(sentence.start) for span in proposition.spans))
