"""What the judge and the retriever will ask the encoder for, encoded together before they do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attribution.parts import Part
from attribution.propcite import PropCite
from attribution.propositions.antecedent import without_marks
from retrieval.text import Granularity, Passage


def judge_encodes(propcite: PropCite) -> bool:
    """Whether the judge reads with PropCite's own encoder."""
    return getattr(propcite.judge, "encoder", None) is propcite.encoder


def read_claims(propcite: PropCite, parts: Sequence[Part]) -> None:
    """Sentences as they ask for passages and claims as they are judged are of one kind: one batch serves both."""
    if propcite.method.name != "propositions":
        return
    encoder = propcite.encoder
    texts = [part.text for part in parts] if encoder.knows(Granularity.SENTENCE) else []
    if judge_encodes(propcite):
        texts += [without_marks(p.text) for part in parts for p in part.propositions if p.check_worthy]
    encoder.encode_queries(list(dict.fromkeys(texts)))


def evidence_in(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Each sentence that may be evidence, as a judge encodes it."""
    for passage in passages:
        for sentence in passage.sentences:
            text = sentence.span.of(passage.text).strip()
            if not sentence.is_heading and any(map(str.isalnum, text)):
                yield Passage(id="", text=text)
