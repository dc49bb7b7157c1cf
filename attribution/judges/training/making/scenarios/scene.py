"""A scene: a few made-up sentences with claims about them, right and wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from propcite.attribution.judges.training.making.example import CONTRADICTED, SUPPORTED, UNSUPPORTED
from propcite.attribution.judges.training.making.rewriting import Draft, Piece, compose
from propcite.attribution.judges.training.making.scenarios.names import Names


@dataclass(frozen=True, slots=True)
class Scene:
    """Sentences of one passage, in their order, and claims about them."""

    sentences: tuple[str, ...]
    drafts: tuple[Draft, ...]


Scenario = Callable[[Names, random.Random], Iterator[Scene]]


def right(kind: str, *texts: str) -> list[Draft]:
    """Return the claim that the texts form together, as supported."""
    return list(compose([Piece(text) for text in texts], SUPPORTED, kind))


def wrong(kind: str, *texts: str | Piece, label: str = CONTRADICTED) -> list[Draft]:
    """Return the claim that the texts form together; `bad(...)` marks the words that make it wrong."""
    pieces = [text if isinstance(text, Piece) else Piece(text) for text in texts]
    return list(compose(pieces, label, kind))


def bad(text: str) -> Piece:
    return Piece(text, wrong=True)


def scene(sentences: Iterable[str], *claims: Iterable[Draft]) -> Scene:
    return Scene(tuple(sentences), tuple(draft for group in claims for draft in group))


__all__ = ["CONTRADICTED", "SUPPORTED", "UNSUPPORTED", "Scenario", "Scene", "bad", "right", "scene", "wrong"]
