"""Add sources to a collection: parse them ahead, encode and store them in groups, remove documents that are gone."""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from propcite.app.errors import ReadError
from propcite.app.ingest.group import Group, batches
from propcite.app.ingest.outcomes import Outcome, Progress
from propcite.app.ingest.passage_spool import PassageSpool
from propcite.app.ingest.reader_pool import ParsedDocument, RawDocument, ReaderLimits, ReaderPool
from propcite.app.ingest.registry import Registry
from propcite.app.ingest.sources import File, Source, file_of, unpack_archives, without
from propcite.app.ingest.unfinished_document import UnfinishedDocument
from propcite.app.library.store import CollectionInfo, Library
from propcite.app.library.workspace import BATCH, Workspace
from propcite.app.processes import Step
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.fidelity import Fidelity
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.timing import Timer

if TYPE_CHECKING:
    from propcite.app.library.originals import Originals
    from propcite.retrieval.sharding.folder import OpenIndex
    from propcite.retrieval.text import Passage

READ_AHEAD = 3  # sources per reader that are parsed before their turn
READ_AHEAD_BYTES = 2**28  # of such sources together


class Ingester:
    """Adds sources to one collection: unchanged ones are skipped, changed ones replace their old version."""

    def __init__(
        self,
        library: Library,
        workspace: Workspace,
        load_encoder: Callable[[], Encoder],
        *,
        passage_words: int,
        max_bytes: int,
        limits: ReaderLimits | None = None,
        originals: Originals | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.library = library
        self.workspace = workspace
        self.load_encoder = load_encoder  # called only if something must be encoded: a run without changes is quick
        self.splitter = PassageSplitter(passage_words)
        self.max_bytes = max_bytes
        self.limits = limits or ReaderLimits()
        self.originals = originals
        self.progress = progress
        self.timer = Timer()
        self._latest = Progress(0.0)
        self._check_lock: Callable[[], None] = lambda: None  # raises once the right to write is lost

    @property
    def collection(self) -> CollectionInfo:
        return self.workspace.collection

    def ingest(
        self,
        sources: Iterable[Source | Path],
        *,
        again: bool = False,
        cancelled: Callable[[], bool] = lambda: False,
        done: Iterable[str] = (),
    ) -> Iterator[Outcome]:
        """Yield one outcome per source, in order, as soon as it is safe on disk.  Stopping between two loses nothing.

        `again` also reads unchanged sources: a newer reader may read more of a file, which becomes a new version.
        Once `cancelled` returns true, what is in work is stored, and nothing more is read.  `done` names the sources
        that an earlier run, which was interrupted, has outcomes of.
        """
        files = (File(source) if isinstance(source, Path) else source for source in sources)
        items = list(without(unpack_archives(files, self.max_bytes), done))
        with (
            self.workspace.write_lock() as self._check_lock,
            ReaderPool(self.splitter, self.limits, self._report_step) as pool,
        ):
            if self.workspace.differs_from_library():
                self.workspace.sync(self.load_encoder())
            registry = Registry(self.library, self.collection)
            parsed = takewhile(lambda _: not cancelled(), self._parse_ahead(items, registry, pool, again))
            outcomes = self._store_in_groups(parsed, registry)
            yield from self._record_failures(self._report_progress(outcomes, items))

    def _record_failures(self, outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
        """Keep each failure until its source is read; that of an archive, until any member is."""
        failing = {failure.source for failure in self.library.failures(self.collection)}
        for outcome in outcomes:
            if outcome.state == "failed":
                self.library.note_failures(self.collection, {outcome.source: outcome.reason})
            elif read := failing & {outcome.source, file_of(outcome.source)}:
                self.library.note_failures(self.collection, {}, read)
            yield outcome

    def _report_progress(self, outcomes: Iterator[Outcome], items: Sequence[Source | Outcome]) -> Iterator[Outcome]:
        start, passages, size = time.monotonic(), 0, 0
        self._latest = Progress(0.0, total=len(items))
        sizes = [1 if isinstance(item, Outcome) else 1 + item.size for item in items]
        total = sum(sizes)
        for done, outcome in enumerate(outcomes, start=1):
            size += sizes[done - 1]
            passages += outcome.num_passages if outcome.state in ("added", "changed") else 0
            self._latest = Progress(size / total, done, len(items), passages, time.monotonic() - start)
            if self.progress:
                self.progress(self._latest)
            yield outcome

    def _report_step(self, raw: RawDocument, step: Step) -> None:
        if self.progress:
            self.progress(replace(self._latest, reading=f"{raw.name}: {step.at}"))

    # Parsing

    def _parse_ahead(
        self, items: Sequence[Source | Outcome], registry: Registry, pool: ReaderPool, again: bool
    ) -> Iterator[ParsedDocument | Outcome]:
        """Yield each source's parsed document or outcome in order, while the sources behind it are being parsed."""
        pending: deque[Outcome | ParsedDocument | Future[ParsedDocument]] = deque()
        sizes: deque[int] = deque()  # of the sources of pending ones, in bytes
        undecided: set[str] = set()  # locations and contents that pending documents will change in the registry
        for item in items:
            raw = item if isinstance(item, Outcome) else self._read(item)
            sizes.append(0 if isinstance(raw, Outcome) else len(raw.data))
            if isinstance(raw, Outcome):
                pending.append(raw)
            else:
                if not undecided.isdisjoint((raw.location, raw.sha256)):
                    yield from map(self._finish, pending)
                    pending.clear()
                    sizes = deque([sizes[-1]])
                    undecided.clear()
                if self.originals and self.originals.wants(raw.location):
                    self.originals.save(raw.sha256, raw.data)  # also of a recognized document: its file may be gone
                outcome = registry.recognize(raw, again=again)
                if outcome is None:
                    old = registry.get(raw.location)
                    undecided |= {raw.location, raw.sha256, old.sha256 if old else raw.sha256}
                pending.append(outcome or pool.submit(registry.with_id(raw)))
            while len(pending) > READ_AHEAD * pool.num or (pending and sum(sizes) > READ_AHEAD_BYTES):
                sizes.popleft()
                yield self._finish(pending.popleft())
        yield from map(self._finish, pending)

    def _read(self, source: Source) -> RawDocument | Outcome:
        try:
            with self.timer("read"):
                data = source.read(self.max_bytes)
        except ReadError as error:
            return Outcome(source.location, "failed", reason=str(error))
        return RawDocument(source.location, source.name, data, hashlib.sha256(data).hexdigest())

    def _finish(self, result: Outcome | ParsedDocument | Future[ParsedDocument]) -> ParsedDocument | Outcome:
        """Wait for a document to be parsed; one that failed becomes an outcome."""
        if isinstance(result, Future):
            with self.timer("wait for readers"):
                result = result.result()
        if isinstance(result, Outcome):
            return result
        if result.reason:
            self._forget_originals([result.sha256])
            return Outcome(result.location, "failed", reason=result.reason)
        for step, ms in result.timings.items():
            self.timer.add(step, ms)
        return result

    # Storing

    def _store_in_groups(self, items: Iterator[ParsedDocument | Outcome], registry: Registry) -> Iterator[Outcome]:
        group = Group()
        for item in items:
            if isinstance(item, Outcome):
                group.add(item)
            else:
                if group.has(item.location):
                    yield from self._store(group)
                    group = Group()
                with self.timer("compare"):
                    same = self._same_reading(item, registry)
                    outcome, old = (same, None) if same else registry.add(item)
                group.add(outcome, None if same else item, old)
            if not group.documents or group.is_full:
                yield from self._store(group)
                group = Group()
        yield from self._store(group)

    def _same_reading(self, item: ParsedDocument, registry: Registry) -> Outcome | None:
        """Return the outcome of a document that was read again and says the same, which keeps its id and citations."""
        old = registry.get(item.location)
        if old is None or old.sha256 != item.sha256 or not self.library.has_passages(old.id, item.passages):
            return None
        self.library.note_reading(old.id, item.document.metadata, item.read_with)
        outcome = old.outcome("unchanged", "read again, the same text")
        return replace(outcome, fidelity=Fidelity.of(item.document.metadata))

    def _store(self, group: Group) -> Iterator[Outcome]:
        """Store a group's documents, whose rows and vectors count at once, so that a crash leaves both or neither."""
        if group.documents:
            self._write(group)
        yield from group.outcomes

    def _encode_large(self, index: OpenIndex, encoder: Encoder, group: Group) -> UnfinishedDocument:
        """Encode passages batch by batch; after an interrupt the next ingest encodes the rest."""
        unfinished = UnfinishedDocument(self.workspace.folder, index, group.passages())
        known, done, total = unfinished.resume(), 0, sum(len(document.passages) for document in group.documents)
        for batch in batches(group.passages(), BATCH):
            self._encode(index, encoder, (passage for passage in batch if passage.id not in known))
            unfinished.stage()
            done += len(batch)
            self.workspace.progress("encoding", done / total)
        return unfinished

    def _encode(self, index: OpenIndex, encoder: Encoder, passages: Iterable[Passage]) -> None:
        for batch in batches(passages, BATCH):
            with self.timer("encode", inside="index"):
                vectors = encoder.encode_passages(batch)
            index.add(batch, vectors)
            index.stage(self.workspace.folder)

    def _put_all(self, documents: Sequence[ParsedDocument]) -> None:
        with self.timer("database", inside="index"):
            for parsed in documents:
                self._put(parsed)

    def _put(self, parsed: ParsedDocument) -> None:
        self.library.put_document(
            self.collection,
            parsed.document,
            parsed.sha256,
            parsed.passages,
            signature=parsed.signature,
            read_with=parsed.read_with,
        )

    def _write(self, group: Group) -> None:
        encoder = self.load_encoder()
        spools = [one.passages for one in group.documents if isinstance(one.passages, PassageSpool)]
        replaced = [i for old in group.replaced for i in self.library.passage_ids(self.collection, old.id)]
        with self.timer("index"):
            index = self.workspace.to_change(encoder)
            unfinished = self._encode_large(index, encoder, group) if spools else None
            if not unfinished:
                self._encode(index, encoder, group.passages())
            index.delete(replaced)
            self._check_lock()
            self.workspace.commit(index, lambda: self._put_all(group.documents))
        if unfinished:
            unfinished.remove()
        for spool in spools:
            spool.remove()
        self._forget_originals([old.sha256 for old in group.replaced])

    def _forget_originals(self, contents: Sequence[str]) -> None:
        """Remove kept files that no document needs any more."""
        if self.originals:
            self.originals.remove_unused(contents)

    # Removing

    def remove(self, document_id: str) -> None:
        """Remove a document from the library and its passages from the index at once."""
        with self.workspace.write_lock():
            ids = self.library.passage_ids(self.collection, document_id)
            contents = [content.sha256 for content in self.library.source_files([document_id]).values()]
            self.workspace.delete_passages(ids, lambda: self.library.remove_document(document_id))
            self._forget_originals(contents)

    def prune(self, folders: Sequence[Path]) -> Iterator[Outcome]:
        """Remove documents whose files in these folders are gone; a folder that is gone itself loses nothing."""
        inside = [os.path.join(os.path.realpath(folder), "") for folder in folders if folder.is_dir()]
        for document in self.library.documents(self.collection):
            if document.source.startswith(tuple(inside)) and not os.path.exists(file_of(document.source)):
                self.remove(document.id)
                yield Outcome(document.source, "removed", document.title, document.id, document.num_passages)
