"""The command that repairs the citations of an answer."""

from __future__ import annotations

from typing import Annotated

import typer

from propcite.app.commands import (
    BELOW,
    AsJson,
    Collection,
    Panel,
    answer_lines,
    cli,
    filter_lines,
    find_collection,
    open_parts,
    read_text,
    write_json,
)
from propcite.app.commands.exports import Out
from propcite.app.commands.given import (
    Batch,
    JudgeName,
    MethodName,
    PassagesFile,
    Workers,
    check_workers,
    read_passages,
    setting_overrides,
)
from propcite.retrieval.errors import PropCiteError


@cli.command(rich_help_panel=Panel.ASKING)
def repair(
    file: Annotated[str, typer.Argument(help="An answer with markers like [1]; - reads standard input.")] = "-",
    passages: PassagesFile = None,
    batch: Batch = False,
    collection: Collection = "",
    as_json: AsJson = False,
    method: MethodName = None,
    judge: JudgeName = None,
    out: Out = None,
    workers: Workers = 1,
) -> None:
    """Check an answer's own markers: keep right, drop wrong, add missing ones.  Exit code 1 if any changed."""
    from propcite.app.bulk import filters
    from propcite.app.bulk.tasks import Task
    from propcite.app.terminal import show_repair
    from propcite.attribution.formats.json.repairs import repair_json

    if out and not batch:
        raise PropCiteError("--out goes with --batch: leave it out, or write > FILE")
    check_workers(workers, bool(batch and out))
    parts = open_parts(**setting_overrides(method, judge, None, None))
    if batch and out:
        answer_lines(Task.of("repair", parts.settings, collection), file, out, workers)
        return
    pipeline = parts.pipeline(find_collection(parts, collection)) if collection else None
    if batch:
        rest = pipeline.retriever() if pipeline else None
        filter_lines(filters.CiteLine, lambda lines: filters.repair(parts.propcite, lines, rest), file)
        return
    if passages is None:
        raise PropCiteError("markers number the passages: give these with --passages FILE")
    text, own = read_text(file), read_passages(passages)
    repaired = pipeline.repair(text, own) if pipeline else parts.propcite.repair(text, own)
    if as_json:
        write_json(repair_json(repaired))
    else:
        show_repair(repaired)
    if repaired.changed:
        raise typer.Exit(BELOW)
