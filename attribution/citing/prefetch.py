"""What the judge and the retriever will ask the encoder for, encoded together before they do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from propcite.attribution.citing.answer_parts import Part
from propcite.attribution.english.pronouns.antecedent import without_marks
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.text import Granularity, Passage


class ReadsAhead(Protocol):
    """A judge that reads with an encoder, and may do so before it is asked."""

    encoder: Encoder

    def read(self, evidence: Sequence[str]) -> object: ...


def reading_judge(propcite: PropCite) -> ReadsAhead | None:
    """The judge, where it reads with PropCite's own encoder."""
    judge: Any = propcite.judge
    return judge if getattr(judge, "encoder", None) is propcite.encoder and hasattr(judge, "read") else None


def read_claims(propcite: PropCite, parts: Sequence[Part]) -> None:
    """Sentences as they ask for passages and claims as they are judged are of one kind: one batch serves both."""
    if propcite.method.name != "propositions":
        return
    encoder = propcite.encoder
    texts = [part.text for part in parts] if encoder.knows(Granularity.SENTENCE) else []
    if reading_judge(propcite):
        texts += [without_marks(p.text) for part in parts for p in part.propositions if p.check_worthy]
    encoder.encode_queries(list(dict.fromkeys(texts)))


def evidence_in(passages: Iterable[Passage]) -> Iterator[str]:
    """Each sentence that may be evidence, as a judge reads it."""
    for passage in passages:
        for sentence in passage.sentences:
            text = sentence.span.of(passage.text).strip()
            if not sentence.is_heading and any(map(str.isalnum, text)):
                yield text
