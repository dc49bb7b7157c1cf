"""What a language model is asked with."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands import AsJson, cli, open_parts, write_json


@cli.command()
def prompts(
    name: Annotated[str, typer.Argument(help="A prompt's name or file: its text is written.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the prompts that a language model may be asked with, or write one, to be changed and given as a file."""
    from app.prompts import load_prompt, shipped
    from app.terminal import show_table

    if name:
        prompt = load_prompt(name)
        if as_json:
            write_json({"name": prompt.name, "version": prompt.version, "what": prompt.what, "turns": prompt.turns})
        else:
            typer.echo(prompt.path.read_text("utf-8-sig"), nl=False)
        return
    used, found = open_parts().settings.prompt, shipped()
    if as_json:
        write_json([{"name": p.name, "version": p.version, "what": p.what, "used": p.name == used} for p in found])
    else:
        show_table(("prompt", "version", "what it is"), [(_named(p.name, used), p.version, p.what) for p in found])


def _named(name: str, used: str) -> str:
    return f"{name} ✓" if name == used else name
