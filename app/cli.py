"""propcite: the command line.  Exit codes: 0 done, 1 ran but below what was asked, 2 could not run."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated, NoReturn

import typer
from typer.main import get_command

from propcite.app.cluster import command as cluster
from propcite.app.commands import (
    COULD_NOT,
    INTERRUPTED,
    Panel,
    answers,
    cli,
    describing,
    documents,
    exchange,
    explaining,
    exports,
    feedback,
    indexes,
    ingestion,
    lines,
    listing,
    people,
    repairs,
    serving,
    upkeep,
    working,
)
from propcite.app.comparing import command as comparing
from propcite.app.configuring import command as configuring
from propcite.app.notes import commands as notes
from propcite.app.overview import commands as overview
from propcite.app.reviewing import command as reviewing
from propcite.app.setup import command as setup
from propcite.app.storage import command as storage
from propcite.retrieval.errors import PropCiteError

# A module adds its commands when it is imported.
__all__ = [
    "answers",
    "cli",
    "cluster",
    "comparing",
    "configuring",
    "describing",
    "documents",
    "exchange",
    "explaining",
    "exports",
    "feedback",
    "indexes",
    "ingestion",
    "lines",
    "listing",
    "main",
    "notes",
    "overview",
    "people",
    "repairs",
    "reviewing",
    "serving",
    "setup",
    "storage",
    "upkeep",
    "working",
]

cli.registered_commands.sort(key=lambda command: list(Panel).index(Panel(str(command.rich_help_panel))))


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"propcite {version('propcite')}")
        raise typer.Exit


@cli.callback()
def common(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")] = False,
) -> None:
    """Answers over your own documents in which every fact shows the words that support it."""


@cache
def _command() -> Callable[..., None]:
    """Return the command line with all commands that are registered at the first call."""
    return get_command(cli)


def main() -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal of few letters loses a sign, not the answer
    try:
        _command()(standalone_mode=True)
    except PropCiteError as error:
        _stop(str(error))
    except RecursionError:
        _stop("the input is nested too deeply: give it with fewer levels of brackets")
    except SystemExit as ended:  # typer has caught the interrupt and says nothing
        if ended.code == INTERRUPTED:
            sys.stderr.write("interrupted: what was finished is kept, run it again to go on\n")
        raise
    except UnicodeEncodeError as error:  # a name on the command line, or a terminal that knows few letters
        _stop(f"{error.object[error.start : error.end]!r} cannot be written in {error.encoding}: give it as UTF-8")
    except OSError as error:
        if os.environ.get("PROPCITE_TRACEBACK"):
            raise
        place = f" ({error.filename})" if error.filename else ""
        _stop(f"{error.strerror or error}{place}: free it or set PROPCITE_DATA_DIR, then try again")
    sys.exit(0)


def _stop(line: str) -> NoReturn:
    sys.stderr.write(f"propcite: {' '.join(line.split())}\n")
    sys.exit(COULD_NOT)


if __name__ == "__main__":
    main()
