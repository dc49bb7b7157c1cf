"""An alignment by its name: how every part that scores is told which pairs of tokens count."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from propcite.retrieval.errors import RetrievalError

if TYPE_CHECKING:
    from torch import Tensor

MOST = 100_000  # tokens that a form may speak of
FORMS = "top-k=2, top-p=1.5%, da:k=2,eps=0.02, exact, first, first-k=8, xtr, xtr:k=1000, top-k=1+salience"
SALIENT = "+salience"
MODELS = {"colbert": "top-k=1", "max": "top-k=1", "dpr": "first", "coil": "exact"}  # earlier models' own

Kind = Literal["top-k", "top-p", "da", "exact", "first", "xtr"]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which tokens of a text each query token is aligned with.

    top-k: its k nearest.  top-p: its nearest share of them.  da: the smooth top-k.  exact: the nearest that is the same
    word.  first: the first query token alone, with the nearest of the text's first k.  xtr: the nearest of those that
    it retrieved, the k nearest of the whole collection; an index ranks by it, of one text alone all are retrieved.
    With `salient` a pair counts as much as its token of the text is salient.
    """

    kind: Kind = "top-k"
    k: int = 1
    share: float = 0.0
    eps: float = 0.0
    salient: bool = False

    def __str__(self) -> str:
        return self._name + (SALIENT if self.salient else "")

    @property
    def _name(self) -> str:
        match self.kind:
            case "top-p":
                return f"top-p={100 * self.share:g}%"
            case "da":
                return f"da:k={self.k},eps={self.eps:g}"
            case "exact":
                return "exact"
            case "first":
                return "first" if self.k == 1 else f"first-k={self.k}"
            case "xtr":
                return f"xtr:k={self.k}"
        return f"top-k={self.k}"

    @property
    def needs_words(self) -> bool:
        """Whether it asks which tokens are the same word."""
        return self.kind == "exact"

    @property
    def of_all(self) -> bool:
        """Whether a query token that is aligned with nothing counts, as a similarity of 0."""
        return self.kind == "exact"

    def pairs(self, similarities: Tensor, tokens: Tensor, same: Tensor | None = None) -> Tensor:
        """A from similarities (..., q, t), which tokens are there (..., t) and which are `same` (..., q, t)."""
        from propcite.retrieval.alignment import pairs

        match self.kind:
            case "top-p":
                return pairs.top_p(similarities, tokens, self.share)
            case "da":
                return pairs.differentiable(similarities, tokens, self.k, self.eps)
            case "first":
                return pairs.first_k(similarities, tokens, self.k)
            case "exact":
                if same is None:
                    raise RetrievalError("the alignment exact asks which tokens are the same word: none are told")
                return pairs.exact_match(similarities, tokens, same)
        return pairs.top_k(similarities, tokens, 1 if self.kind == "xtr" else self.k)


NEAREST = Alignment()


def alignment_of(name: str) -> Alignment:
    """The alignment of a name: `top-k=2`, `top-p=1.5%`, `da:k=2,eps=0.02`, `exact`, `first`, `first-k=8`, `xtr`.

    >>> str(alignment_of("top-p=1.5%")), str(alignment_of("colbert")), str(alignment_of("da:k=2"))
    ('top-p=1.5%', 'top-k=1', 'da:k=2,eps=0.002')
    """
    given = name.strip().lower()
    if given.endswith(SALIENT):
        return _salient(alignment_of(given.removesuffix(SALIENT)), name)
    given = MODELS.get(given, given)
    kind, *values = re.split(r"[:=]", given, maxsplit=1)
    written = values[0] if values else ""
    try:
        if kind in _OF_ONE and "=" not in written:
            return _OF_ONE[kind](written)
        if kind in _OF_MANY:
            return _OF_MANY[kind](_named(written))
    except _MisfitError as error:
        raise RetrievalError(f"the alignment {name!r} {error}: give one like {FORMS}") from error
    raise RetrievalError(f"there is no alignment {name!r}: give one like {FORMS}")


class _MisfitError(Exception):
    """What is wrong with a value of a form."""


def _salient(alignment: Alignment, name: str) -> Alignment:
    if alignment.salient or alignment.kind == "xtr":
        raise RetrievalError(f"the alignment {name!r} cannot be weighed by salience: give one like {FORMS}")
    return replace(alignment, salient=True)


def _named(written: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in written.split(",") if part.strip()]
    if any(not sign for _, sign, _ in pairs):
        raise _MisfitError("has a value without a name")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _none(written: str, form: Alignment) -> Alignment:
    if written:
        raise _MisfitError("takes no value")
    return form


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise _MisfitError(f"wants a whole number from 1 to {MOST:,}, got {text or 'nothing'}")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise _MisfitError(f"wants a share above 0% up to 100%, got {text or 'nothing'}")
    return share


def _eps(text: str) -> float:
    try:
        eps = float(text)
    except ValueError:
        eps = 0.0
    if not 1e-4 <= eps <= 10:
        raise _MisfitError(f"wants an eps from 0.0001 to 10, got {text}")
    return eps


def _only(values: dict[str, str], *names: str) -> None:
    if unknown := sorted(set(values) - set(names)):
        raise _MisfitError(f"has no value {unknown[0]!r}")


def _differentiable(values: dict[str, str]) -> Alignment:
    _only(values, "k", "eps")
    return Alignment("da", _count(values.get("k", "1")), eps=_eps(values.get("eps", "0.002")))


def _xtr(values: dict[str, str]) -> Alignment:
    _only(values, "k")
    return Alignment("xtr", _count(values.get("k", "1000")))


_OF_ONE: dict[str, Callable[[str], Alignment]] = {
    "top-k": lambda v: Alignment("top-k", _count(v)),
    "top-p": lambda v: Alignment("top-p", share=_share(v)),
    "exact": lambda v: _none(v, Alignment("exact")),
    "first": lambda v: _none(v, Alignment("first")),
    "first-k": lambda v: Alignment("first", _count(v)),
}
_OF_MANY: dict[str, Callable[[dict[str, str]], Alignment]] = {"da": _differentiable, "xtr": _xtr}
