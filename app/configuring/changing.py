"""Take typed values: each is checked as a command checks it, then all together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from propcite.app.configuring.origins import Setting, settings_now
from propcite.app.errors import AppError
from propcite.app.setting_values import keys_in
from propcite.app.settings import Settings, hides, load_settings
from propcite.retrieval.errors import PropCiteError

SEE = "propcite settings lists them"
KEPT = "what is set stays: “{text}” stands for no value, and Remove takes the present one away"
OTHER_SERVER = (
    "the key belongs to the server at the present llm_url, and is sent to no other: give the key of the new server too"
)


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed: the changes to write, the settings with them, and one line for each value that is wrong."""

    changes: Mapping[str, Any]
    settings: Settings
    wrong: Mapping[str, str]


def take(texts: Mapping[str, str]) -> Typed:
    """Check typed values; an empty text gives the default back.  What is as before is no change.

    A value that is wrong is neither in the changes nor in the settings.  A hidden value that is set stays where the
    default is typed: it is not seen, so who removes it says so.
    """
    settings = load_settings()
    now = {one.name: one for one in settings_now(settings)}
    changes, wrong = dict[str, Any](), dict[str, str]()
    for name, text in texts.items():
        if text.strip() == now[name].text and not now[name].hidden:
            continue
        try:
            value = value_of(name, text)
        except PropCiteError as error:
            wrong[name] = str(error)
            continue
        given = _default(name) if value is None else value
        if getattr(settings, name) == given:
            continue
        if now[name].hidden and now[name].is_set and text.strip() and given == _default(name):
            wrong[name] = KEPT.format(text=text.strip())
            continue
        changes[name] = value
    with_them = {name: _default(name) if value is None else value for name, value in changes.items()}
    changed = Settings.model_validate(settings.model_dump() | with_them)
    if not wrong and not texts.get("llm_key") and _key_would_travel(settings, changed, now["llm_key"]):
        wrong["llm_url" if now["llm_key"].fixed else "llm_key"] = OTHER_SERVER
    return Typed(changes, changed, wrong)


def value_of(name: str, text: str) -> Any:
    """Return what a typed text means for propcite.toml; None for an empty one.  AppError as a command gives it."""
    if name not in Settings.model_fields:
        near = get_close_matches(name, Settings.model_fields, n=1)
        raise AppError(f"there is no setting {name[:40]!r}: {f'did you mean {near[0]}?' if near else SEE}")
    text = text.strip()
    if not text:
        return None
    given = _given(name, text)
    value = getattr(load_settings(**{name: given}), name)
    if isinstance(value, Path):
        return text
    if isinstance(given, dict):  # the settings have it together with what the file has
        return given
    return [str(one) for one in value] if isinstance(value, list) else value


def _given(name: str, text: str) -> Any:
    """Return a text as pydantic takes it: a list or a table is typed as JSON."""
    if isinstance(_default(name), list | dict):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _default(name: str) -> Any:
    return Settings.model_fields[name].get_default(call_default_factory=True)


def _key_would_travel(before: Settings, after: Settings, key: Setting) -> bool:
    """Return whether a key that is kept here would be sent to another server than the one it was given for."""
    return (
        key.is_set
        and bool(before.llm_url)
        and bool(after.llm_url)
        and _server(before.llm_url) != _server(after.llm_url)
    )


def _server(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.netloc.rpartition("@")[2].lower()
    except ValueError:
        return "", url


def check_parts(settings: Settings) -> None:
    """Raise AppError if a language model, a judge or a splitter lacks a setting that it needs; nothing is loaded."""
    from propcite.app.building import build_generator, build_judge, build_splitter, chosen_prompt

    if settings.generator in ("openai", "local"):
        build_generator(settings)
    elif settings.generator == "vllm":
        chosen_prompt(settings)
    if settings.judge == "llm":
        build_judge(settings, _no_encoder)
    if settings.splitter == "llm":
        build_splitter(settings)


def _no_encoder() -> Any:
    raise AssertionError("a language model judges without an encoder")


def without_hidden(text: str, settings: Settings) -> str:
    """Return a text in which no hidden value of these settings is left: a server may quote the key it was sent."""
    for name in Settings.model_fields:
        value = getattr(settings, name)
        if isinstance(value, str) and value and value != _default(name) and hides(name, value):
            text = text.replace(value, "…")
        for key in keys_in(value):
            text = text.replace(key, "…").replace(key.split()[-1], "…")  # `Bearer x` is quoted whole, or its end
    return text
