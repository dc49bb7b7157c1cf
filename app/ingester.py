"""Files into a collection: read, split, encode, index, keep.  A document is searchable whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from app.errors import ReadError
from app.ingest import check_size, document_from_bytes, find_files, read_bytes, source_of
from app.store import CollectionInfo, Library, document_id
from app.workspace import BATCH, Workspace
from retrieval.encoder import Encoder
from retrieval.splitter import PassageSplitter
from retrieval.text import Document, Passage

State = Literal["added", "changed", "unchanged", "failed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file."""

    source: str
    state: State
    title: str = ""
    document_id: str = ""
    num_passages: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that has a name and bytes but no path."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class _Known:
    """What the library holds of a source."""

    id: str
    sha256: str
    title: str
    num_passages: int


class Ingester:
    """Adds files to one collection.  Unchanged files are skipped, changed ones take the place of their old version."""

    def __init__(
        self,
        library: Library,
        workspace: Workspace,
        load_encoder: Callable[[], Encoder],
        *,
        passage_words: int,
        most_bytes: int,
    ) -> None:
        self.library = library
        self.workspace = workspace
        self.load_encoder = load_encoder  # called only when something must be encoded: a second run is quick
        self.splitter = PassageSplitter(passage_words)
        self.most_bytes = most_bytes

    @property
    def collection(self) -> CollectionInfo:
        return self.workspace.collection

    def ingest(self, sources: Iterable[Path | Upload]) -> Iterator[Outcome]:
        """One outcome a file, as soon as it is safe on disk; stopping between two loses nothing."""
        with self.workspace.writing():
            if self.workspace.differs():
                self.workspace.mend(self.load_encoder())
            documents = self.library.documents(self.collection)
            known = {d.source: _Known(d.id, d.sha256, d.title, d.num_passages) for d in documents}
            for source in sources:
                yield self._add(source, known)

    def _add(self, source: Path | Upload, known: dict[str, _Known]) -> Outcome:
        place = source_of(source) if isinstance(source, Path) else source.name
        old = known.get(place)
        try:
            data = self._bytes(source)
            sha256 = hashlib.sha256(data).hexdigest()
            if old is not None and old.sha256 == sha256:
                return Outcome(place, "unchanged", old.title, old.id, old.num_passages)
            read = document_from_bytes(source.name, data, place)
        except ReadError as error:
            return Outcome(place, "failed", reason=str(error))
        document = replace(read, id=document_id(self.collection.name, place, sha256))
        passages = self.splitter.split(document)
        self._keep(document, sha256, passages, old.id if old else "")
        known[place] = _Known(document.id, sha256, document.title, len(passages))
        return Outcome(place, "changed" if old else "added", document.title, document.id, len(passages))

    def _bytes(self, source: Path | Upload) -> bytes:
        if isinstance(source, Path):
            return read_bytes(source, self.most_bytes)
        check_size(source.name, len(source.data), self.most_bytes)
        return source.data

    def _keep(self, document: Document, sha256: str, passages: Sequence[Passage], old: str) -> None:
        """Vectors are staged, the library takes the document, then the index names it; `mend` finishes what stops."""
        encoder = self.load_encoder()
        before = self.library.passage_ids(self.collection, old) if old else []
        with self.workspace.changing(encoder) as index:
            for first in range(0, len(passages), BATCH):
                batch = passages[first : first + BATCH]
                index.add(batch, encoder.encode_passages(batch))
                index.stage(self.workspace.folder)
            self.library.put_document(self.collection, document, sha256, passages)
            index.delete(before)

    def remove(self, document_id: str) -> None:
        """Out of the library first: from that moment no search returns it."""
        with self.workspace.writing():
            ids = self.library.passage_ids(self.collection, document_id)
            self.library.remove_document(document_id)
            self.workspace.forget(ids)


def gather(paths: Sequence[Path]) -> tuple[list[Path], list[Outcome]]:
    """The files that these paths name, and an outcome for each path that names none."""
    files, errors = find_files(paths)
    return files, [Outcome(error.source, "failed", reason=str(error)) for error in errors]
