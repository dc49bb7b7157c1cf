"""A claim beside evidence with what is known of the two; how alike pairs are made in opposite directions."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

YES, MOSTLY, HALF, NO = 1.0, 0.85, 0.3, 0.0


@dataclass(frozen=True, slots=True)
class Pair:
    """What the judge learns from: does `evidence` support `claim`?  `label` is the wanted probability."""

    claim: str
    evidence: str
    label: float
    kind: str
    context: str = ""
    group: str = ""


Change = tuple[tuple[str, str], ...]  # words and what stands in their place, all replaced at once


def changed(text: str, change: Change) -> str | None:
    """The text with every one of these words replaced; nothing when it lacks one of them.

    >>> changed("Ann met Bo.", (("Ann", "Bo"), ("Bo", "Ann")))
    'Bo met Ann.'
    """
    table = dict(change)
    if not all(re.search(rf"(?<!\w){re.escape(old)}(?!\w)", text) for old in table):
        return None
    either = "|".join(re.escape(old) for old in sorted(table, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda found: table[found.group()], text)


def both_ways(pair: Pair, change: Change, kind: str, dice: random.Random, *, label: float = NO) -> list[Pair]:
    """A supported pair with a change on one side (`label`) and on both (supported still): one says as little as two.

    What is changed on both sides reads as oddly as what is changed on one, so oddness alone tells nothing.
    """
    claim, evidence = changed(pair.claim, change), changed(pair.evidence, change)
    made = [replace(pair, claim=claim, label=label, kind=kind)] if claim else []
    if evidence and claim:
        if dice.random() < 0.5:
            made = [replace(pair, evidence=evidence, label=label, kind=f"{kind} evidence")]
        made.append(replace(pair, claim=claim, evidence=evidence, kind=f"{kind} both"))
    return made


def window(sentences: Sequence[str], kept: Iterable[int], most_words: int, dice: random.Random) -> str:
    """Those sentences and neighbours of theirs, in order, up to so many words."""
    chosen = set(kept)
    words = sum(len(sentences[i].split()) for i in chosen)
    around = sorted(set(range(len(sentences))) - chosen, key=lambda i: min(abs(i - k) for k in chosen) + dice.random())
    for i in around:
        words += len(sentences[i].split())
        if words > most_words:
            break
        chosen.add(i)
    return " ".join(sentences[i].strip() for i in sorted(chosen))
