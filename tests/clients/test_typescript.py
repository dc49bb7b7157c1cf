"""The npm package in clients/typescript: its own tests and its README against a real server, its types against ours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_fixtures import loaded, settings_of_its_own  # noqa: F401 - fixtures
from breaking import breaking_after
from paths import ROOT
from proxied import TEXTS
from serving import parts_with, running_server

PACKAGE = ROOT / "clients" / "typescript"
SERVER = "http://localhost:8600"
EXAMPLES = re.findall(r"^```js\n(.*?)^```$", (PACKAGE / "README.md").read_text("utf-8"), re.M | re.S)
SHOWN = (
    "The barrier cost 410 million euros. [ 'cost: The barrier cost 410 million euros.' ]",
    "The barrier cost 410 million euros. [1]",
    "0.5 [ 'It is red.' ] contradicted",
)

if not shutil.which("npm") or not (PACKAGE / "node_modules").exists():
    pytest.skip("the npm package propcite: make test-clients, which needs node", allow_module_level=True)


def npm(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, cwd=PACKAGE, env={**os.environ, **environment}, capture_output=True, text=True, timeout=150
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def address(
    loaded: dict[str, object],  # noqa: F811 - the fixture
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("typescript")
    parts = parts_with(loaded, {"harbour": TEXTS}, data_dir=folder, public_address="https://propcite.example")
    with running_server(parts) as address:
        yield address


def test_the_committed_types_are_those_of_the_server(tmp_path: Path) -> None:
    described = subprocess.run([sys.executable, ROOT / "clients" / "describe.py"], capture_output=True, check=True)
    (tmp_path / "openapi.json").write_bytes(described.stdout)
    made = tmp_path / "openapi.ts"
    npm("npm", "run", "--silent", "types", OPENAPI=str(tmp_path / "openapi.json"), TYPES=str(made))
    same = made.read_text("utf-8") == (PACKAGE / "src" / "openapi.ts").read_text("utf-8")
    assert same, "the routes have changed: make client-types"


@pytest.fixture(scope="module")
def built() -> None:
    npm("npm", "run", "--silent", "build")


@pytest.mark.usefixtures("built")
def test_the_package_passes_its_tests(address: str) -> None:
    npm("npx", "tsc", "--project", "test")
    with breaking_after(address, b"event: sentence") as broken:
        done = npm("node", "--test", "build/test/", PROPCITE_ADDRESS=address, PROPCITE_BROKEN=broken)
    assert re.search(r"^# pass 1[0-9]$", done.stdout, re.M), done.stdout


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(("example", "shown"), list(zip(EXAMPLES, SHOWN, strict=True)), ids=range(len(EXAMPLES)))
def test_the_readme_of_the_package_runs(address: str, example: str, shown: str) -> None:
    done = npm("node", "--input-type=module", "-e", example.replace(SERVER, address))
    assert shown in done.stdout
