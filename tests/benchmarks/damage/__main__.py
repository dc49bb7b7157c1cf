"""Damage a library in 23 ways and kill its writers; count what is reported, mended, lost, and what nobody noticed.

    python -m tests.benchmarks.damage [--tries 20] [--kills 5] [--json FILE]

Each try damages a copy of a small library once, asks `propcite doctor --mend --backup`, and where that is not enough
`propcite restore` into an empty folder, and compares all that can be read with what was there: documents, passages,
hits, kept answers and kept files.  `unseen` and `other errors` must be 0.  Each round of kills ingests 16 files in
processes that are killed with SIGKILL at random moments until one ends, and rebuilds the index in others, killed too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

SUPPORT = Path(__file__).parents[2] / "support"
sys.path.append(str(SUPPORT))

from attacking import QUICK, opened_again, small_library  # noqa: E402
from tests.benchmarks.damage.kinds import KINDS  # noqa: E402

from propcite.app.ingest.sources import Upload  # noqa: E402
from propcite.app.library.backup import create_backup, restore_backup  # noqa: E402
from propcite.app.library.doctor import Doctor, mend  # noqa: E402
from propcite.app.library.store import Library  # noqa: E402
from propcite.app.parts import Parts  # noqa: E402
from propcite.app.settings import load_settings  # noqa: E402
from propcite.retrieval.errors import PropCiteError  # noqa: E402

COLUMNS = ("harmless", "mended", "restored", "not mended", "unseen", "other errors")
BAD = ("unseen", "other errors")
TEXTS = {f"{n}.txt": f"Gate number {n} weighs 30{n} tonnes. It was painted in 20{n + 10}." for n in range(8)}
ABOUT_THE_MACHINE = ("disk", "models")


def opened(parts: Parts) -> Parts:
    """Open the library as another process does; the encoder is loaded once."""
    parts.library.close()
    again = Parts(parts.settings)
    again.__dict__["encoder"] = parts.encoder
    return again


def content_of(parts: Parts) -> dict[str, object]:
    """Return all that a library shows of its documents, answers and files."""
    library = parts.library
    harbour = library.collection("harbour")
    documents = library.documents(harbour)
    retriever = parts.pipeline(harbour).retriever()
    hits = [retriever.search(f"Gate number {n} weighs", k=4) for n in range(len(TEXTS))]
    return {
        "documents": {one.id: library.document(one.id).text for one in documents},
        "passages": sorted(one.text for one in library.passages(library.passage_ids(harbour)).values()),
        "hits": [[(hit.passage.id, round(hit.score, 4)) for hit in found] for found in hits],
        "answers": {one.id: (library.answer(one.id).text, one.num_facts) for one in library.answers(harbour)},
        "files": {one: parts.originals.is_intact(one) for one in sorted(parts.originals.digests())},
    }


def outcome(parts: Parts, backup: Path, before: object) -> str:
    """Return what became of a damaged library."""
    reported = False
    try:
        again = opened(parts)
        found = [one for one in Doctor(again, backup=backup).findings() if not one.where.startswith(ABOUT_THE_MACHINE)]
        reported = bool(found)
        mend(found)
        if content_of(opened(again)) == before:
            return "mended" if reported else "harmless"
    except PropCiteError as error:
        reported = "\n" not in str(error)
    if not reported:
        return "unseen"
    try:
        restored_from(parts, backup)
        return "restored" if content_of(opened(parts)) == before else "not mended"
    except PropCiteError:
        return "not mended"


def restored_from(parts: Parts, backup: Path) -> None:
    """Move the damaged directory away, as the errors say, and restore the backup."""
    folder = parts.settings.data_dir
    shutil.rmtree(folder)
    restore_backup(backup, lambda: Library(parts.settings.database_url), folder, force=True)


def tried(kind: str, parts: Parts, whole: Path, backup: Path, before: object, seed: int) -> str:
    folder = parts.settings.data_dir
    shutil.rmtree(folder)
    shutil.copytree(whole, folder)
    KINDS[kind](folder, Random(zlib.crc32(f"{kind} {seed}".encode())))
    try:
        return outcome(parts, backup, before)
    except Exception as error:  # what this counts
        sys.stderr.write(f"{kind}, {seed}: {type(error).__name__}: {error}\n")
        return "other errors"


def damage(folder: Path, tries: int) -> Iterator[tuple[str, Counter[str]]]:
    parts = Parts(load_settings(data_dir=folder / "data", collection="harbour", **QUICK))
    collection = parts.library.create_collection("harbour")
    list(parts.ingester(collection).ingest([Upload(name, text.encode()) for name, text in TEXTS.items()]))
    parts.pipeline(parts.library.collection("harbour")).cite("Gate number 3 weighs 303 tonnes. It is made of gold.")
    create_backup(parts.library, folder / "data", folder / "backup")
    before = content_of(parts)
    parts.library.close()
    shutil.copytree(folder / "data", folder / "whole")
    for kind in KINDS:
        yield (
            kind,
            Counter(tried(kind, parts, folder / "whole", folder / "backup", before, seed) for seed in range(tries)),
        )


def ran(script: str, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SUPPORT / script), *map(str, words)]
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **paths})


def kills(folder: Path, rounds: int) -> Counter[str]:
    """Kill writers, and count the kills and what was lost by them."""
    counts: Counter[str] = Counter()
    for number in range(rounds):
        data, letters = folder / f"killed-{number}", folder / f"letters-{number}"
        letters.mkdir()
        for n in range(16):
            (letters / f"{n}.txt").write_text(f"Letter{n} was written by author{n}. It is long.")
        done = ran("killed_ingests.py", data, letters, number)
        if done.returncode:
            raise SystemExit(done.stderr)
        counts["kills of an ingest"] += int(done.stdout)
        parts = small_library(data, {})
        target = parts.library.collection("letters")
        counts["documents lost"] += 16 - len({one.source for one in parts.library.documents(target)})
        counts["documents doubled"] += len(parts.library.documents(target)) - 16
        counts["indexes that differ"] += len(parts.workspace(target).faults())
        parts.remove_collection(parts.library.collection("harbour"))
        parts.library.close()
        for batches, links in ((0, -1), (2, -1), (5, -1), (-1, 0), (-1, 1)):
            counts["kills of a reindex"] += ran("killed_reindex.py", data, batches, links).returncode < 0
            again = opened_again(parts)
            found = again.pipeline(again.library.collection("letters")).retriever().search("Letter7", k=1)
            counts["searches that fail after one"] += not (found and "Letter7" in found[0].passage.text)
            again.library.close()
    return counts


def table(rows: list[tuple[str, Counter[str]]]) -> str:
    lines = [f"| damage | {' | '.join(COLUMNS)} |", f"|---|{'---:|' * len(COLUMNS)}"]
    total = sum((counts for _, counts in rows), Counter())
    for kind, counts in (*rows, (f"**all {len(rows)} kinds**", total)):
        lines.append(f"| {kind} | {' | '.join(str(counts[name] or '') for name in COLUMNS)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tries", type=int, default=20, help="of each kind of damage")
    parser.add_argument("--kills", type=int, default=5, help="rounds of kills")
    parser.add_argument("--json", type=Path, help="file for the counts")
    given = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        rows = list(damage(Path(name), given.tries))
        killed = kills(Path(name), given.kills)
    print(table(rows))
    print("\n" + ", ".join(f"{number} {what}" for what, number in killed.items()))
    print(f"\n{time.monotonic() - begun:.0f} s")
    if given.json:
        given.json.write_text(json.dumps({"damage": dict(rows), "kills": killed}, indent=1))
    sys.exit(any(counts[bad] for _, counts in rows for bad in BAD))


if __name__ == "__main__":
    main()
