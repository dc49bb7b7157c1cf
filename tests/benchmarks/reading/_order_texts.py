"""Texts with a known order: sentences that differ from each other, and tables whose cells do."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

_NOUNS = (
    "harbour bridge council river lighthouse market library mill orchard railway quarry school ferry museum".split()
)
_PLACES = "Sandwick Kirkwall Málaga Porto Vennmouth Aldercombe Brest Ystad Lervik Torne Almen Dover Rouen".split()
_VERBS = "rebuilt measured painted closed opened visited described repaired counted moved".split()
_TAILS = (
    "before the winter of {year}",
    "although nobody had asked for {number} of them",
    "and sold {number} tickets to visitors from {place}",
    "while the keeper of the {noun} wrote letters to {place}",
    "because {number} people of {place} had signed a letter in {year}",
    "with the help of the {noun} in {place}, which has {number} rooms",
)
_HEADS = ("Place", "Visits", "Level (m)", "Opened in", "Kind of building")


@dataclass(slots=True)
class Truth:
    """What a document says: sentences in order, texts apart from them, rows as names and cells, and running heads."""

    body: list[str] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)  # notes, captions, marginal notes
    rows: list[list[tuple[str, str]]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)


class Writer:
    """Writes texts by chance, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.truth = Truth()

    def sentence(self) -> str:
        """Return a sentence of 10 to 40 words."""
        pick = self._random.choice
        text = f"The {pick(_NOUNS)} of {pick(_PLACES)} was {pick(_VERBS)} in {self._year()}"
        for tail in self._random.sample(_TAILS, self._random.choice((1, 1, 2, 3))):
            text += " " + tail.format(
                year=self._year(), number=self._random.randint(12, 9999), place=pick(_PLACES), noun=pick(_NOUNS)
            )
        return text + "."

    def paragraph(self, sentences: int) -> list[str]:
        """Return sentences of the text."""
        new = [self.sentence() for _ in range(sentences)]
        self.truth.body += new
        return new

    def apart(self, opening: str = "") -> str:
        """Return a sentence beside the text, such as a note."""
        text = opening + self.sentence()
        self.truth.apart.append(text)
        return text

    def table(self, rows: int, columns: int, *, long_cells: bool = False, labels: bool = False) -> list[list[str]]:
        """Return a table with a header; with `long_cells` its last column has a sentence in each row.

        With `labels` each two rows have one above them, a row of one cell, which is a cell without a name of both.
        """
        cells = [[self._cell(column) for column in range(columns)] for _ in range(rows)]
        for row in cells if long_cells else ():
            row[-1] = self.sentence().rstrip(".")
        names = list(_HEADS[: columns - 1]) + (["Remarks"] if long_cells else [_HEADS[columns - 1]])
        named = [list(zip(names, row, strict=True)) for row in cells]
        self.truth.rows += named
        if not labels:
            return [names, *cells]
        labelled: list[list[str]] = []
        for at in range(0, rows, 2):
            label = f"{self._random.choice(_NOUNS).capitalize()} of {self._random.choice(_PLACES)}"
            labelled += [[label], *cells[at : at + 2]]
            for row in named[at : at + 2]:
                row.append(("", label))
        return [names, *labelled]

    def two_row_table(self, rows: int) -> list[list[str]]:
        """Return a table with a header of two rows: each of its years is above two columns."""
        years = sorted(self._random.sample(range(1990, 2020), 2))
        names = [_HEADS[0], *(f"{year} {half}" for year in years for half in ("Spring", "Autumn"))]
        cells = [[self._cell(0), *(self._cell(1) for _ in range(4))] for _ in range(rows)]
        self.truth.rows += [list(zip(names, row, strict=True)) for row in cells]
        return [["", *map(str, years)], [_HEADS[0], "Spring", "Autumn", "Spring", "Autumn"], *cells]

    def head(self, text: str) -> str:
        self.truth.heads.append(text)
        return text

    def _cell(self, column: int) -> str:
        match column:
            case 0:
                return f"{self._random.choice(_PLACES)} {self._random.randint(10, 99)}"
            case 1:
                return f"{self._random.randint(1000, 99999):,}"
            case 2:
                return f"{self._random.uniform(1, 30):.2f}"
            case 3:
                return str(self._year())
        return f"{self._random.choice(_NOUNS)} and {self._random.choice(_NOUNS)}"

    def _year(self) -> int:
        return self._random.randint(1700, 2020)
