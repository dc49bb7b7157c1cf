"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest
from paths import ROOT

FOLDERS = ("app", "attribution", "retrieval", "ui")
FILES = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if ">>>" in path.read_text("utf-8")]


def module_of(path: Path) -> str:
    return ".".join(("propcite", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


@pytest.mark.parametrize("name", sorted(map(module_of, FILES)))
def test_the_examples_of_a_module_are_true(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted
    assert not result.failed
