"""Find the passages, sentences and propositions that support a text.

`Encoder` and `Retriever` load PyTorch, so they are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from propcite.retrieval.errors import EncoderError, IndexFormatError, PropCiteError, RetrievalError
from propcite.retrieval.text import Document, Granularity, Heading, Hit, Page, Passage, Sentence, Span

if TYPE_CHECKING:
    from propcite.retrieval.encoding.encoder import Encoder
    from propcite.retrieval.retriever import Retriever
    from propcite.retrieval.spans import score_spans

__all__ = [
    "Document",
    "Encoder",
    "EncoderError",
    "Granularity",
    "Heading",
    "Hit",
    "IndexFormatError",
    "Page",
    "Passage",
    "PropCiteError",
    "RetrievalError",
    "Retriever",
    "Sentence",
    "Span",
    "score_spans",
]

_LAZY = {
    "Encoder": "propcite.retrieval.encoding.encoder",
    "Retriever": "propcite.retrieval.retriever",
    "score_spans": "propcite.retrieval.spans",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'propcite.retrieval' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
