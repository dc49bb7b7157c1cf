"""Measure the check for pages of nonsense letters: what it finds, and how often it is wrong, by language.

    python -m tests.benchmarks.reading garbled CACHE

Manual pages of Debian in several languages are rendered and cut into pages of 2,000 characters.  A page is garbled as
by a font with a wrong Unicode map: each small letter is read as another one, or each as the third one after it.
"""

from __future__ import annotations

import argparse
import gzip
import random
import shutil
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from string import ascii_lowercase

from tests.benchmarks.answers.packages import fetch
from tests.benchmarks.answers.report import show
from tests.benchmarks.reading.text import COLUMNS, rendered

from propcite.app.ingest.readers.pdf.garbled import is_garbled
from propcite.retrieval.errors import PropCiteError

LANGUAGES = "de fr es it nl pl cs da ro sv hu fi pt-br".split()
PACKAGES = {"en": "manpages", **{language: f"manpages-{language}" for language in LANGUAGES}}
PAGE, PAGES = 2000, 150
HEAD = ("language", "pages", "wrongly called garbled", "found with mixed letters", "found with shifted letters")


def pages(folder: Path) -> Iterator[str]:
    """Yield pages of the manuals of a package, the same number of each long one."""
    manuals = sorted(folder.glob("usr/share/man/**/man[1-8]/*.gz"))
    for file in manuals:
        source = b"" if file.is_symlink() else gzip.decompress(file.read_bytes())
        text = rendered(source, COLUMNS) if len(source) > 2 * PAGE else ""
        for start in range(0, min(len(text) - PAGE, 3 * PAGE), PAGE):
            yield text[start : start + PAGE]


def mixed(text: str, seed: int) -> str:
    letters = list(ascii_lowercase)
    random.Random(seed).shuffle(letters)
    return text.translate(str.maketrans(ascii_lowercase, "".join(letters)))


def shifted(text: str) -> str:
    return text.translate(str.maketrans(ascii_lowercase, ascii_lowercase[3:] + ascii_lowercase[:3]))


def row(language: str, texts: list[str]) -> tuple[str, ...]:
    found = [
        sum(map(is_garbled, texts)),
        sum(is_garbled(mixed(text, seed)) for seed, text in enumerate(texts)),
        sum(is_garbled(shifted(text)) for text in texts),
    ]
    return language, f"{len(texts)}", *(f"{number / max(len(texts), 1):.1%}" for number in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, help="the folder into which apt-get downloads the packages, once")
    cache = parser.parse_args().cache.absolute()
    if not shutil.which("groff"):
        sys.exit("groff is not installed (Debian: apt install groff)")
    try:
        fetch(PACKAGES.values(), cache)
    except PropCiteError as error:
        sys.exit(str(error))
    show(HEAD, [row(language, list(islice(pages(cache / name), PAGES))) for language, name in PACKAGES.items()])
