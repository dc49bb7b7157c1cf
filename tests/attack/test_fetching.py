"""Attacks by an address that is to be fetched: into the network, without an end, larger than it says."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import httpx
import pytest
from serving import running_server, wait_until

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import web
from propcite.app.ingest.readers.public_networks import is_public
from propcite.app.ingest.readers.web import fetch
from propcite.app.library.store import Scope
from propcite.app.parts import Parts

DRIP_S = 20.0  # then the server gives up: a fetch without a deadline ends, and fails its test
QUICK = {"judge": "none", "splitter": "rules", "fetch_inside": True}


class _Site(BaseHTTPRequestHandler):
    """A server that an attacker controls.  `over` ends what hangs; `calls` counts the requests."""

    over = threading.Event()
    calls: ClassVar[list[str]] = []

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        self.calls.append(self.path)
        match self.path:
            case "/header-drip.txt":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Slow: ")
                self.drip(b"\r\n\r\nwords")
            case "/body-drip.txt":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
                self.drip(b"words")
            case path if path.startswith("/silent.txt"):
                self.over.wait(DRIP_S)
                self.send_error(404)
            case "/bomb.txt":
                self.answer(gzip.compress(bytes(50 << 20)), ("Content-Encoding", "gzip"))
            case "/bomb-in-bomb.txt":
                self.answer(gzip.compress(gzip.compress(bytes(50 << 20))), ("Content-Encoding", "gzip, gzip"))
            case "/packed.txt":
                self.answer(gzip.compress(b"It rained."), ("Content-Encoding", "gzip"))
            case "/inside":
                self.answer(b"", ("Location", f"http://127.0.0.1:{self.server.server_port}/secret.txt"), 302)
            case _:
                self.answer(b"a secret")

    def drip(self, end: bytes) -> None:
        for _ in range(int(DRIP_S / 0.05)):
            self.wfile.write(b"x")
            if self.over.wait(0.05):
                return
        self.wfile.write(end)

    def answer(self, data: bytes, extra: tuple[str, str] | None = None, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(data)))
        if extra:
            self.send_header(*extra)
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def site() -> Iterator[int]:
    _Site.over.clear()
    _Site.calls.clear()
    server = ThreadingHTTPServer(("", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    _Site.over.set()
    server.shutdown()


def refused(url: str, **options: object) -> str:
    with pytest.raises(ReadError) as caught:
        fetch(url, **{"timeout": 1, **options})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("path", ["header-drip.txt", "body-drip.txt", "silent.txt"])
def test_one_deadline_covers_headers_and_body(site: int, path: str) -> None:
    assert "takes too long" in refused(f"http://127.0.0.1:{site}/{path}", private=True)


def test_the_deadline_covers_the_name_and_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, answer = threading.Event(), threading.Event()

    def hang(*_: object, **__: object) -> list[object]:
        asked.set()
        answer.wait(DRIP_S)
        raise OSError("no name")

    with monkeypatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", hang)
        assert "takes too long" in refused("http://slow.example/a.txt")
        assert asked.is_set()
        answer.set()
    with socket.socket() as deaf:  # it accepts nothing: connections succeed, TLS waits for ever
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        assert "takes too long" in refused(f"https://127.0.0.1:{deaf.getsockname()[1]}/a.txt", private=True)


def test_compressed_files_stay_within_the_limit(site: int) -> None:
    place = f"http://127.0.0.1:{site}"
    assert "over the limit" in refused(f"{place}/bomb.txt", private=True, timeout=30, max_bytes=1 << 20)
    assert "not asked for" in refused(f"{place}/bomb-in-bomb.txt", private=True, timeout=30, max_bytes=1 << 20)
    assert fetch(f"{place}/packed.txt", private=True).data == b"It rained."


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "192.0.0.1", "198.18.0.1", "224.0.0.1",
        "240.0.0.1", "255.255.255.255", "192.88.99.1",
        "::1", "::", "fd00::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1", "2001:db8::1", "3fff::1", "5f00::1",
        "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8",
        "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::127.0.0.1", "64:ff9b:1:7f00:0:100::",
        "2002:7f00:1::", "2002:808:808::1", "2001::7f00:1", "2001:0:808:808::1",
        "2a00:1::5efe:127.0.0.1", "2a00:1::200:5efe:10.0.0.1",
    ],
)  # fmt: skip
def test_no_form_of_an_inside_address_is_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host",
    ["127.1", "0x7f.1", "017700000001", "2130706433", "0", "127.0.0.1.", "①②⑦.⓪.⓪.①", "LOCALHOST", "[::127.0.0.1]",
     "[::ffff:0:127.0.0.1]", "[64:ff9b:1::7f00:1]", "[0:0:0:0:0:ffff:7f00:1]"],
)  # fmt: skip
def test_no_spelling_of_an_inside_host_is_fetched(site: int, host: str) -> None:
    refused(f"http://{host}:{site}/secret.txt")
    assert _Site.calls == []


def test_a_redirect_does_not_lead_inside(site: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "is_public", lambda address: address == "127.0.0.2" or is_public(address))
    assert "is inside this network" in refused(f"http://127.0.0.2:{site}/inside", timeout=30)
    assert _Site.calls == ["/inside"]


def test_a_name_that_changes_its_address_is_not_looked_up_twice(site: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address that was checked is the one that is connected to; nothing answers at the first one here."""
    answers = ["192.0.2.1", "127.0.0.1"]
    real = socket.getaddrinfo

    def changing(host: str, *rest: object, **more: object) -> object:
        if host != "rebind.example":
            return real(host, *rest, **more)  # type: ignore[arg-type]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0), site))]

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    monkeypatch.setattr(web, "is_public", lambda address: address == "192.0.2.1" or is_public(address))
    refused(f"http://rebind.example:{site}/secret.txt")
    assert answers == ["127.0.0.1"]
    assert _Site.calls == []


def test_slow_addresses_of_one_collection_freeze_no_other(open_parts: Callable[..., Parts], site: int) -> None:
    """Many addresses that never answer are being fetched; a file and a page of others are read meanwhile."""
    place = f"http://127.0.0.1:{site}"
    with running_server(open_parts(**QUICK)) as address, httpx.Client(base_url=address, timeout=60) as http:
        slow = [f"{place}/silent.txt?{number}" for number in range(20)]
        assert http.post("/v1/documents?collection=slow", data={"addresses": slow}).status_code == 202
        wait_until(lambda: len(_Site.calls) >= 2, "nothing was fetched")
        file = {"files": ("a.txt", b"It rained.")}
        for name, sent in (("slow", {"files": file}), ("b", {"files": file}), ("c", {"data": {"addresses": [place]}})):
            job = http.post(f"/v1/documents?wait=true&collection={name}", **sent).json()  # type: ignore[arg-type]
            assert job["state"] == "done"
            assert [outcome["state"] for outcome in job["outcomes"]] == ["added"]
        assert not _Site.over.is_set()
        assert len([path for path in _Site.calls if "silent" in path]) < len(slow)
        _Site.over.set()


def test_waiting_for_slow_addresses_freezes_no_request(open_parts: Callable[..., Parts], site: int) -> None:
    """More requests wait for their documents than a process has threads for short work."""
    slow = {"addresses": [f"http://127.0.0.1:{site}/silent.txt"]}
    parts = open_parts(**QUICK)
    _, key = parts.keys.create("writer", Scope.WRITE)
    bearer = {"Authorization": f"Bearer {key}"}
    with (
        running_server(parts, requires_keys=True) as address,
        httpx.Client(base_url=address, headers=bearer, timeout=60) as http,
        ThreadPoolExecutor(50) as clients,
    ):
        waits = [clients.submit(http.post, f"/v1/documents?wait=true&collection={n}", data=slow) for n in range(50)]
        wait_until(lambda: len(parts.jobs.unfinished()) == 50, "not accepted")
        assert http.get("/v1/collections").status_code == 200
        assert not any(one.done() for one in waits)
        _Site.over.set()
        assert {one.result().status_code for one in waits} == {200}
