"""Encoded passages of large documents, on disk but part of no version yet: an interrupted ingest goes on with them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.container import replace_durably
from propcite.retrieval.text import Passage

if TYPE_CHECKING:
    from propcite.retrieval.sharding.folder import OpenIndex

FILE = "unfinished.json"


class UnfinishedDocument:
    """A note in an index's folder of what has been encoded of some passages, by this encoder and with the same text."""

    def __init__(self, folder: Path, index: OpenIndex, passages: Iterable[Passage]) -> None:
        self._folder, self._index, self._path = folder, index, folder / FILE
        digest = hashlib.sha256(index.encoder.encode())
        for passage in passages:
            digest.update(repr((passage.id, passage.title, passage.text)).encode("utf-8", "surrogatepass"))
        self._digest = digest.hexdigest()

    def resume(self) -> set[str]:
        """Add what an interrupted ingest has encoded to the index; return the ids, none if it cannot be used."""
        before = self._index.ids()
        with suppress(OSError, ValueError, KeyError, TypeError, IndexFormatError):  # then it is encoded again
            noted = json.loads(self._path.read_bytes())
            if noted["of"] == self._digest:
                self._index.attach_staged(self._folder, noted["segments"])
        return self._index.ids() - before

    def stage(self) -> None:
        """Write what was added to the index, and note it."""
        self._index.stage(self._folder)
        note = {"of": self._digest, "segments": self._index.staged()}
        replace_durably(self._path, json.dumps(note).encode())

    def remove(self) -> None:
        """Forget the note, once the document counts."""
        self._path.unlink(missing_ok=True)
