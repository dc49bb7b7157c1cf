"""Questions beside texts, with what is known: which sentences answer, in which words, and whether any does."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from propcite.attribution.errors import AttributionError
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.text import Span

MAX_TEXT = 900  # characters of a text without marked sentences
SECTIONS = 4  # of a document that are read beside a question, as many as answering reads
SHOWN = 0.85  # share of the windows of an answered question that show an answer


@dataclass(frozen=True, slots=True)
class QuestionExample:
    """A question beside the sentences of a text, joined by spaces.

    `answering` says per sentence whether it answers, None where that is not known.  `words` is the answer's place in
    the joined text, where it is known.  `kind` names how the example was made: those "written" have all of this marked.
    Examples of one `group` are the same question beside the sections of one document.
    """

    question: str
    sentences: tuple[str, ...]
    answering: tuple[bool | None, ...]
    title: str = ""
    words: Span | None = None
    kind: str = "asked"
    weight: float = 1.0
    group: str = ""

    @property
    def is_answered(self) -> bool:
        return any(answers is not False for answers in self.answering)

    @property
    def text(self) -> str:
        return " ".join(self.sentences)

    def part(self, first: int, end: int) -> QuestionExample:
        """Return the example with these sentences alone.

        >>> QuestionExample("Why?", ("It rained.", "It stopped."), (False, True)).part(1, 2).text
        'It stopped.'
        """
        start = sum(len(sentence) + 1 for sentence in self.sentences[:first])
        sentences, answering = self.sentences[first:end], self.answering[first:end]
        words = self.words
        if words is not None:
            lies_within = start <= words.start and words.end <= start + len(" ".join(sentences))
            words = words.shifted(-start) if lies_within else None
        return replace(self, sentences=sentences, answering=answering, words=words)


def read_examples(files: Iterable[Path]) -> Iterator[QuestionExample]:
    """Yield the examples of files of JSON lines: questions with passages, ranked sentences, or a text that answers."""
    for file in files:
        for number, line in numbered_lines(file):
            try:
                yield from _examples(json.loads(line))
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise AttributionError(
                    f"line {number} of {file} is no question with its passages ({error!r}): "
                    "give question, passages and answer_sentences, query, sentences and positive_sentence_ids, "
                    "or sentences (or sections) and questions"
                ) from error


def _examples(row: Mapping[str, Any]) -> Iterator[QuestionExample]:
    if row.get("kind") in ("claim", "proposition"):
        return
    if "sections" in row:
        yield from _of_document(row)
    elif "questions" in row:
        yield from _written(row)
    elif "passages" in row:
        yield from _answerable(row)
    elif "sentences" in row:
        positive = set(row["positive_sentence_ids"])
        answering = tuple(number in positive for number in range(len(row["sentences"])))
        yield _example(row["query"], row["sentences"], answering, row)
    elif "label" not in row:
        text = row["text"][:MAX_TEXT]
        sentences = [span.of(text) for span in split_sentences(text)]
        known: bool | None = True if len(sentences) == 1 else None
        yield _example(row["query"], sentences, (known,) * len(sentences), row)


def _answerable(row: Mapping[str, Any]) -> Iterator[QuestionExample]:
    """Yield an example per passage; sentences that hold the answer's words may answer where none is marked."""
    marked, answer = row["answer_sentences"], row["answer"] or ""
    for place, passage in enumerate(row["passages"]):
        sentences = passage.get("sentences") or []
        if not row["answerable"] or (marked is not None and not any(p == place for p, _ in marked)):
            answering: tuple[bool | None, ...] = (False,) * len(sentences)
        elif marked is None:
            answering = tuple(None if answer.lower() in sentence.lower() else False for sentence in sentences)
        else:
            answering = tuple([place, number] in marked for number in range(len(sentences)))
        if not sentences or (row["answerable"] and not any(one is not False for one in answering)):
            continue
        example = _example(row["question"], sentences, answering, {**row, **passage})
        yield replace(example, words=_place(example, answer)) if answer and marked is not None else example


def _written(row: Mapping[str, Any]) -> Iterator[QuestionExample]:
    """Yield an example per question that was written beside a passage."""
    for asked in row["questions"]:
        answering = tuple(number in asked["answer_sentences"] for number in range(len(row["sentences"])))
        example = replace(_example(asked["question"], row["sentences"], answering, row), kind="written")
        yield replace(example, words=_place(example, asked["answer"])) if asked.get("answer") else example


def _of_document(row: Mapping[str, Any]) -> Iterator[QuestionExample]:
    """Yield an example per question and section of a document; the words that answer are in the first place marked."""
    opening = row["sections"][0]["sentences"][0]  # documents without a title differ in it
    for asked in row["questions"]:
        places = [tuple(place) for place in asked["answer_sentences"]]
        for number, section in enumerate(row["sections"]):
            answering = tuple((number, sentence) in places for sentence in range(len(section["sentences"])))
            title = " › ".join(filter(None, [row["title"], section["title"]]))
            example = _example(asked["question"], section["sentences"], answering, {**row, "title": title})
            example = replace(example, kind="document", group=f"{row['title']}: {opening}: {asked['question']}")
            has_words = asked.get("answer") and places[0][0] == number
            yield replace(example, words=_place(example, asked["answer"])) if has_words else example


def _example(
    question: str, sentences: Sequence[str], answering: tuple[bool | None, ...], row: Mapping[str, Any]
) -> QuestionExample:
    title = str(row.get("title") or "").replace("_", " ")
    return QuestionExample(
        " ".join(question.split()), tuple(sentences), answering, title, weight=float(row.get("weight", 1.0))
    )


def _place(example: QuestionExample, answer: str) -> Span | None:
    """Return where a sentence that answers has the answer's words, as whole words if it can be; None if nowhere."""
    start = 0
    for sentence, answers in zip(example.sentences, example.answering, strict=True):
        if answers:
            quoted = re.escape(answer)
            found = re.search(rf"(?<!\w){quoted}(?!\w)", sentence) or re.search(quoted, sentence)
            if found:
                return Span(start + found.start(), start + found.end())
        start += len(sentence) + 1
    return None


def window(example: QuestionExample, max_words: int, rng: random.Random) -> QuestionExample:
    """Return consecutive sentences of at most so many words, mostly with one that answers, if any does."""
    counts = [len(sentence.split()) for sentence in example.sentences]
    if sum(counts) <= max_words or len(counts) == 1:
        return example
    likely = [i for i, answers in enumerate(example.answering) if answers is not False]
    first = last = rng.choice(likely) if likely and rng.random() < SHOWN else rng.randrange(len(counts))
    total = counts[first]
    while True:
        before = [first - 1] if first and total + counts[first - 1] <= max_words else []
        after = [last + 1] if last + 1 < len(counts) and total + counts[last + 1] <= max_words else []
        if not (before or after):
            return example.part(first, last + 1)
        added = rng.choice(before + after)
        first, last, total = min(first, added), max(last, added), total + counts[added]
