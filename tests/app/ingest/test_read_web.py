"""Web files over real HTTP: types by content type, limits, redirects, and nothing from the local network."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import document_from_bytes
from propcite.app.ingest.readers.web import FetchedFile, fetch


class _Site(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        match self.path.split("?")[0]:
            case "/page":
                self.answer(b"<p>Words of a page.</p>", "text/html; charset=utf-8")
            case "/notes.md":
                self.answer(b"# Notes", "text/plain")
            case "/named":
                self.answer(
                    b"a,b\n1,2\n", "application/octet-stream", ("Content-Disposition", 'x; filename="../t.csv"')
                )
            case "/wrong.pdf":
                self.answer(b"<p>Log in.</p>", "text/html")
            case "/picture":
                self.answer(b"x", "image/gif")
            case "/host.txt":
                self.answer(self.headers["Host"].encode(), "text/plain")
            case "/large.txt":
                self.answer(b"x" * 5000, "text/plain")
            case "/endless.txt":
                self.answer(None, "text/plain")
                for _ in range(9999):
                    self.wfile.write(b"x" * 1000)
            case "/slow.txt":
                self.answer(None, "text/plain")
                for _ in range(60):
                    self.wfile.write(b"x")
                    time.sleep(0.1)
            case "/moved":
                self.answer(b"", "text/plain", ("Location", "/page"), 302)
            case "/round":
                self.answer(b"", "text/plain", ("Location", "/round"), 302)
            case "/to-file":
                self.answer(b"", "text/plain", ("Location", "file:///etc/passwd"), 302)
            case _:
                self.send_error(404)

    def answer(self, data: bytes | None, kind: str, extra: tuple[str, str] | None = None, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if data is not None:
            self.send_header("Content-Length", str(len(data)))
        if extra:
            self.send_header(*extra)
        self.end_headers()
        self.wfile.write(data or b"")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()


def fetch_local(url: str) -> FetchedFile:
    return fetch(url, private=True, timeout=10)


def refused(url: str, **options: object) -> str:
    with pytest.raises(ReadError) as caught:
        fetch(url, **{"private": True, "timeout": 10, **options})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_page_is_fetched_with_its_address(site: str) -> None:
    page = fetch_local(f"{site}/page?x=1#top")
    assert page == FetchedFile("page.html", b"<p>Words of a page.</p>", f"{site}/page?x=1#top")
    assert document_from_bytes(page.name, page.data, page.url).text == "Words of a page."


@pytest.mark.parametrize(
    ("path", "name"),
    [("/notes.md", "notes.md"), ("/named", "t.csv"), ("/wrong.pdf", "wrong.html"), ("/moved", "page.html")],
)
def test_the_name_has_the_suffix_of_the_type(site: str, path: str, name: str) -> None:
    assert fetch_local(site + path).name == name


def test_the_host_header_has_the_server_name(site: str) -> None:
    assert fetch_local(f"{site}/host.txt").data.decode() == site.removeprefix("http://")


def test_limits(site: str) -> None:
    assert "over the limit" in refused(f"{site}/large.txt", max_bytes=4999)
    assert "over the limit" in refused(f"{site}/endless.txt", max_bytes=100_000)
    assert "takes too long" in refused(f"{site}/slow.txt", timeout=1)
    assert "redirects more than 5 times" in refused(f"{site}/round")


def test_errors(site: str) -> None:
    assert f"{site}/gone answered 404" in refused(f"{site}/gone")
    assert "has an unsupported type (image/gif)" in refused(f"{site}/picture")
    assert "cannot be reached" in refused("http://localhost:1/x.txt")
    assert "was not found" in refused("http://no-such-host.invalid/")
    assert "is not a web address" in refused(f"{site}/to-file")


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.org/x", "words", "http://", "http://[::1", "http://a:b@localhost/"]
)
def test_only_web_addresses_are_fetched(url: str) -> None:
    assert "is not a web address" in (message := refused(url)) or "with a password" in message
    assert "a:b" not in message


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "10.1.2.3", "192.168.0.1", "169.254.169.254", "0.0.0.0", "[::1]", "[fd00::1]",
     "2130706433", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "100.64.0.1", "224.0.0.1"],
)  # fmt: skip
def test_nothing_is_fetched_from_the_local_network(host: str) -> None:
    assert "is inside this network" in refused(f"http://{host}/", private=False)
