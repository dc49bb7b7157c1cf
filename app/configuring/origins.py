"""Say of each setting what its value is, where that comes from, and what it means."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic_settings import EnvSettingsSource, SecretsSettingsSource, TomlConfigSettingsSource

from propcite.app.settings import Settings, hides, load_settings, secret_folders


class Origin(StrEnum):
    """Where a value comes from; each comes before those above it."""

    DEFAULT = "default"
    FILE = "propcite.toml"
    SECRET = "secret file"
    ENVIRONMENT = "environment"
    ARGUMENT = "command line"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting with its present value.

    `text` is the value as it is typed; it is empty where the value is hidden, and `is_set` then says whether there is
    one.  `choices` is empty where any text may be typed.
    """

    name: str
    text: str
    default: str
    origin: Origin
    explanation: str
    choices: tuple[str, ...] = ()
    hidden: bool = False
    is_set: bool = False

    @property
    def shown(self) -> str:
        """Return the value for people; a hidden one only as set or not set."""
        if self.hidden:
            return "set" if self.is_set else "not set"
        return self.text

    @property
    def fixed(self) -> str:
        """Return why propcite.toml cannot change the value; empty where it can."""
        variable = f"PROPCITE_{self.name.upper()}"
        return {
            Origin.ENVIRONMENT: f"{variable} in the environment comes before propcite.toml: change it there",
            Origin.SECRET: f"the file {variable.lower()} among the secrets comes before propcite.toml: change it there",
            Origin.ARGUMENT: "an option of the command comes before propcite.toml: change it there",
        }.get(self.origin, "")


def settings_now(settings: Settings, names: Sequence[str] = ()) -> list[Setting]:
    """Return these settings as they are, or all."""
    origins = _origins(settings)
    return [_setting(settings, name, origins[name]) for name in names or Settings.model_fields]


def _origins(settings: Settings) -> dict[str, Origin]:
    without_arguments = load_settings()
    by_origin = {
        Origin.FILE: TomlConfigSettingsSource(Settings)(),
        Origin.SECRET: SecretsSettingsSource(Settings, secrets_dir=secret_folders())(),
        Origin.ENVIRONMENT: EnvSettingsSource(Settings)(),
    }
    found = dict.fromkeys(Settings.model_fields, Origin.DEFAULT)
    for origin, values in by_origin.items():
        found.update({name: origin for name in values if name in found})
    for name in found:
        if getattr(settings, name) != getattr(without_arguments, name):
            found[name] = Origin.ARGUMENT
    return found


def _setting(settings: Settings, name: str, origin: Origin) -> Setting:
    field, value = Settings.model_fields[name], getattr(settings, name)
    default, hidden = field.get_default(call_default_factory=True), hides(name, value)
    return Setting(
        name=name,
        text="" if hidden else as_text(value),
        default="" if hidden else as_text(default),
        origin=origin,
        explanation=field.description or "",
        choices=_choices(field.annotation),
        hidden=hidden,
        is_set=bool(value) and value != default,
    )


def as_text(value: Any) -> str:
    """Return a value as it is typed.

    >>> as_text(0.0), as_text(None), as_text(True), as_text(["a"]), as_text({"top_k": 3})
    ('0', '', 'true', '["a"]', '{"top_k": 3}')
    """
    if value in (None, [], {}) and not isinstance(value, bool):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else str(value)


def _choices(annotation: Any) -> tuple[str, ...]:
    """Return what may be chosen; empty where any text may be typed."""
    if annotation is bool:
        return ("true", "false")
    if get_origin(annotation) is Literal:
        return tuple(map(str, get_args(annotation)))
    inner = [one for one in get_args(annotation) if one is not NoneType]
    return _choices(inner[0]) if len(inner) == 1 and get_origin(annotation) is not list else ()
