"""Stored files that are gone or altered: find them, and restore them from the user's own files or from a backup."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from propcite.app.errors import StoreError
from propcite.app.library.backup.archive import BackupReader, open_backup
from propcite.app.library.finding import Finding
from propcite.app.library.originals import Originals, digest_of, is_file

FROM_BACKUP = "propcite doctor --mend --backup FILE restores them, or add them again"
MOST_NAMED = 3


def lost_originals(originals: Originals, backup: Path | None = None) -> Iterator[Finding]:
    """Yield a finding for the files of documents that are altered, and one for those that are gone.

    A file counts as gone where the settings say that it is stored.
    """
    altered: dict[str, str] = {}  # sources by digest
    gone: dict[str, str] = {}
    library, stored = originals.library, set(originals.digests())
    for collection in library.collections():
        for info in library.documents(collection):
            if originals.path(info.sha256).exists():
                if info.sha256 not in altered and not originals.is_intact(info.sha256):
                    altered[info.sha256] = info.source
            elif originals.wants(info.source) and info.sha256 not in stored:
                gone[info.sha256] = info.source
    for lost, what in ((altered, "altered"), (gone, "gone")):
        if lost:
            yield _finding(originals, lost, what, backup)


def _finding(originals: Originals, lost: Mapping[str, str], what: str, backup: Path | None) -> Finding:
    names = sorted(set(lost.values()))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    count = "1 stored file is" if len(lost) == 1 else f"{len(lost)} stored files are"
    said = f"{count} {what}: {', '.join(names[:MOST_NAMED])}{more}"
    can_mend = backup is not None or any(_own(sha256, source) for sha256, source in lost.items())
    fix = (lambda: _restore(originals, lost, backup)) if can_mend else None
    return Finding(str(originals.folder), said, FROM_BACKUP if fix is None else "--mend restores them", fix)


def _restore(originals: Originals, lost: Mapping[str, str], backup: Path | None) -> None:
    """Store each file again; StoreError says how many neither a file of the user nor the backup has."""
    num_left = 0
    with ExitStack() as stack:
        reader = stack.enter_context(open_backup(backup)) if backup else None
        for sha256, source in lost.items():
            own = _own(sha256, source)
            data = own.read_bytes() if own else _in_backup(reader, sha256)
            if data is not None and hashlib.sha256(data).hexdigest() == sha256:
                originals.save(sha256, data)
            else:
                num_left += 1
    if num_left:
        raise StoreError(f"{num_left} of {len(lost)} are in no file and not in the backup")


def _own(sha256: str, source: str) -> Path | None:
    """Return the file of the user that still has the content, if there is one."""
    return Path(source) if is_file(source) and digest_of(Path(source)) == sha256 else None


def _in_backup(reader: BackupReader | None, sha256: str) -> bytes | None:
    if reader is not None:
        with suppress(KeyError, zipfile.BadZipFile):
            return reader.archive.read(f"originals/{sha256[:2]}/{sha256}")
    return None
