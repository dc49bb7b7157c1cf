"""The files that a deployment starts from: the lock files, the image's sources, and the secrets."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from paths import ROOT
from sqlalchemy import make_url

from propcite.app.settings import load_settings

LOCKS = ROOT / "requirements"
LOCKED = re.compile(r"^([a-z0-9][a-z0-9.-]*)==(\S+)(?: ; (.+?))? \\$", re.MULTILINE)


def locked(*names: str) -> dict[str, set[Version]]:
    """Return the releases of each package in lock files; several where they depend on the Python."""
    found: dict[str, set[Version]] = {}
    for name in names:
        for package, version, _ in LOCKED.findall((LOCKS / f"{name}.txt").read_text("utf-8")):
            found.setdefault(package, set()).add(Version(version))
    return found


def required(*extras: str) -> dict[str, Requirement]:
    """Return every requirement of PropCite with these extras that holds here, by the name of its package."""
    found: dict[str, Requirement] = {}
    pending = [("propcite", extra) for extra in ("", *extras)]
    for name, extra in pending:
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        for one in map(Requirement, lines):
            if one.marker and not one.marker.evaluate({"extra": extra}):
                continue
            package = canonicalize_name(one.name)
            if package not in found:
                pending += [(package, also) for also in ("", *one.extras)]
            if package != "propcite":
                found[package] = one
    return found


@pytest.mark.parametrize(
    ("lock", "extras"), [("app", ["app"]), ("server", ["app", "llm", "ocr", "postgres"]), ("dev", ["dev"])]
)
def test_a_lock_file_names_all_that_is_required(lock: str, extras: list[str]) -> None:
    names = required(*extras)
    assert "torch" in names
    assert set(names) - set(locked(lock, "torch")) == set()


def test_the_locked_releases_lie_in_the_ranges_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    ranges = [Requirement(line) for line in project["dependencies"]]
    for name in ("app", "dev", "llm", "ocr", "postgres"):
        ranges += [Requirement(line) for line in project["optional-dependencies"][name]]
    releases = locked("dev", "torch")
    outside = [
        str(one)
        for one in ranges
        if one.name != "propcite" and not all(map(one.specifier.contains, releases[canonicalize_name(one.name)]))
    ]
    assert outside == []


def test_one_release_of_a_package_is_locked_for_all() -> None:
    everything = locked("dev")
    for name in ("app", "server"):
        assert {one: releases for one, releases in locked(name).items() if releases != everything[one]} == {}


def test_without_a_gpu_nothing_of_cuda_is_installed() -> None:
    for name in ("app", "server", "dev", "tools"):
        assert [package for package in locked(name) if package.startswith(("nvidia", "cuda", "triton", "torch"))] == []


def test_the_image_gets_every_folder_of_the_wheel() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "deploy/Dockerfile").read_text("utf-8"), re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    assert {path.split("/")[0] for path in build["only-include"]} <= names
    assert {name for name in names if not (ROOT / name).exists()} == set()
    allowed = (ROOT / "deploy/Dockerfile.dockerignore").read_text("utf-8").split()
    assert {f"!{name}" for name in names} <= set(allowed)


def test_secrets_are_what_the_services_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "deploy/make_secrets.sh", tmp_path)
    script = ["sh", str(tmp_path / "make_secrets.sh")]
    subprocess.run(script, check=True)
    folder = tmp_path / "secrets"
    compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
    assert {path.name for path in folder.iterdir()} == {Path(one["file"]).name for one in compose["secrets"].values()}
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.delenv("PROPCITE_DATABASE", raising=False)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(folder))
    url = make_url(load_settings().database)
    database = compose["services"]["database"]["environment"]
    assert (url.username, url.database, url.host) == (database["POSTGRES_USER"], database["POSTGRES_DB"], "database")
    assert url.password == (folder / "database_password").read_text()
    before = (folder / "database_password").read_text()
    again = subprocess.run(script, capture_output=True, text=True)
    assert again.returncode == 2
    assert len(again.stderr.splitlines()) == 1
    assert (folder / "database_password").read_text() == before


def test_only_the_proxy_is_reached_from_outside() -> None:
    compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
    services = compose["services"]
    assert [name for name, service in services.items() if service.get("ports")] == ["proxy"]
    assert {services[name]["network_mode"] for name in ("server", "page")} == {"service:proxy"}
    assert compose["networks"]["inside"] == {"internal": True}
    assert services["database"]["networks"] == ["inside"]
    for name, service in services.items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
    named = {volume.split(":")[0] for service in services.values() for volume in service["volumes"]}
    assert {name for name in named if not name.startswith(".")} == set(compose["volumes"])
