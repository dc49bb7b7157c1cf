"""`propcite eval split`: sentences whose propositions people wrote go in, a line of figures a splitter comes out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from propcite.app.building import build_splitter
from propcite.app.errors import AppError
from propcite.app.lab.files import digests_of
from propcite.app.lab.runs.about import about_run
from propcite.app.lab.runs.keeping import Todo, clocked, measure, open_run, portion
from propcite.app.lab.runs.shares import Share
from propcite.app.lab.split_scores import Score, Spans, measures_of, scores
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.attribution.propositions import Splitter, metrics
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.text import Span

BATCH = 64  # sentences split together

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
    id: str = ""


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
    sentence, id_ = row["sentence"], f"{path.name}:{number}"
    try:
        if "token_indices" in row:
            tokens = metrics.token_spans(sentence, row["tokens"])
            sets = [frozenset(indices) for indices in row["token_indices"]]
            if any(not 0 <= i < len(tokens) for told in sets for i in told):
                raise _bad(path, number, "token_indices names a token that is not there")
            return Gold(sentence, source, tuple(tokens), (tuple(filter(None, sets)),), id_)
        references = row.get("all_references") or [row["propositions"]]
    except KeyError as error:
        raise _bad(path, number, f"{error.args[0]} is missing") from error
    except ValueError as error:
        raise _bad(path, number, "tokens are not the words of the sentence in their order") from error
    aligned = [[frozenset(metrics.align(told, sentence)) for told in reference] for reference in references]
    kept = tuple(tuple(tokens for tokens in reference if tokens) for reference in aligned)
    return Gold(sentence, source, tuple(metrics.word_spans(sentence)), kept, id_)


def spans_of(splitter: Splitter) -> SplitMany:
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


def splitters(settings: Settings) -> tuple[dict[str, SplitMany], Callable[[str], bool]]:
    """All that run here, by name, and whether a sentence is new to the learned one."""
    from propcite.attribution.propositions.learned import LearnedSplitter
    from propcite.attribution.propositions.network import STYLES
    from propcite.attribution.propositions.rules import RuleSplitter

    learned = LearnedSplitter()
    found = {"learned": spans_of(learned)}
    found |= {f"learned, {style}": spans_of(learned.in_style(style)) for style in STYLES if style != learned.style}
    found["rules"] = spans_of(RuleSplitter())
    if settings.splitter in {"seq2seq", "llm"}:
        configured = build_splitter(settings)
        found[configured.name] = spans_of(configured)
    found |= {"whole sentence": whole_sentences, "commas and and": at_commas}
    return found, lambda sentence: not learned.learned_from(sentence)


def evaluate(files: Sequence[Path], parts: Parts, most: int, share: Share | None = None) -> list[Score]:
    """Every splitter that runs here on the rows that the learned one was not trained on, kept row by row."""
    share = share or Share()
    digests = digests_of(files)
    running, is_new = splitters(parts.settings)
    rows = [row for file in files for row in read_gold(file, is_new, most)]
    if not rows:
        raise AppError("the learned splitter was trained on every row of these files: give rows kept apart")
    chosen = share.of(rows)
    settings = {"files": digests, "most": most, "ways": list(running), **share.settings}
    about = about_run(parts.settings, "splitter")
    run = open_run(parts.runs, "split", ", ".join(digests), settings, about, new=share.new, say=share.say)
    measure(parts.runs, run, chosen, attrgetter("id"), list(running), partial(split_items, running), BATCH)
    return list(scores(parts.runs.items(run.id), list(running)))


def split_items(splitters: Mapping[str, SplitMany], todos: Sequence[Todo[Gold]]) -> Iterator[RunItem]:
    """Each sentence by each splitter, which splits many at once."""
    for name, split in splitters.items():
        asked = [todo.row for todo in todos if name in todo.ways]
        with clocked() as cost:
            found = split([row.sentence for row in asked]) if asked else []
        for row, spans in zip(asked, found, strict=True):
            pieces = [[span.of(row.sentence) for span in told] for told in spans]
            output = {"source": row.source, "text": row.sentence, "propositions": pieces}
            measures = measures_of(row.tokens, row.references, spans)
            yield RunItem(row.id, name, measures, output, portion(cost, len(asked)))
