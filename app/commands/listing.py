"""The commands that list models and prompts."""

from __future__ import annotations

from typing import Annotated

import typer

from propcite.app.commands import AsJson, Panel, cli, note, open_parts, write_json


@cli.command(rich_help_panel=Panel.LISTS)
def models(as_json: AsJson = False) -> None:
    """List the models that need no download; other settings take a folder or a hub name."""
    from dataclasses import asdict

    from propcite.app.building import could_read_faster, reading_precision
    from propcite.app.models import shipped
    from propcite.app.terminal import show_models
    from propcite.retrieval.extras import install_command

    settings = open_parts().settings
    shipped_models = list(shipped(settings))
    if as_json:
        write_json([asdict(model) for model in shipped_models])
    else:
        show_models(shipped_models)
        note(f"passages are read in {reading_precision(settings)} here (PROPCITE_PRECISION)")
        if could_read_faster(settings):
            note(f"to read them in eight bits, 1.6 times as fast: {install_command('openvino')}")


@cli.command(rich_help_panel=Panel.LISTS)
def prompts(
    name: Annotated[str, typer.Argument(help="A prompt's name or file: print its text.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the prompts for the language model, or print one to edit and use as a file."""
    from propcite.app.answering.prompts import FIELDS, KINDS, load_prompt, shipped
    from propcite.app.building import chosen_prompt
    from propcite.app.terminal import show_table

    if name:
        prompt = load_prompt(name, KINDS.get(name, FIELDS))
        if as_json:
            write_json({"name": prompt.name, "version": prompt.version, "what": prompt.what, "turns": prompt.turns})
        else:
            typer.echo(prompt.path.read_text("utf-8-sig"), nl=False)
        return
    settings, found = open_parts().settings, shipped()
    used = {chosen_prompt(settings), settings.follow_up_prompt, "earlier"}
    if as_json:
        write_json([{"name": p.name, "version": p.version, "what": p.what, "used": p.name in used} for p in found])
    else:
        show_table(("prompt", "version", "what it is"), [(_named(p.name, used), p.version, p.what) for p in found])


def _named(name: str, used: set[str]) -> str:
    return f"{name} ✓" if name in used else name
