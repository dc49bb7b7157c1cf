"""Remember verdicts by content: the same claim beside the same evidence is judged once, whoever sends it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from hashlib import blake2b
from sys import getsizeof
from typing import Any, cast

from propcite.attribution.citations import Verdict
from propcite.attribution.judges import NOT_JUDGED, Case, EncodingJudge, Judge, with_threshold
from propcite.retrieval.encoding.base import TextEncoder
from propcite.retrieval.recent import RecentValues

MAX_BYTES = 32 << 20  # some seventy thousand verdicts
ENTRY_BYTES = 400  # of a verdict and its key, without its reason


class VerdictMemory(RecentValues[bytes, Verdict]):
    """The verdicts that were needed last, up to a number of bytes; judges and threads may share it.

    A verdict is found by the judge's name, its threshold, and every text that it read.  One that says why nothing was
    judged is given again by the judge alone.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(max_bytes, lambda _, verdict: ENTRY_BYTES + getsizeof(verdict.reason))

    def keeps(self, value: Verdict) -> bool:
        return not value.reason.startswith(NOT_JUDGED)


class RememberingJudge:
    """A judge that judges only what its memory does not have."""

    def __init__(self, judge: Judge, memory: VerdictMemory) -> None:
        self._judge, self._memory = judge, memory

    @property
    def name(self) -> str:
        return self._judge.name

    @property
    def supported_from(self) -> float:
        return cast(float, cast(Any, self._judge).supported_from)  # an AttributeError for a judge that has none

    @supported_from.setter
    def supported_from(self, supported_from: float) -> None:
        self._judge = with_threshold(self._judge, supported_from)

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        about = f"{self.name} {getattr(self._judge, 'supported_from', '')}"
        return self._memory.recall([_key(about, case) for case in cases], cases, self._judge.judge)

    def __getattr__(self, name: str) -> Any:
        """Return what else the judge has: how far it can be trusted, and what it counts."""
        if name.startswith("_"):  # while it is copied there is no judge yet
            raise AttributeError(name)
        return getattr(self._judge, name)


class RememberingEncodingJudge(RememberingJudge):
    """The same of a judge that shares an encoder."""

    _judge: EncodingJudge

    @property
    def encoder(self) -> TextEncoder:
        return self._judge.encoder

    def with_encoder(self, encoder: TextEncoder) -> Judge:
        other = copy(self)
        other._judge = cast(EncodingJudge, self._judge.with_encoder(encoder))
        return other

    def encode_evidence(self, evidence: Sequence[str]) -> object:
        return self._judge.encode_evidence(evidence)


def remembering(judge: Judge, memory: VerdictMemory) -> Judge:
    """Return the same judge with a memory.

    >>> from propcite import Label, PropCite
    >>> memory = VerdictMemory()
    >>> judge = remembering(PropCite.default().judge, memory)
    >>> cases = [Case("It rained.", ("It rained in the town.",))]
    >>> judge.judge(cases) == judge.judge(cases), memory.num_recalled, memory.num_computed
    (True, 1, 1)
    """
    return (
        RememberingEncodingJudge(judge, memory) if isinstance(judge, EncodingJudge) else RememberingJudge(judge, memory)
    )


def _key(about: str, case: Case) -> bytes:
    digest = blake2b(digest_size=32)
    for text in (about, case.claim, case.context, *case.evidence):
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.digest()
