"""A killed run continues: no answer is generated, cited or scored twice."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from alce_samples import save
from commanded import Propcite
from scripted_llm import Request, ScriptedLlm

from propcite.app.library.store import Library, RunItem, Runs

NUM = 6
WAYS = ("generate", "postcite", "propcite+judge", "repair")


def questions() -> list[dict[str, Any]]:
    return [
        {
            "sample_id": f"q{n}",
            "question": f"How high is tower {n}?",
            "qa_pairs": [{"question": "How high?", "short_answers": [f"{20 + n} metres"]}],
            "annotations": [{"long_answer": f"Tower {n} is {20 + n} metres high."}],
            "docs": [
                {"title": f"Tower {n}", "text": f"Tower {n} is {20 + n} metres high. It was built in {1800 + 7 * n}."},
                {"title": "Harbour", "text": f"The harbour has {n} cranes of steel."},
            ],
        }
        for n in range(NUM)
    ]


def answer(request: Request) -> str:
    match = re.search(r"How high is tower (\d+)\?", request.prompt)
    assert match
    return f"Tower {match[1]} is {20 + int(match[1])} metres high [1]. It is made of glass [2]."


def arguments(path: Path) -> list[str]:
    return ["eval", "asqa", str(path), *(word for way in WAYS for word in ("--way", way))]


def start_command(path: Path) -> subprocess.Popen[str]:
    """Start the command in its own process."""
    command = [sys.executable, "-m", "propcite", *arguments(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stored_items(data_dir: Path) -> list[RunItem]:
    if not (data_dir / "propcite.sqlite").exists():
        return []
    library = Library(f"sqlite:///{data_dir / 'propcite.sqlite'}")
    try:
        runs = Runs(library)
        return [item for run in runs.list() for item in runs.items(run.id)]
    finally:
        library.close()


def test_a_run_that_is_killed_twice_continues(
    propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed while the fourth answer is written, then as soon as something is cited; it goes on in this process."""
    path, data_dir = save(tmp_path / "towers.json", questions()), tmp_path / "data"
    settings = {"SPLITTER": "rules", "GENERATOR": "openai", "GENERATOR_MODEL": "m", "PROMPT": "cite"}
    settings |= {"DATA_DIR": str(data_dir), "LLM_PARALLEL": "2", "JUDGE": "embedded"}
    for name, value in settings.items():
        monkeypatch.setenv(f"PROPCITE_{name}", value)
    reached, resume = Event(), Event()
    prompts: list[str] = []

    def script(request: Request) -> str:
        prompts.append(request.prompt)
        if len(prompts) > 2 and not resume.is_set():  # the first pair is stored, the second never arrives
            reached.set()
            resume.wait(300)
        return answer(request)

    with ScriptedLlm(script) as server:
        monkeypatch.setenv("PROPCITE_LLM_URL", server.base_url)
        first = start_command(path)
        assert reached.wait(300), first.communicate()[1]
        time.sleep(0.5)  # so that the other request of the pair is sent
        kill(first)
        generated = {item.key: item for item in stored_items(data_dir) if item.way == "written"}
        assert len(generated) == 2
        before = len(prompts)
        resume.set()
        second = start_command(path)
        while second.poll() is None and not any(item.way in WAYS for item in stored_items(data_dir)):
            time.sleep(0.05)
        kill(second)
        assert len(prompts) - before == NUM - len(generated)
        done = {(item.way, item.key): item for item in stored_items(data_dir)}
        third = propcite(*arguments(path))
        assert third.code == 0, third.err
        assert "continuing run" in third.err
        assert len(prompts) - before == NUM - len(generated)
    after = {(item.way, item.key): item for item in stored_items(data_dir)}
    assert {key: after["written", key] for key in generated} == generated
    for place, item in done.items():  # scored items are unchanged, cited ones have the same markers
        assert after[place] == item if item.measures else after[place].output["text"] == item.output["text"]
    assert sum(way in WAYS for way, _ in after) == NUM * len(WAYS)
    assert all(item.measures for item in after.values())
    assert after["generate", "q3"].measures["citation_recall"] == 0.5
    assert after["repair", "q3"].measures["citation_precision"] == 1.0
    assert "repair*" in third.out


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["eval", "asqa", "absent.json"], "cannot read absent.json"),
        (["eval", "judge", "absent.json"], "cannot read absent.json"),
        (["eval", "asqa", "absent.json", "--way", "magic"], "there is no way 'magic'"),
        (["eval", "asqa", "a.json", "--outputs", "b.json", "--context", "5"], "leave out --context"),
    ],
)
def test_errors_of_the_command_are_one_line(propcite: Propcite, words: list[str], message: str) -> None:
    done = propcite(*words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err.replace("\n", " ")
    assert len(done.err.splitlines()) == 1
