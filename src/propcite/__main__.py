"""The command line: `propcite`, or `python -m propcite`."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line with the commands of the application and of its laboratory."""
    try:
        from propcite.retrieval.garbage import no_garbage_collection

        with no_garbage_collection():
            from propcite.app import cli
            from propcite.app.lab import commands  # noqa: F401  (adds its commands)

        cli.main()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "propcite":
            raise
        from propcite.retrieval.extras import install_command

        sys.stderr.write(f"propcite: {error.name} is not installed, the command line needs it: ")
        sys.stderr.write(f"{install_command('app')}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
