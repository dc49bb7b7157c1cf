"""Compare the text of PDFs with that of pdftotext and mutool.

    python -m tests.benchmarks.reading pdf CACHE [--only NAME] [--all]

It reads the PDFs of Debian packages that pdf.tsv names, without recognising their pictures.  A word counts as right if
pdftotext or mutool has it as well, wherever it is on the page; the characters of other words are compared in order.
Running lines and hyphens are left out, because PropCite removes them.  Words count once for each box: names of columns
and cells of several rows, which PropCite repeats in each row, have one.  A letter and the accent that TeX draws before
it count as one character.

Numbers are compared page by page: each page on which one is missing, added, split or joined is listed.  Those of
running lines may be missing: lines in the upper or lower margin that are on several pages, as pdftotext places them.

Order: of the pairs of sentences that follow each other in pdftotext's text of a page, and of which PropCite has both
once, the share that it has in the same order, and the share that it has side by side.
"""

from __future__ import annotations

import argparse
import gzip
import re
import subprocess
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from html import unescape
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import NamedTemporaryFile

import pypdfium2 as pdfium
from tests.benchmarks.answers.packages import fetch

from propcite.app.errors import ReadError
from propcite.app.ingest.ocr.choosing import choose
from propcite.app.ingest.readers import read_document
from propcite.retrieval.text import Box, Document

Number = tuple[int, str]  # with its page

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n{2,}")
MIN_SENTENCE = 30  # characters, so that most sentences are in a document once
NUMBER = re.compile(r"\d+(?:\.\d+|,\d{3}(?!\d))*")  # of a list, `1,2`, each is one
MARGIN = 0.14  # of a page's height, in which running lines are
BEYOND = 5000  # points
PLACED = re.compile(r'<line xMin="[^"]+" yMin="([^"]+)" xMax="([^"]+)" yMax="([^"]+)">(.*?)</line>', re.DOTALL)
ACCENTS = "´ˆ˜¨˝˚ˇ˘¯˙¸˛"
# The tools write `106` for 10⁶ and `km2` for km².
SCRIPTS = re.compile("(?:(?<=[0-9.,])[⁻₋]?[₀-₉]|⁻?[⁰¹²³⁴-⁹])[⁰¹²³⁴-⁹₀-₉]*(?:[.,][⁰¹²³⁴-⁹₀-₉]+)*")
CLASSES = {
    "ligatures": "f(?=[fil])",
    "dashes": "[–—]",
    "quotes": "[‘’“”„«»‹›]",
    "minus signs": "−",
    "superscripts": "[²³¹⁰⁴-⁹]",
    "accented letters": "[À-ÖØ-öø-ÿĀ-žǍ-ǵȘ-ț]",
}


@dataclass(frozen=True)
class Result:
    name: str
    producer: str
    pages: int
    seconds: float
    length: int
    errors: int
    numbers: int  # in both tools
    missing: Counter[Number]  # that both tools have and PropCite has not
    added: Counter[Number]  # that only PropCite has
    lost: int
    soft_hyphens: int
    order: tuple[int, int, int]  # pairs of sentences, those in the same order, those side by side
    kept: dict[str, tuple[int, int, int]]  # by class: in both tools, of these in ours, in ours and neither tool
    ours_only: list[str]
    theirs_only: list[str]

    @property
    def altered(self) -> int:
        return self.missing.total() + self.added.total()

    @property
    def rate(self) -> float:
        return self.errors / max(self.length, 1)


def distance(one: str, other: str) -> int:
    """Return the number of characters to insert, delete or replace, by Myers's bit vectors."""
    if not one or not other:
        return len(one) + len(other)
    last, places = 1 << (len(one) - 1), dict.fromkeys(one, 0)
    for index, char in enumerate(one):
        places[char] |= 1 << index
    everything, edits = (last << 1) - 1, len(one)
    plus, minus = everything, 0
    for char in other:
        same = places.get(char, 0)
        vertical = same | minus
        same |= (((same & plus) + plus) ^ plus) | minus
        raised, lowered = minus | (everything & ~(same | plus)), plus & same
        edits += bool(raised & last) - bool(lowered & last)
        raised, lowered = ((raised << 1) | 1) & everything, (lowered << 1) & everything
        plus, minus = lowered | (everything & ~(vertical | raised)), raised & vertical
    return edits


def without_running_lines(text: str) -> str:
    """Remove the outer lines of pages that differ from others only in numbers."""
    pages = [[line for line in page.splitlines() if line.strip()] for page in text.removesuffix("\f").split("\f")]
    keys = Counter(key for page in pages for key in {_key(line) for line in (*page[:3], *page[-3:])})
    kept = []
    for page in pages:
        outer = {*range(3), *range(len(page) - 3, len(page))}
        kept += [line for at, line in enumerate(page) if at not in outer or keys[_key(line)] < min(3, len(pages))]
    return "\n".join(kept)


def _key(line: str) -> str:
    return " ".join(re.sub(r"\d+|\b[ivxlc]+\b", " ", line).split())


def _combined(found: re.Match[str]) -> str:
    """Return a letter with the accent before it, as TeX draws them."""
    whole = unicodedata.normalize("NFC", found[2].replace("ı", "i") + unicodedata.normalize("NFKD", found[1])[-1])
    return whole if len(whole) == 1 else found[0]


def plain(text: str) -> str:
    text = unicodedata.normalize("NFC", re.sub(f"([{ACCENTS}])(\\w)", _combined, text))
    text = text.translate({0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xA0: " "})
    text = re.sub("(?<=\\d)[-\u2010]\\s*\n\\s*", "-", text)  # as in `2017-18`
    return re.sub("(?<=\\w)[-\u2010\u00ad]\\s*\n\\s*", "", text).replace("\u00ad", "").replace("\u200b", "")


def shown(boxes: Iterable[Box], text: str) -> str:
    """Return the text that is in boxes, each box once.

    It has no marks between cells, and names of columns and cells of several rows are not repeated as in the rows.
    """
    seen, parts, end = set(), [], 0
    for box in sorted(boxes, key=lambda box: box.span.start):
        before = text[end : box.span.start]
        parts.append("\n" * before.count("\n") or " " * bool(before))
        end = box.span.end
        words = box.span.of(text)
        if (drawn := (box.page, box.left, box.top, box.right, box.bottom, words)) not in seen:
            seen.add(drawn)
            parts.append(words)
    return "".join(parts)


def level(text: str) -> str:
    """Return plain text with raised and lowered digits as others."""
    return SCRIPTS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), plain(text))


def numbers_of(text: str) -> Counter[str]:
    return Counter(NUMBER.findall(level(text)))


def running_numbers(placed: str) -> list[Counter[str]]:
    """Return the numbers in running lines of each page of pdftotext's lines with their places."""
    pages = []
    for page in placed.split("<page ")[1:]:
        width, height = map(float, re.findall(r'(?:width|height)="([^"]+)"', page)[:2])
        lines = PLACED.findall(page)
        if max((float(right) for _, right, _, _ in lines), default=0) > width >= max(float(line[2]) for line in lines):
            height = width  # the page is turned, its size is not
        places = ((float(top) + float(bottom)) / 2 / height for top, _, bottom, _ in lines)
        pages.append(
            [
                unescape(re.sub(r"<[^>]+>", "", words))
                for place, (*_, words) in zip(places, lines, strict=True)
                if not MARGIN < place < 1 - MARGIN
            ]
        )
    keys = Counter(key for page in pages for key in set(map(_key, page)))
    return [
        sum((numbers_of(line) for line in page if keys[_key(line)] >= min(3, len(pages))), Counter()) for page in pages
    ]


def altered(document: Document, pdf: Path, tools: Sequence[str]) -> tuple[Counter[Number], Counter[Number]]:
    """Return the numbers that both tools have more often than PropCite, and those that neither has as often, by page.

    A number that is split or joined to another one is in both.  Those of running lines may be missing.
    """
    running = running_numbers(run("pdftotext", "-bbox-layout", pdf, "-"))
    missing: Counter[Number] = Counter()
    added: Counter[Number] = Counter()
    pages = [text.split("\f") for text in tools]
    for number in range(1, len(running) + 1):
        mine = numbers_of(shown((box for box in document.boxes if box.page == number), document.text))
        one, other = (numbers_of(texts[number - 1]) if number <= len(texts) else Counter() for texts in pages)
        missing.update({(number, it): times for it, times in ((one & other) - mine - running[number - 1]).items()})
        if new := mine - (one | other):
            new -= numbers_of(whole_page(pdf, number)) - (one | other)
            added.update({(number, it): times for it, times in new.items()})
    return missing, added


def whole_page(path: Path, number: int) -> str:
    """Return pdftotext's text of a page with what is beyond its edges, which it leaves out."""
    with closing(pdfium.PdfDocument(path)) as pdf, NamedTemporaryFile(suffix=".pdf") as wide:
        page = pdf[number - 1]
        left, bottom, right, top = page.get_mediabox()
        for change in (page.set_mediabox, page.set_cropbox):
            change(left - BEYOND, bottom - BEYOND, right + BEYOND, top + BEYOND)
        pdf.save(wide.name)
        return run("pdftotext", "-f", str(number), "-l", str(number), wide.name, "-")


def words_of(text: str) -> list[str]:
    return level(text).replace("|", " ").replace("-", "").split()


def leftover(words: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the words, in order, that the others lack."""
    missing, left = Counter(words) - Counter(others), []
    for word in words:
        if missing[word]:
            missing[word] -= 1
            left.append(word)
    return left


def compare(ours: str, theirs: str) -> tuple[int, int, list[str], list[str]]:
    """Return the number of wrong characters, that of all, and the words that only one of both has."""
    one, other = words_of(ours), words_of(theirs)
    only_one, only_other = leftover(one, other), leftover(other, one)
    return distance("".join(only_one), "".join(only_other)), sum(map(len, other)), only_one, only_other


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, only their letters and digits."""
    found = ("".join(re.findall(r"[^\W_]", sentence)) for sentence in SENTENCE_END.split(level(text)))
    return [sentence for sentence in found if len(sentence) >= MIN_SENTENCE]


def order(ours: str, theirs: str) -> tuple[int, int, int]:
    """Return the number of pairs of sentences, that of those in the same order, and that of those side by side."""
    mine = "".join(re.findall(r"[^\W_]", level(ours)))
    pairs = in_order = beside = 0
    for page in theirs.split("\f"):
        places = [(sentence, mine.find(sentence)) for sentence in sentences_of(page) if mine.count(sentence) == 1]
        for (sentence, place), (_, next_place) in pairwise(places):
            pairs += 1
            in_order += place < next_place
            beside += 0 <= next_place - place - len(sentence) < MIN_SENTENCE
    return pairs, in_order, beside


def run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace")


def measure(pdf: Path) -> Result | None:
    """Return the result for a PDF; None if a tool or PropCite cannot read it."""
    start = time.process_time()
    try:
        document = read_document(pdf)
    except ReadError as error:
        print(f"{pdf.name}: {error}")
        return None
    seconds = time.process_time() - start
    tools = run("pdftotext", pdf, "-"), run("mutool", "draw", "-q", "-F", "txt", pdf)
    poppler, mupdf = map(without_running_lines, tools)
    text = shown(document.boxes, document.text)
    errors, length, ours_only, theirs_only = min(compare(text, poppler), compare(text, mupdf), key=lambda c: c[0])
    missing, added = altered(document, pdf, tools)
    kept = {}
    for name, pattern in CLASSES.items():
        one, other, mine = (Counter(re.findall(pattern, plain(t))) for t in (poppler, mupdf, text))
        kept[name] = ((one & other).total(), (one & other & mine).total(), (mine - (one | other)).total())
    information = run("pdfinfo", pdf)
    producer = re.search(r"^Producer: +(.*)", information, re.MULTILINE)
    return Result(
        name=pdf.name,
        producer=producer[1] if producer else "",
        pages=int(document.metadata["pages"]),
        seconds=seconds,
        length=length,
        errors=errors,
        numbers=(numbers_of(poppler) & numbers_of(mupdf)).total(),
        missing=missing,
        added=added,
        lost=int(document.metadata.get("lost_characters", 0)),
        soft_hyphens=text.count("\u00ad"),
        order=order(text, tools[0]),
        kept=kept,
        ours_only=ours_only,
        theirs_only=theirs_only,
    )


def documents(cache: Path) -> list[Path]:
    rows = [line.split("\t") for line in Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()]
    fetch((package for package, _ in rows), cache)
    paths = []
    for package, name in rows:
        path = cache / package / name
        packed = path.with_name(f"{path.name}.gz")
        if not path.is_file() and packed.is_file():
            path.write_bytes(gzip.decompress(packed.read_bytes()))
        paths.append(path)
    return paths


def report(results: list[Result]) -> None:
    rates = sorted(result.rate for result in results)
    pages, seconds = sum(result.pages for result in results), sum(result.seconds for result in results)
    print(f"{len(results)} PDFs, {pages} pages, {pages / seconds:.0f} pages per second of processor time")
    print(
        f"character error rate: median {median(rates):.2%}, mean {sum(rates) / len(rates):.2%}, "
        f"nine in ten below {rates[int(0.9 * len(rates))]:.2%}, worst {rates[-1]:.1%}"
    )
    missing, added = sum(r.missing.total() for r in results), sum(r.added.total() for r in results)
    print(
        f"numbers of both tools: {sum(r.numbers for r in results)}; missing {missing}, only in ours {added}, ", end=""
    )
    print(f"in {sum(r.altered > 0 for r in results)} PDFs")
    pairs, in_order, beside = (sum(result.order[at] for result in results) for at in range(3))
    print(f"pairs of sentences: {pairs}, in the same order {in_order / pairs:.2%}, side by side {beside / pairs:.2%}")
    with_lost = [result for result in results if result.lost]
    print(f"lost characters told: {sum(r.lost for r in with_lost)} in {len(with_lost)} PDFs")
    print(f"soft hyphens left: {sum(result.soft_hyphens for result in results)}\n")
    print("| Class | In both tools | Of these in ours | Only in ours |\n|---|---|---|---|")
    for name in CLASSES:
        both, of_these, more = (sum(result.kept[name][at] for result in results) for at in range(3))
        print(f"| {name} | {both} | {of_these} ({of_these / max(both, 1):.2%}) | {more} |")


def show_order(results: list[Result]) -> None:
    print("\nPDFs with the most pairs of sentences in another order")
    for result in sorted(results, key=lambda result: result.order[1] - result.order[0])[:5]:
        print(f"{result.name}: {result.order[0] - result.order[1]} of {result.order[0]}")


def show(result: Result) -> None:
    print(f"\n{result.name} ({result.producer}): {result.rate:.1%} of {result.length} characters, lost {result.lost}")
    print("   only in ours:  ", " ".join(result.ours_only)[:300])
    print("   only in theirs:", " ".join(result.theirs_only)[:300])
    for name, numbers in (("missing", result.missing), ("added", result.added)):
        if numbers:
            print(f"   numbers {name}: {', '.join(f'{it} on page {page}' for page, it in sorted(numbers))[:300]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--only", default="", help="a part of the names of the PDFs to read")
    parser.add_argument("--all", action="store_true", help="show each PDF instead of the worst five")
    options = parser.parse_args()
    choose("off")
    results = list(filter(None, (measure(pdf) for pdf in documents(options.cache) if options.only in pdf.name)))
    report(results)
    worst = sorted(results, key=lambda result: -result.rate)
    for result in worst if options.all else worst[:5]:
        show(result)
    show_order(results)
    print("\nPDFs with altered numbers, most first")
    for result in sorted((r for r in results if r.altered), key=lambda result: -result.altered):
        show(result)


if __name__ == "__main__":
    main()
