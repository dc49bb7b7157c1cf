"""Write RESULTS.md: every comparison on the development data, with intervals, command, commit and date.

    python -m tests.benchmarks.results FOLDER [--out tests/benchmarks/RESULTS.md]

FOLDER holds alce/, beir/ and rank_dev.jsonl.gz.  Missing runs are measured by the commands that the page names; they
are stored, and continue after an interrupt.  Stored runs are not measured again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from propcite.app.lab.ranking.relevance import SENTENCES
from propcite.app.lab.runs.aggregates import Aggregate, aggregates, comparable_groups, measure_of
from propcite.app.lab.runs.figures import SOURCE_MEAN, figures_by_source
from propcite.app.lab.runs.tables import notes
from propcite.app.lab.runs.text_tables import NO_VALUE
from propcite.app.library.store import RunInfo, RunItem
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

OUT = Path(__file__).with_name("RESULTS.md")
HEAD = """# Results

Made by `python -m tests.benchmarks.results FOLDER` from the development data.  Figures are percent, but for counts,
with their 95% interval (bootstrap over items).  Each table is a kept run: `propcite runs show`, `compare` and `export`
tell more.
"""


@dataclass(frozen=True, slots=True)
class Job:
    """A run of the page: its command, and the settings that distinguish it from others over the same file."""

    title: str
    arguments: tuple[str, ...]
    path: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    measures: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return self.arguments[0]


CITED = ("citation_recall", "citation_precision", "citation_f1", "citations_a_sentence")
ASQA = "alce/asqa_dev.json.gz"
RANKED = ("nDCG@10", "R@10", "R@100", "RR@10", "P@1")
JOBS = (
    Job(
        "ASQA, the long answers that people wrote, cited over ten passages",
        ("asqa", "--human", "--context", "10"),
        ASQA,
        {"answers": {"name": "people"}},
        CITED,
    ),
    Job(
        "ASQA, answers of the extractive generator over five passages",
        ("asqa", "--context", "5"),
        ASQA,
        {"context": [5]},
        (*CITED, "str_em", "str_hit", "rouge_lsum", "length"),
    ),
    Job(
        "ASQA, answers of SmolLM2-135M-Instruct over five passages, the first 24 questions",
        ("asqa", "--context", "5", "--generator", "local", "--limit", "24"),
        ASQA,
        {"context": [5], "limit": 24},
        (*CITED, "str_em", "str_hit", "rouge_lsum", "length"),
    ),
    Job("ALCE's shortcuts, judged by the judge that scores", ("judge",), ASQA),
    *(
        Job(f"Passages of {name}", ("beir",), f"beir/{name}", {}, RANKED)
        for name in ("asqa-dev", "cranfield", "vaswani", "cisi")
    ),
    Job("Sentences within their passages, the plain mean over sources", ("sentences",), "rank_dev.jsonl.gz"),
)


def stored_run(parts: Parts, job: Job) -> RunInfo | None:
    """Return the newest finished run over as many items as the job asks for; None if there is none."""
    name = Path(job.path).name
    for run in parts.runs.find(job.kind, name):
        wanted = {"limit": 0, "offset": 0} | dict(job.settings)
        if run.state == "done" and all((run.settings.get(name) or 0) == value for name, value in wanted.items()):
            return run
    return None


def find_or_measure(parts: Parts, job: Job, folder: Path) -> RunInfo:
    if (run := stored_run(parts, job)) is None:
        command = [sys.executable, "-m", "propcite", "eval", job.kind, str(folder / job.path), *job.arguments[1:]]
        subprocess.run(command, check=True, stdout=sys.stderr)
        run = stored_run(parts, job)
    if run is None:
        raise SystemExit(f"propcite eval {job.kind} {job.path} stored no complete run")
    return run


def section(parts: Parts, job: Job, run: RunInfo) -> Iterator[str]:
    items = list(parts.runs.items(run.id))
    judged = f"Judge: {run.judge}.  " if run.judge else ""
    command = " ".join(["propcite eval", job.kind, job.path, *job.arguments[1:]])
    yield f"## {job.title}\n"
    yield f"`{command}`, {run.started_at:%Y-%m-%d}, commit {run.about.get('revision') or NO_VALUE}.  {judged}"
    yield from (f"{line[0].upper()}{line[1:]}.  " for line in notes(run))
    for figures in comparable_groups(_figures(job, items)):
        yield "\n" + "\n".join(_table(job, figures)) + "\n"


def _figures(job: Job, items: Sequence[RunItem]) -> list[Aggregate]:
    if job.kind != "sentences":
        return aggregates(items)
    means = [f for f in figures_by_source(items, SENTENCES) if f.of == SOURCE_MEAN]
    return [Aggregate(f.way, measure_of(f.measure), f.items, f.value, f.low, f.high) for f in means]


def _table(job: Job, figures: Sequence[Aggregate]) -> Iterator[str]:
    by_name = {figure.measure.name: figure.measure for figure in figures}
    measures = [by_name[name] for name in job.measures if name in by_name] or list(by_name.values())
    cells = {(f.way, f.measure.name): f for f in figures}
    counts = {m.name: max(f.items for f in figures if f.measure.name == m.name) for m in measures}
    yield "| way | " + " | ".join(f"{m.heading} (n {counts[m.name]:,})" for m in measures) + " |"
    yield "|---|" + "---:|" * len(measures)
    for way in dict.fromkeys(figure.way for figure in figures):
        yield f"| {way} | " + " | ".join(_cell(cells.get((way, m.name))) for m in measures) + " |"


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
    options = parser.parse_args()
    parts = Parts(load_settings())
    lines = [HEAD]
    for job in JOBS:
        lines += section(parts, job, find_or_measure(parts, job, options.folder))
    options.out.write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    main()
