"""Sentences as ALCE's evaluator cuts them: nltk's Punkt for English.

With nltk's own English model, where it is on this machine, the cuts are the original's.  Without, the same algorithm
decides by the abbreviations and sentence starters of `retrieval.punkt`: of 425 human answers of ASQA 420 are cut the
same, of 1,000 of ELI5 954.  What was used is a setting of every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

Model = Literal["punkt_tab", "punkt of propcite"]


@dataclass(frozen=True, slots=True)
class SentenceTokenizer:
    """Stands for nltk's `sent_tokenize`; `model` tells whose abbreviations it knows."""

    model: Model
    punkt: Any

    def __call__(self, text: str) -> list[str]:
        found: list[str] = self.punkt.tokenize(text)
        return found


@cache
def tokenizer() -> SentenceTokenizer:
    """nltk's English model from its own folders, else the copy that comes with llama-index-core, else ours."""
    from nltk import data
    from nltk.tokenize import PunktTokenizer

    data.path.extend(folder for folder in _beside_llama_index() if folder not in data.path)
    try:
        return SentenceTokenizer("punkt_tab", PunktTokenizer("english"))
    except LookupError:
        return own_tokenizer()


def own_tokenizer() -> SentenceTokenizer:
    from propcite.retrieval.punkt import english_punkt

    return SentenceTokenizer("punkt of propcite", english_punkt())


@lru_cache(maxsize=1 << 14)
def sentences_of(text: str) -> tuple[str, ...]:
    return tuple(tokenizer()(text))


def _beside_llama_index() -> list[str]:
    """Where that package itself has nltk look."""
    try:
        spec = find_spec("llama_index.core")
    except ModuleNotFoundError:
        return []
    return [str(Path(spec.origin).parent / "_static/nltk_cache")] if spec and spec.origin else []
