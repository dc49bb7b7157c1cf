"""Write RESULTS.md: every comparison on the development data, with intervals, command, commit and date.

    python -m tests.benchmarks.results FOLDER [--kept] [--out tests/benchmarks/RESULTS.md]

FOLDER holds alce/, beir/, cite_dev.jsonl.gz and rank_dev.jsonl.gz.  Missing runs are measured by the commands that the
page names; they are stored, and continue after an interrupt.  Stored runs are not measured again; with `--kept` nothing
is measured, and the page names what is missing.  Passages are read in float32, which every processor has.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.summary import Contest, bouts, summary

from propcite.app.lab.ranking.relevance import SENTENCES
from propcite.app.lab.runs.aggregates import Aggregate, aggregates, comparable_groups, costs, measure_of
from propcite.app.lab.runs.figures import SOURCE_MEAN, figures_by_source
from propcite.app.lab.runs.tables import flat_settings, notes
from propcite.app.lab.runs.text_tables import NO_VALUE
from propcite.app.library.store import RunInfo, RunItem
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

OUT = Path(__file__).with_name("RESULTS.md")
PRECISION = "float32"
MIN_OF_KIND = 5  # claims
HEAD = f"""# Results

Made by `python -m tests.benchmarks.results FOLDER` from the development data.  Figures are percent, but for counts,
with their 95% interval (bootstrap over items).  Each table is a kept run: `propcite runs show`, `compare` and `export`
tell more.  All are measured with `PROPCITE_PRECISION={PRECISION}`, so that other processors give the same figures:
[what remains](../../docs/evaluating.md#the-same-figures-on-another-machine).  *CPU ms* is the processor's time per
item, on a machine that other work shared: compare it within a table.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A run of the page: its command, and the settings that distinguish it from others over the same file."""

    title: str
    arguments: tuple[str, ...]
    path: str
    settings: Mapping[str, Any] = field(default_factory=dict)  # dotted names are settings of a part
    measures: tuple[str, ...] = ()
    contests: tuple[Contest, ...] = ()
    by_kind: bool = False  # a table per kind of claim too, as the file's rows name them

    @property
    def kind(self) -> str:
        return self.arguments[0]


CITED = ("citation_recall", "citation_precision", "citation_f1", "citations_a_sentence")
ASQA = "alce/asqa_dev.json.gz"
RANKED = ("nDCG@10", "R@10", "R@100", "RR@10", "P@1")
WAYS = ("postcite", "bm25", "sentence", "sentence-2", "propcite", "propcite+threshold", "propcite+judge")
CITING = tuple(f"--way={way}" for way in WAYS)
METHODS = ("propositions", "sentence", "postcite", "bm25")
BY_READER = "claims judged: reader"
BY_ALCE = Contest("citation_f1", ("propcite",), beside=("postcite", "bm25", "sentence", "sentence-2"))
BY_PEOPLE = tuple(f"passages of answers: {method}, no judge" for method in METHODS)
JUDGED_BY_PEOPLE = ("passages of answers: propositions, from 0.5",)  # the default
JOBS = (
    Job(
        "ASQA, the long answers that people wrote, by the passages they were written from",
        ("cite", *(f"--method={method}" for method in METHODS)),
        ASQA,
        {"methods": list(METHODS)},
        ("precision", "recall", "f1", "citations"),
        (Contest("f1", BY_PEOPLE[:1], beside=BY_PEOPLE), Contest("f1", JUDGED_BY_PEOPLE, beside=BY_PEOPLE)),
    ),
    Job(
        "ASQA, the long answers that people wrote, cited over ten passages",
        ("asqa", "--human", "--context", "10", *CITING),
        ASQA,
        {"answers": {"name": "people"}, "ways": list(WAYS)},
        CITED,
        (BY_ALCE,),
    ),
    Job(
        "ASQA, answers of the extractive generator over five passages",
        ("asqa", "--context", "5", *CITING),
        ASQA,
        {"context": [5], "ways": list(WAYS), "answers.name": "extractive"},
        (*CITED, "str_em", "str_hit", "rouge_lsum", "length"),
        (BY_ALCE,),
    ),
    Job("ALCE's shortcuts, judged by the judge that scores", ("judge",), ASQA),
    Job(
        "Claims whose supporting sentences people marked",
        ("cite", "--most", "100", "--method", "sentence"),
        "cite_dev.jsonl.gz",
        {"most": 100, "methods": ["sentence"]},
        ("P@1", "R@5", "RR", "precision", "recall", "f1", "right"),
        (
            Contest("P@1", ("sentences ranked: propcite-minilm",), beside=("sentences ranked: bm25",)),
            Contest(
                "right", ("claims judged: reader",), beside=("claims judged: overlap", "claims judged: similarity")
            ),
        ),
    ),
    Job(
        "Right and subtly wrong claims beside invented documents",
        ("verdicts", "--judge", "reader", "--judge", "embedded"),
        "verdicts.jsonl",
        {"judges": ["reader", "embedded"]},
        ("right",),
        (Contest("right", (BY_READER,), beside=("claims judged: overlap", "claims judged: embedded")),),
        by_kind=True,
    ),
    *(
        Job(
            f"Passages of {name}",
            ("beir",),
            f"beir/{name}",
            {},
            RANKED,
            (Contest("nDCG@10", ("both",), beside=("bm25", "m_q", "m'_q")),),
        )
        for name in ("asqa-dev", "cranfield", "vaswani", "cisi")
    ),
    Job(
        "Sentences within their passages, the plain mean over sources",
        ("sentences",),
        "rank_dev.jsonl.gz",
        contests=(Contest("P@1", ("m'_q",), over_sources=True, beside=("bm25", "m_q", "alone", "single-vector")),),
    ),
    Job(
        "ASQA, answers of SmolLM2-135M-Instruct over five passages, the first 24 questions",
        ("asqa", "--context", "5", "--generator", "local", "--limit", "24", *CITING),
        ASQA,
        {"context": [5], "limit": 24, "ways": list(WAYS), "answers.name": "local"},
        (*CITED, "str_em", "str_hit", "rouge_lsum", "length"),
        (BY_ALCE,),
    ),
)


def stored_run(parts: Parts, job: Job) -> RunInfo | None:
    """Return the newest finished run over as many items as the job asks for; None if there is none."""
    wanted = {"limit": 0, "offset": 0} | dict(job.settings)
    for run in parts.runs.find(job.kind, Path(job.path).name):
        settings = dict(flat_settings(run.settings))
        same = all((_setting(run, name) or 0) == value for name, value in wanted.items())
        precise = {value for name, value in settings.items() if name.endswith("precision")} <= {PRECISION}
        if run.state == "done" and same and precise:
            return run
    return None


def _setting(run: RunInfo, name: str) -> Any:
    value: Any = run.settings
    for part in [name] if name in run.settings else name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def find_or_measure(parts: Parts, job: Job, folder: Path, *, measure: bool = True) -> RunInfo | None:
    """Return the job's run, measured if it is missing and may be; None if it is still missing, as without its model."""
    if (run := stored_run(parts, job)) is None and measure:
        path = str(path_of(job, folder))
        command = [sys.executable, "-m", "propcite", "eval", job.kind, path, *job.arguments[1:]]
        if subprocess.run(command, stdout=sys.stderr).returncode:
            print(f"left out: {' '.join(command[2:])}", file=sys.stderr)
        run = stored_run(parts, job)
    return run


def path_of(job: Job, folder: Path) -> Path:
    """Return the job's file, which lies in the folder or beside this module."""
    return next((path for path in (folder / job.path, OUT.parent / job.path) if path.exists()), folder / job.path)


def section(parts: Parts, job: Job, run: RunInfo | None, path: Path) -> Iterator[str]:
    command = " ".join(["propcite eval", job.kind, job.path, *job.arguments[1:]])
    yield f"## {job.title}\n"
    if run is None:
        yield f"Not measured yet: `{command}`.\n"
        return
    items = list(parts.runs.items(run.id))
    judged = f"Judge: {run.judge}.  " if run.judge else ""
    yield f"`{command}`, {run.started_at:%Y-%m-%d}, commit {run.about.get('revision') or NO_VALUE}.  {judged}"
    yield from (f"{line[0].upper()}{line[1:]}.  " for line in notes(run))
    for figures in comparable_groups(_figures(job, items)):
        yield "\n".join(["", *_table(job, figures, costs(items))])
    if job.by_kind:
        yield "\n".join(["", *_kinds(items, _kinds_of(path))])
    yield ""


def _figures(job: Job, items: Sequence[RunItem]) -> list[Aggregate]:
    if job.kind != "sentences":
        return aggregates(items)
    means = [f for f in figures_by_source(items, SENTENCES) if f.of == SOURCE_MEAN]
    return [Aggregate(f.way, measure_of(f.measure), f.items, f.value, f.low, f.high) for f in means]


def _kinds_of(path: Path) -> dict[str, str]:
    """Return the kind of each row of a file of claims, and whether it is right, by the key of its item."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {
        f"{path.name}:{number}": f"{row['kind']}, {'right' if row['label'] == 'supported' else 'wrong'}"
        for number, row in enumerate(rows, 1)
    }


def _kinds(items: Sequence[RunItem], kinds: Mapping[str, str]) -> Iterator[str]:
    """Yield a table of the verdicts that are right, by kind; kinds of few claims count together."""
    sizes = Counter(kinds.values())
    names = {
        key: kind if sizes[kind] >= MIN_OF_KIND else f"others, {kind.rpartition(' ')[2]}" for key, kind in kinds.items()
    }
    ways = list(dict.fromkeys(item.way for item in items))
    yield "| kind of claim | n | " + " | ".join(way.rpartition(": ")[2] for way in ways) + " |"
    yield "|---|---:|" + "---:|" * len(ways)
    for name, count in sorted(Counter(names.values()).items(), key=lambda one: (one[0].split(", ")[1], -one[1])):
        found = aggregates(item for item in items if names[item.key] == name)
        right = {figure.way: figure for figure in found if figure.measure.name == "right"}
        yield f"| {name} | {count} | " + " | ".join(_cell(right.get(way)) for way in ways) + " |"


def _table(job: Job, figures: Sequence[Aggregate], cost: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield a table of the job's measures per way, and of the processor's time per item where it was measured."""
    by_name = {figure.measure.name: figure.measure for figure in figures}
    measures = [by_name[name] for name in job.measures if name in by_name] or list(by_name.values())
    cells = {(f.way, f.measure.name): f for f in figures}
    counts = {m.name: max(f.items for f in figures if f.measure.name == m.name) for m in measures}
    times = {way: 1000 * own["cpu_seconds"] / own["items"] for way, own in cost.items() if "cpu_seconds" in own}
    heads = [*(f"{m.heading} (n {counts[m.name]:,})" for m in measures), *["CPU ms"][: bool(times)]]
    yield f"| way | {' | '.join(heads)} |"
    yield "|---|" + "---:|" * len(heads)
    for way in dict.fromkeys(figure.way for figure in figures):
        row = [*(_cell(cells.get((way, m.name))) for m in measures), *[f"{times.get(way, 0):,.0f}"][: bool(times)]]
        yield f"| {way} | {' | '.join(row)} |"


def _cell(figure: Aggregate | None) -> str:
    if figure is None:
        return NO_VALUE
    show = figure.measure.show
    interval = "" if figure.is_single else f" ({show(figure.low)} to {show(figure.high)})"
    return f"{show(figure.value)}{interval}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--kept", action="store_true", help="measure nothing")
    options = parser.parse_args()
    os.environ["PROPCITE_PRECISION"] = PRECISION
    parts = Parts(load_settings())
    found = {job: find_or_measure(parts, job, options.folder, measure=not options.kept) for job in JOBS}
    kept = [(job.title, contest, run) for job, run in found.items() if run for contest in job.contests]
    rows = (bout for title, contest, run in kept for bout in bouts(parts.runs, run, title, contest))
    lines = [HEAD, *summary(rows)]
    for job, run in found.items():
        lines += section(parts, job, run, path_of(job, options.folder))
    options.out.write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    main()
