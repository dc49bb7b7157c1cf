"""Wrong calls get one line that a model can act on, and the server goes on."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from agent_calls import HARBOUR, HEIGHT, MODES, call, client_at, refusal, text_of
from serving import running_server

from propcite.app.parts import Parts
from propcite.app.server.problems import INTERNAL_ERROR

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
MODERN = {"MCP-Protocol-Version": "2026-07-28"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        (
            "nothing",
            {},
            "there is no tool 'nothing': it is one of search, check, cite, evidence, explain, ask",
        ),
        ("search", {}, "the argument query is missing: give it"),
        ("search", {"query": " "}, "the argument query cannot be read: it needs some words"),
        ("search", {"query": 3}, "the argument query cannot be read: Input should be a valid string"),
        ("search", {"qery": "a"}, "there is no argument 'qery': this tool takes collection, documents, where, query"),
        ("search", {"query": "a", "k": 0}, "the argument k cannot be read: Input should be greater than or equal to 1"),
        ("search", {"query": "a", "collection": "nowhere"}, "no collection 'nowhere': name one of 'harbour', 'secret'"),
        ("search", {"query": "a", "collection": "\0"}, "the argument collection"),
        ("search", {"query": "a", "where": ["("]}, ""),
        ("search", {"query": "a", "documents": ["none.txt"]}, "no document"),
        ("search", {"query": "a" * 5000}, "the argument query cannot be read: String should have at most 4000"),
        ("check", {"text": "a" * 1_000_000}, "the answer and its passages have 1,000,000 characters"),
        ("check", {"text": "It rained. " * 3000}, "the answer has 3,000 sentences"),
        ("cite", {"text": HEIGHT, "passages": [{"text": "a"}], "keep": True}, "keep: a text is kept in a collection"),
        ("cite", {"text": HEIGHT, "passages": [{"txt": "a"}]}, "there is no argument 'passages.0.txt'"),
        ("explain", {}, "give either a claim or the id of a kept answer"),
        ("explain", {"claim": HEIGHT, "answer": "a"}, "give either a claim or the id of a kept answer"),
        ("explain", {"answer": "nothing"}, "no kept answer 'nothing'"),
        ("explain", {"answer": "%"}, "no kept answer '%'"),
        ("explain", {"claim": HEIGHT, "fact": 9}, "no fact '9'"),
        ("evidence", {"claim": "Is it high?"}, "there is no fact in it"),
        ("ask", {"question": HEIGHT, "after": "nothing"}, "no answer 'nothing'"),
        ("compare", {"question": "a", "left": ["bridge.txt"]}, "the argument right is missing: give it"),
        ("compare", {"question": "a", "left": [], "right": []}, "the argument left cannot be read"),
        ("compare", {"question": "a", "left": ["bridge.txt"], "right": ["bridge.txt"]}, "both sides name the same"),
        ("compare", {"question": "a", "left": ["none.txt"], "right": ["bridge.txt"]}, "no document"),
        ("list_notes", {"collection": "nowhere"}, "no collection 'nowhere': name one of 'harbour', 'secret'"),
        ("list_notes", {"answer": "nothing"}, "no kept answer 'nothing'"),
        ("list_notes", {"document": "none.txt"}, "no document"),
        ("list_notes", {"answer": "a", "document": "b"}, "give either an answer or a document"),
        ("add_note", {}, "an empty note: write something, or pin an answer"),
        ("add_note", {"text": "a", "fact": 1}, "fact, quote, citation: they are of an answer"),
        ("add_note", {"text": "a" * 200_001}, "the argument text cannot be read: String should have at most 200000"),
        ("list_reviews", {"collection": "nowhere"}, "no collection 'nowhere'"),
        ("begin_review", {}, "give either the text of a draft or the id of one"),
        ("begin_review", {"text": HEIGHT, "name": "a.docx"}, "name: 'a.docx' is no name of a text"),
        ("begin_review", {"review": "nothing"}, "no draft 'nothing': list_reviews lists the drafts"),
        ("read_review", {"review": "%"}, "no draft '%': list_reviews lists the drafts"),
        ("read_review", {"review": "a", "verdicts": ["good"]}, "the argument verdicts.0 cannot be read"),
        ("decide", {"review": "nothing", "fact": 1, "choice": "accepted"}, "no draft 'nothing'"),
        ("decide", {"review": "nothing", "fact": 1, "choice": "eaten"}, "the argument choice cannot be read"),
        ("cancel_review", {"review": "nothing"}, "no draft 'nothing'"),
    ],
)
def test_wrong_arguments_get_one_line(address: str, mode: str, tool: str, arguments: dict[str, Any], line: str) -> None:
    assert refusal(call(address, tool, mode=mode, **arguments)).startswith(line)


def test_null_is_the_same_as_left_out_and_numbers_may_be_text(address: str) -> None:
    result = call(address, "search", query="How high is the barrier?", collection=None, k="1", where=None)
    assert len(result.structured_content["hits"]) == 1


@pytest.mark.parametrize("more", [{}, MODERN])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"\xff\xfe",
        b"[" * 100_000,
        b"{}",
        b"[]",
        b"null",
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}',
        b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 3}}',
    ],
)
def test_nonsense_is_refused_and_the_server_goes_on(address: str, body: bytes, more: dict[str, str]) -> None:
    response = httpx.post(f"{address}/mcp", content=body, headers={**HEADERS, **more}, timeout=60)
    assert 400 <= response.status_code < 500
    assert "Traceback" not in response.text
    assert not call(address, "search", query="barrier").is_error


def test_a_body_beyond_the_limit_is_refused(address: str) -> None:
    response = httpx.post(f"{address}/mcp", content=b"a" * (5 << 20), headers=HEADERS, timeout=60)
    assert response.status_code == 413
    assert "PROPCITE_SERVE_BODY_MB" in response.json()["error"]["message"]


def test_other_methods_and_formats_are_refused(address: str) -> None:
    assert httpx.put(f"{address}/mcp").status_code == 405
    assert httpx.get(f"{address}/mcp").status_code >= 400
    plain = httpx.post(f"{address}/mcp", content=b"{}", headers={"Content-Type": "text/plain"})
    assert plain.status_code >= 400


@pytest.mark.parametrize("mode", MODES)
def test_of_many_calls_at_once_each_gets_its_result_or_is_asked_to_wait(serve: Callable[..., str], mode: str) -> None:
    address = serve({"harbour": HARBOUR}, collection="harbour", serve_threads=1, serve_wait_seconds=0.2)

    async def calls() -> list[str]:
        async with client_at(address, mode=mode) as client:
            work = (client.call_tool("search", {"query": f"barrier {n}", "k": 1}) for n in range(250))
            return [text_of(result) for result in await asyncio.gather(*work)]

    lines = asyncio.run(calls())
    done = [line for line in lines if HEIGHT in line or "barrier" in line]
    assert 0 < len(done) < len(lines)
    assert all("too much waits already: try again in" in line for line in lines if line not in done)
    assert not call(address, "search", query="barrier").is_error


def test_a_client_that_hangs_up_leaves_nothing_running(address: str, harbour: Parts) -> None:
    text = " ".join(f"The flood barrier is {number} metres high." for number in range(300))
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "check",
            "arguments": {"text": text},
            "_meta": {
                "progressToken": 1,
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }
    named = {**HEADERS, **MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "check"}
    with httpx.stream("POST", f"{address}/mcp", json=body, headers=named, timeout=60) as response:
        assert response.status_code == 200, response.read()
        next(response.iter_lines())
    deadline = 600
    while 'propcite_running{queue="work"} 0.0' not in (metrics := httpx.get(f"{address}/metrics").text):
        deadline -= 1
        assert deadline, metrics
        threading.Event().wait(0.05)
    assert harbour


def test_half_a_request_holds_nothing_up(address: str) -> None:
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        connection.sendall(b"Accept: application/json, text/event-stream\r\nContent-Length: 900\r\n\r\n{")
        assert not call(address, "search", query="barrier").is_error


def test_an_error_of_ours_is_logged_and_shows_nothing(
    open_parts: Callable[..., Parts], loaded: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    parts = open_parts()
    parts.__dict__.update(loaded)
    parts.library.create_collection("default")
    with running_server(parts) as address:
        library = parts.library
        parts.__dict__["library"] = None  # whatever is called next fails
        line = refusal(call(address, "search", query="barrier"))
        parts.__dict__["library"] = library
    assert line == INTERNAL_ERROR
    assert "the tool search failed" in caplog.text
