"""`propcite setup`: ask what machine there is, write propcite.toml, and try it on the demo question."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from propcite.app.commands import BELOW, Panel, cli, note
from propcite.app.errors import AppError

if TYPE_CHECKING:
    from propcite.app.setup.presets import Line, Preset


class Presets(StrEnum):
    laptop = "laptop"
    gpu = "gpu"
    endpoint = "endpoint"
    offline = "offline"


OPTIONS = {"llm_url": "--url", "generator_model": "--model"}  # by the setting that they give


@cli.command(rich_help_panel=Panel.ASKING)
def setup(
    preset: Annotated[Presets | None, typer.Option("--preset", help="The kind of machine; asks nothing then.")] = None,
    url: Annotated[str, typer.Option("--url", help="endpoint: the server's address, up to /v1.")] = "",
    model: Annotated[str, typer.Option("--model", help="endpoint: the model's name there; gpu: a chat model.")] = "",
    key_env: Annotated[
        str, typer.Option("--key-env", help="endpoint: the environment variable that holds the server's key.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace propcite.toml.")] = False,
    check: Annotated[bool, typer.Option("--check/--no-check", help="Answer the demo question by the new file.")] = True,
) -> None:
    """Write propcite.toml for this machine, and try it on the demo question.  Exit code 1 if nothing is supported."""
    from propcite.app.setup.presets import FILE, PRESETS, as_toml, suggested, to_download, to_install

    path = Path(FILE)
    if path.exists() and not force:
        raise AppError(f"{path.resolve()} is there already: give --force to replace it, or edit it")
    asks = preset is None
    if asks and not sys.stdin.isatty():
        raise AppError(f"setup asks its questions on a terminal: give --preset {'|'.join(PRESETS)}")
    chosen = PRESETS[preset.value] if preset else _asked_preset(PRESETS, suggested())
    answers = _answers(chosen, {"llm_url": url, "generator_model": model}, asks=asks)
    if asks and "llm_url" in answers and not key_env:
        key_env = typer.prompt("Environment variable with its key (empty: none)", default="", show_default=False)
    _check_key_name(chosen, key_env, must_be_set=check)
    for command in to_install(chosen):
        note(f"to be installed first: {command}")
    downloads = to_download(chosen, answers)
    note(f"the first use downloads {', '.join(downloads)}" if downloads else "nothing will be downloaded")
    if asks and not typer.confirm(f"Write {path.resolve()}?", default=True):
        raise AppError("nothing was written: run propcite setup again, or copy docs/settings.md by hand")
    _write(path, as_toml(chosen, answers, key_env))
    if check:
        _try(key_env)


def _asked_preset(presets: Mapping[str, Preset], default: str) -> Preset:
    for number, preset in enumerate(presets.values(), start=1):
        typer.echo(f"  {number}  {preset.name:<9} {preset.what}")
    names = list(presets)
    while True:
        said = typer.prompt("Which one is yours", default=default).strip().lower()
        name = names[int(said) - 1] if said.isdecimal() and 0 < int(said) <= len(names) else said
        if name in presets:
            return presets[name]
        typer.echo(f"Type one of {', '.join(names)}, or its number.")


def _answers(preset: Preset, given: Mapping[str, str], *, asks: bool) -> dict[str, str]:
    """Return the settings that the options give, or that a person types."""
    known = {line.setting for line in preset.asked}
    for setting, value in given.items():
        if value and setting not in known:
            raise AppError(f"{OPTIONS[setting]} does not go with the preset {preset.name}: leave it out")
    answers = {line.setting: given.get(line.setting, "") or _answer(line, asks=asks) for line in preset.asked}
    for setting, value in answers.items():
        _check_value(setting, value)
    return answers


def _answer(line: Line, *, asks: bool) -> str:
    if asks:
        return str(typer.prompt(line.asks, default=line.default or None)).strip()
    if isinstance(line.value, str):
        return line.value
    raise AppError(f"the preset needs {OPTIONS[line.setting]}: {line.why}")


def _check_value(setting: str, value: str) -> None:
    if not value or not value.isprintable():
        raise AppError(f"{OPTIONS[setting]} must be a line of text: give it again")
    if setting != "llm_url":
        return
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AppError("--url is no address like http://localhost:8000/v1: give the server's, up to /v1")
    if parts.username or parts.password or parts.query:
        raise AppError("--url holds more than an address: give a key by PROPCITE_LLM_KEY, which is written to no file")


def _check_key_name(preset: Preset, variable: str, *, must_be_set: bool) -> None:
    if not variable:
        return
    if all(line.setting != "llm_url" for line in preset.lines):
        raise AppError(f"--key-env does not go with the preset {preset.name}: leave it out")
    if not (variable.isidentifier() and variable.isascii()):
        raise AppError("--key-env takes the name of an environment variable, not the key: for example OPENAI_API_KEY")
    if must_be_set and not os.environ.get(variable):
        raise AppError(f"the environment has no {variable}: export it, or give --no-check")


def _write(path: Path, text: str) -> None:
    """Write the file and load it as every command does; name the environment's settings that come before it."""
    import tomllib

    from propcite.app.configuring.toml_file import changing
    from propcite.app.settings import load_settings

    new = path.with_name(f"{path.name}.new")
    try:
        with changing(path.resolve()):
            new.write_text(text, "utf-8")
            new.replace(path)
    except OSError as error:
        raise AppError(f"{path.resolve()} cannot be written ({error.strerror}): go to a folder of yours") from error
    settings = load_settings()
    for name, value in tomllib.loads(text).items():
        if getattr(settings, name) != value:
            note(f"PROPCITE_{name.upper()} in the environment comes before {name} in the file")
    note(f"wrote {path.resolve()}")


def _try(key_env: str) -> None:
    """Answer the demo question and print the answer's first line, and how many of its facts have support."""
    from propcite.app.setup.checking import demo_answer, demo_question
    from propcite.retrieval.errors import PropCiteError

    note(f"checking: {demo_question()}")
    try:
        answer = demo_answer(llm_key=os.environ[key_env] if key_env else None)
    except PropCiteError as error:
        raise AppError(f"propcite.toml is written, but does not work yet: {error}") from error
    held = sum(bool(fact.citations) for fact in answer.facts)
    typer.echo(answer.text.strip().splitlines()[0])
    typer.echo(f"{held} of {len(answer.facts)} facts have support")
    if not held:
        raise typer.Exit(BELOW)
