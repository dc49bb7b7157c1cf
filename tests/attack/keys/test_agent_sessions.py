"""Attacks on the sessions of agents: one key opens all that there are."""

from __future__ import annotations

from collections.abc import Callable

import httpx
from serving import running_server

from propcite.app.library.store import Scope
from propcite.app.parts import Parts
from propcite.app.server.mcp.transports import SHARE

CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
BEGIN = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def test_one_key_leaves_sessions_for_others(open_parts: Callable[..., Parts]) -> None:
    parts = open_parts(judge="none", splitter="rules", serve_connections=3 * SHARE)
    with running_server(parts, requires_keys=True, ready=False) as address, httpx.Client(timeout=60) as http:

        def begun(headers: dict[str, str], **body: object) -> httpx.Response:
            return http.post(f"{address}/mcp", json={**BEGIN, **body}, headers={**headers, **ACCEPT})

        eve, ada = ({"Authorization": f"Bearer {parts.keys.create(name, Scope.READ)[1]}"} for name in ("eve", "ada"))
        for _ in range(9):  # what opens none counts for none
            assert begun(eve, method="nonsense").status_code >= 400
        opened = [begun(eve) for _ in range(9)]
        assert [one.status_code for one in opened] == [200] * 3 + [429] * 6
        assert "end some with DELETE" in opened[-1].json()["error"]["message"]
        assert begun(ada).status_code == 200
        session = {"Mcp-Session-Id": opened[0].headers["mcp-session-id"]}
        assert http.delete(f"{address}/mcp", headers={**ada, **session, **ACCEPT}).status_code == 404
        assert begun(eve).status_code == 429
        assert http.delete(f"{address}/mcp", headers={**eve, **session, **ACCEPT}).status_code == 200
        assert begun(eve).status_code == 200
