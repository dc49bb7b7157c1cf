"""`propcite eval split`: measure splitters on sentences with propositions that people wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from propcite.app.building import build_splitter
from propcite.app.errors import AppError
from propcite.app.lab.runs.inputs import file_digests, read_rows, row_error
from propcite.app.lab.runs.provenance import run_provenance
from propcite.app.lab.runs.runner import Pending, RunOptions, measure, open_run, split_cost, timed
from propcite.app.lab.splitting.quality import Quality
from propcite.app.lab.splitting.scores import Spans, SplitterRow, sentence_measures, splitter_rows
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.attribution.citations import Proposition
from propcite.attribution.propositions import SPLITTER_WEIGHTS, Splitter, metrics
from propcite.retrieval.text import Span

BATCH_SIZE = 64  # sentences
FORM = '{"sentence": "…", "propositions": ["…"]}'
NAIVE = ("whole sentence", "commas and and")  # they cut sentences and word nothing

_NO_QUALITY: tuple[dict[str, float | None], list[dict[str, object]]] = ({"supported": None, "well_formed": None}, [])

SplitMany = Callable[[Sequence[str]], list[list[Proposition]]]


class SentenceLine(TypedDict):
    """A sentence with its propositions: as texts, as several people's texts, or as numbers of its tokens."""

    sentence: str
    propositions: NotRequired[list[str]]
    all_references: NotRequired[list[list[str]]]
    tokens: NotRequired[list[str]]
    token_indices: NotRequired[list[list[int]]]
    source: NotRequired[str]


@dataclass(frozen=True, slots=True)
class GoldSentence:
    """A sentence with the tokens that count, and each reference as sets of token numbers."""

    sentence: str
    source: str
    tokens: tuple[Span, ...]
    references: tuple[tuple[frozenset[int], ...], ...]
    id: str = ""


def read_gold(path: Path, is_new: Callable[[str], bool], per_source: int) -> list[GoldSentence]:
    """Return a file's rows with new sentences, at most `per_source` of each source, spread evenly."""
    by_source: dict[str, list[tuple[int, SentenceLine]]] = {}
    for number, row in read_rows(path, TypeAdapter(SentenceLine), FORM):
        if is_new(row["sentence"]):
            by_source.setdefault(row.get("source", path.name.split(".")[0]), []).append((number, row))
    spread = {source: rows[:: max(1, -(-len(rows) // per_source))] for source, rows in by_source.items()}
    return [_gold(path, number, source, row) for source, rows in spread.items() for number, row in rows]


def _gold(path: Path, number: int, source: str, row: SentenceLine) -> GoldSentence:
    sentence, id_ = row["sentence"], f"{path.name}:{number}"
    try:
        if "token_indices" in row:
            tokens = metrics.token_spans(sentence, row["tokens"])
            sets = [frozenset(indices) for indices in row["token_indices"]]
            if any(not 0 <= i < len(tokens) for indices in sets for i in indices):
                raise row_error(path, number, "token_indices names a token that is not there", FORM)
            return GoldSentence(sentence, source, tuple(tokens), (tuple(filter(None, sets)),), id_)
        references = row.get("all_references") or ([row["propositions"]] if "propositions" in row else [])
    except KeyError as error:
        raise row_error(path, number, f"{error.args[0]} is missing", FORM) from error
    except ValueError as error:
        raise row_error(path, number, "tokens are not the words of the sentence in their order", FORM) from error
    aligned = [[frozenset(metrics.align(text, sentence)) for text in reference] for reference in references]
    not_empty = tuple(tuple(tokens for tokens in reference if tokens) for reference in aligned)
    return GoldSentence(sentence, source, tuple(metrics.word_spans(sentence)), not_empty, id_)


def as_split_many(splitter: Splitter) -> SplitMany:
    return lambda sentences: splitter.split_many(sentences, [()] * len(sentences))


def whole_sentences(sentences: Sequence[str]) -> list[list[Proposition]]:
    return [[Proposition((Span(0, len(sentence)),), sentence)] for sentence in sentences]


def split_at_commas(sentences: Sequence[str]) -> list[list[Proposition]]:
    """Split naively at commas, semicolons and `and`."""
    return [[Proposition(spans, spans[0].of(sentence)) for spans in _pieces(sentence)] for sentence in sentences]


def _pieces(sentence: str) -> Spans:
    pieces: Spans = []
    start = 0
    for separator in [*re.finditer(r"\s*[,;]\s*(?:and\s)?|\sand\s", sentence), None]:
        span = Span(start, separator.start() if separator else len(sentence)).trimmed(sentence)
        if span:
            pieces.append((span,))
        start = separator.end() if separator else start
    return pieces


def all_splitters(
    settings: Settings, weights: Mapping[str, Path] = MappingProxyType({})
) -> tuple[dict[str, SplitMany], Callable[[str], bool]]:
    """Return the splitters that can run here by name, and whether a sentence is new to the learned ones.

    `weights` are further files of weights by name.
    """
    from propcite.attribution.propositions.learned import LearnedSplitter
    from propcite.attribution.propositions.network import STYLES
    from propcite.attribution.propositions.rules import RuleSplitter

    learned = LearnedSplitter()
    splitters = {"learned": as_split_many(learned)}
    styles = [style for style in STYLES if style != learned.style]
    splitters |= {f"learned, {style}": as_split_many(learned.with_style(style)) for style in styles}
    others = {name: LearnedSplitter(path) for name, path in weights.items()}
    splitters |= {f"learned, {name}": as_split_many(other) for name, other in others.items()}
    splitters["rules"] = as_split_many(RuleSplitter())
    if settings.splitter in {"seq2seq", "llm"}:
        configured = build_splitter(settings)
        splitters[configured.name] = as_split_many(configured)
    splitters |= dict(zip(NAIVE, (whole_sentences, split_at_commas), strict=True))
    known = [learned, *others.values()]
    return splitters, lambda sentence: not any(one.was_trained_on(sentence) for one in known)


def evaluate(
    files: Sequence[Path],
    parts: Parts,
    per_source: int,
    options: RunOptions | None = None,
    *,
    weights: Mapping[str, Path] = MappingProxyType({}),
    only: Sequence[str] = (),
    judged: bool = True,
) -> list[SplitterRow]:
    """Measure the splitters on the rows that no learned one was trained on.

    `weights` are further files of weights by name, `only` the splitters to measure; `judged` is whether the judge says
    which propositions their sentence supports.
    """
    options = options or RunOptions()
    digests = file_digests(files)
    splitters, is_new = all_splitters(parts.settings, weights)
    if unknown := set(only) - splitters.keys():
        raise AppError(f"there is no splitter {min(unknown)!r}: take {', '.join(splitters)}")
    splitters = {name: split for name, split in splitters.items() if name in only or not only}
    rows = [row for file in files for row in read_gold(file, is_new, per_source)]
    if not rows:
        raise AppError("the learned splitter was trained on every row of these files: give rows it has not seen")
    chosen, ways = options.select(rows), list(splitters)
    others = dict(zip(weights, file_digests(list(weights.values())).values(), strict=True))
    settings = {"files": digests, "most": per_source, "ways": ways, "weights": others, **options.settings}
    from propcite.attribution.propositions.faults import FaultFinder
    from propcite.attribution.propositions.learned import LearnedSplitter

    about = run_provenance(parts.settings, "splitter", *(["judge"] if judged else []))
    judge = parts.judge if judged else None
    quality = Quality(judge, FaultFinder(LearnedSplitter(SPLITTER_WEIGHTS)))
    name = judge.name if judge else ""
    run = open_run(parts.runs, "split", ", ".join(digests), settings, about, name, options=options)
    measure(parts.runs, run, chosen, attrgetter("id"), ways, partial(split_items, splitters, quality), BATCH_SIZE)
    return list(splitter_rows(parts.runs.items(run.id), ways))


def split_items(
    splitters: Mapping[str, SplitMany], quality: Quality, pending: Sequence[Pending[GoldSentence]]
) -> Iterator[RunItem]:
    """Yield each sentence by each splitter, which splits them in one batch."""
    for name, split_many in splitters.items():
        rows = [one.row for one in pending if name in one.ways]
        with timed() as cost:
            propositions = split_many([row.sentence for row in rows]) if rows else []
        found = [_NO_QUALITY] * len(rows)
        if name not in NAIVE:
            found = quality.measures([row.sentence for row in rows], propositions)
        for row, split, (of_quality, judgements) in zip(rows, propositions, found, strict=True):
            spans = [p.spans for p in split]
            pieces = [[span.of(row.sentence) for span in spans_of] for spans_of in spans]
            output = {"source": row.source, "text": row.sentence, "propositions": pieces, "judgements": judgements}
            measures = sentence_measures(row.tokens, row.references, spans) | of_quality
            yield RunItem(row.id, name, measures, output, split_cost(cost, len(rows)))
