"""Parsed documents that are stored at once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

from propcite.app.ingest.outcomes import Outcome
from propcite.app.ingest.reader_pool import ParsedDocument
from propcite.app.ingest.registry import StoredDocument
from propcite.retrieval.text import Passage

GROUP_PASSAGES = 64  # passages of several documents that are encoded and stored at once
MAX_WAIT_S = 5.0  # a parsed document waits no longer than this for others of its group


def batches(passages: Iterable[Passage], size: int) -> Iterator[list[Passage]]:
    remaining = iter(passages)
    while batch := list(islice(remaining, size)):
        yield batch


@dataclass(slots=True)
class Group:
    """Documents that are stored at once, the documents that they replace, and the outcomes to report afterwards."""

    outcomes: list[Outcome] = field(default_factory=list)
    documents: list[ParsedDocument] = field(default_factory=list)
    replaced: list[StoredDocument] = field(default_factory=list)
    since: float = 0.0

    @property
    def is_full(self) -> bool:
        num_passages = sum(len(document.passages) for document in self.documents)
        return num_passages >= GROUP_PASSAGES or time.monotonic() - self.since > MAX_WAIT_S

    def add(
        self, outcome: Outcome, document: ParsedDocument | None = None, replaced: StoredDocument | None = None
    ) -> None:
        if not self.outcomes:
            self.since = time.monotonic()
        self.outcomes.append(outcome)
        self.documents += [document] if document else []
        self.replaced += [replaced] if replaced else []

    def passages(self) -> Iterator[Passage]:
        """Return the passages of all documents."""
        return chain.from_iterable(document.passages for document in self.documents)

    def has(self, location: str) -> bool:
        return any(document.location == location for document in self.documents)
