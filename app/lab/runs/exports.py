"""A run as a file of its own: for a spreadsheet, for a paper, to look at, and as JSON that is read back."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from propcite.app.errors import AppError
from propcite.app.lab.runs.aggregates import aggregates
from propcite.app.lab.runs.latex import to_latex
from propcite.app.lab.runs.report import to_html
from propcite.app.lab.runs.sources import mean_over_sources
from propcite.app.lab.runs.tables import as_told, figure_told
from propcite.app.library.store.runs import RunInfo, RunItem
from propcite.attribution.formats.csv import safe_cell
from propcite.attribution.formats.plain import json_text

SCHEMA = 1

Items = Sequence[RunItem]


def to_csv(run: RunInfo, items: Items) -> str:
    """A row an item and way; what an item does not tell is an empty cell."""
    measures, costs = (list(dict.fromkeys(name for item in items for name in getattr(item, of))) for of in NAMED)
    written = io.StringIO(newline="")
    table = csv.writer(written)
    table.writerow([*("run", "item", "way"), *measures, *(f"cost {name}" for name in costs), *TEXTS])
    for item in items:
        figures = [item.measures.get(name) for name in measures] + [item.cost.get(name) for name in costs]
        texts = [str(item.output.get(name) or "") for name in TEXTS]
        cells = [run.id, item.key, item.way, *("" if figure is None else figure for figure in figures), *texts]
        table.writerow([safe_cell(cell) for cell in cells])
    return "\ufeff" + written.getvalue()


NAMED = ("measures", "cost")
TEXTS = ("source", "question", "text")


def to_json(run: RunInfo, items: Items) -> str:
    """All of it, which is read back, and the figures that are made of it."""
    told = [{name: getattr(item, name) for name in ("key", "way", "measures", "output", "cost")} for item in items]
    made = {"figures": aggregates(items), "over_sources": mean_over_sources(items)}
    figures = {name: list(map(figure_told, of)) for name, of in made.items()}
    return json_text({"propcite_run": SCHEMA, "run": as_told(run), **figures, "items": told})


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Item(_Strict):
    key: str
    way: str
    measures: dict[str, float | None]
    output: dict[str, Any]
    cost: dict[str, float]


class _Run(BaseModel):
    id: Annotated[str, Field(pattern="^[0-9a-f]{12}$")]
    kind: Annotated[str, Field(max_length=32)]
    name: str
    state: Literal["unfinished", "done"]
    settings: dict[str, Any]
    about: dict[str, Any]
    judge: str
    started_at: AwareDatetime
    ended_at: AwareDatetime | None


class _File(BaseModel):
    propcite_run: Literal[1]
    run: _Run
    items: list[_Item]


def read_json(text: str, name: str) -> tuple[RunInfo, list[RunItem]]:
    """The run that such a file holds, item by item."""
    try:
        read = _File.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise _unreadable(name, f"{place}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(name, str(error)) from error
    for (way, key), number in Counter((item.way, item.key) for item in read.items).items():
        if number > 1:
            raise _unreadable(name, f"the item {key[:60]!r} by {way[:60]!r} is there {number} times")
    told: Mapping[str, Any] = dict(read.run)
    return RunInfo(**told, num_items=len(read.items)), [RunItem(**dict(item)) for item in read.items]


def _unreadable(name: str, reason: str) -> AppError:
    return AppError(f"{name} holds no run ({reason}): propcite runs export RUN --format json writes one")


EXPORTS: dict[str, Callable[[RunInfo, Items], str]] = {
    "csv": to_csv,
    "json": to_json,
    "latex": to_latex,
    "html": to_html,
}
