"""`propcite setup`: a file that loads for each kind of machine, nothing overwritten, no key kept, a check that runs."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from commanded import Propcite, Said
from scripted_llm import ScriptedLlm, free_url

from propcite.app.demo import DOCUMENTS
from propcite.app.settings import load_settings
from propcite.app.setup import checking
from propcite.app.setup.command import Presets
from propcite.app.setup.presets import PRESETS, as_toml, suggested

FILE = Path("propcite.toml")
SECRET = "sk-very-secret"
ENDPOINT = ("--url", "http://localhost:8000/v1", "--model", "some-model")
NEEDED = {"endpoint": ENDPOINT}  # options that a preset cannot do without
BARRIER = "The Lantern Point flood barrier is 6.4 metres high."


def refused(said: Said) -> str:
    assert said.code == 2
    lines = [line for line in said.err.splitlines() if line.startswith("propcite: ")]
    assert len(lines) == 1
    return lines[0]


def on_terminal(answers: str, *words: str) -> tuple[int, str]:
    """What the command shows on a terminal where somebody types these answers."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "propcite", "setup", *words]
    running = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    os.write(ours, answers.encode())
    shown = b""
    try:
        while data := os.read(ours, 4096):
            shown += data
    except OSError:  # the other side has closed it
        pass
    finally:
        os.close(ours)
    return running.wait(60), shown.decode()


def test_the_option_names_every_preset() -> None:
    assert [preset.value for preset in Presets] == list(PRESETS)
    assert suggested() in PRESETS


@pytest.mark.parametrize("name", list(PRESETS))
def test_each_preset_writes_a_file_that_loads(propcite: Propcite, name: str) -> None:
    said = propcite("setup", "--preset", name, "--no-check", *NEEDED.get(name, ()))
    assert said.code == 0
    text = FILE.read_text("utf-8")
    values = tomllib.loads(text)
    settings = load_settings()
    assert {key: getattr(settings, key) for key in values} == values
    assert {"encoder", "judge", "generator", "index"} <= values.keys()
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if re.match(r"\w+ = ", line):
            assert lines[place - 1].startswith("# ")
    downloaded = [line for line in said.err.splitlines() if "download" in line]
    if name == "gpu":
        assert "Qwen/Qwen2.5-7B-Instruct" in " ".join(said.err.split())
        assert "lytang/MiniCheck-Flan-T5-Large" in " ".join(said.err.split())
    else:
        assert downloaded == ["nothing will be downloaded"]


def test_a_file_that_is_there_stays(propcite: Propcite) -> None:
    FILE.write_text("num_passages = 3\n")
    assert "give --force to replace it" in refused(propcite("setup", "--preset", "laptop", "--no-check"))
    assert FILE.read_text() == "num_passages = 3\n"
    FILE.write_text("no = toml = at all\n")
    assert propcite("setup", "--preset", "laptop", "--no-check", "--force").code == 0
    assert load_settings().generator == "extractive"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--preset", "endpoint", "--model", "m"], "the preset needs --url"),
        (["--preset", "endpoint", "--url", "http://here/v1"], "the preset needs --model"),
        (["--preset", "endpoint", "--url", "here", "--model", "m"], "--url is no address"),
        (["--preset", "endpoint", "--url", f"http://me:{SECRET}@here/v1", "--model", "m"], "PROPCITE_LLM_KEY"),
        (["--preset", "endpoint", "--url", f"http://here/v1?key={SECRET}", "--model", "m"], "PROPCITE_LLM_KEY"),
        (["--preset", "endpoint", *ENDPOINT, "--key-env", SECRET], "--key-env takes the name"),
        (["--preset", "endpoint", *ENDPOINT, "--key-env", "NOT_SET_AT_ALL"], "the environment has no NOT_SET_AT_ALL"),
        (["--preset", "laptop", "--model", "m"], "--model does not go with the preset laptop"),
        (["--preset", "laptop", "--key-env", "SOME_KEY"], "--key-env does not go with the preset laptop"),
        ([], "give --preset laptop|gpu|endpoint|offline"),
    ],
)
def test_what_does_not_fit_is_one_line_and_writes_nothing(propcite: Propcite, words: list[str], line: str) -> None:
    message = refused(propcite("setup", *words))
    assert line in message
    assert SECRET not in message
    assert not FILE.exists()


def test_the_questions_are_asked_on_a_terminal() -> None:
    code, shown = on_terminal("notebook\n3\nhttps://llm.example/v1\nsmall-model\nMY_KEY\ny\n", "--no-check")
    assert code == 0
    assert all(preset.what in shown for preset in PRESETS.values())
    assert "Type one of laptop, gpu, endpoint, offline" in shown
    settings = load_settings()
    assert (settings.generator, settings.llm_url) == ("openai", "https://llm.example/v1")
    assert settings.generator_model == "small-model"
    assert '# export PROPCITE_LLM_KEY="$MY_KEY"' in FILE.read_text("utf-8")


def test_nothing_is_written_where_a_person_says_no() -> None:
    code, shown = on_terminal("laptop\nn\n", "--no-check")
    assert code == 2
    assert shown.index("nothing will be downloaded") < shown.index("Write ")
    assert "nothing was written" in shown
    assert not FILE.exists()


@pytest.mark.parametrize("name", ["laptop", "offline"])
def test_the_check_answers_from_the_demo_and_leaves_the_library_alone(
    propcite: Propcite, name: str, tmp_path: Path
) -> None:
    said = propcite("setup", "--preset", name)
    assert said.code == 0
    answer, support = said.out.splitlines()
    assert "Lantern Point flood barrier" in answer
    held, total = map(int, re.findall(r"\d+", support))
    assert 0 < held <= total
    assert not (tmp_path / "data").exists()  # where PROPCITE_DATA_DIR leads


@pytest.fixture
def of_one_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the demo question of one of its documents: all of them are read by the tests above."""
    folder = tmp_path / "one"
    folder.mkdir()
    shutil.copy(DOCUMENTS / "engineering-note-14-barrier.pdf", folder)
    monkeypatch.setattr(checking, "DOCUMENTS", folder)


@pytest.mark.usefixtures("of_one_document")
def test_an_endpoint_is_asked_with_its_key_which_is_in_no_file(
    propcite: Propcite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    with ScriptedLlm(BARRIER) as server:
        words = ("--url", server.base_url, "--model", "test-model", "--key-env", "MY_KEY")
        said = propcite("setup", "--preset", "endpoint", *words)
    assert said.code == 0
    assert said.out.splitlines() == [BARRIER, "1 of 1 facts have support"]
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert "6.4 metres" in request.prompt
    assert not any(SECRET.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert "nothing will be downloaded" in said.err


@pytest.mark.usefixtures("of_one_document")
def test_an_endpoint_that_invents_has_no_support(propcite: Propcite) -> None:
    with ScriptedLlm("The barrier was painted purple by forty acrobats.") as server:
        said = propcite("setup", "--preset", "endpoint", "--url", server.base_url, "--model", "test-model")
    assert said.code == 1
    assert said.out.splitlines()[-1].startswith("0 of ")


@pytest.mark.usefixtures("of_one_document")
def test_an_endpoint_that_does_not_answer_is_told_after_the_file_is_written(propcite: Propcite) -> None:
    message = refused(propcite("setup", "--preset", "endpoint", "--url", free_url(), "--model", "m"))
    assert "propcite.toml is written, but does not work yet: " in message
    assert load_settings().generator_model == "m"


def test_the_environment_that_comes_before_the_file_is_named(
    propcite: Propcite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPCITE_GENERATOR", "openai")
    said = propcite("setup", "--preset", "laptop", "--no-check")
    assert "PROPCITE_GENERATOR in the environment comes before generator in the file" in " ".join(said.err.split())


def test_what_is_typed_is_written_as_it_is() -> None:
    odd = 'name with "quotes" \\ and ü'
    text = as_toml(PRESETS["endpoint"], {"llm_url": "http://here/v1", "generator_model": odd})
    assert tomllib.loads(text)["generator_model"] == odd
