"""Compare versions of real texts whole, and texts with planted edits: python -m tests.benchmarks.versions

The texts are the licences that Debian installs.  Five edits are planted in each; besides, every line is wrapped at
another width, quotation marks are others, and sections have other numbers, which is no difference.
"""

from __future__ import annotations

import re
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from propcite import Document, PropCite
from propcite.app.ingest.readers import read_document
from propcite.attribution.citing.comparing import Relation
from propcite.attribution.versions.records import SentencePair, TextComparison
from propcite.attribution.versions.words import plain_words
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Passage

LICENCES = Path("/usr/share/common-licenses")
VERSIONS = (("GPL-2", "GPL-3"), ("LGPL-2", "LGPL-2.1"), ("GFDL-1.2", "GFDL-1.3"), ("MPL-1.1", "MPL-2.0"))
PLANTED = ("Apache-2.0", "GPL-2", "GPL-3", "GFDL-1.3", "LGPL-2.1", "MPL-2.0", "Artistic")
ADDED = "The licensee reports every sale to the chamber of commerce in Bergen within 21 days."
CLEAR = (Relation.DIFFERS, Relation.ALONE)
SECTION = re.compile(r"(?m)^( *)(\d{1,2})\. ")


def read(text: str) -> Document:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "licence.txt"  # the name is a title, which the encoder reads
        file.write_text(text, "utf-8")
        return read_document(file)


def passages(text: str) -> list[Passage]:
    return PassageSplitter().split(read(text))


def sentences(text: str) -> list[str]:
    found = [one.span.of(p.text) for p in passages(text) for one in p.sentences]
    return [one.strip() for one in found if 12 <= len(one.split()) <= 45]


def planted(text: str) -> tuple[str, dict[str, str]]:
    """A text with five edits.  -> it, and of each kind the words by which its row is known"""
    whole, found = sentences(text), dict[str, str]()
    kinds: dict[str, tuple[Callable[[str], bool], Callable[[str], str]]] = {
        "denied": (lambda one: " must " in one, lambda one: one.replace(" must ", " must not ", 1)),
        "allowed": (lambda one: " may " in one and " not " not in one, lambda one: one.replace(" may ", " must ", 1)),
        "other word": (lambda one: " copy" in one, lambda one: re.sub(r" copy\w*", " ferry", one, count=1)),
        "removed": (bool, lambda _: ""),
        "added": (bool, lambda one: f"{one} {ADDED}"),
    }
    used: set[str] = set()
    for number, (kind, (fits, edit)) in enumerate(kinds.items()):
        start = number * len(whole) // len(kinds)
        once = (one for one in [*whole[start:], *whole] if text.count(one) == 1 and one not in used and fits(one))
        old = next(once)
        used.add(old)
        text = text.replace(old, edit(old))
        found[kind] = ADDED if kind == "added" else plain_words(old)
    return text, found


def otherwise(text: str) -> str:
    """The same text in other lines, with other quotation marks and section numbers."""
    text = re.sub(r"\"([^\"\n]*)\"", r"“\1”", text).replace("'", "’")
    paragraphs = [wrapped(part) for part in re.split(r"\n[ \t]*\n", text)]
    numbers = count(21)
    return SECTION.sub(lambda match: f"{match[1]}{next(numbers)}. ", "\n\n".join(paragraphs))


def wrapped(paragraph: str) -> str:
    """A paragraph in lines of another width; boxes and lists of short lines stay."""
    lines = paragraph.splitlines()
    if any(line.lstrip().startswith(("*", "-")) for line in lines) or len(lines) < 2 or len(lines[0]) < 55:
        return paragraph
    return textwrap.fill(" ".join(paragraph.split()), 90, break_on_hyphens=False)


def is_of(pair: SentencePair, words: str) -> bool:
    """Whether a row has the planted words, or a part of them where the reader cut them elsewhere."""
    shown = [plain_words(side.quote) for side in (pair.left, pair.right) if side]
    return any(words in one or (len(one) > 40 and one in words) for one in shown)


def counted(found: TextComparison) -> str:
    shown = Counter("copy" if pair.is_copy else pair.relation.value for pair in found.pairs)
    return " | ".join(f"{shown[name]}" for name in ("copy", "agrees", "partly", "differs", "alone"))


def main() -> None:
    propcite = PropCite.default()
    propcite.compare_texts(["It rained on 3 May."], ["It rained on 4 May."])  # the models load
    print("| versions | sentences | the same | other words | partly | different | one alone | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for names in VERSIONS:
        one, other = (passages((LICENCES / name).read_text("utf-8", "replace")) for name in names)
        begun = time.perf_counter()
        found = propcite.compare_texts(one, other)
        seconds = time.perf_counter() - begun
        sizes = len(found.pairs) - found.only_right, len(found.pairs) - found.only_left
        print(f"| {' and '.join(names)} | {sizes[0]} and {sizes[1]} | {counted(found)} | {seconds:.1f} |")
    print("\n| text | edits shown | as different or alone | false differences | seconds |\n|---|---|---|---|---|")
    for name in PLANTED:
        text = read((LICENCES / name).read_text("utf-8", "replace")).text
        edited, edits = planted(text)
        begun = time.perf_counter()
        found = propcite.compare_texts(passages(text), passages(otherwise(edited)))
        seconds = time.perf_counter() - begun
        rows = [pair for pair in found.pairs if not pair.is_copy]
        of = {kind: [pair for pair in rows if is_of(pair, words)] for kind, words in edits.items()}
        strict = [
            kind for kind, own in of.items() if any(p.relation in (Relation.DIFFERS, Relation.ALONE) for p in own)
        ]
        others = [pair for pair in rows if not any(pair in own for own in of.values())]
        print(f"| {name} | {sum(map(bool, of.values()))} of 5 | {len(strict)} | {len(others)} | {seconds:.1f} |")
        for pair in others:
            print("   ", pair.relation, [side and plain_words(side.quote)[:160] for side in (pair.left, pair.right)])


if __name__ == "__main__":
    main()
