"""The token index beside exact search, FAISS, LanceDB and fast-plaid, on one set of real token vectors.

    make bench-index DATA=folder
    python -m tests.benchmarks.index FOLDER [--sizes 230k,1m,10m] [--engines ours,faiss] ...

Everything is kept in the cache: texts, vectors, truth, and each point as it is measured, so an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import platform
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from rich.console import Console
from rich.progress import Progress
from tests.benchmarks.index import vectors
from tests.benchmarks.index.engines import ENGINES, chosen
from tests.benchmarks.index.report import Measured, compared, show
from tests.benchmarks.index.running import Place, Settings, measure
from tests.benchmarks.index.store import Corpus, Queries, Store
from tests.benchmarks.index.texts import gather, name_of
from tests.benchmarks.index.truth import find_truth

UNITS = {"k": 1_000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus of one size with where it lies, and how much of it is text as it was read."""

    size: str
    corpus: Corpus
    store: Path
    real: int

    @property
    def key(self) -> str:
        """Names its truth and its results."""
        return self.size if self.real == self.corpus.tokens else f"{self.size}-from-{self.real}"


def count(size: str) -> int:
    """The number that 230k or 1.5m stands for."""
    size = size.strip().lower()
    return round(float(size.rstrip("km")) * UNITS.get(size[-1:], 1))


def main() -> None:
    given = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that workers end with it
    console = Console(stderr=True)
    names = chosen(given.engines)
    sources, queries_path = _prepare(given, console)
    queries = Queries.load(queries_path).first(given.queries)
    settings = Settings(
        queries=len(queries),
        repeats=given.repeats,
        build_s=given.build_limit,
        point_s=given.point_limit,
        plaid_python=given.plaid_python.absolute(),
        again=frozenset(names if given.again == "all" else chosen(given.again) if given.again else ()),
        keep=given.keep,
    )
    measured = []
    for source in sources:
        console.print(f"{source.size}: {source.corpus.tokens:,} tokens of {len(source.corpus):,} passages")
        folder = queries_path.parent
        place = Place(
            store=source.store,
            queries=queries_path,
            truth=folder / "truth" / f"{source.key}-{len(queries)}.npz",
            indexes=folder / "indexes" / source.key,
            results=folder / "results" / f"{source.key}-{len(queries)}",
        )
        with Progress(console=console, transient=True) as progress:
            bar = progress.add_task("exact truth", total=source.corpus.tokens)
            find_truth(source.corpus, queries, place.truth, lambda done, bar=bar: progress.update(bar, completed=done))
        for name in names:
            records = measure(name, source.corpus, place, settings, console)
            measured.append(Measured(source.size, name, source.corpus.tokens, records))
    described = _described(sources, queries, measured)
    print("\n".join(described))
    print()
    show(measured, Console(width=400))
    if given.json:
        _write_json(given.json, described, measured)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.index",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, help="rank_*.jsonl.gz, retrieval_train.jsonl.gz, beir/*/corpus.jsonl.gz")
    parser.add_argument("--sizes", default="230k,1m", help="numbers of tokens")
    parser.add_argument("--engines", default="", help=f"names or their beginnings, of {', '.join(ENGINES)}")
    parser.add_argument("--encoder", default="", help="a folder or name; the default encoder without it")
    parser.add_argument("--dimension", type=int, default=0, help="fewer dimensions by a random orthogonal projection")
    parser.add_argument("--real", default="1m", help="most tokens encoded; beyond, passages are resampled with noise")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3, help="of each query; the least time counts")
    parser.add_argument("--build-limit", type=float, default=1800, help="seconds after which a build is given up")
    parser.add_argument("--point-limit", type=float, default=300, help="seconds after which no repeat begins")
    parser.add_argument("--plaid-python", type=Path, default=Path(".venv-fast-plaid/bin/python"))
    parser.add_argument("--cache", type=Path, default=platformdirs.user_cache_path("propcite") / "bench-index")
    parser.add_argument("--json", type=Path, help="all figures, for machines")
    parser.add_argument("--again", nargs="?", const="all", default="", help="measure anew: all, or these engines")
    parser.add_argument("--keep", action="store_true", help="keep indexes once all their points are measured")
    return parser.parse_args()


def _prepare(given: argparse.Namespace, console: Console) -> tuple[list[Source], Path]:
    """The corpora, smallest first, and the file of the queries' vectors."""
    texts = given.cache.absolute() / name_of(given.data)
    gather(given.data, texts, console)
    folder = texts / (given.encoder.replace("/", "_") or "default")
    sizes = sorted({count(size): size.strip() for size in given.sizes.split(",")}.items())
    store = vectors.encode(texts, folder, given.encoder, min(sizes[-1][0], count(given.real)), console)
    queries_path = folder / "queries.npz"
    if given.dimension and given.dimension != store.dimension:
        base, queries, folder = store, Queries.load(queries_path), folder / f"projected-{given.dimension}"
        store, queries = vectors.project(base, queries, folder, given.dimension, console)
        queries_path = folder / "queries.npz"
        queries.save(queries_path)
    return [_source(size, tokens, texts, store, count(given.real), console) for tokens, size in sizes], queries_path


def _source(size: str, tokens: int, texts: Path, store: Store, most: int, console: Console) -> Source:
    """A part of what was encoded, or all of it and resampled passages beyond."""
    if tokens <= store.tokens:
        corpus = store.corpus(texts).first(tokens)
        return Source(size, corpus, store.folder, corpus.tokens)
    real = store.corpus(texts).first(most)
    larger = vectors.resample(real, store.folder / f"resampled-{real.tokens}", tokens, console)
    return Source(size, larger.corpus(texts).first(tokens), larger.folder, real.tokens)


def _described(sources: list[Source], queries: Queries, measured: list[Measured]) -> list[str]:
    """What the figures hold for."""
    lengths = (queries.starts[1:] - queries.starts[:-1]).mean()
    versions = sorted({one.build["version"] for one in measured if one.build})
    lines = [
        f"{_processor()}, {platform.system()}, Python {platform.python_version()}, one thread; {', '.join(versions)}",
        f"{len(queries)} queries of {lengths:.1f} tokens on the mean; recall against exact float32 MaxSim",
    ]
    for one in sources:
        corpus = one.corpus
        line = f"{one.size}: {corpus.tokens:,} tokens of {corpus.dimension} dimensions, {len(corpus):,} passages"
        if one.real < corpus.tokens:
            line += f", {one.real:,} tokens as read, the others of passages drawn anew with noise of {vectors.NOISE}"
        lines.append(line)
    return lines


def _processor() -> str:
    """The processor's name where the system tells it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _write_json(path: Path, described: list[str], measured: list[Measured]) -> None:
    figures = {
        "described": described,
        "compared": compared(measured),
        "results": [
            {"size": one.size, "tokens": one.tokens, "engine": one.engine, "records": list(one.records)}
            for one in measured
        ],
    }
    path.write_text(json.dumps(figures, indent=1), "utf-8")


if __name__ == "__main__":
    main()
