"""Examples for adaptation: questions with the passages that answer them, from a file or from people's feedback."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NotRequired

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from propcite.app.errors import AppError, NotFoundError
from propcite.app.library.feedback import find_target, supported_label
from propcite.app.library.store import CollectionInfo, Feedback, Library
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.jsonl import numbered_lines

EXAMPLE_FORMAT = (
    '{"question": "…", "passages": ["id", …]} or {"question": "…", "document": "name", "quote": "its words"}'
)
MIN_EXAMPLES, ENOUGH_EXAMPLES = 2, 8


@dataclass(frozen=True, slots=True)
class Example:
    """A question and the ids of the passages that answer it."""

    question: str
    passages: frozenset[str]


@with_config(ConfigDict(extra="forbid"))
class ExampleLine(TypedDict):
    question: str
    passages: NotRequired[list[str]]
    document: NotRequired[str]
    quote: NotRequired[str]


def read_examples(path: Path, library: Library, collection: CollectionInfo) -> list[Example]:
    """Read the examples of a file; lines with the same question become one example."""
    finder = _PassageFinder(library, collection)
    pairs = []
    for number, line in numbered_lines(path):
        try:
            row = TypeAdapter(ExampleLine).validate_json(line)
            pairs.append((row["question"], finder.passages(row)))
        except (ValidationError, NotFoundError) as error:
            reason = str(error) if isinstance(error, NotFoundError) else f"an example must be {EXAMPLE_FORMAT}"
            raise AppError(f"{path}, line {number}: {reason}") from error
    return _examples(pairs)


def marked_examples(
    answers: Mapping[str, CitedAnswer], feedback: Iterable[Feedback], existing: Collection[str]
) -> list[Example]:
    """Make examples of citations that people marked right and of better quotes that they gave.

    Only the `existing` passages are used.
    """
    pairs = []
    for entry in feedback:
        answer = answers.get(entry.answer_id)
        target = find_target(answer, entry) if answer else None
        if answer and target:
            cited = {target[1].passage.id} if target[1] and supported_label(entry) else set()
            better = {entry.better.passage_id} if entry.better else set()
            pairs.append((answer.question, (cited | better) & set(existing)))
    return _examples(pairs)


def feedback_examples(parts: Parts, collection: CollectionInfo) -> list[Example]:
    """Make examples of all feedback on a collection's answers."""
    library, feedback = parts.library, parts.feedback.all(collection)
    answers = {i: library.answer(i) for i in dict.fromkeys(entry.answer_id for entry in feedback)}
    return marked_examples(answers, feedback, set(library.passage_ids(collection)))


def merge_examples(*groups: Iterable[Example]) -> list[Example]:
    """Merge the examples with the same question."""
    return _examples((example.question, example.passages) for group in groups for example in group)


def _examples(pairs: Iterable[tuple[str, Collection[str]]]) -> list[Example]:
    """Make one example per question; questions without a passage are left out."""
    by_question: dict[str, set[str]] = defaultdict(set)
    for question, passages in pairs:
        by_question[" ".join(question.split())].update(passages)
    return [Example(question, frozenset(ids)) for question, ids in by_question.items() if question and ids]


@dataclass(slots=True)
class _PassageFinder:
    """Finds the passages of one collection that example lines refer to."""

    library: Library
    collection: CollectionInfo
    ids: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.ids = frozenset(self.library.passage_ids(self.collection))

    def passages(self, row: ExampleLine) -> Collection[str]:
        ids, quote = row.get("passages", []), " ".join(row.get("quote", "").split())
        if not row["question"].strip() or bool(ids) == bool(quote) or bool(quote) != ("document" in row):
            raise NotFoundError(f"an example must be {EXAMPLE_FORMAT}")
        if unknown := [name for name in ids if name not in self.ids]:
            advice = "propcite search TEXT --json shows the ids of passages"
            raise NotFoundError(f"no passage {unknown[0]!r} in {self.collection.name!r}: {advice}")
        return ids or self._with_quote(quote, row.get("document", ""))

    def _with_quote(self, quote: str, name: str) -> list[str]:
        """Return the ids of a document's passages that contain the quote, with any line breaks."""
        document = self.library.find_document(self.collection, name)
        ids = self.library.passage_ids(self.collection, document.id)
        passages = sorted(self.library.passages(ids).values(), key=lambda p: p.start)
        words = r"\s+".join(map(re.escape, quote.split()))
        matches = [match.span() for match in re.finditer(words, "".join(p.text for p in passages))]
        if not matches:
            raise NotFoundError(f"{name} does not contain {quote[:80]!r}: copy the words from the document")
        return [
            p.id for p in passages if any(p.start < end and start < p.start + len(p.text) for start, end in matches)
        ]
