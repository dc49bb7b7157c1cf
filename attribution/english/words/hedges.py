"""Where the evidence holds for possible what a claim states for a fact."""

from __future__ import annotations

import re

from propcite.attribution.english.words.content import FUNCTION_WORDS, plain_words, stem
from propcite.attribution.english.words.overlap import plain_share, telling_words

HEDGE = re.compile(
    r"\b(?:may|might|could(?! not\b| n't)|if|plan(?:s|ned|ning)? to|propos(?:es?|ed|ing) (?:to|that)"
    r"|(?:is|are|was|were|been) (?:planned|proposed))\b"
)
_UNSURE = frozenset(
    "may might could can would should if possibly perhaps likely plan plans planned planning propose proposes proposed "
    "proposal expected intended intends potential possible".split()
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")


def only_hedged(claim: str, evidence: str, *, share: float) -> bool:
    """Whether the claim states for a fact what every sentence of the evidence that speaks of it holds for possible.

    >>> only_hedged("The barrier cost ten million.", "The barrier could cost ten million.", share=0.6)
    True
    """
    if _UNSURE & set(re.findall(r"[^\W_]+", re.sub(r"\bMay\b", " ", claim).lower())):
        return False
    sentences = _SENTENCE_END.split(evidence)
    speaking = [sentence for sentence in sentences if plain_share(claim, sentence) >= share]
    return bool(speaking) and all(_is_hedged(claim, sentence) for sentence in speaking)


def _is_hedged(claim: str, sentence: str) -> bool:
    wanted = set(telling_words(claim))
    given = re.findall(r"n't|[^\W_]+|,", re.sub(r"\bMay\b", " ", sentence).lower().replace("’", "'"))
    places = [i for i, word in enumerate(given) if stem(word) in wanted]
    if not places or places[-1] - places[0] > 2 * len(plain_words(claim)) + 4:
        return False
    start = max(0, places[0] - 2)
    for i in range(start, places[-1] + 1):
        if not HEDGE.match(" ".join(given[i : i + 3])):
            continue
        following = next((w for w in given[i + 1 :] if w not in FUNCTION_WORDS and w != ","), "")
        first = next((j + 1 for j in range(i, -1, -1) if given[j] == ","), 0)
        last = next((j for j in range(i, len(given)) if given[j] == ","), len(given))
        own = i == 0 or given[i - 1] not in ("that", "which", "who")
        if stem(following) in wanted or (own and any(first <= place < last for place in places)):
            return True
    return False
