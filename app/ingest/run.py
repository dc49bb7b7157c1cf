"""One ingest from its first source to its last: read ahead, gathered in groups, each group encoded and kept at once."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from propcite.app.errors import ReadError
from propcite.app.ingest.known import Kept, Known
from propcite.app.ingest.outcomes import Outcome, Progress, State
from propcite.app.ingest.reader_pool import Readers
from propcite.app.ingest.reading import Job, Read
from propcite.app.ingest.sources import Source
from propcite.app.library.store import Library
from propcite.app.library.workspace import BATCH, Workspace
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.timing import Timer

if TYPE_CHECKING:
    from propcite.app.library.originals import Originals

TOGETHER = 64  # passages of several documents that are encoded and kept at once
PATIENCE_S = 5.0  # for which a document that is read waits for others
AHEAD = 3  # sources for each reader that are read before their turn


@dataclass(frozen=True, slots=True)
class _New:
    """A document that was read, what it takes the place of, and what will be said of it once it is kept."""

    read: Read
    old: Kept | None
    outcome: Outcome


@dataclass(slots=True)
class _Group:
    """What is to be kept at once, with the outcomes that wait behind it."""

    members: list[_New | Outcome] = field(default_factory=list)
    since: float = 0.0

    @property
    def new(self) -> list[_New]:
        return [member for member in self.members if isinstance(member, _New)]

    @property
    def is_full(self) -> bool:
        waited = time.monotonic() - self.since
        return sum(len(new.read.passages) for new in self.new) >= TOGETHER or waited > PATIENCE_S

    def add(self, member: _New | Outcome) -> None:
        if not self.members:
            self.since = time.monotonic()
        self.members.append(member)

    def has(self, member: _New | Outcome) -> bool:
        """Whether something of the same place waits here."""
        return isinstance(member, _New) and any(new.read.place == member.read.place for new in self.new)


@dataclass(frozen=True, slots=True)
class Run:
    """What one ingest works with."""

    library: Library
    workspace: Workspace
    load_encoder: Callable[[], Encoder]
    readers: Readers
    known: Known
    originals: Originals | None
    spent: Timer
    most_bytes: int
    again: bool = False

    def outcomes(self, sources: Sequence[Source | Outcome], progress: Callable[[Progress], None]) -> Iterator[Outcome]:
        """In order; each when it is safe on disk."""
        start, passages, read = time.monotonic(), 0, 0
        sizes = [1 if isinstance(source, Outcome) else 1 + source.size for source in sources]
        for done, outcome in enumerate(self._kept(sources), start=1):
            read += sizes[done - 1]
            passages += outcome.num_passages if outcome.state in ("added", "changed") else 0
            progress(Progress(done, len(sources), passages, time.monotonic() - start, read / sum(sizes)))
            yield outcome

    def _kept(self, sources: Sequence[Source | Outcome]) -> Iterator[Outcome]:
        group = _Group()
        for member in self._found(sources):
            if group.has(member):
                yield from self._keep(group)
                group = _Group()
            group.add(member)
            if not group.new or group.is_full:
                yield from self._keep(group)
                group = _Group()
        yield from self._keep(group)

    # Reading

    def _found(self, sources: Sequence[Source | Outcome]) -> Iterator[_New | Outcome]:
        """Each source when its turn comes; those behind it are being read meanwhile."""
        waiting: deque[Outcome | Read | Future[Read]] = deque()
        coming: set[str] = set()  # places and contents of which nothing is known yet
        for source in sources:
            job = source if isinstance(source, Outcome) else self._bytes(source)
            if isinstance(job, Job) and not coming.isdisjoint((job.place, job.sha256)):
                yield from map(self._ended, waiting)
                waiting.clear()
                coming.clear()
            if isinstance(job, Job) and self.originals and self.originals.wants(job.place):
                self.originals.keep(job.sha256, job.data)  # also of what is known: its file may have gone
            found = self._recognised(job) if isinstance(job, Job) else job
            if isinstance(found, Job):
                old = self.known.at(found.place)
                coming |= {found.place, found.sha256, old.sha256 if old else found.sha256}
                waiting.append(self.readers.begin(found))
            else:
                waiting.append(found)
            while len(waiting) > AHEAD * self.readers.num:
                yield self._ended(waiting.popleft())
        yield from map(self._ended, waiting)

    def _bytes(self, source: Source) -> Job | Outcome:
        try:
            with self.spent("read"):
                data = source.read(self.most_bytes)
        except ReadError as error:
            return Outcome(source.place, "failed", reason=str(error))
        return Job(source.place, source.name, data, hashlib.sha256(data).hexdigest())

    def _recognised(self, job: Job) -> Job | Outcome:
        """What need not be read: it stands there, the file was only moved, or another one says the same."""
        old = self.known.at(job.place)
        if old is not None:
            same_content = old.sha256 == job.sha256 and not self.again
            return _told(old, "unchanged") if same_content else self.known.named(job)
        same = self.known.same_as(job.sha256)
        moved = next((kept for kept in same if kept.is_gone), None)
        if moved is not None:
            self.library.move_document(moved.id, job.place)
            return _told(self.known.move(moved, job.place), "moved", f"from {moved.source}")
        if same:
            return _told(same[0], "duplicate", f"the same as {same[0].source}", job.place)
        return self.known.named(job)

    def _ended(self, found: Outcome | Read | Future[Read]) -> _New | Outcome:
        if isinstance(found, Future):
            with self.spent("wait for readers"):
                found = found.result()
        if isinstance(found, Outcome):
            return found
        if found.reason:
            self._forget([found.sha256])
            return Outcome(found.place, "failed", reason=found.reason)
        self.spent.add("parse", found.parse_ms)
        self.spent.add("split", found.split_ms)
        return self._new(found)

    def _new(self, read: Read) -> _New:
        old, document = self.known.at(read.place), read.document
        kept = Kept(document.id, read.place, read.sha256, document.title, len(read.passages))
        self.known.put(kept)
        with self.spent("compare"):
            alike = self.known.likenesses.like(read.place, read.signature)
            self.known.likenesses.put(read.place, read.signature)
        state: State = "changed" if old else "added"
        return _New(read, old, Outcome(read.place, state, kept.title, kept.id, kept.num_passages, alike=alike))

    # Keeping

    def _keep(self, group: _Group) -> Iterator[Outcome]:
        """Vectors are staged, the library takes the documents, then the index names them; `mend` ends what stops."""
        if new := group.new:
            self._put(new)
        yield from (member.outcome if isinstance(member, _New) else member for member in group.members)

    def _put(self, new_ones: Sequence[_New]) -> None:
        collection, encoder = self.workspace.collection, self.load_encoder()
        passages = [passage for new in new_ones for passage in new.read.passages]
        before = [i for new in new_ones if new.old for i in self.library.passage_ids(collection, new.old.id)]
        with self.spent("index"), self.workspace.changing(encoder) as index:
            for first in range(0, len(passages), BATCH):
                batch = passages[first : first + BATCH]
                with self.spent("encode", inside="index"):
                    vectors = encoder.encode_passages(batch)
                index.add(batch, vectors)
                index.stage(self.workspace.folder)
            if before:  # a reader finds the old version until the library has the new one, and from then on that
                self.workspace.save(index)
            with self.spent("database", inside="index"):
                for new in new_ones:
                    read = new.read
                    self.library.put_document(
                        collection, read.document, read.sha256, read.passages, signature=read.signature
                    )
            index.delete(before)
        self._forget([new.old.sha256 for new in new_ones if new.old])

    def _forget(self, contents: Sequence[str]) -> None:
        """The kept files of what is not here, or no longer."""
        if self.originals:
            self.originals.forget(contents)


def _told(kept: Kept, state: State, reason: str = "", place: str = "") -> Outcome:
    return Outcome(place or kept.source, state, kept.title, kept.id, kept.num_passages, reason)
