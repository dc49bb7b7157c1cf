"""Examples to adapt by: questions with the passages that answer them, from a file or from what people marked right."""

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
from propcite.app.library.opinions import cited_of, says_supported
from propcite.app.library.store import CollectionInfo, Feedback, Library
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.jsonl import numbered_lines

SHAPE = '{"question": "…", "passages": ["id", …]} or {"question": "…", "document": "name", "quote": "its words"}'
FEWEST, ENOUGH = 2, 8


@dataclass(frozen=True, slots=True)
class Example:
    """A question, and the ids of the passages that answer it."""

    question: str
    passages: frozenset[str]


@with_config(ConfigDict(extra="forbid"))
class ExampleLine(TypedDict):
    question: str
    passages: NotRequired[list[str]]
    document: NotRequired[str]
    quote: NotRequired[str]


def read_examples(path: Path, library: Library, collection: CollectionInfo) -> list[Example]:
    """The examples of a file; lines of one question are one example."""
    reading = _Reading(library, collection)
    pairs = []
    for number, line in numbered_lines(path):
        try:
            row = TypeAdapter(ExampleLine).validate_json(line)
            pairs.append((row["question"], reading.passages(row)))
        except (ValidationError, NotFoundError) as error:
            reason = str(error) if isinstance(error, NotFoundError) else f"an example is {SHAPE}"
            raise AppError(f"{path}, line {number}: {reason}") from error
    return _examples(pairs)


def marked_examples(
    answers: Mapping[str, CitedAnswer], given: Iterable[Feedback], there: Collection[str]
) -> list[Example]:
    """What people said that answers a question: citations that are right, and better words; of passages that are
    still `there`."""
    pairs = []
    for one in given:
        answer = answers.get(one.answer_id)
        found = cited_of(answer, one) if answer else None
        if answer and found:
            cited = {found[1].passage.id} if found[1] and says_supported(one) else set()
            better = {one.better.passage_id} if one.better else set()
            pairs.append((answer.question, (cited | better) & set(there)))
    return _examples(pairs)


def marked_in(parts: Parts, collection: CollectionInfo) -> list[Example]:
    """The same from all that was said of a collection's answers."""
    library, said = parts.library, parts.feedback.all(collection)
    answers = {i: library.answer(i) for i in dict.fromkeys(one.answer_id for one in said)}
    return marked_examples(answers, said, set(library.passage_ids(collection)))


def joined_examples(*examples: Iterable[Example]) -> list[Example]:
    """One a question."""
    return _examples((one.question, one.passages) for some in examples for one in some)


def _examples(pairs: Iterable[tuple[str, Collection[str]]]) -> list[Example]:
    """One a question that some passage answers."""
    found: dict[str, set[str]] = defaultdict(set)
    for question, passages in pairs:
        found[" ".join(question.split())].update(passages)
    return [Example(question, frozenset(passages)) for question, passages in found.items() if question and passages]


@dataclass(slots=True)
class _Reading:
    """Finds what lines name in one collection."""

    library: Library
    collection: CollectionInfo
    known: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.known = frozenset(self.library.passage_ids(self.collection))

    def passages(self, row: ExampleLine) -> Collection[str]:
        named, quote = row.get("passages", []), " ".join(row.get("quote", "").split())
        if not row["question"].strip() or bool(named) == bool(quote) or bool(quote) != ("document" in row):
            raise NotFoundError(f"an example is {SHAPE}")
        if unknown := [name for name in named if name not in self.known]:
            shown = "propcite search TEXT --json tells passages' ids"
            raise NotFoundError(f"there is no passage {unknown[0]!r} in {self.collection.name!r}: {shown}")
        return named or self._saying(quote, row.get("document", ""))

    def _saying(self, quote: str, name: str) -> list[str]:
        """The passages of a document in which these words stand, wherever lines end."""
        document = self.library.find_document(self.collection, name)
        ids = self.library.passage_ids(self.collection, document.id)
        passages = sorted(self.library.passages(ids).values(), key=lambda p: p.start)
        words = r"\s+".join(map(re.escape, quote.split()))
        places = [place.span() for place in re.finditer(words, "".join(p.text for p in passages))]
        if not places:
            raise NotFoundError(f"{name} does not say {quote[:80]!r}: copy the words from the document")
        return [p.id for p in passages if any(p.start < end and start < p.start + len(p.text) for start, end in places)]
