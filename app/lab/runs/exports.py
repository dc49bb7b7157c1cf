"""A run as a file: CSV, LaTeX, an HTML page, and JSON that can be imported again."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from propcite.app.errors import AppError
from propcite.app.lab.runs.aggregates import aggregates, mean_over_sources
from propcite.app.lab.runs.inputs import first_error
from propcite.app.lab.runs.latex import to_latex
from propcite.app.lab.runs.report import to_html
from propcite.app.lab.runs.tables import figure_fields, run_fields
from propcite.app.library.store.runs import RunInfo, RunItem
from propcite.attribution.formats.csv import safe_cell
from propcite.attribution.formats.text import json_text

SCHEMA = 1
TEXTS = ("source", "question", "text")  # of an item's output, as CSV columns

Items = Sequence[RunItem]


def to_csv(run: RunInfo, items: Items) -> str:
    """Return one row per item and way; a value that an item does not have is an empty cell."""
    measures = list(dict.fromkeys(name for item in items for name in item.measures))
    costs = list(dict.fromkeys(name for item in items for name in item.cost))
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow([*("run", "item", "way"), *measures, *(f"cost {name}" for name in costs), *TEXTS])
    for item in items:
        figures = [item.measures.get(name) for name in measures] + [item.cost.get(name) for name in costs]
        texts = [str(item.output.get(name) or "") for name in TEXTS]
        cells = [run.id, item.key, item.way, *("" if figure is None else figure for figure in figures), *texts]
        table.writerow([safe_cell(cell) for cell in cells])
    return "\ufeff" + file.getvalue()  # the byte order mark tells spreadsheets that it is UTF-8


def to_json(run: RunInfo, items: Items) -> str:
    """Return the whole run, which `read_json` reads, with its figures."""
    rows = [{name: getattr(item, name) for name in ("key", "way", "measures", "output", "cost")} for item in items]
    figures = {
        "figures": list(map(figure_fields, aggregates(items))),
        "over_sources": list(map(figure_fields, mean_over_sources(items))),
    }
    return json_text({"propcite_run": SCHEMA, "run": run_fields(run), **figures, "items": rows})


class _Item(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

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
    """Return the run that an exported file holds, with its items."""
    try:
        file = _File.model_validate(json.loads(text))
    except ValidationError as error:
        raise _unreadable(name, first_error(error, "the whole file")) from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(name, str(error)) from error
    for (way, key), count in Counter((item.way, item.key) for item in file.items).items():
        if count > 1:
            raise _unreadable(name, f"the item {key[:60]!r} by {way[:60]!r} is there {count} times")
    run: Mapping[str, Any] = dict(file.run)
    return RunInfo(**run, num_items=len(file.items)), [RunItem(**dict(item)) for item in file.items]


def _unreadable(name: str, reason: str) -> AppError:
    return AppError(f"{name} holds no run ({reason}): propcite runs export RUN --format json writes one")


EXPORTS: dict[str, Callable[[RunInfo, Items], str]] = {
    "csv": to_csv,
    "json": to_json,
    "latex": to_latex,
    "html": to_html,
}
