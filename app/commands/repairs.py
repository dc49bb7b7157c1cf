"""Repair of answers that cite by themselves."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands import BELOW, AsJson, cli, filter_lines, open_parts, read_text, write_json
from app.commands.given import Batch, PassagesFile, read_passages
from retrieval.errors import PropCiteError


@cli.command()
def repair(
    file: Annotated[str, typer.Argument(help="An answer with markers like [1]; - reads standard input.")] = "-",
    passages: PassagesFile = None,
    batch: Batch = False,
    as_json: AsJson = False,
) -> None:
    """Check an answer's own markers: keep the right, drop the wrong, add the missing.  Exit 1 when some changed."""
    from app import filters
    from app.terminal import show_repair
    from attribution.repair import repair as repaired
    from attribution.wire.repairs import repair_json

    parts = open_parts()
    if batch:
        filter_lines(filters.CiteLine, lambda lines: filters.repair(parts.propcite, lines), file)
        return
    if passages is None:
        raise PropCiteError("markers count passages: give these with --passages FILE")
    found = repaired(parts.propcite, read_text(file), read_passages(passages))
    if as_json:
        write_json(repair_json(found))
    else:
        show_repair(found)
    if found.changed:
        raise typer.Exit(BELOW)
