"""What settings accept: each function returns the value to use, or raises ValueError in one line."""

from __future__ import annotations

import ipaddress
import json
import os
import re
from pathlib import Path
from typing import Any

from propcite.retrieval.alignment import alignment_of
from propcite.retrieval.errors import RetrievalError

SENT = ("model", "messages", "stream", "stream_options", "n")  # fields of a request that belong to the program
SAMPLING = (  # settings whose names are those of a request's fields
    *("max_tokens", "temperature", "seed", "stop", "top_p"),
    *("frequency_penalty", "presence_penalty", "repetition_penalty"),
)
_KEY_WORDS = r"(?:key|token|secret|password|authorization|credential)s?"  # end the name of a field that holds a key
_KEY_NAME = re.compile(rf"{_KEY_WORDS}$", re.IGNORECASE)
_KEY_FIELD = re.compile(rf"{_KEY_WORDS}['\"]?\s*[:=]\s*[\[{{\s]*['\"](?!['\"])", re.IGNORECASE)


def at_home(path: Path) -> Path:
    return Path(os.path.expanduser(path))


def number(value: object) -> object:
    """The environment has texts only."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def texts(value: object) -> object:
    """The environment may hold one text as it is, or a list as JSON."""
    if not isinstance(value, str):
        return value
    try:
        texts = json.loads(value)
    except ValueError:
        return [value]
    return texts if isinstance(texts, list) else [value]


def json_fields(value: object) -> object:
    """The environment holds an object as JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError('write a JSON object, like {"top_k": 20}') from None


def host_name(text: str) -> str:
    if not re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?", text):
        raise ValueError("write each name as browsers show it, like propcite.example or propcite.example:8443")
    return text


def sendable_fields(fields: dict[str, Any]) -> dict[str, Any]:
    for name in fields:
        if name in SENT:
            raise ValueError(f"{name} is what PropCite sends itself")
        if name in SAMPLING:
            raise ValueError(f"{name} has a setting of its own, PROPCITE_{name.upper()}")
    try:
        json.dumps(fields, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"it cannot be sent as JSON ({error})") from None
    return fields


def alignment_name(name: str) -> str:
    """Return the alignment's canonical name; empty stays empty."""
    try:
        return str(alignment_of(name)) if name else ""
    except RetrievalError as error:
        raise ValueError(str(error)) from error


def site_address(text: str) -> str:
    """Return an address without a slash at its end; empty stays empty."""
    if text and not re.fullmatch(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?/?", text):
        raise ValueError("write the page's address as browsers show it, like https://propcite.example")
    return text.rstrip("/")


def network(text: str) -> str:
    """Return an address, or a network like 10.0.0.0/8."""
    try:
        return str(ipaddress.ip_network(text))
    except ValueError:
        raise ValueError(f"{text[:40]!r} is neither an address nor a network: write 10.0.0.7 or 10.0.0.0/24") from None


def holds_key(value: object) -> bool:
    """Return whether a JSON object, or its text as somebody typed it, has a field that names a key and holds one."""
    return bool(keys_in(value)) if isinstance(value, dict | list) else bool(_KEY_FIELD.search(str(value)))


def keys_in(value: object) -> list[str]:
    """Return the texts in a JSON value that are in a field which names a key; empty without such a field.

    >>> keys_in({"headers": {"Authorization": "Bearer x"}, "max_tokens": 5, "user": {"name": "y"}})
    ['Bearer x']
    """
    if isinstance(value, dict):
        named = [one for name, one in value.items() if _KEY_NAME.search(str(name)) for one in _texts_in(one)]
        return named + [key for name, one in value.items() if not _KEY_NAME.search(str(name)) for key in keys_in(one)]
    return [key for one in value for key in keys_in(one)] if isinstance(value, list) else []


def _texts_in(value: object) -> list[str]:
    if isinstance(value, dict | list):
        return [text for one in (value.values() if isinstance(value, dict) else value) for text in _texts_in(one)]
    return [value] if isinstance(value, str) and value else []
