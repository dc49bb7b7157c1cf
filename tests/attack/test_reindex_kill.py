"""A reindex that is killed at any moment leaves the old index, which answers as before; the next one replaces it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from attacking import opened_again, small_library
from paths import SUPPORT
from word_encoder import WordEncoder

from propcite.app.library.doctor import Doctor, mend
from propcite.app.library.workspace import REBUILDING
from propcite.app.parts import Parts
from propcite.retrieval.index import snapshot

NUM = 6  # documents


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    texts = {f"{n}.txt": f"The gate number {n} weighs 30{n} tonnes." for n in range(NUM)}
    return small_library(tmp_path / "data", texts)


def found(parts: Parts) -> list[str]:
    hits = parts.pipeline(parts.library.collection("harbour")).retriever().search("The gate number weighs", k=NUM)
    return sorted(hit.passage.text for hit in hits)


@pytest.mark.parametrize(("batches", "links"), [(0, -1), (1, -1), (2, -1), (-1, 0), (-1, 1), (-1, 2)])
def test_a_killed_reindex_leaves_the_old_index(parts: Parts, batches: int, links: int) -> None:
    """Killed while passages are encoded, and while the new files are moved to the old ones."""
    before = found(parts)
    assert len(before) == NUM
    parts.library.close()
    command = [sys.executable, SUPPORT / "killed_reindex.py", parts.settings.data_dir, str(batches), str(links)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    again = opened_again(parts)
    assert found(again) == before
    _check_and_mend(again, before)


def _check_and_mend(parts: Parts, before: Sequence[str]) -> None:
    """The doctor finds what was left, and a second reindex comes to its end."""
    workspace = parts.workspace(parts.library.collection("harbour"))
    assert workspace.faults() == []
    _, left = mend(list(Doctor(parts).findings()))
    assert left == []
    assert not list((workspace.folder / REBUILDING).glob("*"))
    assert workspace.rebuild(WordEncoder()) == NUM
    assert found(opened_again(parts)) == before
    assert snapshot.unreferenced_files(workspace.folder) == []


def test_a_reader_goes_on_while_the_index_is_replaced(parts: Parts) -> None:
    pipeline = parts.pipeline(parts.library.collection("harbour"))
    retriever = pipeline.retriever()
    before = [hit.passage.text for hit in retriever.search("gate number 3", k=2)]
    parts.workspace(parts.library.collection("harbour")).rebuild(WordEncoder())
    assert [hit.passage.text for hit in retriever.search("gate number 3", k=2)] == before
    assert [hit.passage.text for hit in pipeline.retriever().search("gate number 3", k=2)] == before
