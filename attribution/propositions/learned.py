"""The learned splitter: a network groups words into claims, and rules of English give those that do not read."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from propcite.attribution.citations import Proposition
from propcite.attribution.english import Fact, Piece, Tagged, tag, with_antecedent
from propcite.attribution.propositions import SPLITTER_WEIGHTS
from propcite.attribution.propositions.claim_selection import NetworkOutput, select_claims
from propcite.attribution.propositions.grouped.claims import grouped_claims, held_tokens
from propcite.attribution.propositions.metrics import word_spans
from propcite.attribution.propositions.parses import Parse
from propcite.attribution.propositions.reading import clauses_read, corrected, covers, is_readable
from propcite.attribution.propositions.rules import clauses, loses_words
from propcite.attribution.propositions.sentence import trivial_split, whole_sentence, without_markup
from propcite.attribution.propositions.wording import proposition_of
from propcite.retrieval.interrupting import check_interrupt
from propcite.retrieval.text import Span

if TYPE_CHECKING:
    from torch import Tensor

    from propcite.attribution.propositions.network import Network

BATCH = 32
OWN_ROLE = 1  # of a word that belongs to one claim alone


@dataclass(frozen=True, slots=True)
class SplitterOutput:
    """What the network read of a sentence: its scores, the parse if it reads grammar, and the states of the tokens."""

    network: NetworkOutput
    parse: Parse | None
    states: Tensor


class LearnedSplitter:
    """Splits sentences into the claims that a network groups words into, or by rules where these do not read.

    `weights` is a file that training wrote.  `style` sets how finely to split: `any`, or `clause` for fewer and longer
    claims (`atomic` and `span` are the annotation styles that `any` was trained on).
    """

    def __init__(self, weights: Path = SPLITTER_WEIGHTS, *, style: str = "any") -> None:
        self.style = _valid_style(style)
        self._network, self._lock = _load(weights, _stamp(weights))
        self.name = f"learned/{weights.stem}"

    def with_style(self, style: str) -> LearnedSplitter:
        """Return a splitter with the same network and another style."""
        other = copy(self)
        other.style = _valid_style(style)
        return other

    def was_trained_on(self, sentence: str) -> bool:
        """Return whether the weights were trained on a sentence, which then cannot evaluate them."""
        from propcite.attribution.propositions.network import fingerprint

        return fingerprint(sentence) in self._network.seen

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        return self.split_many([sentence], [context])[0]

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        """Return the propositions per sentence; sentences of similar length share a batch."""
        blanks = [without_markup(sentence) for sentence in sentences]
        splits = [trivial_split(s, b) for s, b in zip(sentences, blanks, strict=True)]
        todo = sorted((i for i, split in enumerate(splits) if split is None), key=lambda i: len(blanks[i]))
        for first in range(0, len(todo), BATCH):
            check_interrupt()
            batch = todo[first : first + BATCH]
            tagged = [tag(sentences[i], blanks[i]) for i in batch]
            outputs = self.outputs([blanks[i] for i in batch], tagged)
            for i, (s, claims) in zip(batch, self._claims(tagged, outputs), strict=True):
                if len(claims) < 2:
                    splits[i] = [whole_sentence(sentences[i], blanks[i])]
                else:
                    propositions = (proposition_of(sentences[i], blanks[i], s, claim) for claim in claims)
                    splits[i] = [replace(p, text=with_antecedent(p.text, contexts[i])) for p in propositions]
        return [split if split is not None else [] for split in splits]

    def parses(self, sentences: Sequence[str]) -> list[Parse | None]:
        """Return how the network reads the grammar of sentences; None for one that is too long, or if it cannot."""
        tagged = [tag(sentence, sentence) for sentence in sentences]
        return [output.parse if output else None for output in self.outputs(sentences, tagged)] if sentences else []

    def _claims(
        self, tagged: Sequence[Tagged], outputs: Sequence[SplitterOutput | None]
    ) -> list[tuple[Tagged, list[Fact]]]:
        """Return each sentence as it was read, and its claims: those that the network writes, or else the rules'."""
        read = [
            _claims_of_rules(s, output.network, output.parse) if output else (s, [])
            for s, output in zip(tagged, outputs, strict=True)
        ]
        if not self._network.writes:
            return read
        held = [held_tokens(output.network) if output and output.parse else [] for output in outputs]
        with self._lock:
            pairs = zip(outputs, held, strict=True)
            written = iter(self._network.writer.write([(o.states, tokens) for o, own in pairs if o for tokens in own]))
        claims: list[tuple[Tagged, list[Fact]]] = []
        for (s, of_rules), output, own in zip(read, outputs, held, strict=True):
            texts = [next(written) for _ in own]
            found = grouped_claims(s, output.parse, own, texts, of_rules) if output and output.parse else []
            claims.append((s, found or of_rules))
        return claims

    def outputs(self, sentences: Sequence[str], tagged: Sequence[Tagged]) -> list[SplitterOutput | None]:
        """Return the network's output per sentence; None for a sentence that is too long for it."""
        import torch

        from propcite.attribution.propositions.network import states_at

        words = [word_spans(sentence) for sentence in sentences]
        with self._lock, torch.inference_mode():
            tokens = [[Span(*place) for place in s.places] for s in tagged]
            batch = self._network.encode(sentences, words, tokens, [self.style] * len(sentences))
            states = self._network.states(batch)
            pair_logits, role_logits, parse_logits = self._network.scores(states, batch)
            of_tokens = states_at(states, batch.tokens).float()
            pairs = torch.sigmoid(pair_logits).cpu().numpy()
            own = torch.softmax(role_logits, -1)[..., OWN_ROLE].cpu().numpy()
            read = self._network.grammar.read
            parses = read(parse_logits, batch.num_tokens) if self._network.parses else [None] * len(words)
        outputs: list[SplitterOutput | None] = []
        for number, (s, spans) in enumerate(zip(tagged, words, strict=True)):
            n = batch.num_words[number]
            scores = NetworkOutput(pairs[number, :n, :n], own[number, :n], _words_of_tokens(s, spans))
            fits = n == len(spans) and batch.num_tokens[number] == len(s.places)
            output = SplitterOutput(scores, parses[number], of_tokens[number, : len(s.places)])
            outputs.append(output if fits else None)
        return outputs


def _stamp(path: Path) -> tuple[int, int]:
    """Return what changes with a file; nothing where there is none."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=2)  # the shipped one, and another beside it
def _load(weights: Path, _stamp: tuple[int, int]) -> tuple[Network, threading.Lock]:
    """Load the network of a file once per process, with the lock under which it is used."""
    from propcite.attribution.propositions import splitter_files

    return splitter_files.load(weights), threading.Lock()


def _valid_style(style: str) -> str:
    from propcite.attribution.propositions.network import STYLES

    if style not in STYLES:
        raise ValueError(f"expected style {', '.join(STYLES)}, got {style!r}")
    return style


def _words_of_tokens(s: Tagged, words: Sequence[Span]) -> list[list[int]]:
    """Return the network's words that each token of the grammar overlaps."""
    words_of: list[list[int]] = [[] for _ in s.places]
    at = 0
    for token, (start, end) in enumerate(s.places):
        while at < len(words) and words[at].end <= start:
            at += 1
        word = at
        while word < len(words) and words[word].start < end:
            words_of[token].append(word)
            word += 1
    return words_of


def _claims_of_rules(s: Tagged, output: NetworkOutput, parse: Parse | None) -> tuple[Tagged, list[Fact]]:
    """Return the sentence as it was read, and its distinct claims: its clauses if the claims would lose a word."""
    s = corrected(s, parse) if parse else s
    facts = (clauses_read(s, parse) if parse else clauses(s)) or [(Piece(0, _end_of_words(s)),)]
    by_words: dict[frozenset[int], Fact] = {}
    seen: set[int] = set()
    for fact in facts:
        selected = select_claims(s, fact, output, seen)
        readable = [claim for claim in selected if is_readable(s, parse, claim)] if parse else selected
        if len(readable) < len(selected):
            selected = readable if covers(s, readable, fact) else [*readable, fact]
        for claim in selected:
            tokens = {i for piece in claim for i in range(piece.start, piece.end)}
            by_words.setdefault(frozenset(i for i in tokens if s.words[i][:1].isalnum()), claim)
            seen |= tokens
    claims = [
        claim for words, claim in by_words.items() if not any(_only_adds_lead(words, other) for other in by_words)
    ]
    return s, facts if loses_words(s, claims) else claims


def _only_adds_lead(words: frozenset[int], other: frozenset[int]) -> bool:
    """Return whether another claim is this one with a lead phrase before it."""
    return words < other and max(other - words) < min(words)


def _end_of_words(s: Tagged) -> int:
    end = len(s.tags)
    while end and s.tags[end - 1] in ".,;:-":
        end -= 1
    return end
