"""The command line inside this process, and what a command left behind."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from propcite.__main__ import main


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Propcite = Callable[..., Said]


def commanded(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propcite:
    def call(*words: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["propcite", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return Said(int(ended.value.code or 0), *capsys.readouterr())

    return call


@contextmanager
def standard_input(data: bytes, path: Path) -> Iterator[None]:
    """Give these bytes to what is run in the block; `path` is a file to put them in."""
    path.write_bytes(data)
    before = os.dup(0)
    with open(path, "rb") as file:
        os.dup2(file.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)
