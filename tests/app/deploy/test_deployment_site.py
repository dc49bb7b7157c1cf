"""deploy/Caddyfile before the real server and the real page: one origin, and who may pass."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from browsing import serving, wait_for
from paths import ROOT
from serving import parts_with, running_server

from propcite.app.library.store import Scope

CADDY = shutil.which("caddy")
ADA = ("ada", "correct horse")
OPTIONS = "{\n\tadmin off\n\tauto_https off\n\tskip_install_trust\n}\n"

pytestmark = pytest.mark.skipif(not CADDY, reason="no Caddy: apt-get install caddy")


@dataclass(frozen=True)
class Site:
    """Where the proxy listens, and a key of the server behind it."""

    address: str
    key: str

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(f"{self.address}{path}", headers=headers, timeout=60)

    def upgrade(self, origin: str, user: tuple[str, str] | None = ADA) -> int:
        """Ask the page for a WebSocket, as a browser does.  -> the status"""
        place = urlsplit(self.address)
        lines = ["GET /_stcore/stream HTTP/1.1", f"Host: {place.netloc}", "Connection: Upgrade", "Upgrade: websocket"]
        lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", f"Origin: {origin}"]
        if user:
            lines.append(f"Authorization: {basic(*user)}")
        with socket.create_connection((place.hostname, place.port), 60) as line:
            line.sendall("\r\n".join([*lines, "", ""]).encode())
            return int(line.recv(4096).split()[1])


def basic(name: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"


@contextmanager
def proxy(folder: Path, server: str, page: str) -> Iterator[str]:
    """Start Caddy with the file of deploy/ before both.  -> its address"""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    digest = subprocess.check_output([str(CADDY), "hash-password", "--plaintext", ADA[1]], text=True).strip()
    (folder / "users").write_text(f"{ADA[0]} {digest}\n")
    (folder / "Caddyfile").write_text(f"{OPTIONS}import {ROOT / 'deploy/Caddyfile'}\n")
    places = {"CADDY_SITE": address, "CADDY_USERS": str(folder / "users")}
    places |= {"CADDY_SERVER": urlsplit(server).netloc, "CADDY_PAGE": urlsplit(page).netloc}
    words = [str(CADDY), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with (folder / "log").open("wb") as log:
        environment = {**os.environ, **places, "HOME": str(folder)}
        running = subprocess.Popen(words, env=environment, stdout=log, stderr=log)
        try:
            wait_for(lambda: answers(address))
            yield address
        finally:
            running.terminate()
            running.wait(60)


def answers(address: str) -> bool:
    try:
        return httpx.get(address).status_code == 401
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def site(loaded: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    data, caddy = folder / "data", folder / "caddy"
    data.mkdir(), caddy.mkdir()
    parts = parts_with(loaded, {}, data_dir=data)
    key = parts.keys.create("a program", Scope.ADMIN)[1]
    with running_server(parts, requires_keys=True) as server, serving(data) as page, proxy(caddy, server, page) as at:
        yield Site(at, key)


def test_people_give_a_name_and_a_password(site: Site) -> None:
    assert site.get("/").status_code == 401
    assert site.get("/", Authorization=basic("ada", "wrong")).status_code == 401
    shown = site.get("/", Authorization=basic(*ADA))
    assert shown.status_code == 200
    assert "<title>" in shown.text
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert "Server" not in shown.headers


def test_links_and_agents_reach_the_server_without_a_password(site: Site) -> None:
    assert site.get("/reading/nothing").status_code == 403
    assert "Bearer KEY" in site.get("/mcp").text


def test_programs_give_a_key_and_no_password(site: Site) -> None:
    assert site.get("/v1/collections").status_code == 401
    assert site.get("/v1/collections", Authorization=basic(*ADA)).status_code == 401
    assert site.get("/v1/collections", Authorization=f"Bearer {site.key}").status_code == 200
    assert site.get("/readyz").json()["status"] == "ready"


def test_metrics_are_for_the_machine_itself(site: Site) -> None:
    assert site.get("/metrics", Authorization=f"Bearer {site.key}").status_code == 404


def test_another_site_cannot_use_the_password_that_a_browser_sends(site: Site) -> None:
    assert site.upgrade(site.address) == 101
    assert site.upgrade("https://elsewhere.example") == 403
    assert site.upgrade(site.address, user=None) == 401
    assert site.get("/", Authorization=basic(*ADA), Origin="https://elsewhere.example").status_code == 403
    assert site.get("/", Authorization=basic(*ADA), Origin="null").status_code == 403


def test_the_page_learns_who_the_proxy_let_in(loaded: dict[str, object], tmp_path: Path) -> None:
    data, caddy = tmp_path / "signed", tmp_path / "caddy"
    data.mkdir(), caddy.mkdir()
    parts = parts_with(loaded, {}, data_dir=data)
    with (
        serving(data, page_sign_in="header", page_proxies="127.0.0.1") as page,
        proxy(caddy, "http://127.0.0.1:1", page) as at,
    ):
        site = Site(at, "")
        ada = basic(*ADA)
        assert "ada has no role here" in site.get("/", Authorization=ada).text
        parts.people.grant("eve", Scope.ADMIN)
        assert "ada has no role here" in site.get("/", Authorization=ada, **{"Remote-User": "eve"}).text
        assert site.upgrade(at) == 403
        parts.people.grant("ada", Scope.READ)
        assert site.get("/", Authorization=ada).status_code == 200
        assert site.upgrade(at) == 101
        assert site.get("/").status_code == 401
