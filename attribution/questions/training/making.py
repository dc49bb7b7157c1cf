"""Make questions that a text does not answer, and sentences alone, from questions that it does."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import nlargest

from propcite.attribution.english import content_words
from propcite.attribution.questions.training.examples import QuestionExample

ALONE_SHARE, OTHER_SHARE, SWAPPED_SHARE = 0.2, 0.75, 0.65  # of the answered questions
MIN_ALONE = 5  # words of a sentence that is shown alone
NEAR = 14  # passages most like a question, among which those that do not answer it are looked for
TAKEN = 3
SAME_TEXT = 0.35  # share of words from which two texts may tell the same
COMMON = 0.05  # share of the texts from which a word says nothing

_NAME = re.compile(r"(?<= )[A-Z][\w.'’-]*(?: (?:of |the |de )?[A-Z][\w'’-]*)*")
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")


def made(examples: Sequence[QuestionExample], rng: random.Random) -> Iterator[QuestionExample]:
    """Yield examples made of the answered ones: sentences alone, other passages, other names and years."""
    answered = [example for example in examples if example.is_answered]
    yield from _alone(answered, rng)
    yield from _other_passages(answered, rng)
    yield from _swapped(answered, rng)


def _alone(answered: Sequence[QuestionExample], rng: random.Random) -> Iterator[QuestionExample]:
    for example in answered:
        known = [i for i, answers in enumerate(example.answering) if answers is not None]
        if len(example.sentences) > 1 and known and rng.random() < ALONE_SHARE:
            wanted = rng.random() < 0.5
            number = rng.choice([i for i in known if example.answering[i] is wanted] or known)
            if len(example.sentences[number].split()) >= MIN_ALONE:
                yield replace(example.part(number, number + 1), kind="alone")


def _other_passages(answered: Sequence[QuestionExample], rng: random.Random) -> Iterator[QuestionExample]:
    """Yield questions beside passages that share rare words with them, and do not have their answer."""
    texts = {example.text: example for example in answered}
    passages = list(texts.values())
    words = [set(content_words(f"{p.title} {p.text}")) for p in passages]
    spread = Counter(word for own in words for word in own)
    where: dict[str, list[int]] = defaultdict(list)
    for number, own in enumerate(words):
        for word in own:
            if spread[word] < max(2, COMMON * len(passages)):
                where[word].append(number)
    for example in answered:
        if rng.random() >= OTHER_SHARE:
            continue
        scores: dict[int, float] = defaultdict(float)
        for word in set(content_words(example.question)):
            for number in where.get(word, ()):
                scores[number] += math.log(len(passages) / spread[word])
        own = set(content_words(example.text))
        near = [
            n
            for n in nlargest(NEAR, scores, key=scores.__getitem__)
            if not _may_answer(example, passages[n], own, words[n])
        ]
        if near:
            other = passages[rng.choice(near[:TAKEN])]
            nothing = (False,) * len(other.sentences)
            yield replace(
                example, sentences=other.sentences, answering=nothing, title=other.title, words=None, kind="other"
            )


def _may_answer(example: QuestionExample, other: QuestionExample, own: set[str], words: set[str]) -> bool:
    """Return whether another passage may answer too: of the same title where no words of an answer are known."""
    if example.words is not None:
        answer = example.words.of(example.text)
        return answer.lower() in other.text.lower()
    return (bool(other.title) and other.title == example.title) or len(own & words) >= SAME_TEXT * len(own)


def _swapped(answered: Sequence[QuestionExample], rng: random.Random) -> Iterator[QuestionExample]:
    """Yield questions that name somebody or something else than the text does, or another year."""
    names = [found[0] for example in answered for found in _NAME.finditer(example.question)]
    for example in answered:
        if rng.random() >= SWAPPED_SHARE:
            continue
        known = f"{example.title} {example.text}".lower()
        swaps = [*_other_year(example.question, rng), *_other_name(example.question, names, known, rng)]
        if swaps and (question := rng.choice(swaps)):
            nothing = (False,) * len(example.sentences)
            yield replace(example, question=question, answering=nothing, words=None, kind="swapped")


def _other_year(question: str, rng: random.Random) -> Iterator[str]:
    for found in _YEAR.finditer(question):
        year = int(found[0]) + rng.choice([-10, -7, -5, -3, -2, -1, 1, 2, 3, 4, 6, 11])
        yield f"{question[: found.start()]}{year}{question[found.end() :]}"


def _other_name(question: str, names: Sequence[str], known: str, rng: random.Random) -> Iterator[str]:
    for found in _NAME.finditer(question):
        unknown = [name for name in rng.choices(names, k=12) if name.lower() not in known]
        like = [name for name in unknown if len(name.split()) == len(found[0].split())]
        if like or unknown:
            yield f"{question[: found.start()]}{(like or unknown)[0]}{question[found.end() :]}"
