"""Attacks on the page by other web pages: names that resolve to here, WebSockets, frames, paths."""

from __future__ import annotations

import base64
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import browsing
import httpx
import pytest
from browsing import serving
from selenium.webdriver.common.by import By
from word_encoder import WordEncoder

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

HOSTILE = b"<html><body><p>It rained.</p><script>document.title = 'broken'</script></body></html>"
STREAM = "/_stcore/stream"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    parts = Parts(load_settings(data_dir=folder))
    parts.__dict__["encoder"] = WordEncoder()
    collection = parts.library.create_collection("town")
    list(parts.ingester(collection).ingest([Upload("rain.html", HOSTILE)]))
    parts.library.close()
    return folder


@pytest.fixture(scope="module")
def document(data_dir: Path) -> str:
    library = Parts(load_settings(data_dir=data_dir)).library
    return library.documents(library.collection("town"))[0].id


@pytest.fixture(scope="module")
def address(data_dir: Path) -> Iterator[str]:
    with serving(data_dir) as address:
        yield address


@pytest.fixture(scope="module")
def behind_proxy(data_dir: Path) -> Iterator[str]:
    with serving(data_dir, hosts="propcite.example") as address:
        yield address


def upgrade(address: str, host: str, *headers: str) -> int:
    """Ask for a WebSocket as a browser does, and return the status of the response."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname or "", place.port or 0), timeout=60) as connection:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {STREAM} HTTP/1.1", f"Host: {host}", "Connection: Upgrade", "Upgrade: websocket",
            "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", *headers, "", "",
        ]  # fmt: skip
        connection.sendall("\r\n".join(lines).encode())
        return int(connection.recv(1 << 16).split(b" ")[1])


def test_a_foreign_host_gets_nothing(address: str, document: str) -> None:
    port = urlsplit(address).port
    own = f"localhost:{port}"
    paths = ("/", f"/source/{document}/file", f"/source/{document}/reading", "/_stcore/health", "/nothing", STREAM)
    for host in (
        *("evil.example", f"evil.example:{port}", f"{own}@evil.example", f"evil.example@{own}", f"{own}/x"),
        *(f"{own}.evil.example", f"x\\@{own}", "", f"127.0.0.1.nip.io:{port}", f"localhost.:{port}"),
    ):
        for path in paths:
            assert httpx.get(address + path, headers={"Host": host}).status_code in (400, 403)
        assert upgrade(address, host, f"Origin: http://{host}") in (400, 403)
    for host in (own, f"127.0.0.1:{port}", f"[::1]:{port}", "LOCALHOST"):
        assert httpx.get(f"{address}/source/{document}/file", headers={"Host": host}).status_code == 200
        assert upgrade(address, host, f"Origin: http://{host}") == 101


def test_a_foreign_origin_gets_nothing(address: str, document: str) -> None:
    own = address.removeprefix("http://")
    for origin in ("http://evil.example", "null", "http://localhost:1", f"http://{own}.evil.example", f"http://x@{own}",
                   f"https://evil.example/{own}", "http://[", "file://", f"http://{own.upper()}x"):  # fmt: skip
        assert upgrade(address, own, f"Origin: {origin}") == 403
        for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
            for path in ("/", f"/source/{document}/file", "/_stcore/upload_file/a/b"):
                refused = httpx.request(method, address + path, headers={"Origin": origin})
                assert refused.status_code == 403
                assert "access-control-allow-origin" not in refused.headers
    assert upgrade(address, own, f"Origin: {address}") == 101


def test_another_page_embeds_nothing(address: str, document: str) -> None:
    """As `<img src>` and `<script src>` ask, without an origin; following a link to the page is allowed."""
    for site in ("cross-site", "same-site"):
        asked = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
        assert httpx.get(f"{address}/source/{document}/file", headers=asked).status_code == 403
        link = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
        assert httpx.get(address, headers=link).status_code == 200


def test_a_proxy_passes_its_own_name_and_no_other(behind_proxy: str, document: str) -> None:
    """A proxy may pass the browser's Host on, or call by another name, with the Origin that the browser sent."""
    own, path = behind_proxy.removeprefix("http://"), f"/source/{document}/file"
    for host in ("propcite.example", "propcite.example:443", own):
        headers = {"Host": host, "Origin": "https://propcite.example"}
        assert httpx.get(behind_proxy + path, headers=headers).status_code == 200
        assert upgrade(behind_proxy, host, "Origin: https://propcite.example") == 101
    for host, origin in (
        ("evil.example", "https://propcite.example"),
        ("propcite.example", "https://evil.example"),
        ("propcite.example", "https://propcite.example:8443"),
        ("x.propcite.example", "https://propcite.example"),
    ):
        assert httpx.get(behind_proxy + path, headers={"Host": host, "Origin": origin}).status_code == 403
        assert upgrade(behind_proxy, host, f"Origin: {origin}") == 403


def test_all_that_is_served_has_safe_headers(address: str, document: str) -> None:
    shown = (f"/source/{document}/{what}" for what in ("file", "reading", "page/1"))
    for path in (
        "/",
        "/static/no.js",
        "/nothing",
        "/_stcore/health",
        "/_stcore/host-config",
        "/source/none/file",
        *shown,
    ):
        got = httpx.get(address + path)
        policy = got.headers["content-security-policy"]
        assert "frame-ancestors 'self'" in policy
        assert "unsafe-eval" not in policy
        assert "script-src 'self' blob: 'sha256-" in policy or "sandbox" in policy
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["referrer-policy"] == "no-referrer"
        assert got.headers["cross-origin-resource-policy"] == "same-origin"


def test_no_path_leads_out_of_what_is_served(address: str) -> None:
    for path in (
        *("/../../etc/passwd", "/static/../../../../../etc/passwd", "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd"),
        *("/source/..%2f..%2fetc%2fpasswd/file", "/source/%00/file", "/media/../../etc/passwd", "/static//etc/passwd"),
        *("/component/x/%2e%2e/%2e%2e/etc/passwd", "/static/..%5c..%5cetc%5cpasswd"),
    ):
        place = urlsplit(address)
        with socket.create_connection((place.hostname or "", place.port or 0), timeout=60) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        assert b"root:" not in received


@pytest.mark.browser
@pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)
def test_a_browser_shows_the_page_and_runs_no_script_of_a_document(address: str, document: str) -> None:
    with browsing.browsing() as driver:
        driver.get(f"{address}/library")
        browsing.wait_for(lambda: "1 document" in driver.find_element(By.TAG_NAME, "body").text)
        driver.get(f"{address}/search")
        browsing.wait_for(
            lambda: driver.find_elements(By.TAG_NAME, "textarea") or driver.find_elements(By.TAG_NAME, "input")
        )
        blocked = [
            line["message"] for line in driver.get_log("browser") if "Content Security Policy" in line["message"]
        ]
        assert blocked == []
        driver.get(f"{address}/source/{document}/reading")
        browsing.wait_for(lambda: "It rained." in driver.find_element(By.TAG_NAME, "body").text)
        assert driver.title != "broken"
