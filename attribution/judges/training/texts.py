"""Texts as pairs: sentences with people's own facts, sentences parted in two, passages with their propositions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from propcite.attribution.english.words import content_words, share_found
from propcite.attribution.judges.training.pairs import NO, YES, Pair, window
from propcite.attribution.judges.training.rows import Maker, Row

Claims = Callable[[Sequence[str]], list[list[str]]]  # sentences to the propositions of each

_PRONOUN = re.compile(r"^(?:He|She|It|They)\b(?!')")


class TextMaker(Maker):
    """Makes pairs of rows and of plain text."""

    def facts(self, row: Row) -> list[Pair]:
        """People's own facts of a sentence: each beside it, beside the sentence next to it, and changed."""
        dice = self.dice
        sentence, context = str(row["sentence"]), [str(s) for s in row.get("context") or ()]
        told = [str(p) for p in row["propositions"] if len(str(p).split()) > 2]
        others = [s for s in context if s != sentence]
        made: list[Pair] = []
        for fact in dice.sample(told, min(len(told), 2)):
            pair = Pair(fact, sentence, YES, f"{row['source']} fact", group=sentence)
            made.append(pair)
            if others and dice.random() < 0.4:
                made += self._in_window(fact, sentence, others)
            if others and dice.random() < 0.6:
                made += self.beside(fact, sentence, others)
        if told:
            base = Pair(dice.choice(told), sentence, YES, str(row["source"]), group=sentence)
            made += self.some_changes(base, " ".join([sentence, *others]), 2)
        return made

    def _in_window(self, fact: str, own: str, others: Sequence[str]) -> list[Pair]:
        """The fact beside several sentences with its own among them, or without it."""
        size = self.dice.randint(40, 160)
        if self.dice.random() < 0.5:
            return [Pair(fact, window([own, *others], [0], size, self.dice), YES, "fact window")]
        without = window(others, [0], size, self.dice)
        told = share_found(content_words(fact), content_words(without)) > 0.85
        return [] if told else [Pair(fact, without, NO, "fact window without")]

    def halves(self, row: Row) -> list[Pair]:
        """A sentence that was parted in two: it says both, and one of them says too little for it."""
        dice, whole = self.dice, _joined(str(row["sentence"]))
        parts = [_joined(str(p)) for p in row["propositions"]]
        if len(parts) != 2 or min(len(p.split()) for p in parts) < 5:
            return []
        part = dice.choice(parts)
        kinds = [Pair(part, whole, YES, "part of whole"), Pair(whole, " ".join(parts), YES, "whole of parts"),
                 Pair(whole, part, 0.1, "whole of part"),
                 Pair(part, parts[part == parts[0]], NO, "part of part")]  # fmt: skip
        return [*dice.sample(kinds, 2), *self.some_changes(kinds[0], whole, 1)]

    def passage(self, sentences: Sequence[str], told: Sequence[Sequence[str]], title: str) -> list[Pair]:
        """Claims of a passage beside their sentences, beside others, beside a window, and changed.

        `told` holds the propositions of each sentence; sentences without any are not asked about.
        """
        dice, made = self.dice, list[Pair]()
        for number, claims in enumerate(told):
            usable = [c for c in claims if 3 < len(c.split()) < 40]
            if not usable:
                continue
            claim, own = dice.choice(usable), sentences[number].strip()
            before = sentences[number - 1].strip() if number else ""
            context = "\n".join(filter(None, [title, before])) if dice.random() < 0.4 else ""
            if title and _PRONOUN.match(claim) and dice.random() < 0.7:
                claim, context = _PRONOUN.sub(title, claim), title
            pair = Pair(claim, own, YES, "own sentence", context)
            others = [s.strip() for i, s in enumerate(sentences) if i != number]
            made += [pair, *self.beside(claim, own, others)] if others else [pair]
            if dice.random() < 0.25:
                made.append(Pair(claim, window(sentences, [number], dice.randint(50, 180), dice), YES, "window"))
                rest = [s for i, s in enumerate(sentences) if i != number]
                made.append(Pair(claim, window(rest, [min(number, len(rest) - 1)], dice.randint(40, 160), dice),
                                 NO, "window without") if rest else pair)  # fmt: skip
            made += self.some_changes(pair, " ".join(sentences), 2, title)
        return made


def _joined(text: str) -> str:
    """Text whose marks stand apart, as it is usually written."""
    text = re.sub(r"\s*(?:``|'')\s*", ' " ', text)
    return re.sub(r" ([,;:.!?)\]%]|'(?:s|re|ve|ll|d|m)\b|n't\b)", r"\1", re.sub(r"([(\[$£€]) ", r"\1", text)).strip()
