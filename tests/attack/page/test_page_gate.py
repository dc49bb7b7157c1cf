"""The gate alone: what it passes on, what it does when the database fails, cookies over TLS."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from shared_library import ADA, EVE, SharedLibrary, shared_library
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from propcite.ui.people.gate import Gate
from propcite.ui.people.sign_in import sign_in_method
from propcite.ui.people.visitor import PERSON_HEADER

PROXY = {"page_sign_in": "header", "page_proxies": ["10.9.8.7"], "page_address": "https://propcite.example"}


def shown_person(request: Request) -> Response:
    answer = PlainTextResponse(request.headers.get(PERSON_HEADER, "nobody"))
    answer.set_cookie("_streamlit_user", "x")
    return answer


async def echo(socket: WebSocket) -> None:
    await socket.accept()
    with suppress(WebSocketDisconnect):
        while True:
            await socket.send_bytes(await socket.receive_bytes())


ROUTES = [Route("/", shown_person), Route("/oauth2callback", shown_person), WebSocketRoute("/_stcore/stream", echo)]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[SharedLibrary]:
    with shared_library(tmp_path / "gated", **PROXY) as library:
        yield library


@pytest.fixture
def client(library: SharedLibrary) -> Iterator[TestClient]:
    method = sign_in_method(library.parts.settings)
    assert method is not None
    gate = Gate(Starlette(routes=ROUTES), method, lambda: library.parts)
    with TestClient(gate, client=("10.9.8.7", 1)) as client:
        yield client


def test_the_page_is_told_who_asks_by_the_gate_alone(client: TestClient) -> None:
    assert client.get("/", headers={"Remote-User": ADA, PERSON_HEADER: EVE}).text == ADA.replace("@", "%40")
    assert client.get("/oauth2callback", headers={PERSON_HEADER: EVE}).text == "nobody"


def test_cookies_are_sent_over_tls_alone(client: TestClient) -> None:
    assert "; Secure" in client.get("/oauth2callback").headers["set-cookie"]


def test_nobody_passes_while_roles_cannot_be_read(client: TestClient, library: SharedLibrary) -> None:
    shown = client.get("/", headers={"Remote-User": ADA})
    assert shown.status_code == 200
    folder = Path(library.parts.settings.data_dir)
    with client.websocket_connect("/_stcore/stream", headers={"Remote-User": ADA}) as socket:
        socket.send_bytes(b"still there")
        assert socket.receive_bytes() == b"still there"
        shutil.move(folder / "propcite.sqlite", folder / "away.sqlite")
        try:
            socket.send_bytes(b"still there")
            assert b"still" not in socket.receive_bytes()
            with pytest.raises(WebSocketDisconnect):
                socket.receive_bytes()
            refused = client.get("/", headers={"Remote-User": ADA})
            assert refused.status_code == 503
            assert "try again" in refused.text
            with (
                pytest.raises(WebSocketDisconnect),
                client.websocket_connect("/_stcore/stream", headers={"Remote-User": ADA}),
            ):
                pass
        finally:
            shutil.move(folder / "away.sqlite", folder / "propcite.sqlite")
    assert client.get("/", headers={"Remote-User": ADA}).status_code == 200


def test_an_idle_connection_of_a_proxys_person_ends(tmp_path: Path) -> None:
    with shared_library(tmp_path / "idle", page_idle_minutes=1e-6, **PROXY) as library:
        method = sign_in_method(library.parts.settings)
        assert method is not None
        gate = Gate(Starlette(routes=ROUTES), method, lambda: library.parts)
        with (
            TestClient(gate, client=("10.9.8.7", 1)) as client,
            client.websocket_connect("/_stcore/stream", headers={"Remote-User": ADA}) as socket,
        ):
            socket.send_bytes(b"too late")
            assert b"too late" not in socket.receive_bytes()
            with pytest.raises(WebSocketDisconnect):
                socket.receive_bytes()
