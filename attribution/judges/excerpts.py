"""Cut long evidence down to the sentences nearest to a claim."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from math import fsum, log

from propcite.attribution.english import content_words
from propcite.attribution.judges import Case
from propcite.retrieval.sentences import split_sentences

PRONOUN = re.compile(r"(?:it|he|she|they|its|his|her|their|this|these)\b", re.IGNORECASE)
EXCERPT_WORDS = 60  # in longer evidence a claim's own sentences are hard to tell from the others


def with_excerpt(case: Case) -> tuple[Case, ...]:
    """Return the case and, if its evidence is long, also the case with an excerpt: judges average over both."""
    if len(case.text.split()) <= EXCERPT_WORDS:
        return (case,)
    return case, replace(case, evidence=(excerpt(case, EXCERPT_WORDS),))


def excerpt(case: Case, max_words: int) -> str:
    """Return the evidence, or if it is longer than `max_words`, its best sentences in their order.

    The best share most of the claim's words, where a word counts more the fewer sentences contain it.
    """
    text = case.text.strip()
    if len(text.split()) <= max_words:
        return text
    sentences = [span.of(text).strip() for span in split_sentences(text)]
    word_sets = [set(content_words(sentence)) for sentence in sentences]
    frequency = Counter(word for words in word_sets for word in words)
    weights = {word: log(1 + len(sentences) / frequency[word]) for word in content_words(case.claim) if frequency[word]}
    scores = [fsum(weights.get(word, 0.0) for word in words) for words in word_sets]  # fsum: sets have no order
    chosen: list[int] = []
    num_words = 0
    for i in sorted(range(len(sentences)), key=lambda i: (-scores[i], i)):
        size = len(sentences[i].split())
        if chosen and num_words + size > max_words:
            continue
        chosen.append(i)
        num_words += size
    return " ".join(sentences[i] for i in sorted(chosen))
