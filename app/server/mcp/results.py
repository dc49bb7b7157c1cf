"""What the tools return, as structured values.  The docstrings and descriptions are in the published schemas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from propcite.app.library.store import Library
from propcite.app.server.mcp.addresses import answer_address, document_address
from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence
from propcite.attribution.citing.alternatives import Alternative
from propcite.attribution.citing.explaining import Explained
from propcite.attribution.formats.alce import with_markers
from propcite.attribution.formats.cited_documents import with_documents
from propcite.attribution.formats.explanations.text import WordMatch, explanation_lines, word_match
from propcite.attribution.formats.links import link_to, source_link
from propcite.attribution.formats.wording import copy_name, label_of, location_of, notices, place_of, title_of
from propcite.retrieval.text import Hit, Passage, Span, join_spans

Label = Literal["supported", "partly", "unsupported", "contradicted", "unchecked"]
Answered = Literal["yes", "partly", "no"]


class Quote(BaseModel):
    """Words of a source, as they stand there."""

    number: int = Field(description="the marker [n] in the text; 0 where the words are not cited")
    words: str
    title: str
    place: str = Field(description="such as `page 3` or `slide 2`, with what is known of the document's state")
    document_id: str
    passage_id: str
    uri: str = Field(description="the resource that shows the words in their document; empty for given passages")
    link: str = Field(description="opens the source in a browser; empty where there is no such address")
    also_in: list[str] = Field(description="other documents that have the same words, with the place in each")


class SearchHit(Quote):
    """A hit; `number` counts from 1.  `context` is the passage around the words, empty where they are all of it."""

    score: float
    context: str


class SearchResult(BaseModel):
    collection: str
    hits: list[SearchHit]
    notes: list[str]


class Fact(BaseModel):
    """A fact of the text.  One without citations has the `nearest` words that the sources hold, if any."""

    number: int
    text: str
    verdict: Label
    probability: float = Field(description="that the sources support it")
    reason: str
    spans: list[tuple[int, int]] = Field(description="where it stands in the text, in Unicode code points")
    citations: list[Quote]
    nearest: Quote | None


class CheckResult(BaseModel):
    """`passes` is true if each fact is supported; `to_correct` are the numbers of the facts that are not."""

    collection: str
    passes: bool
    num_facts: int
    num_supported: int
    to_correct: list[int]
    facts: list[Fact]
    notes: list[str]


class CitedText(BaseModel):
    """A text with its citations.

    `cited_text` is the text with a marker [n] at the end of each supported sentence; `sources` are these numbers.
    """

    id: str = Field(description="names the text for `explain` and `evidence` where it is kept; empty where it is not")
    uri: str = Field(description="the resource of the kept answer; empty where it is not kept")
    collection: str
    text: str
    cited_text: str
    coverage: float = Field(description="the share of the facts that have support")
    sources: list[Quote]
    facts: list[Fact]
    notes: list[str]


class QuestionPart(BaseModel):
    question: str
    answered: Answered


class AskResult(CitedText):
    """A written answer.  `understood` is the question as it was searched for, where that differs."""

    question: str
    understood: str
    answered: Answered | None
    abstained: bool = Field(description="the sources hold no answer")
    parts: list[QuestionPart]


class NearEvidence(Quote):
    verdict: Label
    probability: float
    reason: str
    score: float


class EvidenceResult(BaseModel):
    claim: str
    collection: str
    evidence: list[NearEvidence] = Field(description="the nearest first")


class WordPair(BaseModel):
    """A word of the fact, and the word of the source that came nearest to it, empty where none did."""

    word: str
    source_word: str
    match: Literal["same", "other", "none"]
    contribution: float


class ExplainResult(BaseModel):
    claim: str
    collection: str
    quote: Quote
    lines: list[str] = Field(description="which words were found, how the score is made up, what the judge decided")
    words: list[WordPair]


@dataclass(frozen=True, slots=True)
class Results:
    """Makes results of answers over a collection; `collection` is empty for given passages."""

    library: Library
    collection: str = ""

    def hits(self, hits: Sequence[Hit], notes: Sequence[str]) -> SearchResult:
        sources = self.library.sources({hit.passage.document_id for hit in hits})
        shown = [
            SearchHit(
                **self._unit(hit, number, sources).model_dump(),
                score=round(hit.score, 4),
                context="" if hit.text == hit.passage.text else hit.passage.text,
            )
            for number, hit in enumerate(hits, start=1)
        ]
        return SearchResult(collection=self.collection, hits=shown, notes=list(notes))

    def check(self, answer: CitedAnswer) -> CheckResult:
        facts = self.facts(self.with_documents(answer))
        wrong = [fact.number for fact in facts if fact.verdict != "supported"]
        return CheckResult(
            collection=self.collection,
            passes=not wrong,
            num_facts=len(facts),
            num_supported=len(facts) - len(wrong),
            to_correct=wrong,
            facts=facts,
            notes=notices(answer),
        )

    def cited(self, answer: CitedAnswer, *, is_kept: bool) -> CitedText:
        answer = self.with_documents(answer)
        first = {citation.number: citation for citation in reversed(answer.citations)}
        return CitedText(
            id=answer.id if is_kept else "",
            uri=answer_address(self.collection, answer.id) if is_kept else "",
            collection=self.collection,
            text=answer.text,
            cited_text=with_markers(answer),
            coverage=round(answer.coverage, 4),
            sources=[self.quote(first[number].evidence, number) for number in sorted(first)],
            facts=self.facts(answer),
            notes=notices(answer),
        )

    def asked(self, answer: CitedAnswer) -> AskResult:
        return AskResult(
            **self.cited(answer, is_kept=True).model_dump(),
            question=answer.question,
            understood=answer.understood,
            answered=answer.answered.value if answer.answered else None,
            abstained=answer.abstained,
            parts=[QuestionPart(question=p.question, answered=p.answered.value) for p in answer.parts],
        )

    def evidence(self, fact: CitedProposition, near: Sequence[Alternative]) -> EvidenceResult:
        sources = self.library.sources({one.hit.passage.document_id for one in near})
        shown = [
            NearEvidence(
                **self._unit(one.hit, one.number, sources).model_dump(),
                verdict=one.label.value,
                probability=round(one.verdict.probability, 4),
                reason=one.verdict.reason,
                score=round(one.hit.score, 4),
            )
            for one in near
        ]
        return EvidenceResult(claim=fact.proposition.text, collection=self.collection, evidence=shown)

    def explanation(self, explained: Explained) -> ExplainResult:
        explanation = explained.explanation
        pairs = []
        for i, word in enumerate(explanation.query):
            if not word.has_content:
                continue
            match, matches = word_match(explanation, i), explanation.matches(i)
            source_word = explanation.source[matches[0].source].text if match is not WordMatch.NONE else ""
            contribution = round(float(explanation.contributions[i].sum()), 4)
            pairs.append(
                WordPair(word=word.text, source_word=source_word, match=match.value, contribution=contribution)
            )
        number = explained.citation.number if explained.citation else 0
        return ExplainResult(
            claim=explained.fact.proposition.text,
            collection=self.collection,
            quote=self.quote(explained.evidence, number),
            lines=explanation_lines(explained),
            words=pairs,
        )

    def with_documents(self, answer: CitedAnswer) -> CitedAnswer:
        """Return the answer whose evidence says what happened to its documents since, and where they are."""
        return with_documents(answer, self.library.cited_documents(answer)) if self.collection else answer

    def facts(self, answer: CitedAnswer) -> list[Fact]:
        return self.numbered(enumerate(answer.facts, start=1))

    def numbered(self, facts: Iterable[tuple[int, CitedProposition]]) -> list[Fact]:
        """Return facts under their own numbers."""
        return [
            Fact(
                number=number,
                text=fact.proposition.text,
                verdict=label_of(fact).value,
                probability=round(fact.verdict.probability, 4) if fact.verdict else 0.0,
                reason=fact.verdict.reason if fact.verdict else "",
                spans=[(span.start, span.end) for span in fact.proposition.spans],
                citations=[self._citation(citation) for citation in fact.citations],
                nearest=self.quote(fact.nearest) if fact.nearest and not fact.citations else None,
            )
            for number, fact in facts
        ]

    def _citation(self, citation: Citation) -> Quote:
        return self.quote(citation.evidence, citation.number)

    def quote(self, evidence: Evidence, number: int = 0) -> Quote:
        passage = evidence.passage
        return Quote(
            number=number,
            words=evidence.quote,
            title=title_of(passage),
            place=place_of(evidence),
            document_id=passage.document_id,
            passage_id=passage.id,
            uri=self._uri(passage, evidence.span),
            link=link_to(evidence),
            also_in=list(dict.fromkeys(copy_name(copy, {}) for copy in evidence.copies)),
        )

    def _unit(self, hit: Hit, number: int, sources: dict[str, str]) -> Quote:
        passage = hit.passage
        span = Span(hit.spans[0].start, hit.spans[-1].end)
        return Quote(
            number=number,
            words=join_spans(hit.spans, passage.text),
            title=title_of(passage),
            place=location_of(passage, hit.spans),
            document_id=passage.document_id,
            passage_id=passage.id,
            uri=self._uri(passage, span),
            link=source_link(sources.get(passage.document_id, ""), passage, span),
            also_in=list(dict.fromkeys(copy_name(copy, {}) for copy in Evidence.of(hit).copies)),
        )

    def _uri(self, passage: Passage, span: Span) -> str:
        """Return the address of words in their document; empty for passages that a caller gave."""
        if not self.collection or not passage.document_id:
            return ""
        return document_address(self.collection, passage.document_id, passage.in_document(span))
