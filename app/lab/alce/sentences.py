"""Sentences as in ALCE's evaluator: nltk's Punkt for English.

If nltk's own English model is on this machine, sentences are those of the original.  Otherwise the same algorithm uses
the abbreviations and sentence starters of `retrieval.punkt`: of 425 human answers of ASQA 420 are split alike, of 1,000
of ELI5 954.  Each run stores which of them was used.
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
    """Stands in for nltk's `sent_tokenize`; `model` names whose abbreviations it uses."""

    model: Model
    punkt: Any

    def __call__(self, text: str) -> list[str]:
        sentences: list[str] = self.punkt.tokenize(text)
        return sentences


@cache
def tokenizer() -> SentenceTokenizer:
    """Return nltk's English model from its own folders, else the copy in llama-index-core, else ours."""
    from nltk import data
    from nltk.tokenize import PunktTokenizer

    data.path.extend(folder for folder in _llama_index_folders() if folder not in data.path)
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


def _llama_index_folders() -> list[str]:
    """Return the folder that llama-index-core adds to nltk's path; empty if it is not installed."""
    try:
        spec = find_spec("llama_index.core")
    except ModuleNotFoundError:
        return []
    return [str(Path(spec.origin).parent / "_static/nltk_cache")] if spec and spec.origin else []
