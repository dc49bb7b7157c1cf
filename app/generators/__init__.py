"""Generators: a question and the passages found for it -> the text of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from retrieval.retriever import Retriever


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before it is cited; `abstained` when the sources do not hold one."""

    text: str
    abstained: bool = False


class Generator(Protocol):
    """Anything that writes an answer from the passages that `shown` searches."""

    name: str

    def generate(self, question: str, shown: Retriever) -> Draft: ...
