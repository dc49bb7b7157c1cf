"""Alignments and their names: the pairs of tokens that count in a score."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from propcite.retrieval.errors import RetrievalError

if TYPE_CHECKING:
    from torch import Tensor

MAX_K = 100_000
FORMS = "top-k=2, top-p=1.5%, da:k=2,eps=0.02, exact, first, first-k=8, xtr, xtr:k=1000, top-k=1+salience"
SALIENT = "+salience"
MODELS = {"colbert": "top-k=1", "max": "top-k=1", "dpr": "first", "coil": "exact"}  # the alignments of earlier models

Kind = Literal["top-k", "top-p", "da", "exact", "first", "xtr"]


@dataclass(frozen=True, slots=True)
class Alignment:
    """The tokens of a text that each query token is aligned with.

    top-k: its k nearest.  top-p: its nearest share of the text's tokens.  da: the smooth top-k.  exact: the nearest
    token that is the same word.  first: only the first query token, with the nearest of the text's first k tokens.
    xtr: the nearest of the tokens it retrieved, which are its k nearest in the whole collection; only an index can
    apply it, for a single text it is top-k=1.  With `salient` a pair counts as much as its token of the text.
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
        """Return whether it compares vocabulary ids."""
        return self.kind == "exact"

    @property
    def counts_unmatched(self) -> bool:
        """Return whether query tokens without an aligned token count, with similarity 0."""
        return self.kind == "exact"

    def pairs(self, similarities: Tensor, tokens: Tensor, same: Tensor | None = None) -> Tensor:
        """Return A (..., q, t) from similarities (..., q, t), a mask of present tokens (..., t) and of `same` words."""
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
                    raise RetrievalError("the alignment exact needs the vocabulary ids of all tokens")
                return pairs.exact_match(similarities, tokens, same)
        return pairs.top_k(similarities, tokens, 1 if self.kind == "xtr" else self.k)


NEAREST = Alignment()


def alignment_of(name: str) -> Alignment:
    """Return the alignment of this name: `top-k=2`, `top-p=1.5%`, `da:k=2,eps=0.02`, `exact`, `first-k=8`, `xtr`.

    >>> str(alignment_of("top-p=1.5%")), str(alignment_of("colbert")), str(alignment_of("da:k=2"))
    ('top-p=1.5%', 'top-k=1', 'da:k=2,eps=0.002')
    """
    form = name.strip().lower()
    if form.endswith(SALIENT):
        return _with_salience(alignment_of(form.removesuffix(SALIENT)), name)
    form = MODELS.get(form, form)
    kind, *rest = re.split(r"[:=]", form, maxsplit=1)
    value = rest[0] if rest else ""
    try:
        if kind in _WITH_ONE_VALUE and "=" not in value:
            return _WITH_ONE_VALUE[kind](value)
        if kind in _WITH_NAMED_VALUES:
            return _WITH_NAMED_VALUES[kind](_named_values(value))
    except _InvalidValueError as error:
        raise RetrievalError(f"the alignment {name!r} {error}: give one like {FORMS}") from error
    raise RetrievalError(f"there is no alignment {name!r}: give one like {FORMS}")


class _InvalidValueError(Exception):
    """A value does not fit; the message continues "the alignment …"."""


def _with_salience(alignment: Alignment, name: str) -> Alignment:
    if alignment.salient or alignment.kind == "xtr":
        raise RetrievalError(f"the alignment {name!r} cannot be weighted by salience: give one like {FORMS}")
    return replace(alignment, salient=True)


def _named_values(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not sign for _, sign, _ in pairs):
        raise _InvalidValueError("has a value without a name")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _without_value(text: str, form: Alignment) -> Alignment:
    if text:
        raise _InvalidValueError("takes no value")
    return form


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_K:
        raise _InvalidValueError(f"needs a whole number from 1 to {MAX_K:,}, got {text or 'nothing'}")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise _InvalidValueError(f"needs a share above 0% up to 100%, got {text or 'nothing'}")
    return share


def _eps(text: str) -> float:
    try:
        eps = float(text)
    except ValueError:
        eps = 0.0
    if not 1e-4 <= eps <= 10:
        raise _InvalidValueError(f"needs an eps from 0.0001 to 10, got {text}")
    return eps


def _check_names(values: dict[str, str], *names: str) -> None:
    if unknown := sorted(set(values) - set(names)):
        raise _InvalidValueError(f"has no value {unknown[0]!r}")


def _differentiable(values: dict[str, str]) -> Alignment:
    _check_names(values, "k", "eps")
    return Alignment("da", _count(values.get("k", "1")), eps=_eps(values.get("eps", "0.002")))


def _xtr(values: dict[str, str]) -> Alignment:
    _check_names(values, "k")
    return Alignment("xtr", _count(values.get("k", "1000")))


_WITH_ONE_VALUE: dict[str, Callable[[str], Alignment]] = {
    "top-k": lambda v: Alignment("top-k", _count(v)),
    "top-p": lambda v: Alignment("top-p", share=_share(v)),
    "exact": lambda v: _without_value(v, Alignment("exact")),
    "first": lambda v: _without_value(v, Alignment("first")),
    "first-k": lambda v: Alignment("first", _count(v)),
}
_WITH_NAMED_VALUES: dict[str, Callable[[dict[str, str]], Alignment]] = {"da": _differentiable, "xtr": _xtr}
