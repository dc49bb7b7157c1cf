"""A bulk command over a Ray cluster, one of whose workers is killed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from attacking import small_library

from propcite.app.bulk.running import answer_file
from propcite.app.bulk.tasks import Task

NUM = 20


def line(number: int) -> str:
    text = f"Gate {number} weighs {number + 300} tonnes."
    return json.dumps({"answer": text, "passages": [{"id": "p", "text": f"{text} It is red."}]})


def test_a_killed_worker_loses_nothing(cluster: Any, tmp_path: Path) -> None:
    parts = small_library(tmp_path / "data", {})
    task, out, killed = Task.of("cite", parts.settings), tmp_path / "out.jsonl", list[int]()
    lines = tmp_path / "in.jsonl"
    lines.write_text("\n".join([*map(line, range(NUM)), "no json"]))

    def kill_one(done: int, _total: int) -> None:
        if done and not killed:
            killed.append(worker_process())
            os.kill(killed[0], signal.SIGKILL)

    assert answer_file(task, lines, out, 2, cluster.address, kill_one).bad == 1
    assert killed
    answers = [json.loads(text) for text in out.read_text("utf-8").splitlines()]
    assert [answer["text"] for answer in answers[:NUM]] == [f"Gate {n} weighs {n + 300} tonnes." for n in range(NUM)]
    assert list(answers[NUM]) == ["error"]
    parts.library.close()


def worker_process() -> int:
    """Return the process of one worker of the cluster."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"ray::LineWorker" in path.read_bytes():
                return int(path.parent.name)
        except OSError:
            continue
    raise AssertionError("no worker runs")
