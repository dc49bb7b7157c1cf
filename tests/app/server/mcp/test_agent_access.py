"""Who may use the MCP server: keys, their collections and limits, hosts, origins, and sessions of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from agent_calls import HEIGHT, call, over_http, refusal, text_of
from mcp import Client
from mcp.shared.exceptions import MCPError
from serving import running_server

from propcite.app.library.store import Scope
from propcite.app.parts import Parts

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def guarded(harbour: Parts) -> Iterator[str]:
    with running_server(harbour, requires_keys=True) as address:
        yield address


def key_for(parts: Parts, *collections: str, scope: Scope = Scope.READ) -> str:
    return parts.keys.create("agent", scope, collections)[1]


def post(address: str, body: object, key: str = "", **headers: str) -> httpx.Response:
    bearer = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.post(f"{address}/mcp", json=body, headers={**ACCEPT, **bearer, **headers}, timeout=60)


@pytest.mark.parametrize("key", ["", "pck_wrong_key"])
def test_no_key_gets_one_line_that_names_the_header(guarded: str, key: str) -> None:
    response = post(guarded, INITIALIZE, key)
    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    assert "Authorization: Bearer KEY" in response.json()["error"]["message"]
    with pytest.raises(BaseException) as error:
        over_http(guarded, lambda client: client.list_tools(), key)
    assert not isinstance(error.value, AssertionError)


def test_a_key_opens_its_collections_alone(guarded: str, harbour: Parts) -> None:
    key = key_for(harbour, "secret")
    assert "blue" in text_of(call(guarded, "search", key, query="What colour is the plan?", collection="secret"))
    line = refusal(call(guarded, "search", key, query="How high?"))
    assert line == "no collection 'harbour': name one of 'secret'"
    assert refusal(call(guarded, "search", key, query="How high?", collection="none")).endswith("name one of 'secret'")

    async def uris(client: Client) -> list[str]:
        return [resource.uri for resource in (await client.list_resources()).resources]

    listed = over_http(guarded, uris, key)
    assert listed[1:]
    assert all("/collections/secret/" in uri for uri in listed[1:])


def test_kept_answers_and_documents_of_others_do_not_exist(guarded: str, harbour: Parts) -> None:
    every, some = key_for(harbour), key_for(harbour, "secret")
    kept = call(guarded, "cite", every, text=HEIGHT, keep=True).structured_content
    assert harbour.library.answer(kept["id"]).notes[-1] == "sent by agent"
    assert "no kept answer" in refusal(call(guarded, "explain", some, answer=kept["id"]))
    for uri in (kept["uri"], kept["uri"].replace("/harbour/", "/secret/"), kept["sources"][0]["uri"]):
        with pytest.raises(MCPError, match="no "):
            over_http(guarded, lambda client, uri=uri: client.read_resource(uri), some)


def test_a_revoked_key_ends_its_session(guarded: str, harbour: Parts) -> None:
    key, secret = harbour.keys.create("agent", Scope.READ)
    session = {"Mcp-Session-Id": post(guarded, INITIALIZE, secret).headers["mcp-session-id"]}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert post(guarded, ping, secret, **session).status_code == 200
    assert post(guarded, ping, key_for(harbour), **session).status_code == 404  # another key's
    harbour.keys.revoke(key.id)
    assert post(guarded, ping, secret, **session).status_code == 401


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_foreign_pages_and_names_are_refused(address: str, headers: dict[str, str]) -> None:
    response = post(address, INITIALIZE, **headers)
    assert response.status_code == 403
    assert response.json()["error"]["message"]


def test_calls_beyond_the_rate_get_the_time_to_wait(
    open_parts: Callable[..., Parts], loaded: dict[str, object]
) -> None:
    parts = open_parts(serve_rate=5)
    parts.__dict__.update(loaded)
    parts.library.create_collection("default")
    with running_server(parts) as address:
        lines: list[str] = []

        async def calls(client: Client) -> None:
            lines.extend([text_of(await client.call_tool("search", {"query": "barrier"})) for _ in range(8)])

        over_http(address, calls)
    assert any("the collection 'default' is empty" in line for line in lines)
    assert lines[-1].startswith("more than 5 requests per minute: try again in")


def test_sessions_are_limited(open_parts: Callable[..., Parts]) -> None:
    parts = open_parts(serve_connections=3)
    with running_server(parts, ready=False) as address:
        opened = [post(address, INITIALIZE).status_code for _ in range(5)]
    assert opened == [200, 200, 200, 503, 503]
