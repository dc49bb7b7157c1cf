"""Name the command that installs an optional part of PropCite from where this copy of it was installed."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAME = "propcite"


def install_command(extra: str) -> str:
    """Return the `pip install` command for an extra.

    It names the folder, file or repository that PropCite was installed from.  Where that is unknown it lists the
    packages of the extra, because a package index may hold something else under PropCite's name.
    """
    origin = _origin(extra)
    return pip_install(origin or " ".join(map(shlex.quote, requirements(extra))))


def pip_install(what: str) -> str:
    """Return the command that installs something beside this copy of PropCite.

    >>> pip_install("numpy").endswith("pip install numpy")
    True
    """
    return f"{_pip()} install {what}"


def requirements(extra: str) -> list[str]:
    """Return the requirements of an extra without their markers; empty where PropCite is not installed."""
    try:
        required = distribution(NAME).requires or []
    except PackageNotFoundError:
        return []
    rows = [row.partition(";") for row in required]
    return [name.strip() for name, _, marker in rows if re.search(rf"""extra == ["']{re.escape(extra)}["']""", marker)]


def _origin(extra: str) -> str:
    """Return what pip was given, with the extra; empty where that is unknown or gone."""
    try:
        noted = json.loads(distribution(NAME).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return ""
    url = noted.get("url", "")
    if "vcs_info" in noted:
        return shlex.quote(f"{NAME}[{extra}] @ {noted['vcs_info'].get('vcs', 'git')}+{url}")
    path = Path(unquote(urlsplit(url).path)) if url.startswith("file:") else None
    if path is None or not path.exists():
        return ""
    place = "." if path == Path.cwd() else str(path)
    editable = "-e " if noted.get("dir_info", {}).get("editable") else ""
    return editable + shlex.quote(f"{place}[{extra}]")


def _pip() -> str:
    """Return `pip`, or how this interpreter runs it where another `pip` comes first on the path."""
    folder = Path(sys.executable).parent
    first = next((place for place in os.get_exec_path() if (Path(place) / "pip").exists()), "")
    if first and Path(first).resolve() == folder.resolve():
        return "pip"
    inside = folder.is_relative_to(Path.cwd())
    return f"{shlex.quote(os.path.relpath(sys.executable) if inside else sys.executable)} -m pip"
