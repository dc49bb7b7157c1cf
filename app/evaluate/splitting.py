"""Measuring splitters: sentences whose propositions people wrote go in, a line of figures a splitter comes out."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from app.errors import AppError
from app.evaluate.tables import aligned
from app.settings import Settings
from attribution import metrics
from attribution.propositions import PropositionSplitter
from retrieval.lines import numbered_lines
from retrieval.text import Span

BATCH = 64  # sentences between two signs of progress

Spans = list[tuple[Span, ...]]
SplitMany = Callable[[Sequence[str]], list[Spans]]


class GoldLine(TypedDict):
    """A sentence with its propositions: as texts, as several people's texts, or as numbers of its tokens."""

    sentence: str
    propositions: NotRequired[list[str]]
    all_references: NotRequired[list[list[str]]]
    tokens: NotRequired[list[str]]
    token_indices: NotRequired[list[list[int]]]
    source: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Gold:
    """A sentence, the tokens that are counted, and each reference as sets of their numbers."""

    sentence: str
    source: str
    tokens: tuple[Span, ...]
    references: tuple[tuple[frozenset[int], ...], ...]

    @property
    def is_single(self) -> bool:
        return all(len(reference) == 1 for reference in self.references)


@dataclass(frozen=True, slots=True)
class Score:
    """A splitter on the rows of one source, in percent; `whole` of `single` sentences with one fact were left whole."""

    source: str
    rows: int
    splitter: str
    precision: float
    recall: float
    f1: float
    exact_precision: float
    exact_recall: float
    exact_f1: float
    coverage: float
    propositions: float
    whole: int
    single: int
    per_second: float

    def cells(self) -> list[str]:
        figures = (self.precision, self.recall, self.f1, self.exact_precision, self.exact_recall, self.exact_f1)
        told = [f"{figure:.1f}" for figure in (*figures, self.coverage)]
        whole = f"{self.whole}/{self.single}"
        return [
            self.source,
            str(self.rows),
            self.splitter,
            *told,
            f"{self.propositions:.2f}",
            whole,
            f"{self.per_second:,.0f}",
        ]

    def as_dict(self) -> dict[str, object]:
        return {name: round(told, 2) if isinstance(told, float) else told for name, told in asdict(self).items()}


COLUMNS = (
    "source",
    "rows",
    "splitter",
    "P@.8",
    "R@.8",
    "F1@.8",
    "P=",
    "R=",
    "F1=",
    "coverage",
    "props",
    "1 fact",
    "per s",
)


def read_gold(path: Path, wanted: Callable[[str], bool], most: int) -> list[Gold]:
    """The wanted rows of a file, at most so many of a source, spread evenly; a bad row is told with its line."""
    adapter: TypeAdapter[GoldLine] = TypeAdapter(GoldLine)
    kinds: dict[str, list[tuple[int, GoldLine]]] = {}
    for number, line in numbered_lines(path):
        try:
            row = adapter.validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise _bad(path, number, f"{place}: {first['msg']}" if place else first["msg"]) from error
        if wanted(row["sentence"]):
            kinds.setdefault(row.get("source", path.name.split(".")[0]), []).append((number, row))
    spread = {kind: rows[:: max(1, -(-len(rows) // most))] for kind, rows in kinds.items()}
    return [_gold(path, number, kind, row) for kind, rows in spread.items() for number, row in rows]


def _bad(path: Path, number: int, reason: str) -> AppError:
    return AppError(f'{path}, line {number}: {reason}; a row is {{"sentence": "…", "propositions": ["…"]}}')


def _gold(path: Path, number: int, source: str, row: GoldLine) -> Gold:
    sentence = row["sentence"]
    try:
        if "token_indices" in row:
            tokens = metrics.token_spans(sentence, row["tokens"])
            sets = [frozenset(indices) for indices in row["token_indices"]]
            if any(not 0 <= i < len(tokens) for told in sets for i in told):
                raise _bad(path, number, "token_indices names a token that is not there")
            return Gold(sentence, source, tuple(tokens), (tuple(filter(None, sets)),))
        references = row.get("all_references") or [row["propositions"]]
    except KeyError as error:
        raise _bad(path, number, f"{error.args[0]} is missing") from error
    except ValueError as error:
        raise _bad(path, number, "tokens are not the words of the sentence in their order") from error
    aligned = [[frozenset(metrics.align(told, sentence)) for told in reference] for reference in references]
    kept = tuple(tuple(tokens for tokens in reference if tokens) for reference in aligned)
    return Gold(sentence, source, tuple(metrics.word_spans(sentence)), kept)


def scores(
    rows: Sequence[Gold], splitters: Mapping[str, SplitMany], advance: Callable[[str], None] = lambda _: None
) -> Iterator[Score]:
    """Each splitter on the rows of each source."""
    kinds: dict[str, list[Gold]] = {}
    for row in rows:
        kinds.setdefault(row.source, []).append(row)
    for source, of_kind in kinds.items():
        for name, split in splitters.items():
            found: list[Spans] = []
            started = time.perf_counter()
            for first in range(0, len(of_kind), BATCH):
                found += split([row.sentence for row in of_kind[first : first + BATCH]])
                advance(f"{source}, {name}")
            spent = time.perf_counter() - started
            yield score(source, name, of_kind, found, len(of_kind) / max(spent, 1e-9))


def num_batches(rows: Sequence[Gold], num_splitters: int) -> int:
    kinds: dict[str, int] = {}
    for row in rows:
        kinds[row.source] = kinds.get(row.source, 0) + 1
    return num_splitters * sum(-(-count // BATCH) for count in kinds.values())


def score(source: str, splitter: str, rows: Sequence[Gold], found: Sequence[Spans], per_second: float) -> Score:
    """Of several references the one that a prediction agrees with best counts."""
    close, exact, coverage = [], [], []
    whole = single = 0
    for row, told in zip(rows, found, strict=True):
        predicted = [metrics.tokens_within(row.tokens, spans) for spans in told]
        agreements = [metrics.agreement(predicted, reference) for reference in row.references]
        best = max(range(len(agreements)), key=lambda i: agreements[i].f1)
        close.append(agreements[best])
        exact.append(metrics.agreement(predicted, row.references[best], threshold=1.0))
        coverage.append(metrics.token_coverage(predicted, row.references[best]))
        single += row.is_single
        whole += row.is_single and len(told) == 1
    near, same = metrics.macro(close), metrics.macro(exact)
    return Score(
        source,
        len(rows),
        splitter,
        precision=100 * near.precision,
        recall=100 * near.recall,
        f1=100 * near.f1,
        exact_precision=100 * same.precision,
        exact_recall=100 * same.recall,
        exact_f1=100 * same.f1,
        coverage=100 * sum(coverage) / len(coverage),
        propositions=sum(map(len, found)) / len(found),
        whole=whole,
        single=single,
        per_second=per_second,
    )


def spans_of(splitter: PropositionSplitter) -> SplitMany:
    def split(sentences: Sequence[str]) -> list[Spans]:
        found = splitter.split_many(sentences, [()] * len(sentences))
        return [[p.spans for p in propositions] for propositions in found]

    return split


def whole_sentences(sentences: Sequence[str]) -> list[Spans]:
    return [[(Span(0, len(sentence)),)] for sentence in sentences]


def at_commas(sentences: Sequence[str]) -> list[Spans]:
    """The naive splitter: a piece for each stretch between commas, semicolons and `and`."""
    return [_pieces(sentence) for sentence in sentences]


def _pieces(sentence: str) -> Spans:
    pieces: Spans = []
    at = 0
    for cut in [*re.finditer(r"\s*[,;]\s*(?:and\s)?|\sand\s", sentence), None]:
        span = Span(at, cut.start() if cut else len(sentence)).trimmed(sentence)
        if span:
            pieces.append((span,))
        at = cut.end() if cut else at
    return pieces


def as_line(told: Score) -> str:
    return json.dumps(told.as_dict(), ensure_ascii=False)


def as_table(told: Sequence[Score]) -> str:
    """One line a splitter."""
    return aligned([list(COLUMNS), *(one.cells() for one in told)], left={0, 2})


def splitters(settings: Settings) -> tuple[dict[str, SplitMany], Callable[[str], bool]]:
    """All that run here, by name, and whether a sentence is new to the learned one."""
    from app.bootstrap import build_splitter
    from attribution.propositions.learned import LearnedSplitter
    from attribution.propositions.network import STYLES
    from attribution.propositions.rules import RuleSplitter

    learned = LearnedSplitter()
    found = {"learned": spans_of(learned)}
    found |= {f"learned, {style}": spans_of(learned.in_style(style)) for style in STYLES if style != learned.style}
    found["rules"] = spans_of(RuleSplitter())
    if settings.splitter in {"seq2seq", "llm"}:
        configured = build_splitter(settings)
        found[configured.name] = spans_of(configured)
    found |= {"whole sentence": whole_sentences, "commas and and": at_commas}
    return found, lambda sentence: not learned.learned_from(sentence)


def evaluate(files: Sequence[Path], settings: Settings, most: int) -> Iterator[Score]:
    """Every splitter that runs here on the rows that the learned one was not trained on, with progress on stderr."""
    from app.terminal import counting

    running, is_new = splitters(settings)
    rows = [row for file in files for row in read_gold(file, is_new, most)]
    if not rows:
        raise AppError("the learned splitter was trained on every row of these files: give rows kept apart")
    with counting(num_batches(rows, len(running)), "measuring") as advance:
        yield from scores(rows, running, advance)
