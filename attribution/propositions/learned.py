"""The learned splitter: rules cut clauses, a network says which of their phrases are claims, an answer in one batch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path

from propcite.attribution.citations import Proposition
from propcite.attribution.english.grammar import Fact, Piece, Tagged, tag
from propcite.attribution.english.pronouns.antecedent import with_antecedent
from propcite.attribution.propositions import WEIGHTS
from propcite.attribution.propositions.choosing import Reading, chosen
from propcite.attribution.propositions.metrics import word_spans
from propcite.attribution.propositions.rules import clauses, lost
from propcite.attribution.propositions.sentence import undivided, whole, without_marks
from propcite.attribution.propositions.telling import told
from propcite.retrieval.encoding.checkpoints import bundled_model
from propcite.retrieval.text import Span

BATCH = 32
OWN = 1  # the role of a word that one claim alone holds


class LearnedSplitter:
    """Clauses by the rules of English; which of their phrases are claims of their own, a network says.

    `weights` is a file that training wrote; `style` says how finely to split: `any`, or `clause` for fewer, longer
    claims (`atomic` and `span` name the annotations that `any` was learned from).
    """

    def __init__(self, weights: Path = WEIGHTS, *, style: str = "any") -> None:
        from propcite.attribution.propositions.network import Network

        self.style = _known(style)
        self._network = Network.load(weights, bundled_model())
        self._lock = threading.Lock()
        self.name = f"learned/{weights.stem}"

    def in_style(self, style: str) -> LearnedSplitter:
        """The same network, asked to split otherwise."""
        other = copy(self)
        other.style = _known(style)
        return other

    def learned_from(self, sentence: str) -> bool:
        """Whether the weights were trained on a sentence: it cannot measure them."""
        from propcite.attribution.propositions.network import fingerprint

        return fingerprint(sentence) in self._network.seen

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        return self.split_many([sentence], [context])[0]

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        """Each sentence's propositions; sentences of like length are read together."""
        blanks = [without_marks(sentence) for sentence in sentences]
        found: list[list[Proposition] | None] = [undivided(s, b) for s, b in zip(sentences, blanks, strict=True)]
        todo = sorted((i for i, done in enumerate(found) if done is None), key=lambda i: len(blanks[i]))
        for first in range(0, len(todo), BATCH):
            batch = todo[first : first + BATCH]
            tagged = [tag(sentences[i], blanks[i]) for i in batch]
            for i, s, reading in zip(batch, tagged, self._read([blanks[i] for i in batch], tagged), strict=True):
                claims = _claims(s, reading) if reading is not None else []
                if len(claims) < 2:
                    found[i] = [whole(sentences[i], blanks[i])]
                else:
                    made = (told(sentences[i], blanks[i], s, fact) for fact in claims)
                    found[i] = [replace(p, text=with_antecedent(p.text, contexts[i])) for p in made]
        return [done if done is not None else [] for done in found]

    def _read(self, sentences: Sequence[str], tagged: Sequence[Tagged]) -> list[Reading | None]:
        """What the network says of each sentence; nothing of one that is too long for it."""
        import torch

        words = [word_spans(sentence) for sentence in sentences]
        with self._lock, torch.inference_mode():
            batch = self._network.read(sentences, words, [self.style] * len(sentences))
            pairs, roles = self._network(batch)
            held, own = torch.sigmoid(pairs).numpy(), torch.softmax(roles, -1)[..., OWN].numpy()
        found: list[Reading | None] = []
        for number, (s, spans) in enumerate(zip(tagged, words, strict=True)):
            n = batch.num_words[number]
            fits = n == len(spans)
            found.append(Reading(held[number, :n, :n], own[number, :n], _of_tokens(s, spans)) if fits else None)
        return found


def _known(style: str) -> str:
    from propcite.attribution.propositions.network import STYLES

    if style not in STYLES:
        raise ValueError(f"style is one of {', '.join(STYLES)}, got {style!r}")
    return style


def _of_tokens(s: Tagged, words: Sequence[Span]) -> list[list[int]]:
    """Which words of the network each token of the grammar is."""
    found: list[list[int]] = [[] for _ in s.places]
    at = 0
    for token, (start, end) in enumerate(s.places):
        while at < len(words) and words[at].end <= start:
            at += 1
        word = at
        while word < len(words) and words[word].start < end:
            found[token].append(word)
            word += 1
    return found


def _claims(s: Tagged, reading: Reading) -> list[Fact]:
    facts = clauses(s) or [(Piece(0, _last(s)),)]
    claims: dict[frozenset[int], Fact] = {}
    seen: set[int] = set()
    for fact in facts:
        for claim in chosen(s, fact, reading, seen):
            held = {i for piece in claim for i in range(piece.start, piece.end)}
            claims.setdefault(frozenset(i for i in held if s.words[i][:1].isalnum()), claim)
            seen |= held
    told = [claim for held, claim in claims.items() if not any(_adds_lead_alone(held, other) for other in claims)]
    return facts if lost(s, told) else told


def _adds_lead_alone(held: frozenset[int], other: frozenset[int]) -> bool:
    """Whether another claim is this one with a lead before it."""
    return held < other and max(other - held) < min(held)


def _last(s: Tagged) -> int:
    end = len(s.tags)
    while end and s.tags[end - 1] in ".,;:-":
        end -= 1
    return end
