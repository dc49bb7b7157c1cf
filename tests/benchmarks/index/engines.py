"""The engines that are compared: what each must do, and where it is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from tests.benchmarks.index.store import Array, Corpus


@dataclass(frozen=True, slots=True)
class Point:
    """An operating point; with `sentences` the same one asked for sentences."""

    label: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sentences: bool = False


class Engine(Protocol):
    """Made for a corpus and a folder; builds its index there in one process and answers from it in another."""

    points: Sequence[Point]

    def version(self) -> str:
        """The package and its version; raises ImportError where it is missing."""
        ...

    def build(self) -> None: ...

    def open(self) -> None: ...

    def search(self, query: Array, k: int, point: Point) -> list[int]:
        """Numbers of passages, or of sentences as `store.SENTENCES` has them, best first."""
        ...

    def bytes(self) -> int:
        """What lies on disk for it, the corpus's token vectors included where it reads them."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A name of the table: a class of a module, its arguments, and what installs its package."""

    module: str
    kind: str
    arguments: tuple[Any, ...] = ()
    install: str = ""
    own_python: bool = False
    most_tokens: int = 2_000_000  # beyond, only who is made for it is measured

    def make(self, corpus: Corpus, folder: Path) -> Engine:
        module = import_module(f"tests.benchmarks.index.{self.module}")
        engine: Engine = getattr(module, self.kind)(corpus, folder, *self.arguments)
        return engine


ANY_SIZE = 10**12
OURS = "ours"

ENGINES: dict[str, Entry] = {
    "exact-float32": Entry("brute", "Brute", ("float32",)),
    "exact-bfloat16": Entry("brute", "Brute", ("bfloat16",)),
    "faiss": Entry("faiss_tokens", "FaissTokens", install="pip install faiss-cpu", most_tokens=ANY_SIZE),
    "lancedb": Entry("lance", "Lance", install="pip install lancedb==0.40.0"),
    "fast-plaid": Entry(
        "plaid",
        "Plaid",
        install="make bench-index (torch 2.11's CPU build, in an environment of its own)",
        own_python=True,
    ),
    f"{OURS}-8bit": Entry("ours", "Ours", (8, "tokens"), most_tokens=ANY_SIZE),
    f"{OURS}-8bit-faiss": Entry("ours", "Ours", (8, "faiss"), most_tokens=ANY_SIZE),
    f"{OURS}-4bit": Entry("ours", "Ours", (4, "tokens"), most_tokens=ANY_SIZE),
    f"{OURS}-2bit": Entry("ours", "Ours", (2, "tokens"), most_tokens=ANY_SIZE),
}


def chosen(names: str) -> list[str]:
    """Engines by name, or all whose names begin so, separated by commas; all without any."""
    wanted = [name for name in names.split(",") if name]
    known = {w: [name for name in ENGINES if name == w or (w not in ENGINES and name.startswith(w))] for w in wanted}
    unknown = [w for w in wanted if not known[w]]
    if unknown:
        raise SystemExit(f"unknown engine {unknown[0]!r}: choose from {', '.join(ENGINES)}")
    return [name for name in ENGINES if not wanted or any(name in found for found in known.values())]
