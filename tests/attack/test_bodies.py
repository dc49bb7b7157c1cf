"""Attacks on the server by connections and bodies: without a key, half-sent, endless, one too many."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

import httpx
import pytest
from serving import running_server, wait_until

from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Scope
from propcite.app.parts import Parts
from propcite.app.server.application import create_app

QUICK = {"judge": "none", "splitter": "rules"}
PATIENCE_S = 60.0  # for the server to close a connection
OPEN = {"/healthz", "/readyz", "/v1/schemas/{of}"}


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    return open_parts(**QUICK, serve_idle_seconds=1, serve_connections=12, serve_body_mb=1)


@pytest.fixture
def address(parts: Parts) -> Iterator[str]:
    with running_server(parts, requires_keys=True) as address:
        yield address


def connected(address: str, *words: bytes) -> socket.socket:
    host, _, port = address.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
    with suppress(ConnectionError):  # it may be refused before all of it is sent
        for word in words:
            connection.sendall(word)
    return connection


def head(path: str, *lines: str, method: str = "POST") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


def rest(connection: socket.socket) -> bytes:
    """Return all that the server sends until it closes the connection."""
    received = b""
    try:
        while piece := connection.recv(1 << 16):
            received += piece
    except ConnectionError:
        pass
    return received


def test_every_route_asks_for_a_key_before_it_reads_the_body(address: str, parts: Parts) -> None:
    """JSON that is none, fields that are wrong and forms that end early are 401 as long as there is no key."""
    routes = [one for one in create_app(parts).openapi()["paths"].items() if one[0] not in OPEN]
    assert len(routes) > 20
    for route, methods in routes:
        for method in methods:
            path = re.sub(r"{\w+}", "1", route)
            for content, kind in ((b"{", "application/json"), (b"--x", "multipart/form-data; boundary=x")):
                refused = httpx.request(method, address + path, content=content, headers={"Content-Type": kind})
                assert (refused.status_code, path) == (401, path)
                assert refused.headers["www-authenticate"] == "Bearer"


def test_every_route_checks_the_scope_before_it_reads_the_body(address: str, parts: Parts) -> None:
    _, key = parts.keys.create("reader", Scope.READ)
    for method, path in (("POST", "/v1/documents"), ("POST", "/v1/collections"), ("PATCH", "/v1/documents/x")):
        with connected(address, head(path, f"Authorization: Bearer {key}", "Content-Length: 9", method=method)) as half:
            assert half.recv(1 << 16).startswith(b"HTTP/1.1 403 ")


def test_a_body_without_a_key_is_not_waited_for(address: str) -> None:
    """The refusal comes while the announced body is still to be sent, and the client is not asked to send it."""
    with connected(address, head("/v1/documents", "Content-Length: 1000000", "Expect: 100-continue")) as half:
        assert half.recv(1 << 16).startswith(b"HTTP/1.1 401 ")
        assert rest(half).count(b"HTTP/1.1") == 0
    with connected(address, head("/v1/cite", "Content-Length: 1000000", "Content-Type: application/json")) as half:
        half.sendall(b'{"answer": "')
        assert half.recv(1 << 16).startswith(b"HTTP/1.1 401 ")
        rest(half)  # it ends: the connection is closed


def test_nothing_of_a_body_without_a_key_is_stored(address: str, parts: Parts) -> None:
    form = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n' + b"x" * 200_000
    with ExitStack() as held:
        for _ in range(8):
            lines = "Content-Type: multipart/form-data; boundary=x", "Content-Length: 60000000"
            half = held.enter_context(connected(address, head("/v1/documents", *lines)))
            half.sendall(form)
            assert half.recv(1 << 16).startswith(b"HTTP/1.1 401 ")
        assert not list((parts.settings.data_dir / "uploads").rglob("*.bin"))


@pytest.mark.parametrize(
    "words",
    [
        (),
        (b"POST /v1/ci",),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"X-Long: 1\r\n"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /healthz HT"),
    ],
    ids=["idle", "half a line", "half a head", "half a second request"],
)
def test_idle_and_half_sent_connections_are_closed(address: str, words: tuple[bytes, ...]) -> None:
    with connected(address, *words) as half:
        rest(half)


def test_a_dripping_head_is_cut_off(address: str) -> None:
    """Each byte comes in time, all together never do."""
    with connected(address, b"GET /healthz HTTP/1.1\r\nX: ") as half:
        half.settimeout(0.1)
        for _ in range(int(PATIENCE_S / 0.1)):
            try:
                half.sendall(b"x")
                if half.recv(1) == b"":
                    return
            except TimeoutError:
                continue
            except ConnectionError:
                return
    pytest.fail("the connection stays open")


def test_a_dripping_body_is_refused(address: str, parts: Parts) -> None:
    _, key = parts.keys.create("reader", Scope.READ)
    lines = f"Authorization: Bearer {key}", "Content-Type: application/json", "Content-Length: 500000"
    with connected(address, head("/v1/cite", *lines), b'{"answer"') as half:
        received = rest(half)
    assert received.startswith(b"HTTP/1.1 408 ")
    assert b"PROPCITE_SERVE_IDLE_SECONDS" in received


def test_an_endless_body_is_refused(address: str, parts: Parts) -> None:
    _, key = parts.keys.create("writer", Scope.WRITE)
    lines = f"Authorization: Bearer {key}", "Content-Type: application/json", "Transfer-Encoding: chunked"
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    with connected(address, head("/v1/cite", *lines), *(20 * [piece])) as half:
        assert half.recv(1 << 16).startswith(b"HTTP/1.1 413 ")
        with suppress(ConnectionError):  # it is cut off after a while
            for _ in range(100_000):
                half.sendall(piece)
            pytest.fail("the server reads for ever")


def test_a_limit_of_connections(address: str) -> None:
    """One too many gets a line that says so, and the others go on."""
    with ExitStack() as held:
        half = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
        kept = [held.enter_context(connected(address, half)) for _ in range(12)]
        answers = [rest(held.enter_context(connected(address))) for _ in range(3)]
        kept[0].sendall(b"\r\n")
        assert kept[0].recv(1 << 16).startswith(b"HTTP/1.1 200 ") or b"" in answers
        assert any(answer.startswith(b"HTTP/1.1 503 ") for answer in answers)
    wait_until(lambda: httpx.get(f"{address}/healthz").status_code == 200, "the server takes no more connections")


def test_a_client_that_reads_nothing_is_cut_off(open_parts: Callable[..., Parts]) -> None:
    parts = open_parts(**QUICK, serve_idle_seconds=1)
    page = b"<html><body><p>It rained.</p>" + 40 * (b"<!--" + bytes(1 << 20).replace(b"\0", b"x") + b"-->")
    collection = parts.library.create_collection("large")
    outcome = next(iter(parts.ingester(collection).ingest([Upload("large.html", page)])))
    with running_server(parts) as address:
        path = f"/v1/documents/{outcome.document_id}/file?collection=large"
        with connected(address, head(path, method="GET")) as deaf:
            metrics = f"{address}/metrics"
            ended = 'propcite_requests_total{method="GET",route="/v1/documents/{document_id}/file"'
            wait_until(lambda: ended in httpx.get(metrics).text, "the response is being sent for ever")
            assert len(rest(deaf)) < len(page)


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 4", "Transfer-Encoding: chunked"),
        ("Content-Length: 4", "Content-Length: 5"),
        ("Content-Length: +4",),
        ("Content-Length: 4, 5",),
        ("Content-Length : 4",),
        ("Transfer-Encoding: gzip, chunked",),
        ("Transfer-Encoding: chunked\x0b",),
        ("Transfer-Encoding : chunked",),
        (" folded: x", "Content-Length: 4"),
        ("Host: evil.example", "Content-Length: 4"),
        ("X: a\rContent-Length: 4",),
        ("X: a\0b",),
    ],
)  # fmt: skip
def test_no_smuggled_request_is_answered(address: str, lines: tuple[str, ...]) -> None:
    """A proxy in front could read these as one request and the server as two: each is refused, or read as one."""
    hidden = head("/healthz", method="GET")
    with connected(address, head("/v1/cite", *lines), b"0\r\n\r\n", hidden) as smuggling:
        received = rest(smuggling)
    assert b" 200 " not in received.split(b"\r\n")[0]
    assert b'"ok"' not in received


def test_no_header_of_a_response_can_be_written_by_a_request(address: str, parts: Parts) -> None:
    _, key = parts.keys.create("reader", Scope.READ)
    bearer = {"Authorization": f"Bearer {key}"}
    for path in (
        "/v1/documents/x%0d%0aSet-Cookie:%20a=b/file",
        "/v1/jobs/x%0d%0aSet-Cookie:%20a=b",
        "/%0d%0aSet-Cookie:a",
    ):
        got = httpx.get(address + path, headers=bearer)
        assert got.status_code == 404
        assert "set-cookie" not in got.headers
        assert "\n" not in json.loads(got.text)["detail"]


def test_no_request_writes_lines_or_colours_into_the_log(address: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "propcite.server"):
        detail = httpx.get(f"{address}/x%0d%0aGET%20/forged%1b[31m%9b2J").json()["detail"]
        wait_until(lambda: "forged" in caplog.text, "the request is not in the log")
    for line in (detail, *(record.getMessage() for record in caplog.records if "forged" in record.getMessage())):
        assert line.isprintable()


def test_no_redirect_leads_to_the_host_that_a_request_names(address: str) -> None:
    """A cache in front would give it to others."""
    for path in ("/v1/collections/", "/docs/", "/healthz/", "//evil.example/v1", "/docs/files"):
        got = httpx.get(address + path, headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"})
        assert "location" not in got.headers
        assert "evil.example" not in got.text.replace("//evil.example/v1", "")
