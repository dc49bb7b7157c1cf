"""Measure what large files take: seconds and peak memory of reading alone, and of a whole ingest.

    python -m tests.benchmarks.reading large [--full] [--only csv] [--ingest]

Files are generated in a temporary folder.  Each is read in a process of its own, as a reader process does it: processor
seconds of reading and of splitting into passages, and the peak memory.  With `--ingest` each is also added to a new
library with an encoder that costs next to nothing, to show what all else takes.  `--full` takes a million rows, 300 MB
of text and 5,000 pages in place of a tenth of each.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from propcite.app.ingest.reader_pool import RawDocument, parse
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Passage

SUPPORT = Path(__file__).parents[2] / "support"
SENTENCE = "On day {n} the ship {n} brought {m} tonnes of grain to Port {p}, and coal for the works. "


def write_csv(path: Path, share: float) -> None:
    with path.open("w") as file:
        file.write("id,port,visits,note\n")
        for n in range(int(1_000_000 * share)):
            file.write(f"{n},Port {n % 977},{n * 37 % 1000},Ships came with grain and coal on day {n % 365}\n")


def write_text(path: Path, share: float) -> None:
    n = 0
    with path.open("w") as file:
        while file.tell() < 300e6 * share:
            for _ in range(6):
                file.write(SENTENCE.format(n=n, m=n % 97, p=n % 31))
                n += 1
            file.write("\n\n")


def write_jsonl(path: Path, share: float) -> None:
    with path.open("w") as file:
        file.writelines(f"{record}\n" for record in _records(share))


def write_json(path: Path, share: float) -> None:
    with path.open("w") as file:
        file.write("[\n")
        file.writelines(f"{',' if n else ''}{record}\n" for n, record in enumerate(_records(share)))
        file.write("]\n")


def _records(share: float) -> Iterator[str]:
    for n in range(int(300_000 * share)):
        yield json.dumps({"title": f"Day {n}", "text": SENTENCE.format(n=n, m=n % 97, p=n % 31), "tons": n % 97})


def write_xlsx(path: Path, share: float) -> None:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    for year in range(4):
        sheet = book.create_sheet(f"Year {2020 + year}")
        sheet.append(["id", "port", "visits", "note"])
        for n in range(int(100_000 * share)):
            sheet.append([n, f"Port {n % 977}", n * 37 % 1000, f"Ships came with grain and coal on day {n % 365}"])
    book.save(path)


def write_html(path: Path, _share: float) -> None:
    """Write one element with very many attributes, in the same size for all shares."""
    attributes = " ".join(f'data-{n}="{n}"' for n in range(55_000))
    path.write_text(f"<html><body><p {attributes}>Ships came with grain and coal.</p></body></html>")


def write_pdf(path: Path, share: float) -> None:
    from reportlab.pdfgen import canvas

    pdf = canvas.Canvas(str(path), pageCompression=1)
    for page in range(int(5000 * share)):
        for line in range(45):
            n = page * 45 + line
            pdf.drawString(72, 760 - 15 * line, SENTENCE.format(n=n, m=n % 97, p=n % 31).strip())
        pdf.showPage()
    pdf.save()


FILES: dict[str, Callable[[Path, float], None]] = {
    "csv": write_csv,
    "xlsx": write_xlsx,
    "json": write_json,
    "jsonl": write_jsonl,
    "txt": write_text,
    "pdf": write_pdf,
    "html": write_html,
}


def read(path: Path) -> dict[str, float]:
    """Read one file as a reader process does; return processor seconds, peak memory and the number of passages.

    The splitter's seconds are its share of the wall time, taken of the processor's.
    """
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        raw = RawDocument(str(path), path.name, path.read_bytes(), "0" * 64, "d")
        parsed = parse(raw, PassageSplitter(100), Path(folder))
        seconds, num_passages = time.process_time() - begun, len(parsed.passages)
    if parsed.reason:
        sys.exit(parsed.reason)
    splitting = seconds * parsed.timings["split"] / sum(parsed.timings.values())
    memory = peak(resource.RUSAGE_SELF)
    return {"reading": seconds - splitting, "splitting": splitting, "megabytes": memory, "passages": num_passages}


def ingest(path: Path) -> dict[str, float]:
    """Add one file to a new library; return seconds, and the peak memory of this process and of its reader."""
    sys.path.insert(0, str(SUPPORT))
    from word_encoder import WordEncoder

    class FewWords(WordEncoder):
        """Encodes all numbers alike, because each word's vector stays in memory."""

        def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
            return super().encode_passages([replace(p, text=re.sub(r"\d", "0", p.text)) for p in passages])

    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(data_dir=Path(folder), max_file_mb=1000, read_seconds=3600, read_memory_mb=16000)
        parts = Parts(settings)
        parts.__dict__["encoder"] = FewWords()
        begun = time.perf_counter()
        (outcome,) = parts.ingester(parts.library.create_collection("large")).ingest([path])
        seconds = time.perf_counter() - begun
        parts.library.close()
    if outcome.state != "added":
        sys.exit(outcome.reason)
    memory = {"megabytes": peak(resource.RUSAGE_SELF), "reader_megabytes": peak(resource.RUSAGE_CHILDREN)}
    return {"seconds": seconds, **memory, "passages": outcome.num_passages}


def peak(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / 1024


def measured(step: str, path: Path) -> dict[str, float] | str:
    """Run one step in a process of its own; return its figures, or the last line that it left."""
    command = [sys.executable, "-m", "tests.benchmarks.reading", "large", "--step", step, "--only", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1][:60]
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="ten times the sizes")
    parser.add_argument("--only", default="", help=f"one of {', '.join(FILES)}")
    parser.add_argument("--ingest", action="store_true", help="also add each file to a library")
    parser.add_argument("--step", choices=("read", "ingest"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        print(json.dumps({"read": read, "ingest": ingest}[given.step](Path(given.only))))
        return
    head = "| file | MB | passages | reading | splitting | memory |"
    head += " whole ingest | its memory | its reader's |" if given.ingest else ""
    print(head, "|---" * (head.count("|") - 1) + "|", sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        for kind in [given.only] if given.only else FILES:
            path = Path(folder, f"large.{kind}")
            FILES[kind](path, 1.0 if given.full else 0.1)
            cells = [kind, f"{path.stat().st_size / 1e6:.0f}", *_reading(measured("read", path))]
            cells += _ingest(measured("ingest", path)) if given.ingest else []
            print(f"| {' | '.join(cells)} |", flush=True)
            path.unlink()


def _reading(alone: dict[str, float] | str) -> list[str]:
    if isinstance(alone, str):
        return [alone]
    seconds = [f"{alone[step]:.1f} s" for step in ("reading", "splitting")]
    return [f"{alone['passages']:,.0f}", *seconds, f"{alone['megabytes']:,.0f} MB"]


def _ingest(whole: dict[str, float] | str) -> list[str]:
    if isinstance(whole, str):
        return [whole]
    return [f"{whole['seconds']:.0f} s", f"{whole['megabytes']:,.0f} MB", f"{whole['reader_megabytes']:,.0f} MB"]
