"""The part of long evidence that a claim speaks of."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import fsum, log

from propcite.attribution.english.words import content_words
from propcite.attribution.judges import Case
from propcite.retrieval.sentences import split_sentences

NEAREST = 60  # words: in long evidence a claim's own sentences are hard to tell from all the others'


def readings(case: Case) -> tuple[Case, ...]:
    """The case as it is, and with the nearest words alone where its evidence is long: their mean is judged."""
    text = case.text.strip()
    return (case,) if len(text.split()) <= NEAREST else (case, replace(case, evidence=(readable(case, NEAREST),)))


def readable(case: Case, most_words: int) -> str:
    """The evidence, or those of its sentences that share most of the claim's words, in order, up to so many words."""
    text = case.text.strip()
    if len(text.split()) <= most_words:
        return text
    sentences = [span.of(text).strip() for piece in [text] for span in split_sentences(piece)]
    held = [set(content_words(sentence)) for sentence in sentences]
    spread = Counter(word for words in held for word in words)
    wanted = {word: log(1 + len(sentences) / spread[word]) for word in content_words(case.claim) if spread[word]}
    scores = [fsum(wanted.get(word, 0.0) for word in words) for words in held]  # a set has no order
    chosen: list[int] = []
    words = 0
    for i in sorted(range(len(sentences)), key=lambda i: (-scores[i], i)):
        size = len(sentences[i].split())
        if chosen and words + size > most_words:
            continue
        chosen.append(i)
        words += size
    return " ".join(sentences[i] for i in sorted(chosen))
