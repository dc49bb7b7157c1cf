"""HTML pages as PropCite reads them, beside what chromium shows of them (`document.body.innerText`).

A sentence is a visible line, or a sentence or a table cell in it, of at least three words.  It is kept if its words
follow each other in the text that was read.  `SITE_PARTS` are the parts that each generator of documentation marks as
the site's own: they need not be read, but they are visible, so a sentence from them that is read is no error.
"""

from __future__ import annotations

import argparse
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from tests.benchmarks.answers.packages import fetch
from tests.benchmarks.answers.report import show

from propcite.app.ingest.readers import read_document
from propcite.retrieval.errors import PropCiteError

PAGES = Path(__file__).with_name("html_pages.tsv")
MIN_WORDS = 3
HEAD = ("page", "visible", "kept", "read", "seen", "left out", "seconds")
# Sphinx, DocBook, Doxygen, Texinfo, the manual of Apache, and the elements of HTML.
SITE_PARTS = (
    "nav, body > header, body > footer, [role=navigation], [role=search], [role=banner], [role=contentinfo], "
    "div.sphinxsidebar, div.related, div.footer, div.mobile-nav, "
    "div.navheader, div.navfooter, table.navheader, table.navfooter, .NAVHEADER, .NAVFOOTER, "
    "#top, #nav-path, #side-nav, div.footer, hr.footer ~ *, div.header > div.summary, "
    "div.nav-panel, body > div.header, div.header > p, #page-header, #path, .toplang, .bottomlang, #footer, "
    "div.menu, div.nosearch, div.submenu"
)
_SHOWN = """
const hidden = [...document.querySelectorAll(arguments[0])];
const all = document.body.innerText;
for (const element of hidden) element.style.setProperty("display", "none", "important");
return [all, document.body.innerText];
"""
_LENGTH = 'return document.readyState == "complete" ? document.body.innerText.length : null'
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_MARKER = re.compile(r"\s*(?:- |\d+\. )*")
_CELLS = re.compile(r" = |; | \| ")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Measured:
    """A page: the sentences that are visible and not the site's, those of them that are kept, and those read."""

    page: str
    visible: tuple[str, ...]
    lost: tuple[str, ...]
    read: tuple[str, ...]
    unseen: tuple[str, ...]
    left_out: int  # sentences of the site that are not read
    permalinks: int  # headings with a sign that only links to them
    seconds: float

    @property
    def kept_share(self) -> float:
        return 1 - len(self.lost) / max(len(self.visible), 1)

    @property
    def seen_share(self) -> float:
        return 1 - len(self.unseen) / max(len(self.read), 1)


def measure(cache: Path) -> Iterator[Measured]:
    """Yield each page of the list as it is read; the packages are fetched into `cache`."""
    pages = [line.split("\t") for line in PAGES.read_text("utf-8").splitlines()[1:]]
    fetch([package for package, _ in pages], cache)
    browser = _browser()
    try:
        for package, path in pages:
            yield _measured(browser, cache / package / path, f"{package} {Path(path).name}")
    finally:
        browser.quit()


def _browser() -> Any:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options)
    browser.set_page_load_timeout(120)
    return browser


def _measured(browser: Any, file: Path, page: str) -> Measured:
    browser.get(file.as_uri())
    shown, content = _shown(browser)
    start = perf_counter()
    document = read_document(file)
    seconds = perf_counter() - start
    visible, words = tuple(_sentences(content)), _joined_words(document.text)
    lost = tuple(one for one in visible if _joined_words(one) not in words)
    read, shown_words = tuple(_sentences(document.text)), _joined_words(shown)
    unseen = tuple(one for one in read if not _is_seen(one, shown_words))
    inside = set(visible)
    left_out = sum(one not in inside and _joined_words(one) not in words for one in _sentences(shown))
    permalinks = sum(heading.span.of(document.text).rstrip().endswith(("¶", "#", "§")) for heading in document.headings)
    return Measured(page, visible, lost, read, unseen, left_out, permalinks, seconds)


def _shown(browser: Any) -> tuple[str, str]:
    """Return the visible text of the open page, whole and without the site's parts, once it is the same twice."""
    seen: list[Any] = []
    while len(seen) < 2 or seen[-1] is None or seen[-1] != seen[-2]:
        sleep(0.2)
        seen.append(browser.execute_script(_LENGTH))
    shown, content = browser.execute_script(_SHOWN, SITE_PARTS)
    return shown, content


def _sentences(text: str) -> Iterator[str]:
    for line in re.split(r"[\n\t]+", text):
        for sentence in _ENDS.split(_MARKER.sub("", line, count=1)):
            if len(_WORDS.findall(sentence)) >= MIN_WORDS:
                yield sentence.strip()


def _is_seen(sentence: str, shown: str) -> bool:
    """Whether a sentence is visible as a whole, or, as a row of a table, cell by cell."""
    cells = map(_joined_words, _CELLS.split(sentence))
    return _joined_words(sentence) in shown or all(not cell.strip() or cell in shown for cell in cells)


def _joined_words(text: str) -> str:
    level = unicodedata.normalize("NFKC", text)  # chromium's text has raised digits level
    return f" {' '.join(_WORDS.findall(level.casefold()))} "


def rows(pages: Sequence[Measured]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each page, then one for all of them, in which each sentence counts the same."""
    for one in pages:
        yield _row(one)
    for_all = ("visible", "lost", "read", "unseen")
    sums: Mapping[str, Any] = {name: tuple(s for one in pages for s in getattr(one, name)) for name in for_all}
    yield _row(
        Measured(
            f"all {len(pages)}",
            **sums,
            left_out=sum(one.left_out for one in pages),
            permalinks=sum(one.permalinks for one in pages),
            seconds=sum(one.seconds for one in pages),
        )
    )


def _row(one: Measured) -> tuple[str, ...]:
    shares = f"{one.kept_share:.1%}", f"{len(one.read)}", f"{one.seen_share:.1%}"
    return one.page, f"{len(one.visible)}", *shares, f"{one.left_out}", f"{one.seconds:.2f}"


def worst(pages: Iterable[Measured], count: int = 5) -> list[Measured]:
    return sorted(pages, key=lambda one: min(one.kept_share, one.seen_share))[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description="Read 60 HTML pages of Debian's packages, beside what chromium shows.")
    parser.add_argument("cache", type=Path, help="the folder into which apt-get downloads the packages, once")
    parser.add_argument("--examples", type=int, default=0, help="sentences shown of each of the worst five pages")
    given = parser.parse_args()
    try:
        pages = list(measure(given.cache.absolute()))
    except PropCiteError as error:
        sys.exit(str(error))
    show(HEAD, rows(pages))
    print(f"headings that end in a permalink: {sum(one.permalinks for one in pages)}")
    for one in worst(pages) if given.examples else ():
        print(f"\n{one.page}")
        for name, sentences in (("lost", one.lost), ("unseen", one.unseen)):
            for sentence in sentences[: given.examples]:
                print(f"  {name}: {sentence[:150]}")
