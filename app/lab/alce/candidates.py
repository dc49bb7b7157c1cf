"""`propcite eval compare`: several settings or result files measured on the same questions, and joined into one run.

Each candidate is measured in a run of its own, which is continued or taken over if it exists.  The joined run has the
candidates as its ways, so that every view of runs shows them beside each other.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from propcite.app.errors import AppError
from propcite.app.lab.alce.answers import list_prompt
from propcite.app.lab.alce.evaluation import Result, evaluate
from propcite.app.lab.alce.files import read_alce
from propcite.app.lab.alce.options import EvalOptions
from propcite.app.lab.alce.ways import check_ways
from propcite.app.lab.runs.aggregates import ANSWER_WAY, is_way
from propcite.app.lab.runs.comparison import Comparison, compare
from propcite.app.lab.runs.runner import add_costs, open_run
from propcite.app.library.store.runs import RunInfo, RunItem
from propcite.app.parts import Parts

COMPARISON = "compare"  # kind of the joined runs
EXAMPLE = '--with "small: generator=openai llm_model=NAME"'
MAX_NAME = 80
_NAMED = re.compile(r"\s*([^=:]+):(?:\s+|$)")


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is compared: settings that differ from the others', or a file of results with answers written before."""

    name: str
    settings: dict[str, str] = field(default_factory=dict)
    outputs: Path | None = None


def read_candidate(text: str) -> Candidate:
    """Return the candidate that a text such as "small: generator=openai llm_model=NAME" describes.

    >>> read_candidate("judge=embedded")
    Candidate(name='judge=embedded', settings={'judge': 'embedded'}, outputs=None)
    >>> read_candidate("as set:").name
    'as set'
    """
    named = _NAMED.match(text)
    try:
        pairs = [word.partition("=") for word in shlex.split(text[named.end() :] if named else text)]
    except ValueError as error:
        raise AppError(f"{text!r} cannot be read ({error}): write it as {EXAMPLE}") from error
    if not (named or pairs) or any(not (name and equals) for name, equals, _ in pairs):
        raise AppError(f"{text!r} names no settings: write it as {EXAMPLE}")
    name = named[1].strip() if named else " ".join(text.split())
    return Candidate(name[:MAX_NAME], {name: value for name, _, value in pairs})


def evaluate_candidates(
    candidates: Sequence[Candidate], open_with: Callable[..., Parts], options: EvalOptions
) -> tuple[RunInfo, list[RunItem], list[Comparison]]:
    """Measure all candidates by the same judge; return the joined run, its items, and the first beside each other."""
    _check(candidates)
    for one in candidates:  # a fault of the last is reported before the first is measured
        check_ways(options.ways, judged=open_with(**one.settings).settings.judge != "none")
        if one.outputs:
            read_alce(one.outputs)
    base = open_with()
    judge = options.judge.build(base)
    results: dict[str, Result] = {}
    for number, one in enumerate(candidates, 1):
        options.report(f"{number} of {len(candidates)}: {one.name}")
        parts = open_with(**one.settings)
        if options.kind == "qampari" and "prompt" not in one.settings:
            parts = open_with(**one.settings, prompt=list_prompt(parts.settings))
        results[one.name] = evaluate(parts, replace(options, outputs=one.outputs, take_over=True), judge)
    ways = {name: _ways(name, result) for name, result in results.items()}
    run = _joined(base, results, ways, options)
    first, *others = ways.values()
    pairs = [(first[way], other[at]) for other in others for way in first if (at := _same_way(way, first, other))]
    comparisons = [one for a, b in pairs for one in compare(base.runs, f"{run.id}:{a}", f"{run.id}:{b}")]
    return run, list(base.runs.items(run.id)), comparisons


def _check(candidates: Sequence[Candidate]) -> None:
    names = [one.name for one in candidates]
    if len(names) < 2:
        raise AppError(f"there is nothing to compare with: give two or more candidates, such as {EXAMPLE}")
    if double := next((name for name in names if names.count(name) > 1), ""):
        raise AppError(f"two candidates have the name {double!r}: give each its own, such as {EXAMPLE}")


def _ways(name: str, result: Result) -> dict[str, str]:
    """Return the ways of a result by name, with their names in the joined run."""
    ways = list(dict.fromkeys(item.way for item in result.items if is_way(item.way)))
    return {way: name if len(ways) == 1 else f"{name}, {way}" for way in ways}


def _same_way(way: str, first: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Return the way of another candidate to compare with: the same, or the only one; empty if there is none."""
    if way in other:
        return way
    return next(iter(other)) if len(first) == len(other) == 1 else ""


def _joined(
    base: Parts, results: Mapping[str, Result], ways: Mapping[str, Mapping[str, str]], options: EvalOptions
) -> RunInfo:
    """Store the results as one run, with an answer's costs of writing and citing together."""
    runs = [result.run for result in results.values()]
    settings = {"of": runs[0].kind, "candidates": {name: result.run.id for name, result in results.items()}}
    models = {name: result.run.about.get("models") for name, result in results.items()}
    about = {**runs[0].about, "models": models}
    quiet = replace(options, take_over=True, report=lambda _: None)
    run = open_run(base.runs, COMPARISON, runs[0].name, settings, about, runs[0].judge, quiet)
    items = [item for name, result in results.items() for item in _items(result, ways[name])]
    base.runs.set_num_expected(run.id, len(items))
    base.runs.add(run.id, items)
    base.runs.set_notes(run.id, [f"{name}: {note}" for name, result in results.items() for note in result.notes])
    return base.runs.finish(run.id)


def _items(result: Result, ways: Mapping[str, str]) -> Iterator[RunItem]:
    """Yield a result's items under their names in the joined run."""
    labels = sorted(result.labels, key=len, reverse=True)
    written = {
        (item.way.removeprefix(ANSWER_WAY), item.key): item.cost
        for item in result.items
        if item.way.startswith(ANSWER_WAY)
    }
    for item in result.items:
        if item.way in ways:
            label = next(label for label in labels if item.way.endswith(label))
            cost = add_costs(written.get((label, item.key), {}), item.cost)
            yield replace(item, way=ways[item.way], cost=cost)
