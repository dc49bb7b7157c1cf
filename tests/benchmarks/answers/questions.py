"""The questions over documents, and the check that each of their sentences stands in its document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from propcite.app.errors import AppError
from propcite.app.ingest.readers import read_document
from propcite.app.lab.alce.scores import normalized

HERE = Path(__file__).parent
FIRST, SECOND = "first", "second"
SETS = {
    FIRST: (HERE / "questions.jsonl", HERE / "documents.jsonl"),
    SECOND: (HERE / "questions_second.jsonl", HERE / "documents_second.jsonl"),
}

Place = tuple[str, str]  # a package and a path in it
CURLY = str.maketrans("", "", "“”„‘’«»¶")  # what SQuAD's normalization leaves


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what a right answer holds: of each part, one of its short answers.

    Each of `sentences` is a quote of the document at `place` that answers it, in whole or in part.  An unanswerable
    question has none of these.
    """

    kind: str
    text: str
    place: Place | None = None
    parts: tuple[tuple[str, ...], ...] = ()
    sentences: tuple[str, ...] = ()

    @property
    def answerable(self) -> bool:
        return self.place is not None

    def num_found(self, text: str) -> int:
        """Return how many parts have a short answer in a text."""
        return sum(any(holds(text, answer) for answer in part) for part in self.parts)


def holds(text: str, words: str) -> bool:
    """Return whether a text has these words, whole and in this order; punctuation, case and articles do not count.

    >>> holds("The default limit is 4300 digits.", "4300 digits"), holds("It keeps 30 days.", "3")
    (True, False)
    """
    wanted, given = (f" {normalized(one.translate(CURLY))} " for one in (words, text))
    return wanted in given


def read_questions(name: str = FIRST) -> list[Question]:
    """Return the questions of a set."""
    return [_question(json.loads(line)) for line in SETS[name][0].read_text("utf-8").splitlines()]


def read_documents(name: str = FIRST) -> list[Place]:
    """Return where the documents of a set are in their packages."""
    rows = [json.loads(line) for line in SETS[name][1].read_text("utf-8").splitlines()]
    return [(row["package"], row["document"]) for row in rows]


def check(questions: Sequence[Question], copies: Mapping[Place, Path]) -> None:
    """Raise an error that names the first question whose sentences or short answers its document does not hold."""
    texts: dict[Place, str] = {}
    for question in questions:
        if question.place is None:
            continue
        if question.place not in copies:
            raise AppError(f"{question.text!r} is asked of {question.place}, which is not in the list of documents")
        if question.place not in texts:
            texts[question.place] = " ".join(read_document(copies[question.place]).text.split())
        text = texts[question.place]
        package, path = question.place
        absent = [sentence for sentence in question.sentences if " ".join(sentence.split()) not in text]
        if absent:
            raise AppError(
                f"{question.text!r}: a sentence is not in {path} of {package}: correct the question, or fetch"
                f" the version that it was written from: {absent[0][:100]!r}"
            )
        if not question.parts or question.num_found(text) < len(question.parts):
            raise AppError(f"{question.text!r}: a part has no short answer in {path}: correct the question")


def _question(row: Mapping[str, object]) -> Question:
    kind, text = str(row["kind"]), str(row["question"])
    if not row["answerable"]:
        return Question(kind, text)
    answer = row["answer"]
    assert isinstance(answer, list)
    parts = answer if isinstance(answer[0], list) else [answer]
    place = (str(row["package"]), str(row["document"]))
    sentence = row["sentence"]
    sentences = tuple(sentence) if isinstance(sentence, list) else (str(sentence),)
    return Question(kind, text, place, tuple(map(tuple, parts)), sentences)
