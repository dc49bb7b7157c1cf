"""Follow-up questions: are they answered as they stand, and when they are completed from the question before?"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.answers.documents import ingest
from tests.benchmarks.answers.packages import copy_document, fetch
from tests.benchmarks.answers.questions import HERE, holds, read_documents

from propcite.app.answering.finding import found_passages
from propcite.app.answering.generators import Draft, GenerationContext
from propcite.app.answering.pipeline import Pipeline
from propcite.app.demo import DOCUMENTS as DEMO
from propcite.app.errors import AppError
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.app.terminal_progress import counting
from propcite.attribution.english import Exchange, standalone_question
from propcite.retrieval.errors import PropCiteError

FOLLOW_UPS = HERE / "follow_ups.jsonl"
STANDS, COMPLETED, TOGETHER = "as it stands", "completed", "completed, found with the one before"
WAYS = (STANDS, COMPLETED, TOGETHER)
HEAD = ("kind", "asked", "pairs", "found", "right", "abstained")
ALL = "all"


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and one that follows it, with short answers to the second.  `package` is empty for the demo."""

    kind: str
    package: str
    question: str
    follow_up: str
    answers: tuple[str, ...]

    def is_in(self, text: str) -> bool:
        return any(holds(text, answer) for answer in self.answers)


@dataclass(frozen=True, slots=True)
class Followed:
    """What one way made of a pair: the question that was asked, whether a passage holds its answer, and the draft."""

    pair: Pair
    way: str
    asked: str
    found: bool
    draft: Draft

    @property
    def right(self) -> bool:
        return not self.draft.abstained and self.pair.is_in(self.draft.text)


def read_pairs() -> list[Pair]:
    rows = [json.loads(line) for line in FOLLOW_UPS.read_text("utf-8").splitlines()]
    return [Pair(r["kind"], r["package"], r["question"], r["follow_up"], tuple(r["answer"])) for r in rows]


def measure(cache: Path) -> list[Followed]:
    """Ask every pair over the demo's documents or those of Debian's packages, in every way."""
    pairs = read_pairs()
    places = read_documents()
    fetch([package for package, _ in places], cache)
    followed: list[Followed] = []
    with (
        tempfile.TemporaryDirectory(prefix="propcite-follow-ups-") as folder,
        counting(len(pairs), "asking") as advance,
    ):
        for place in places:
            copy_document(*place, cache, Path(folder, "files"))
        for files, is_demo in ((DEMO, True), (Path(folder, "files"), False)):
            with _opened(files, Path(folder, "demo" if is_demo else "debian")) as (parts, pipeline):
                for pair in pairs:
                    if is_demo == (not pair.package):
                        followed += _ask(pair, parts, pipeline)
                        advance("asking")
    return followed


def figures(followed: Sequence[Followed]) -> Iterator[tuple[str | int, ...]]:
    """Yield a row per kind of follow-up and way, those of all pairs first."""
    for kind in (ALL, *dict.fromkeys(one.pair.kind for one in followed)):
        for way in WAYS:
            own = [one for one in followed if one.way == way and kind in (ALL, one.pair.kind)]
            yield (
                kind, way, len(own), sum(one.found for one in own),
                sum(one.right for one in own), sum(one.draft.abstained for one in own),
            )  # fmt: skip


def answers(followed: Sequence[Followed]) -> list[dict[str, object]]:
    return [
        {
            "kind": one.pair.kind, "question": one.pair.question, "follow_up": one.pair.follow_up, "way": one.way,
            "asked": one.asked, "found": one.found, "right": one.right, "answer": one.draft.text,
        }
        for one in followed
    ]  # fmt: skip


@contextmanager
def _opened(files: Path, data: Path) -> Iterator[tuple[Parts, Pipeline]]:
    parts = Parts(load_settings(data_dir=data, generator="extractive", database=""))
    try:
        collection = parts.library.create_collection("documents")
        ingest(parts, collection, files)
        yield parts, parts.pipeline(collection)
    finally:
        parts.library.close()


def _ask(pair: Pair, parts: Parts, pipeline: Pipeline) -> Iterator[Followed]:
    first, _ = _draft(pair.question, "", parts, pipeline)
    completed = standalone_question(pair.follow_up, [Exchange(pair.question, first.text)])
    for way, asked, before in (
        (STANDS, pair.follow_up, ""),
        (COMPLETED, completed, ""),
        (TOGETHER, completed, pair.question),
    ):
        draft, found = _draft(asked, before, parts, pipeline)
        yield Followed(pair, way, asked, any(map(pair.is_in, found)), draft)


def _draft(asked: str, before: str, parts: Parts, pipeline: Pipeline) -> tuple[Draft, list[str]]:
    """Return the answer to a question, and the texts of the passages that it was made from."""
    collection = pipeline.retriever()
    passages = tuple(hit.passage for hit in found_passages(collection, asked, pipeline.num_passages, before))
    context = GenerationContext(passages, collection.only(passage.id for passage in passages), ())
    (draft,) = parts.generator.generate_many([(asked, context)])
    if isinstance(draft, PropCiteError):
        raise AppError(f"{asked!r} could not be answered: {draft}") from draft
    return draft, [passage.text for passage in passages]
