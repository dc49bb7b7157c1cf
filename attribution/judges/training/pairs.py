"""Training pairs of a claim and evidence, and how a changed pair is made together with its unchanged counterpart."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

YES, MOSTLY, HALF, NO = 1.0, 0.85, 0.3, 0.0


@dataclass(frozen=True, slots=True)
class Pair:
    """A training example: does `evidence` support `claim`?  `label` is the target probability."""

    claim: str
    evidence: str
    label: float
    kind: str
    context: str = ""
    group: str = ""


Replacements = tuple[tuple[str, str], ...]  # (old, new), all applied at once


def replace_words(text: str, replacements: Replacements) -> str | None:
    """Replace all of these words in the text; None if one of them is missing.

    >>> replace_words("Ann met Bo.", (("Ann", "Bo"), ("Bo", "Ann")))
    'Bo met Ann.'
    """
    table = dict(replacements)
    if not all(re.search(rf"(?<!\w){re.escape(old)}(?!\w)", text) for old in table):
        return None
    either = "|".join(re.escape(old) for old in sorted(table, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda match: table[match.group()], text)


def one_and_both_sides(
    pair: Pair, replacements: Replacements, kind: str, rng: random.Random, *, label: float = NO
) -> list[Pair]:
    """Change a supported pair on one side, which gets `label`, and on both sides, which stays supported.

    A text changed on both sides reads as oddly as one changed on one side, so the judge cannot learn from oddness.
    """
    claim, evidence = replace_words(pair.claim, replacements), replace_words(pair.evidence, replacements)
    pairs = [replace(pair, claim=claim, label=label, kind=kind)] if claim else []
    if evidence and claim:
        if rng.random() < 0.5:
            pairs = [replace(pair, evidence=evidence, label=label, kind=f"{kind} evidence")]
        pairs.append(replace(pair, claim=claim, evidence=evidence, kind=f"{kind} both"))
    return pairs


def window(sentences: Sequence[str], required: Iterable[int], max_words: int, rng: random.Random) -> str:
    """Join the required sentences and neighbours of theirs, in order, up to `max_words`."""
    chosen = set(required)
    words = sum(len(sentences[i].split()) for i in chosen)
    around = sorted(set(range(len(sentences))) - chosen, key=lambda i: min(abs(i - k) for k in chosen) + rng.random())
    for i in around:
        words += len(sentences[i].split())
        if words > max_words:
            break
        chosen.add(i)
    return " ".join(sentences[i].strip() for i in sorted(chosen))
