"""propcite: the command line.  Exit codes: 0 done, 1 ran but below what was asked, 2 could not run."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, NoReturn

import typer

from app.commands import (
    COULD_NOT,
    INTERRUPTED,
    adapting,
    answers,
    asking,
    cli,
    describing,
    documents,
    evaluating,
    evaluating_alce,
    evaluating_history,
    evaluating_ranking,
    exchanging,
    explaining,
    exports,
    feedback,
    indexes,
    ingesting,
    keeping,
    lines,
    models,
    repairs,
    runs,
    serving,
)
from retrieval.errors import PropCiteError

# A module's commands are there once it is imported.
__all__ = [
    "adapting",
    "answers",
    "asking",
    "cli",
    "describing",
    "documents",
    "evaluating",
    "evaluating_alce",
    "evaluating_history",
    "evaluating_ranking",
    "exchanging",
    "explaining",
    "exports",
    "feedback",
    "indexes",
    "ingesting",
    "keeping",
    "lines",
    "main",
    "models",
    "repairs",
    "runs",
    "serving",
]


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


def main() -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal of few letters loses a sign, not the answer
    try:
        cli(standalone_mode=True)
    except PropCiteError as error:
        _stop(str(error))
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
