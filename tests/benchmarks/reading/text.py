"""Measure what is read of texts that are wrapped for printers: manuals, mails with quotes, texts with page breaks.

    python -m tests.benchmarks.reading text CACHE [--examples N]

The sources of Debian's manual pages are rendered twice by groff: on lines so wide that each paragraph is one line,
which is the truth, and on lines of 78 columns, which are read, most of them justified.  The latter are also printed on
pages with running heads, as RFCs are, and the paragraphs are quoted in mails.  For each way: the share of paragraphs
that are read as one line, the share of short lines, of tables and code too, that stay lines of their own, and the share
of words that are kept.
"""

from __future__ import annotations

import argparse
import gzip
import re
import shutil
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import process_time

from tests.benchmarks.answers.packages import fetch
from tests.benchmarks.answers.report import show

from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.errors import PropCiteError

PACKAGES = ("manpages", "git-man", "curl", "rsync", "openssh-client")
PER_PACKAGE = 12  # manual pages, the largest of each package
COLUMNS, WIDE = 78, 5000
LINES_PER_PAGE = 50
PLAIN = ("-rHY=0",)  # without hyphenation
HEAD = ("text", "files", "paragraphs", "as one line", "short lines", "kept", "words kept", "seconds")


@dataclass(slots=True)
class Counted:
    """How many paragraphs and short lines there are, and which of them are not read as lines of their own."""

    files: int = 0
    paragraphs: int = 0
    lines: int = 0
    words: int = 0
    broken: list[str] = field(default_factory=list)
    joined: list[str] = field(default_factory=list)
    lost: int = 0
    seconds: float = 0.0

    def add(self, truth: Iterable[str], name: str, text: str) -> None:
        """Read a text and compare it with the lines that it has where none is wrapped."""
        begun = process_time()
        document = document_from_bytes(name, text.encode(), name)
        self.seconds += process_time() - begun
        read = Counter(map(_words, document.text.split("\n")))
        words = Counter(word for line in read.elements() for word in line.split())
        self.files += 1
        for line in filter(None, map(_words, truth)):
            found = read[line] > 0
            read[line] -= found
            if len(line) > COLUMNS:
                self.paragraphs += 1
                self.broken += [] if found else [line]
            else:
                self.lines += 1
                self.joined += [] if found else [line]
            expected = Counter(line.split())
            self.words += expected.total()
            self.lost += (expected - words).total()
            words -= expected

    def row(self, name: str) -> tuple[str, ...]:
        paragraphs = f"{1 - len(self.broken) / max(self.paragraphs, 1):.1%}"
        lines = f"{1 - len(self.joined) / max(self.lines, 1):.1%}"
        words = f"{1 - self.lost / max(self.words, 1):.2%}"
        return (
            name,
            f"{self.files}",
            f"{self.paragraphs}",
            paragraphs,
            f"{self.lines}",
            lines,
            words,
            f"{self.seconds:.1f}",
        )


def _words(line: str) -> str:
    """Return a line without quoting marks, and with one space between words."""
    return " ".join(re.sub(r"^(?:> ?)+", "", line).split())


def manuals(cache: Path) -> Iterator[bytes]:
    """Yield the sources of manual pages, which are fetched into `cache`."""
    fetch(PACKAGES, cache)
    for package in PACKAGES:
        files = sorted(
            (file for file in cache.glob(f"{package}/usr/share/man/man?/*.gz") if not file.is_symlink()),
            key=lambda file: (-file.stat().st_size, file.name),
        )
        yield from (gzip.decompress(file.read_bytes()) for file in islice(files, PER_PACKAGE))


def rendered(source: bytes, columns: int, *options: str) -> str:
    command = ["groff", "-k", "-mandoc", "-t", "-Tutf8", "-P-cbou", f"-rLL={columns}n", f"-rLT={COLUMNS}n", *options]
    return subprocess.run(command, input=source, capture_output=True, check=True).stdout.decode()


def paged(text: str) -> str:
    """Print a text on pages with running heads and feet."""
    lines = text.split("\n")
    pages = ["\n".join(lines[first : first + LINES_PER_PAGE]) for first in range(0, len(lines), LINES_PER_PAGE)]
    head, foot = "RFC 9999            Manual of a Program            May 2024", "Smith       Informational    [Page {}]"
    return "\f".join(f"{head}\n\n\n{page}\n\n\n{foot.format(number)}\n" for number, page in enumerate(pages, 1))


def quoted(truth: Iterable[str], marks: str) -> str:
    """Return a mail that quotes paragraphs, wrapped to 72 columns."""
    wrapped = [
        "\n".join(textwrap.wrap(line, 72, initial_indent=marks, subsequent_indent=marks, break_on_hyphens=False))
        for line in truth
    ]
    body = f"\n{marks.rstrip()}\n".join(wrapped)
    head = "From: Ana <ana@example.org>\nSubject: Manuals\nContent-Type: text/plain; charset=utf-8\n\nBen wrote:\n"
    return f"{head}\n{body}\n"


def prose(truth: Iterable[str]) -> list[str]:
    """Return the paragraphs of a manual: sentences, rather than options and code."""
    return [line for line in map(_words, truth) if len(line) > COLUMNS and re.match(r"[A-Z][a-z]* [a-z]", line)]


def measure(cache: Path) -> dict[str, Counted]:
    ways: dict[str, Callable[[bytes, list[str]], tuple[Iterable[str], str, str]]] = {
        "manual": lambda source, truth: (truth, "x.txt", rendered(source, COLUMNS, *PLAIN)),
        "manual, hyphenated": lambda source, truth: (truth, "x.txt", rendered(source, COLUMNS)),
        "on pages, as RFCs": lambda source, truth: (truth, "x.txt", paged(rendered(source, COLUMNS, *PLAIN))),
        "mail, quoted": lambda _, truth: (prose(truth), "x.eml", quoted(prose(truth), "> ")),
        "mail, quoted twice": lambda _, truth: (prose(truth), "x.eml", quoted(prose(truth), "> > ")),
    }
    counted = {name: Counted() for name in ways}
    for source in manuals(cache):
        truth = rendered(source, WIDE, *PLAIN).split("\n")
        for name, way in ways.items():
            counted[name].add(*way(source, truth))
    return counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, help="the folder into which apt-get downloads the packages, once")
    parser.add_argument("--examples", type=int, default=0, help="lines shown of each way that are not read as they are")
    given = parser.parse_args()
    if not shutil.which("groff"):
        sys.exit("groff is not installed (Debian: apt install groff)")
    try:
        counted = measure(given.cache.absolute())
    except PropCiteError as error:
        sys.exit(str(error))
    show(HEAD, [one.row(name) for name, one in counted.items()])
    for name, one in counted.items() if given.examples else ():
        print(f"\n{name}")
        for what, lines in (("broken", one.broken), ("joined or broken", one.joined)):
            for line in lines[:: max(1, len(lines) // given.examples)][: given.examples]:
                print(f"  {what}: {line[:150]}")
