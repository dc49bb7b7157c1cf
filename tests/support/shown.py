"""Passages as a generator is shown them, found with an encoder that knows words alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from word_encoder import WordEncoder

from propcite.app.answering.generators import Draft, GenerationContext, Generator
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import passage_from_text

TEXTS = ("The barrier cost 410 million euros.", "It is 6.4 metres high.", "The ferry leaves at nine.")


def shown_of(texts: Sequence[str] = TEXTS, title: str = "") -> GenerationContext:
    passages = tuple(passage_from_text(f"p{number}", text, title) for number, text in enumerate(texts, start=1))
    return GenerationContext(passages, Retriever.over(cast(Encoder, WordEncoder()), passages))


def written(generator: Generator, question: str, shown: GenerationContext) -> tuple[list[str], Draft]:
    """The pieces that say something, and the draft."""
    writing, pieces = generator.stream(question, shown), []
    while True:
        try:
            pieces.append(next(writing))
        except StopIteration as ended:
            return [piece for piece in pieces if piece], ended.value
