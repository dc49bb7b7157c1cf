"""No message and no page tells anybody to install a name that somebody else may own at a package index."""

from __future__ import annotations

import re

import pytest
from paths import ROOT

FOLDERS = ("retrieval", "attribution", "app", "ui", "clients", "docs", "deploy")
SUFFIXES = {".py", ".md", ".sh", ".yaml", ".ts", ".toml"}
INDEX = re.compile(r"\b(?:install|uvx|pipx run)\s+(?:-\S+\s+)*[\"']?propcite(?:\[[\w,]*\])?(?![\w/.-])")


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_text_installs_propcite_by_its_name_alone(folder: str) -> None:
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    files = [path for path in files if "node_modules" not in path.parts]
    named = [(str(path.relative_to(ROOT)), one) for path in files for one in INDEX.findall(path.read_text("utf-8"))]
    assert files
    assert named == []


def test_what_is_looked_for_is_found() -> None:
    for text in (
        "pip install propcite",
        "pip install 'propcite[mcp]'",
        "uvx propcite",
        'pip install -U "propcite"',
    ):
        assert INDEX.search(text), text
    for text in ("pip install '.[app]'", "pip install ./propcite-1.0.whl", "install propcite-1.0.whl", "propcite list"):
        assert not INDEX.search(text), text
