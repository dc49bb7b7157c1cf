"""Starting the page: known flags, nobody else on the network, and nothing heavy before the first paint."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from streamlit import config

import propcite.ui
from propcite.ui.launch import command


def test_every_flag_is_one_that_streamlit_has() -> None:
    words = command(8599, headless=True)
    flags = [word.removeprefix("--") for word in words if word.startswith("--")]
    assert set(flags) <= set(config.get_config_options(force_reparse=False))
    assert words[words.index("--server.port") + 1] == "8599"
    assert words[words.index("--server.headless") + 1] == "true"
    assert "--server.port" not in command()


def test_only_this_machine_is_served() -> None:
    words = command()
    assert words[words.index("--server.address") + 1] == "localhost"


def test_the_first_paint_loads_no_model_library() -> None:
    heavy = {"torch", "transformers", "sentence_transformers", "nltk", "scipy", "pypdfium2", "lxml"}
    script = "import sys, propcite.ui.session, propcite.ui.reader, propcite.app.ingest.readers; "
    script += f"print(*({heavy!r} & set(sys.modules)))"
    root = Path(propcite.ui.__file__).parents[1]
    loaded = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


@contextmanager
def running(data_dir: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The page as the command starts it, once it listens.  -> its process and its port"""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-P", "-m", "propcite", "ui", "--headless", "--port", str(port)]
    environment = {**os.environ, "PROPCITE_DATA_DIR": str(data_dir)}
    page = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port))
        yield page, port
    finally:
        page.kill()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_signal_to_the_command_ends_the_page(tmp_path: Path) -> None:
    with running(tmp_path) as (page, port):
        page.terminate()
        page.wait(60)
        wait_until(lambda: not answers(port))


@pytest.mark.skipif(sys.platform != "linux", reason="reads what a process has open from /proc")
def test_the_models_load_before_anybody_opens_the_page(tmp_path: Path) -> None:
    with running(tmp_path) as (page, _):
        wait_until(lambda: "libtorch" in Path(f"/proc/{page.pid}/maps").read_text())


def answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("localhost", port)) == 0


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "this takes too long"
        time.sleep(0.1)
