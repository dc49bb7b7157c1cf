"""One collection's way in: what is new is read, encoded and kept; what is known is recognised, what is gone removed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from propcite.app.ingest.known import Known
from propcite.app.ingest.outcomes import Outcome, Progress
from propcite.app.ingest.reader_pool import Limits, Readers
from propcite.app.ingest.run import Run
from propcite.app.ingest.sources import File, Source, stands_in, unpacked
from propcite.app.library.store import CollectionInfo, Library
from propcite.app.library.workspace import Workspace
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.timing import Timer

if TYPE_CHECKING:
    from propcite.app.library.originals import Originals


class Ingester:
    """Adds sources to one collection.  Unchanged ones are skipped, changed ones take the place of their old version.

    `progress` hears how far it is; `spent` counts where the time went.
    """

    def __init__(
        self,
        library: Library,
        workspace: Workspace,
        load_encoder: Callable[[], Encoder],
        *,
        passage_words: int,
        most_bytes: int,
        limits: Limits | None = None,
        originals: Originals | None = None,
    ) -> None:
        self.library = library
        self.workspace = workspace
        self.load_encoder = load_encoder  # called only when something must be encoded: a second run is quick
        self.splitter = PassageSplitter(passage_words)
        self.most_bytes = most_bytes
        self.limits = limits or Limits()
        self.originals = originals
        self.progress: Callable[[Progress], None] = lambda _: None
        self.spent = Timer()

    @property
    def collection(self) -> CollectionInfo:
        return self.workspace.collection

    def ingest(self, sources: Iterable[Source | Path], *, again: bool = False) -> Iterator[Outcome]:
        """One outcome a source, in order, as soon as it is safe on disk; stopping between two loses nothing.

        `again` reads what is unchanged too, as a new version: readers learn.
        """
        files = (File(source) if isinstance(source, Path) else source for source in sources)
        given = list(unpacked(files, self.most_bytes))
        with self.workspace.writing(), Readers(self.splitter, self.limits) as readers:
            if self.workspace.differs():
                self.workspace.mend(self.load_encoder())
            known = Known(self.library, self.collection)
            run = Run(
                self.library,
                self.workspace,
                self.load_encoder,
                readers,
                known,
                self.originals,
                self.spent,
                self.most_bytes,
                again,
            )
            yield from self._noted(run.outcomes(given, self.progress))

    def _noted(self, outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
        """What fails is kept until it is read; an archive, until anything in it is."""
        failing = {failure.source for failure in self.library.failures(self.collection)}
        for outcome in outcomes:
            if outcome.state == "failed":
                self.library.note_failures(self.collection, {outcome.source: outcome.reason})
            elif read := failing & {outcome.source, stands_in(outcome.source)}:
                self.library.note_failures(self.collection, {}, read)
            yield outcome

    def remove(self, document_id: str) -> None:
        """Out of the library first: from that moment no search returns it."""
        with self.workspace.writing():
            ids = self.library.passage_ids(self.collection, document_id)
            contents = [content.sha256 for content in self.library.contents([document_id]).values()]
            self.library.remove_document(document_id)
            self.workspace.forget(ids)
            if self.originals:
                self.originals.forget(contents)

    def prune(self, folders: Sequence[Path]) -> Iterator[Outcome]:
        """Remove what lay in these folders as a file that is gone; a folder that is gone itself loses nothing."""
        inside = [os.path.join(os.path.realpath(folder), "") for folder in folders if folder.is_dir()]
        for document in self.library.documents(self.collection):
            if document.source.startswith(tuple(inside)) and not os.path.exists(stands_in(document.source)):
                self.remove(document.id)
                yield Outcome(document.source, "removed", document.title, document.id, document.num_passages)
