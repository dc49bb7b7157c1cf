"""The learned splitter: which words of a sentence make which claim, all sentences of an answer in one batch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from attribution.citations import Proposition
from attribution.metrics import word_spans
from attribution.propositions.checkworthy import needs_citation
from attribution.propositions.clusters import claims
from attribution.propositions.readable import readable
from attribution.propositions.sentence import solid, undivided, whole, without_marks
from attribution.words import FUNCTION_WORDS
from retrieval.encoder import bundled_model
from retrieval.text import Span

WEIGHTS = Path(__file__).parents[1] / "models" / "splitter.safetensors"
BATCH = 32


class LearnedSplitter:
    """Reads a sentence once; every proposition's spans are words of it.

    `weights` is a file that training wrote; `style` says how finely to split: `any`, `atomic` or `span`.
    """

    def __init__(self, weights: Path = WEIGHTS, *, style: str = "any") -> None:
        from attribution.propositions.network import STYLES, Network

        if style not in STYLES:
            raise ValueError(f"style is one of {', '.join(STYLES)}, got {style!r}")
        self._network = Network.load(weights, bundled_model())
        self._lock = threading.Lock()
        self.style = style
        self.name = f"learned/{weights.stem}"

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        return self.split_many([sentence], [context])[0]

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        """Each sentence's propositions; sentences of like length are read together."""
        blanks = [without_marks(sentence) for sentence in sentences]
        found: list[list[Proposition] | None] = [undivided(s, b) for s, b in zip(sentences, blanks, strict=True)]
        words = [word_spans(blank) if done is None else [] for blank, done in zip(blanks, found, strict=True)]
        todo = sorted((i for i, done in enumerate(found) if done is None), key=lambda i: len(blanks[i]))
        for first in range(0, len(todo), BATCH):
            batch = todo[first : first + BATCH]
            for i, groups in zip(
                batch, self._claims([blanks[i] for i in batch], [words[i] for i in batch]), strict=True
            ):
                spans = [_spans(sentences[i], blanks[i], group, words[i]) for group in groups]
                found[i] = _propositions(sentences[i], blanks[i], spans, contexts[i])
        return [done if done is not None else [] for done in found]

    def _claims(self, sentences: Sequence[str], words: Sequence[Sequence[Span]]) -> list[list[list[int]]]:
        """Each sentence's claims as places of their words; none for a sentence that is one claim or does not fit."""
        import torch

        with self._lock, torch.inference_mode():
            batch = self._network.read(sentences, words, [self.style] * len(sentences))
            pairs, roles = self._network(batch)
            held, own = torch.sigmoid(pairs).numpy(), torch.softmax(roles, -1)[..., 1].numpy()
        found = []
        for number, (sentence, spans) in enumerate(zip(sentences, words, strict=True)):
            n = batch.num_words[number]
            content = [span.of(sentence).lower() not in FUNCTION_WORDS for span in spans]
            found.append(claims(held[number, :n, :n], own[number, :n], content) if n == len(spans) else [])
        return found


def _spans(sentence: str, blank: str, group: Sequence[int], words: Sequence[Span]) -> tuple[Span, ...]:
    """Words that stand next to each other in the sentence make one span."""
    spans: list[Span] = []
    for _, run in groupby(enumerate(group), key=lambda place: place[1] - place[0]):
        members = [word for _, word in run]
        spans += solid(sentence, blank, words[members[0]].start, words[members[-1]].end)
    return tuple(spans)


def _propositions(
    sentence: str, blank: str, claims_spans: Sequence[tuple[Span, ...]], context: Sequence[str]
) -> list[Proposition]:
    if len(claims_spans) < 2:
        return [whole(sentence, blank)]
    texts = [readable(sentence, spans, context) for spans in claims_spans]
    return [Proposition(spans, text, needs_citation(text)) for spans, text in zip(claims_spans, texts, strict=True)]
