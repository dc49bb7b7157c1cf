"""`propcite settings`: list the settings with their values, and write one to propcite.toml."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import AsJson, Panel, cli, note, write_json
from propcite.app.errors import AppError

if TYPE_CHECKING:
    from propcite.app.configuring.origins import Setting

settings = typer.Typer(help="List the settings, where their values come from and what they mean; set one.")
cli.add_typer(settings, name="settings", rich_help_panel=Panel.UPKEEP)


@settings.callback(invoke_without_command=True)
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List every setting with its value, where that comes from and what it means.  Keys are shown as set or not set."""
    if context.invoked_subcommand:
        return
    from propcite.app.configuring.origins import settings_now
    from propcite.app.settings import load_settings
    from propcite.app.terminal import show_table

    found = settings_now(load_settings())
    if as_json:
        write_json([_fields(one) for one in found])
    else:
        show_table(["setting", "value", "from", ""], [[s.name, s.shown, s.origin, s.explanation] for s in found])


@settings.command("set")
def set_(
    name: Annotated[str, typer.Argument(help="The setting's name, as propcite settings lists it.")],
    value: Annotated[str, typer.Argument(help="Its value; '' for the default; - reads it from standard input.")],
    as_json: AsJson = False,
) -> None:
    """Write a setting to propcite.toml in this folder; all else in the file stays as it is."""
    from propcite.app.configuring.changing import value_of
    from propcite.app.configuring.groups import takes_effect
    from propcite.app.configuring.origins import settings_now
    from propcite.app.configuring.toml_file import write_changes
    from propcite.app.settings import hides, load_settings

    taken = value_of(name, _typed(name) if value == "-" else value)
    place = write_changes({name: taken})
    [now] = settings_now(load_settings(), [name])
    if as_json:
        write_json({**_fields(now), "file": str(place)})
        return
    if taken is None:
        note(f"{name} has no line in {place} now: its default holds")
    else:
        note(f"wrote {name}{'' if hides(name, taken) else f' = {now.text}' if not now.fixed else ''} to {place}")
    if now.fixed:
        note(now.fixed)
    note(takes_effect([name]))


def _typed(name: str) -> str:
    """Return a value that stays out of the shell's history."""
    if sys.stdin.isatty():
        return str(typer.prompt(name, hide_input=True, default="", show_default=False, err=True))
    line = sys.stdin.readline().strip()
    if not line:
        raise AppError("standard input is empty: pipe the value in")
    return line


def _fields(setting: Setting) -> dict[str, object]:
    return {
        "name": setting.name,
        "value": None if setting.hidden else setting.text,
        "set": setting.is_set,
        "hidden": setting.hidden,
        "from": setting.origin.value,
        "default": setting.default,
        "explanation": setting.explanation,
    }
