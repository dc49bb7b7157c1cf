"""Access control over HTTP: keys, scopes, collections, hosts and origins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from commanded import Propcite
from serving import running_server

from propcite.app.errors import AppError, NotFoundError, StoreError
from propcite.app.library.store import Keys, Library, Scope
from propcite.app.parts import Parts
from propcite.app.server.errors import RequestError
from propcite.app.server.limits import RateLimiter
from propcite.app.settings import load_settings

QUICK = {"judge": "none", "splitter": "rules"}
CITE = {"answer": "It rained.", "passages": ["It rained."]}


@pytest.fixture
def parts(open_parts: Callable[..., Parts], tmp_path: Path) -> Parts:
    parts = open_parts(**QUICK)
    for name in ("ours", "theirs"):
        (tmp_path / f"{name}.txt").write_text(f"The secret of {name} is well kept.")
        list(parts.ingester(parts.library.create_collection(name)).ingest([tmp_path / f"{name}.txt"]))
    return parts


@pytest.fixture
def address(parts: Parts) -> Iterator[str]:
    with running_server(parts, requires_keys=True) as address:
        yield address


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


# Keys in the database


@pytest.fixture
def keys(database_url: str) -> Iterator[Keys]:
    library = Library(database_url)
    yield Keys(library)
    library.close()


def test_a_key_is_found_by_its_secret_until_it_is_revoked(keys: Keys) -> None:
    key, secret = keys.create("chatbot", Scope.READ, ["ours"])
    assert keys.find(secret) == key == keys.all()[0]
    assert key.opens("ours")
    assert not key.opens("theirs")
    for wrong in (
        "",
        "pck",
        secret[:-1],
        secret + "x",
        secret.replace("pck", "sk"),
        key.id,
        f"pck_{key.id}_",
        "pck_\0_x",
    ):
        assert keys.find(wrong) is None
    assert keys.any()
    assert keys.revoke(key.id).revoked_at is not None
    assert keys.find(secret) is None
    assert not keys.any()
    every, _ = keys.create("all", Scope.ADMIN)
    assert every.collections is None
    assert every.opens("whatever")
    with pytest.raises(NotFoundError, match="keys list"):
        keys.revoke("nothing")
    with pytest.raises(StoreError, match="cannot be named"):
        keys.create("\n", Scope.READ)


def test_secrets_are_not_stored(parts: Parts, tmp_path: Path) -> None:
    _, secret = parts.keys.create("chatbot", Scope.READ)
    parts.library.close()
    held = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("propcite.sqlite*"))
    assert b"chatbot" in held
    assert secret.split("_", 2)[2].encode() not in held


# Keys over HTTP


def test_without_a_key_only_health_checks_respond(address: str, parts: Parts) -> None:
    _, revoked = parts.keys.create("old", Scope.ADMIN)
    parts.keys.revoke(parts.keys.all()[-1].id)
    for headers in ({}, bearer("nonsense"), bearer(revoked), {"Authorization": "Basic eA=="}):
        for method, path in (("POST", "/v1/cite"), ("GET", "/v1/collections"), ("GET", "/metrics")):
            refused = httpx.request(method, address + path, json=CITE, headers=headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert refused.headers["content-type"] == "application/problem+json"
    assert httpx.get(f"{address}/healthz").status_code == 200
    assert httpx.get(f"{address}/readyz").status_code == 200


def test_each_scope_allows_its_requests(address: str, parts: Parts) -> None:
    calls = {
        Scope.READ: [("POST", "/v1/cite", CITE), ("GET", "/v1/documents?collection=ours", None)],
        Scope.WRITE: [("POST", "/v1/collections", {"name": "new"})],
        Scope.ADMIN: [("DELETE", "/v1/collections/new", None), ("GET", "/metrics", None)],
    }
    for scope in Scope:
        _, key = parts.keys.create(scope.value, scope)
        parts.library.create_collection("new")
        for needed, requests in calls.items():
            for method, path, body in requests:
                response = httpx.request(method, address + path, json=body, headers=bearer(key))
                assert (response.status_code != 403) == scope.covers(needed)
                if scope.covers(needed):
                    assert response.is_success


def test_a_key_does_not_reach_other_collections(address: str, parts: Parts) -> None:
    """The response is the same as for a collection that does not exist."""
    _, key = parts.keys.create("ours", Scope.ADMIN, ["ours"])
    theirs = parts.library.documents(parts.library.collection("theirs"))[0].id
    file = {"files": ("a.txt", b"It rained.")}

    stored = httpx.post(
        f"{address}/v1/cite",
        json={"answer": "The secret of theirs is well kept.", "collection": "theirs", "keep": True},
        headers=bearer(parts.keys.create("t", Scope.READ, ["theirs"])[1]),
    ).json()["id"]

    def ask(name: str) -> list[httpx.Response]:
        with httpx.Client(base_url=address, headers=bearer(key)) as http:
            return [
                http.post("/v1/search", json={"query": "secret", "collection": name}),
                http.post("/v1/ask", json={"question": "The secret?", "collection": name}),
                http.post("/v1/ask", json={"question": "The secret?", "collection": name, "stream": True}),
                http.post("/v1/cite", json={"answer": "The secret.", "collection": name}),
                http.post("/v1/cite", json={**CITE, "collection": name}),
                http.post("/v1/repair", json={**CITE, "collection": name}),
                http.get("/v1/documents", params={"collection": name}),
                http.get("/v1/answers", params={"collection": name}),
                http.post("/v1/documents", params={"collection": name}, files=file),
                http.delete(f"/v1/documents/{theirs}", params={"collection": name}),
                http.get(f"/v1/documents/{theirs}/file", params={"collection": name}),
                http.get(f"/v1/documents/{theirs}/reading", params={"collection": name}),
                http.get(f"/v1/documents/{theirs}/pages/1", params={"collection": name}),
                http.delete(f"/v1/collections/{name}"),
                http.post("/v1/collections", json={"name": name}),
            ]

    for hidden, missing in zip(ask("theirs"), ask("nothing"), strict=True):
        assert hidden.status_code == 404
        assert hidden.text.replace("theirs", "") == missing.text.replace("nothing", "")
    with httpx.Client(base_url=address, headers=bearer(key)) as http:
        assert [c["name"] for c in http.get("/v1/collections").json()["collections"]] == ["ours"]
        assert http.delete(f"/v1/documents/{theirs}", params={"collection": "ours"}).status_code == 404
        assert http.get(f"/v1/documents/{theirs}/file", params={"collection": "ours"}).status_code == 404
        assert http.get(f"/v1/documents/{theirs}/reading", params={"collection": "ours"}).status_code == 404
        assert http.get(f"/v1/answers/{stored}").status_code == 404
        assert http.get(f"/v1/answers/{stored}/evidence").status_code == 404
        narrowed = http.post("/v1/search", json={"query": "secret", "collection": "ours", "documents": [theirs]})
        assert narrowed.status_code == 404
        assert http.post("/v1/search", json={"query": "secret", "collection": "ours"}).json()["hits"]
    assert len(parts.library.documents(parts.library.collection("theirs"))) == 1


def test_a_job_is_visible_only_to_keys_of_its_collection(address: str, parts: Parts) -> None:
    _, writer = parts.keys.create("w", Scope.WRITE, ["ours"])
    _, other = parts.keys.create("o", Scope.WRITE, ["theirs"])
    files = {"files": ("a.txt", b"It rained.")}
    sent = httpx.post(f"{address}/v1/documents?collection=ours&wait=true", files=files, headers=bearer(writer))
    place = sent.headers["location"]
    assert httpx.get(address + place, headers=bearer(writer)).json()["state"] == "done"
    assert httpx.get(address + place, headers=bearer(other)).status_code == 404


def test_each_key_has_a_limit_of_requests_per_minute(open_parts: Callable[..., Parts]) -> None:
    parts = open_parts(**QUICK, serve_rate=3)
    keys = [parts.keys.create(name, Scope.READ)[1] for name in "ab"]
    with running_server(parts, requires_keys=True) as address:
        for key in keys:  # each has its own limit
            got = [httpx.get(f"{address}/v1/collections", headers=bearer(key)) for _ in range(4)]
            assert [one.status_code for one in got] == [200, 200, 200, 429]
            assert 0 < int(got[-1].headers["retry-after"]) <= 60


def test_the_rate_limit_covers_the_last_minute() -> None:
    now = 0.0
    limiter = RateLimiter(2, lambda: now)
    limiter.count("a")
    now = 30.0
    limiter.count("a")
    with pytest.raises(RequestError, match="in 30 s"):
        limiter.count("a")
    now = 60.0
    limiter.count("a")
    with pytest.raises(RequestError, match="in 30 s"):
        limiter.count("a")


# Hosts and pages


def test_on_loopback_foreign_pages_and_hosts_are_refused(parts: Parts) -> None:
    with running_server(parts) as address:
        port = address.rpartition(":")[2]
        assert httpx.get(f"{address}/v1/collections").status_code == 200
        assert httpx.get(f"{address}/v1/collections", headers={"Host": f"localhost:{port}"}).status_code == 200
        for headers in (
            {"Host": "evil.example"},
            {"Host": f"evil.example:{port}"},
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
        ):
            refused = httpx.get(f"{address}/v1/collections", headers=headers)
            assert refused.status_code == 403
            assert "access-control-allow-origin" not in refused.headers
        same = httpx.get(f"{address}/v1/collections", headers={"Origin": address})
        assert same.status_code == 200


def test_configured_origins_may_call(open_parts: Callable[..., Parts]) -> None:
    parts = open_parts(**QUICK, serve_origins=["https://chat.example"])
    with running_server(parts) as address:
        preflight = {"Origin": "https://chat.example", "Access-Control-Request-Method": "POST"}
        allowed = httpx.options(f"{address}/v1/cite", headers=preflight)
        assert allowed.headers["access-control-allow-origin"] == "https://chat.example"
        got = httpx.post(f"{address}/v1/cite", json=CITE, headers={"Origin": "https://chat.example"})
        assert got.headers["access-control-allow-origin"] == "https://chat.example"
        assert "Retry-After" in got.headers["access-control-expose-headers"]
        assert httpx.post(f"{address}/v1/cite", json=CITE, headers={"Origin": "https://x.example"}).status_code == 403


def test_configured_hosts_may_call_and_no_others(open_parts: Callable[..., Parts]) -> None:
    """Where keys are required any host may call, until some are named."""
    parts = open_parts(**QUICK, hosts=["propcite.example"])
    for requires_keys, status in ((False, 200), (True, 401)):
        with running_server(parts, requires_keys=requires_keys) as address:
            for host, origin, expected in (
                ("propcite.example", "https://propcite.example", status),
                ("localhost", "https://propcite.example", status),
                ("propcite.example", "https://evil.example", 403),
                ("evil.example", "https://evil.example", 403),
            ):
                got = httpx.get(f"{address}/v1/collections", headers={"Host": host, "Origin": origin})
                assert (got.status_code, host) == (expected, host)


@pytest.mark.parametrize("name", ["https://propcite.example", "propcite.example/x", "*", "", "a b", "x:port", "x@y"])
def test_a_host_is_named_without_its_address(name: str) -> None:
    with pytest.raises(AppError, match=r"like propcite\.example"):
        load_settings(hosts=[name])


# The command line


def test_a_server_for_other_machines_does_not_start_without_a_key(propcite: Propcite) -> None:
    for words in (("--host", "0.0.0.0"), ("--keys",)):
        refused = propcite("serve", "--port", "18600", *words)
        assert refused.code == 2
        assert refused.err.count("\n") == 1
        assert "propcite keys create" in refused.err


def test_an_unavailable_port_or_address_is_reported_in_one_line(propcite: Propcite, address: str) -> None:
    port = address.rpartition(":")[2]
    for words in (("--port", port), ("--host", "no.such.host.example")):
        refused = propcite("serve", *words)
        assert refused.code == 2
        assert "cannot be listened on" in refused.err
        assert refused.err.count("\n") == 1


def test_keys_are_created_listed_and_revoked_by_command(propcite: Propcite) -> None:
    made = propcite("keys", "create", "chatbot", "--scope", "write", "-c", "ours", "--json").json
    assert made["scope"] == "write"
    assert made["collections"] == ["ours"]
    assert made["key"].startswith("pck_")
    shown = propcite("keys", "create", "other")
    assert shown.out.startswith("pck_")
    assert "not shown again" in shown.err
    listed = propcite("keys", "list")
    assert "chatbot" in listed.out
    assert made["key"] not in listed.out
    assert "revoked" in propcite("keys", "revoke", made["id"]).err
    revoked = {k["name"]: k["revoked_at"] for k in propcite("keys", "list", "--json").json}
    assert revoked["chatbot"]
    assert revoked["other"] is None
    gone = propcite("keys", "revoke", "zzz")
    assert (gone.code, gone.err.count("\n")) == (2, 1)
