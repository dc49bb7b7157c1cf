"""Sign in on the page by a real OpenID provider, and use the page over its WebSocket as a browser does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import browsing
import httpx
from oidc_provider_mock import User, run_server_in_thread
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

STREAM = "/_stcore/stream"
PATIENCE_S = 120.0


@contextmanager
def provider(claims: Mapping[str, Mapping[str, object]] | None = None) -> Iterator[str]:
    """Run an OpenID provider at which anybody signs in as any address; `claims` are those of some people."""
    users = [User(sub=sub, claims=dict(more)) for sub, more in (claims or {}).items()]
    with run_server_in_thread(require_nonce=True, user_claims=users) as server:
        yield f"http://localhost:{server.server_port}"


@contextmanager
def page_of(data_dir: Path, provider_address: str, **settings: str) -> Iterator[str]:
    """Run the page with sign-in by this provider; yield its address."""
    given = {
        "page_sign_in": "openid",
        "page_address": "http://localhost:{port}",
        "page_openid": provider_address,
        "page_client": "propcite",
        "page_secret": "a secret of the provider",
        **settings,
    }
    with browsing.serving(data_dir, **given) as address:
        yield address


def visitor(address: str) -> httpx.Client:
    """Return a client with its own cookies, which follows redirects as browsers do."""
    return httpx.Client(base_url=address, follow_redirects=True, timeout=60, headers={"Accept": "text/html,*/*"})


def signed_in(address: str, person: str) -> httpx.Client:
    """Return a client that has signed in at the provider."""
    client = visitor(address)
    form = client.get("/sign-in")
    client.post(str(form.url), data={"sub": person})
    return client


def cookies(client: httpx.Client) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar)}


def stream(address: str, headers: Mapping[str, str]) -> ClientConnection:
    """Open the WebSocket of the page; InvalidStatus if it is refused."""
    place = f"ws://{urlsplit(address).netloc}{STREAM}"
    return connect(place, origin=address, subprotocols=["streamlit"], additional_headers=headers, max_size=None)  # type: ignore[arg-type, list-item]


def is_refused(address: str, headers: Mapping[str, str]) -> bool:
    """Return whether the WebSocket of the page is refused."""
    try:
        with stream(address, headers):
            return False
    except InvalidStatus as error:
        return error.response.status_code in (401, 403)


def drawn(connection: ClientConnection, view: str = "", query: str = "") -> str:
    """Run a view of the page and return all that is sent for it, as `sent` does."""
    asked = BackMsg()
    asked.rerun_script.page_name = view
    asked.rerun_script.query_string = query
    connection.send(asked.SerializeToString())
    return sent(connection)


def sent(connection: ClientConnection) -> str:
    """Return all that is sent until a run of the page ends; the address to which it leads away, if it does."""
    said: list[str] = []
    while True:
        message = ForwardMsg()
        data = connection.recv(PATIENCE_S)
        assert isinstance(data, bytes)
        message.ParseFromString(data)
        kind = message.WhichOneof("type")
        if kind == "auth_redirect":
            return f"away to {message.auth_redirect.url}"
        if kind in ("delta", "navigation"):
            said.append(str(message))
        if kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return "\n".join(said)
