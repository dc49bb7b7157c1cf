"""Make pairs from unlabelled text: atomic facts of sentences, sentences split in two, passages with their claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from propcite.attribution.english import content_words, share_found
from propcite.attribution.judges.training.pairs import NO, YES, Pair, window
from propcite.attribution.judges.training.rows import Row, RowPairMaker

SplitClaims = Callable[[Sequence[str]], list[list[str]]]  # sentences to the claims of each

_PRONOUN = re.compile(r"^(?:He|She|It|They)\b(?!')")


class PairMaker(RowPairMaker):
    """Makes pairs from labelled rows and from unlabelled text."""

    def facts(self, row: Row) -> list[Pair]:
        """Pair the atomic facts that people wrote for a sentence with it, with its neighbours, and with changes."""
        rng = self.rng
        sentence, context = str(row["sentence"]), [str(s) for s in row.get("context") or ()]
        facts = [str(p) for p in row["propositions"] if len(str(p).split()) > 2]
        others = [s for s in context if s != sentence]
        pairs: list[Pair] = []
        for fact in rng.sample(facts, min(len(facts), 2)):
            pair = Pair(fact, sentence, YES, f"{row['source']} fact", group=sentence)
            pairs.append(pair)
            if others and rng.random() < 0.4:
                pairs += self._in_window(fact, sentence, others)
            if others and rng.random() < 0.6:
                pairs += self.other_sentence(fact, sentence, others)
        if facts:
            base = Pair(rng.choice(facts), sentence, YES, str(row["source"]), group=sentence)
            pairs += self.some_changes(base, " ".join([sentence, *others]), 2)
        return pairs

    def _in_window(self, fact: str, own: str, others: Sequence[str]) -> list[Pair]:
        """Pair the fact with several sentences, with or without its own."""
        size = self.rng.randint(40, 160)
        if self.rng.random() < 0.5:
            return [Pair(fact, window([own, *others], [0], size, self.rng), YES, "fact window")]
        without = window(others, [0], size, self.rng)
        supported = share_found(content_words(fact), content_words(without)) > 0.85
        return [] if supported else [Pair(fact, without, NO, "fact window without")]

    def halves(self, row: Row) -> list[Pair]:
        """Pair a sentence with the two sentences it was split into: it supports both, one alone does not support it."""
        rng, whole = self.rng, _untokenized(str(row["sentence"]))
        parts = [_untokenized(str(p)) for p in row["propositions"]]
        if len(parts) != 2 or min(len(p.split()) for p in parts) < 5:
            return []
        part = rng.choice(parts)
        pairs = [Pair(part, whole, YES, "part of whole"), Pair(whole, " ".join(parts), YES, "whole of parts"),
                 Pair(whole, part, 0.1, "whole of part"),
                 Pair(part, parts[part == parts[0]], NO, "part of part")]  # fmt: skip
        return [*rng.sample(pairs, 2), *self.some_changes(pairs[0], whole, 1)]

    def passage(self, sentences: Sequence[str], claims: Sequence[Sequence[str]], title: str) -> list[Pair]:
        """Pair a claim of each sentence with the sentence, with another one, with a window, and with changes.

        `claims` holds the claims of each sentence; sentences without any are skipped.
        """
        pairs: list[Pair] = []
        for number, own_claims in enumerate(claims):
            if usable := [c for c in own_claims if 3 < len(c.split()) < 40]:
                pairs += self._claim_pairs(self.rng.choice(usable), sentences, number, title)
        return pairs

    def _claim_pairs(self, claim: str, sentences: Sequence[str], number: int, title: str) -> list[Pair]:
        rng, own = self.rng, sentences[number].strip()
        before = sentences[number - 1].strip() if number else ""
        context = "\n".join(filter(None, [title, before])) if rng.random() < 0.4 else ""
        if title and _PRONOUN.match(claim) and rng.random() < 0.7:
            claim, context = _PRONOUN.sub(title, claim), title
        pair = Pair(claim, own, YES, "own sentence", context)
        others = [s.strip() for i, s in enumerate(sentences) if i != number]
        pairs = [pair, *self.other_sentence(claim, own, others)] if others else [pair]
        if rng.random() < 0.25:
            pairs.append(Pair(claim, window(sentences, [number], rng.randint(50, 180), rng), YES, "window"))
            rest = [s for i, s in enumerate(sentences) if i != number]
            pairs.append(Pair(claim, window(rest, [min(number, len(rest) - 1)], rng.randint(40, 160), rng),
                             NO, "window without") if rest else pair)  # fmt: skip
        return pairs + self.some_changes(pair, " ".join(sentences), 2, title)


def _untokenized(text: str) -> str:
    """Remove the spaces around punctuation that a tokenized data set has."""
    text = re.sub(r"\s*(?:``|'')\s*", ' " ', text)
    return re.sub(r" ([,;:.!?)\]%]|'(?:s|re|ve|ll|d|m)\b|n't\b)", r"\1", re.sub(r"([(\[$£€]) ", r"\1", text)).strip()
