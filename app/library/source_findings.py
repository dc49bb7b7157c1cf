"""The documents whose text lacks something of their source, or was read by an earlier version, worst first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from propcite.app.ingest.ocr.choosing import Choice, available, way_to_read
from propcite.app.ingest.readers.kinds import READING_VERSIONS
from propcite.app.library.finding import Finding
from propcite.app.library.store import CollectionInfo, DocumentInfo
from propcite.retrieval.fidelity import Fidelity

if TYPE_CHECKING:
    from propcite.app.parts import Parts

WORST = 20  # documents of a collection that are listed


def source_findings(parts: Parts, collections: Sequence[CollectionInfo] = ()) -> Iterator[Finding]:
    """Yield the worst documents of each collection with the next step, then how many others there are."""
    for collection in collections or parts.library.collections():
        yield from _worst(parts.library.documents(collection), collection, parts.settings.ocr)
        yield from _read_before(parts, collection)


def _worst(documents: Sequence[DocumentInfo], collection: CollectionInfo, ocr: Choice) -> Iterator[Finding]:
    partly = [info for info in documents if not info.fidelity.is_whole]
    partly.sort(key=lambda info: (-info.fidelity.loss, info.source))
    for info in partly[:WORST]:
        yield Finding(f"{collection.name}: {info.source}", info.fidelity.line, next_step(info.fidelity, ocr))
    if more := partly[WORST:]:
        remedy = f"propcite list -c {shlex.quote(collection.name)} shows what each lacks"
        yield Finding(f"collection {collection.name}", f"{len(more)} more documents lack something", remedy)


def _read_before(parts: Parts, collection: CollectionInfo) -> Iterator[Finding]:
    if earlier := parts.library.read_before(collection, READING_VERSIONS):
        number = "1 document was" if len(earlier) == 1 else f"{len(earlier)} documents were"
        what = f"{number} read by an earlier version of the readers"
        yield Finding(
            f"collection {collection.name}", what, f"propcite ingest --again -c {shlex.quote(collection.name)}"
        )


def next_step(fidelity: Fidelity, ocr: Choice = "auto") -> str:
    """Return what a person can do about the largest loss.  `ocr` is the setting.

    >>> next_step(Fidelity(pages_left_out=3))
    'split the file and add its parts'
    """
    recognised = replace(fidelity, pages_without_text=0, pages_left_out=0, lost_characters=0, dropped_blocks=0)
    check = "compare quotes with its pages"
    if not available(ocr):
        check = f"{way_to_read(ocr)} and add the file with --again, which compares the layer with the pages"
    losses = {
        f"if they are scans, {way_to_read(ocr)} and add the file with --again": Fidelity(
            pages_without_text=fidelity.pages_without_text
        ),
        "split the file and add its parts": Fidelity(pages_left_out=fidelity.pages_left_out),
        "add it in another format, or print it to a new PDF": Fidelity(lost_characters=fidelity.lost_characters),
        "compare what was read with the source": Fidelity(dropped_blocks=fidelity.dropped_blocks),
        "scan it again more sharply, or compare quotes with its pages": replace(recognised, unchecked_layers=0),
        check: Fidelity(unchecked_layers=fidelity.unchecked_layers),
    }
    return max(losses, key=lambda step: losses[step].loss)
