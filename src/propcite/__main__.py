"""The command line: `propcite`, or `python -m propcite`."""

from __future__ import annotations

from typing import NoReturn


def main() -> NoReturn:
    """Run the command line with the commands of the application and of its laboratory."""
    from propcite.app import cli
    from propcite.app.lab import commands  # noqa: F401  (adds its commands)

    cli.main()


if __name__ == "__main__":
    main()
