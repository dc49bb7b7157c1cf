"""The parts that every way of citing takes: an encoder, a splitter, a judge, and how they work together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from propcite.attribution.citing.deciding import Decider
from propcite.attribution.citing.method import Method
from propcite.attribution.citing.sources import as_passages
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import EncodingJudge, Judge
from propcite.attribution.propositions import Splitter
from propcite.attribution.questions.reader import QuestionReader
from propcite.retrieval.alignment import Alignment
from propcite.retrieval.encoding.base import TextEncoder
from propcite.retrieval.encoding.cache import MAX_TOKENS, CachedEncoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.text import Passage, Sentence

Source = Retriever | Iterable[object]  # a collection, or anything that `as_passages` reads
Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class Tools:
    """The parts that cite; they hold no state of an answer, so threads share them."""

    encoder: TextEncoder
    splitter: Splitter
    method: Method
    decider: Decider
    alignment: Alignment
    max_citations: int
    question_reader: QuestionReader | None = None

    @property
    def judge(self) -> Judge | None:
        return self.decider.judge

    @property
    def encoding_judge(self) -> EncodingJudge | None:
        """Return the judge if it reads with this encoder, so that its texts can be encoded ahead; else None."""
        judge = self.judge
        return judge if isinstance(judge, EncodingJudge) and judge.encoder is self.encoder else None

    @property
    def models(self) -> dict[str, str]:
        """Return the names of the parts, as an answer records them, and how often the judge is right, if it says so.

        The method is named only where it is not the default.
        """
        judge = self.judge.name if self.judge else "none"
        names = {"encoder": self.encoder.query_name, "splitter": self.splitter.name, "judge": judge}
        trust = getattr(self.judge, "trust", "")
        names |= {"judge_trust": trust} if trust else {}
        return names if self.method.name == "propositions" else {**names, "method": self.method.name}

    def cached(self, max_tokens: int = MAX_TOKENS) -> Tools:
        """Return the same tools with an encoder that encodes no text twice, for one answer or one batch."""
        if isinstance(self.encoder, CachedEncoder):
            return self
        encoder, judge = CachedEncoder(self.encoder, max_tokens), self.encoding_judge
        decider = replace(self.decider, judge=judge.with_encoder(encoder)) if judge else self.decider
        return replace(self, encoder=encoder, decider=decider)

    def searching(self, source: Given) -> Given | Retriever:
        """Return a collection that searches with these tools' cache, where it has the same encoder; else the source."""
        cache = self.encoder
        if isinstance(source, Retriever) and isinstance(cache, CachedEncoder) and cache.encoder is source.encoder:
            return replace(source, encoder=cache)
        return source

    def retriever(self, source: Source, alignment: Alignment | None = None) -> Retriever | None:
        """Return a collection as it is, or a retriever over passages; None if no passage has text."""
        if isinstance(source, Retriever):
            return source
        passages = [_with_sentences(p) for p in as_passages(source) if any(map(str.isalnum, p.text))]
        try:
            return Retriever.over(self.encoder, passages, alignment=alignment or self.alignment) if passages else None
        except ValueError as error:
            raise AttributionError(str(error)) from error


def _with_sentences(passage: Passage) -> Passage:
    """Split a passage that names no sentences: otherwise nothing of it could be cited."""
    if passage.sentences:
        return passage
    return replace(passage, sentences=tuple(map(Sentence, split_sentences(passage.text))))


def sentences_as_evidence(passages: Iterable[Passage]) -> Iterator[str]:
    """Yield each sentence of the passages that may be evidence, as a judge reads it."""
    for passage in passages:
        for sentence in passage.sentences:
            text = sentence.span.of(passage.text).strip()
            if not sentence.is_heading and any(map(str.isalnum, text)):
                yield text
