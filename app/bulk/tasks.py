"""What is done with each line of a bulk command, in a form that another process can begin with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, Literal

from propcite.app.bulk import filters
from propcite.app.parts import Parts
from propcite.app.settings import Settings, load_settings

Kind = Literal["ask", "cite", "repair"]
LineWork = Callable[[Sequence[str]], list[str]]  # JSON lines in, as many out

# Settings that change no answer: where things are, how fast they are computed, how they are served.
_UNIMPORTANT = (
    *("audit_", "batch_", "cluster", "data_dir", "database", "device", "llm_key", "llm_parallel", "llm_timeout"),
    *("page_", "proxy_", "serve_", "vllm_parallel"),
)


@dataclass(frozen=True, slots=True)
class Task:
    """Asks, cites or repairs each line.  `collection` may be empty for those that bring their passages."""

    kind: Kind
    settings: Mapping[str, Any]
    collection: str = ""
    documents: tuple[str, ...] = ()
    where: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        kind: Kind,
        settings: Settings,
        collection: str = "",
        documents: Sequence[str] = (),
        where: Sequence[str] = (),
    ) -> Task:
        return cls(kind, settings.model_dump(), collection, tuple(documents), tuple(where))

    def name(self, content: bytes) -> str:
        """Return a name of this task over an input: the same only if the same answers can be expected."""
        about = asdict(self)
        about["settings"] = {n: v for n, v in self.settings.items() if not n.startswith(_UNIMPORTANT)}
        about["version"] = version("propcite")
        text = json.dumps(about, sort_keys=True, default=str).encode()
        return hashlib.sha256(text + hashlib.sha256(content).digest()).hexdigest()[:24]

    def open(self) -> LineWork:
        """Load what the task needs, and return what answers its lines."""
        return line_work(self, Parts(load_settings(**self.settings)))


def line_work(task: Task, parts: Parts) -> LineWork:
    """Return what answers the lines of a task, with parts that are open already."""
    collection = parts.library.collection(task.collection) if task.collection else None
    pipeline = parts.pipeline(collection, task.documents, task.where) if collection else None
    if task.kind == "ask":
        assert pipeline
        return partial(filters.answered, filters.AskLine, partial(filters.ask, pipeline))
    propcite, rest = parts.propcite, pipeline.retriever() if pipeline else None
    work = filters.cite if task.kind == "cite" else filters.repair
    return partial(filters.answered, filters.CiteLine, lambda lines: work(propcite, lines, rest))
