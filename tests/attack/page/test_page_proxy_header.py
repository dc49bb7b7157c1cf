"""Attacks on the page behind a proxy that names people in a header: only the proxy's own header counts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import browsing
import httpx
import pytest
from shared_library import ADA, BEN, EVE, OURS, SECRET, THEIRS, SharedLibrary, shared_library
from signing_in import drawn, is_refused, stream

from propcite.ui.launch import command

HEADER = "Remote-User"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedLibrary]:
    with shared_library(tmp_path_factory.mktemp("proxied")) as library:
        yield library


@pytest.fixture(scope="module")
def behind_proxy(library: SharedLibrary) -> Iterator[str]:
    """The page whose proxy calls from this machine."""
    folder = Path(library.parts.settings.data_dir)
    with browsing.serving(folder, page_sign_in="header", page_proxies='["127.0.0.1", "::1"]') as address:
        yield address


@pytest.fixture(scope="module")
def elsewhere(library: SharedLibrary) -> Iterator[str]:
    """The page whose proxy has another address than the one from which the tests call."""
    folder = Path(library.parts.settings.data_dir)
    with browsing.serving(folder, page_sign_in="header", page_proxies="10.9.8.7") as address:
        yield address


def test_the_proxys_header_names_the_person(behind_proxy: str, library: SharedLibrary) -> None:
    theirs = f"{behind_proxy}/source/{library.documents[THEIRS]}/reading"
    assert httpx.get(theirs, headers={HEADER: BEN}).status_code == 200
    assert httpx.get(theirs, headers={HEADER: ADA}).status_code == 404
    assert httpx.get(theirs, headers={HEADER: EVE}).status_code == 403
    with stream(behind_proxy, {HEADER: ADA}) as page:
        shown = drawn(page, "library")
        assert OURS in shown
        assert SECRET not in shown
        assert "Sign out" not in shown


def test_without_the_header_nobody_gets_anything(behind_proxy: str, library: SharedLibrary) -> None:
    for headers in (
        [], [(HEADER, "")], [("Remote_User", BEN)], [("X-Remote-User", BEN)],
        [("X-PropCite-Person", BEN)],
        [(HEADER, BEN), (HEADER, BEN)],  # a browser's own, beside the proxy's
        [(HEADER, "x" * 300)], [("Cookie", f"{HEADER}={BEN}")], [("Authorization", "Basic YmVuOng=")],
    ):  # fmt: skip
        for path in ("/", "/library", f"/source/{library.documents[OURS]}/file", "/media/x", "/_stcore/host-config"):
            got = httpx.get(behind_proxy + path, headers=headers)
            assert got.status_code == 401
            assert "through the proxy" in got.text
        if len(headers) < 2:  # the client of the WebSocket sends a header once
            assert is_refused(behind_proxy, dict(headers))


def test_the_header_of_anyone_but_the_proxy_is_ignored(elsewhere: str, library: SharedLibrary) -> None:
    for more in (
        {}, {"X-Forwarded-For": "10.9.8.7"}, {"X-Real-IP": "10.9.8.7"}, {"Forwarded": "for=10.9.8.7"},
        {"X-Forwarded-For": "127.0.0.1, 10.9.8.7"}, {"X-Forwarded-Host": "10.9.8.7"}, {"True-Client-IP": "10.9.8.7"},
    ):  # fmt: skip
        headers = {HEADER: BEN, **more}
        assert httpx.get(f"{elsewhere}/source/{library.documents[OURS]}/file", headers=headers).status_code == 401
        assert is_refused(elsewhere, headers)


def test_whom_the_proxy_forwards_for_does_not_matter(behind_proxy: str) -> None:
    headers = {HEADER: ADA, "X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    assert httpx.get(behind_proxy, headers=headers).status_code == 200
    assert not is_refused(behind_proxy, headers)


@pytest.mark.parametrize("given", [{"PAGE_SIGN_IN": "header"}, {"PAGE_SIGN_IN": "openid", "PAGE_CLIENT": "x"}])
def test_a_page_whose_sign_in_is_not_complete_does_not_start(tmp_path: Path, given: dict[str, str]) -> None:
    environment = {**os.environ, "PROPCITE_DATA_DIR": str(tmp_path)}
    environment |= {f"PROPCITE_{name}": value for name, value in given.items()}
    for words in (command(headless=True), [sys.executable, "-P", "-m", "propcite", "ui", "--headless"]):
        ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
        assert ended.returncode != 0
        assert "needs PROPCITE_PAGE_" in ended.stderr + ended.stdout


def test_a_page_that_would_believe_forged_addresses_does_not_start(tmp_path: Path) -> None:
    given = {"PROPCITE_DATA_DIR": str(tmp_path), "PROPCITE_PAGE_SIGN_IN": "header", "PROPCITE_PAGE_PROXIES": "10.9.8.7"}
    for believed in ({"FORWARDED_ALLOW_IPS": "127.0.0.1"}, {"FORWARDED_ALLOW_IPS": "*"}, {}):
        environment = {**os.environ, **given, **believed}
        ended = subprocess.run(command(headless=True), env=environment, capture_output=True, text=True, timeout=120)
        assert ended.returncode != 0
        assert "start it by propcite ui" in ended.stderr + ended.stdout
