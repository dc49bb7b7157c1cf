"""The npm package in clients/typescript: its own tests and its README against a real server, its types against ours."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_fixtures import loaded, settings_of_its_own  # noqa: F401 - fixtures
from breaking import breaking_after
from npm_package import MISSING, PACKAGE, build, is_installed, npm
from paths import ROOT
from proxied import TEXTS
from serving import parts_with, running_server

SERVER = "http://localhost:8600"
PAGE = ROOT / "docs" / "clients.md"
EXAMPLES = re.findall(r"^```js\n(.*?)^```$", (PACKAGE / "README.md").read_text("utf-8"), re.M | re.S)
COST = "The barrier cost 410 million euros."
SHOWN = (
    "The barrier cost 410 million euros. [ 'cost: The barrier cost 410 million euros.' ]",
    "The barrier cost 410 million euros. [1]",
    "0.5 [ 'It is red.' ] contradicted",
)

if not is_installed():
    pytest.skip(MISSING, allow_module_level=True)


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
    build()


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


@pytest.fixture(scope="module")
def installed(built: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack what npm would publish where the code of others finds it.  -> their folder"""
    assert built is None
    folder = tmp_path_factory.mktemp("packed")
    [packed] = json.loads(npm("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", str(folder)).stdout)
    modules = folder / "node_modules"
    with tarfile.open(folder / packed["filename"]) as archive:
        archive.extractall(modules, filter="data")
    (modules / "package").rename(modules / "propcite")
    return folder


def test_what_is_published_is_the_code_its_types_and_what_tells_of_them(installed: Path) -> None:
    package = installed / "node_modules" / "propcite"
    found = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    modules = [path.stem for path in (PACKAGE / "src").iterdir()]
    code = {f"dist/{module}{ending}" for module in modules for ending in (".js", ".d.ts")}
    examples = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("examples/react/*")}
    assert found == {"package.json", "README.md", "LICENSE", *examples, *code}
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    said = json.loads((package / "package.json").read_text("utf-8"))
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert [said[field] for field in ("name", "version", "license")] == [
        ours[f] for f in ("name", "version", "license")
    ]
    assert said["private"], "it is not on npm yet, and has no address to name"
    assert not {"dependencies", "peerDependencies", "repository", "homepage", "bugs"} & said.keys()
    named = [said["types"], *said["exports"]["."].values()]
    assert set(named) == {"./dist/index.d.ts", "./dist/index.js"}
    assert said["engines"] == {"node": ">=20"}


@pytest.mark.parametrize("resolution", ["nodenext", "node10"])
def test_the_typescript_of_the_pages_runs_over_what_is_published(
    address: str, installed: Path, resolution: str
) -> None:
    """Also where TypeScript reads no `exports`, and every type of the package is checked too."""
    [example] = re.findall(r"^```ts\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    (installed / "package.json").write_text('{"type": "module"}')
    (installed / "example.ts").write_text(example.replace(SERVER, address))
    roots = str(PACKAGE / "node_modules" / "@types")
    module = "nodenext" if resolution == "nodenext" else "esnext"
    given = ("--target", "es2022", "--module", module, "--moduleResolution", resolution, "--strict")
    npm("npx", "tsc", *given, "--types", "node", "--typeRoots", roots, str(installed / "example.ts"))
    done = npm("node", str(installed / "example.js"))
    assert f"{COST} [ '{COST}' ]\n" in done.stdout
