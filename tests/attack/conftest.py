"""Fixtures of the attacks: those of the application's tests, and commands over a small library."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from app_fixtures import loaded, open_parts, serve, settings_of_its_own  # noqa: F401 - fixtures
from attacking import small_library
from commanded import Said
from word_encoder import WordEncoder

from propcite.__main__ import main
from propcite.app import parts as bootstrap

Command = Callable[..., Said]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory with a small library, and no settings of the person who runs the tests."""
    for name in [name for name in os.environ if name.startswith("PROPCITE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PROPCITE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PROPCITE_COLLECTION", "harbour")
    monkeypatch.setenv("PROPCITE_SPLITTER", "rules")
    monkeypatch.setenv("PROPCITE_JUDGE", "none")
    monkeypatch.chdir(tmp_path)
    small_library(tmp_path / "data").library.close()
    return tmp_path / "data"


@pytest.fixture
def propcite(data: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    assert data.is_dir()

    def call(*words: str, given: str = "") -> Said:
        """Run a command in this process over a standard input; an error that is not caught fails the test."""
        out, err = io.StringIO(), io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode("utf-8", "surrogatepass")), "utf-8"))
            for name, value in {"argv": ["propcite", *words], "stdout": out, "stderr": err}.items():
                patch.setattr(sys, name, value)
            with pytest.raises(SystemExit) as ended:
                main()
        return Said(int(ended.value.code or 0), out.getvalue(), err.getvalue())

    return call
