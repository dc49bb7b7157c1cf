"""Judges decide whether evidence supports a claim, with a calibrated probability.  Protocols and shared helpers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.errors import AttributionError
from propcite.attribution.prose.markers import extract_markers
from propcite.retrieval.encoding.base import TextEncoder

SUPPORTED_FROM = 0.5
PARTLY_FROM = 0.3
NOT_JUDGED = "not checked: "  # begins the reason of a verdict where a judge failed


@dataclass(frozen=True, slots=True)
class Case:
    """A claim and the evidence that a judge compares it with.

    `evidence` holds one or more quotes, which are read together: the claim may be supported by all of them jointly.
    `context` is the text around the first quote (its title, the sentence before).  It may resolve references such as
    "it", but is not evidence itself.

    >>> from propcite import Case
    >>> case = Case("The tower is 90 m high.", ("It is 90 m high.", "It opened in 1911."), context="The old tower")
    >>> case.text
    'It is 90 m high. It opened in 1911.'
    """

    claim: str
    evidence: tuple[str, ...]
    context: str = ""

    @property
    def text(self) -> str:
        """Return the quotes as one text."""
        return " ".join(self.evidence)


def plain_case(claim: str, evidence: Iterable[str], context: str = "") -> Case:
    """Return a case without citation markers: they are words of neither text.

    >>> plain_case("It rained on 3 May【8†source】.", ["It rained on 3 May.[2]"])
    Case(claim='It rained on 3 May.', evidence=('It rained on 3 May.',), context='')
    """
    return Case(extract_markers(claim).text, tuple(extract_markers(text).text for text in evidence), context)


class Judge(Protocol):
    """Decides whether evidence supports a claim: implement `name` and `judge` to plug in your own.

    A judge whose threshold users may change also has a writable attribute `supported_from`, the probability from
    which it labels a claim as supported.

    >>> from propcite import Case, Judge, Label, Verdict
    >>> class Verbatim:
    ...     name = "verbatim/1"
    ...
    ...     def judge(self, cases):
    ...         return [self.verdict(case.claim in case.text) for case in cases]
    ...
    ...     def verdict(self, quoted):
    ...         return Verdict(Label.SUPPORTED, 0.99) if quoted else Verdict(Label.UNSUPPORTED, 0.01)
    >>> judge: Judge = Verbatim()
    >>> cases = [Case("It rained.", ("It rained.",)), Case("It rained.", ("It snowed.",))]
    >>> [verdict.label.value for verdict in judge.judge(cases)]
    ['supported', 'unsupported']
    """

    @property
    def name(self) -> str:
        """Return the name and version of the judge.

        It is stored with each answer and evaluation, and identifies saved verdicts: change it whenever verdicts change.
        """
        ...

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        """Return one verdict per case, in the order of the cases.

        Only evidence with `Label.SUPPORTED` is cited, and the quote with the highest `probability` first: from 0 to 1,
        that the evidence supports the whole claim.  `reason` is an optional line for users on what differs.  A verdict
        must not depend on the other cases, and any text is a valid claim or evidence, empty text included.  Servers
        call this from several threads at once.
        """
        ...


@runtime_checkable
class EncodingJudge(Judge, Protocol):
    """A judge that compares token vectors: it shares an encoder and its cache with the search for evidence.

    Implement it if your judge uses a `TextEncoder`, so that no text of an answer is encoded twice.

    >>> from propcite import Case, Encoder, Label, Passage, Verdict
    >>> class Similarity:
    ...     def __init__(self, encoder):
    ...         self.encoder, self.name = encoder, f"similarity/{encoder.name}"
    ...
    ...     def judge(self, cases):
    ...         return [self.verdict(case) for case in cases]
    ...
    ...     def verdict(self, case):
    ...         [claim], [text] = self.encoder.encode_queries([case.claim]), self.encode_evidence([case.text])
    ...         score = float((claim.vectors @ text.vectors.T).max(axis=1).mean())
    ...         return Verdict(Label.SUPPORTED if score > 0.8 else Label.UNSUPPORTED, max(0.0, min(1.0, score)))
    ...
    ...     def with_encoder(self, encoder):
    ...         return Similarity(encoder)
    ...
    ...     def encode_evidence(self, evidence):
    ...         return self.encoder.encode_passages([Passage(id="", text=text) for text in evidence])
    >>> judge: EncodingJudge = Similarity(Encoder())
    >>> isinstance(judge, EncodingJudge)
    True
    >>> judge.judge([Case("The tower is 90 m high.", ("The tower is 90 m high.",))])[0].label.value
    'supported'
    """

    @property
    def encoder(self) -> TextEncoder:
        """Return the encoder of claims."""
        ...

    def with_encoder(self, encoder: TextEncoder) -> Judge:
        """Return the same judge with another encoder of claims, such as a cache around this one; do not change it."""
        ...

    def encode_evidence(self, evidence: Sequence[str]) -> object:
        """Encode texts that are likely to be judged soon, and cache them; callers ignore the result."""
        ...


def with_threshold(judge: Judge, supported_from: float) -> Judge:
    """Return the same judge with another threshold; both share models and caches."""
    if not hasattr(judge, "supported_from"):
        raise AttributionError(f"the judge {judge.name} has no threshold: leave supported_from as it is")
    other: Any = copy(judge)
    other.supported_from = supported_from
    return cast(Judge, other)


def label_of(probability: float, supported_from: float = SUPPORTED_FROM) -> Label:
    """Return the label of a probability, for a claim that no word check contradicts."""
    if probability >= supported_from:
        return Label.SUPPORTED
    return Label.PARTLY if probability >= min(PARTLY_FROM, supported_from) else Label.UNSUPPORTED


__all__ = [
    "NOT_JUDGED",
    "PARTLY_FROM",
    "SUPPORTED_FROM",
    "Case",
    "EncodingJudge",
    "Judge",
    "label_of",
    "plain_case",
    "with_threshold",
]
