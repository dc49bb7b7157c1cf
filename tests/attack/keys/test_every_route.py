"""Every route, those that no description lists too: without a key, with one of another collection, with odd methods."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from serving import running_server, wait_until

from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Scope
from propcite.app.parts import Parts
from propcite.app.server.application import ROUTES, create_app
from propcite.app.server.problems import AGENTS_PATH

QUICK = {"judge": "none", "splitter": "rules"}
SECRET = "zebra"
OURS, THEIRS, ABSENT = "ours", f"{SECRET}-theirs", f"{SECRET}-absent"
OPEN = {"/healthz", "/readyz", "/v1/schemas/{of}", "/reading/{token}"}
MADE_UP = "0123456789ab"


@dataclass(frozen=True, slots=True)
class Theirs:
    """What another collection has, by the names of the routes' parameters."""

    ids: Mapping[str, str]

    def path(self, route: str, ids: Mapping[str, str]) -> str:
        return re.sub(r"{(\w+)(?::path)?}", lambda match: ids.get(match[1], "1"), route)


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    parts = open_parts(**QUICK, collection=OURS)
    for name in (OURS, THEIRS):
        upload = Upload(f"{name}.txt", f"The gate of {name} is shut.".encode())
        list(parts.ingester(parts.library.create_collection(name)).ingest([upload]))
    return parts


@pytest.fixture
def http(parts: Parts) -> Iterator[httpx.Client]:
    with running_server(parts, requires_keys=True) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def bearer(parts: Parts, scope: Scope, *collections: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {parts.keys.create('attacker', scope, collections)[1]}"}


@pytest.fixture
def theirs(http: httpx.Client, parts: Parts) -> Theirs:
    owner = bearer(parts, Scope.ADMIN, THEIRS)

    def made(path: str, **sent: Any) -> dict[str, Any]:
        response = http.post(path, headers=owner, params={"collection": THEIRS}, **sent)
        assert response.is_success, response.text
        content: dict[str, Any] = response.json()
        return content

    text = f"The gate of {THEIRS} is shut."
    answer = made("/v1/cite", json={"answer": text, "collection": THEIRS, "keep": True})["id"]
    review = made("/v1/reviews", files={"file": ("draft.txt", text.encode())})["id"]
    wait_until(
        lambda: http.get(f"/v1/reviews/{review}", headers=owner).json()["state"] != "citing", "the citing does not end"
    )
    job = made("/v1/documents", files={"files": ("more.txt", b"It rains.")})["id"]
    wait_until(lambda: http.get(f"/v1/jobs/{job}", headers=owner).json()["state"] == "done", "the job does not end")
    document = parts.library.documents(parts.library.collection(THEIRS))[0].id
    note = made("/v1/notes", json={"text": text, "collection": THEIRS})["id"]
    ids = {"answer_id": answer, "review_id": review, "job_id": job, "document_id": document, "note_id": note}
    return Theirs({**ids, "name": THEIRS, "collection": THEIRS, "number": "1"})


def every_route() -> list[tuple[str, str]]:
    routes = [route for module in ROUTES for route in module.router.routes if isinstance(route, APIRoute)]
    listed = [(method, route.path) for route in routes for method in sorted(route.methods)]
    return [*listed, *((method, AGENTS_PATH) for method in ("GET", "POST", "DELETE"))]


def test_no_route_answers_without_a_key(http: httpx.Client, parts: Parts) -> None:
    """Those that pass requests on to a model server, and that of agents, are in no description."""
    described = create_app(parts).openapi()["paths"]
    unlisted = 0
    for method, route in every_route():
        if route in OPEN:
            continue
        path = re.sub(r"{\w+(?::path)?}", "1", route)
        for headers in ({}, {"Authorization": "Bearer pck_x_y"}, {"X-Api-Key": "x"}, {"Authorization": "Basic eDp5"}):
            refused = http.request(method, path, headers=headers)
            assert (refused.status_code, method, path) == (401, method, path)
        unlisted += route not in described
    assert unlisted > 30


def test_what_another_collection_has_is_as_what_never_was(http: httpx.Client, parts: Parts, theirs: Theirs) -> None:
    """The highest key of one collection gets, byte by byte, what it gets for an id that nobody has."""
    key, tried = bearer(parts, Scope.ADMIN, OURS), 0
    made_up = dict.fromkeys(theirs.ids, MADE_UP) | {"name": ABSENT, "collection": ABSENT, "number": "1"}
    for method, route in every_route():
        if not re.search(r"{(\w+_id|name|collection)}", route):
            continue
        bodies = [{}, {"fact": 1, "choice": "accepted"}, {"fact": 1, "opinion": "right"}, {"text": "x", "version": 1}]
        bodies += [{"messages": [{"role": "user", "content": "x"}], "input": "x", "max_tokens": 5}, {"fields": {}}]
        for body in bodies if method in ("POST", "PUT", "PATCH") else [None]:
            shown = []
            for ids in (theirs.ids, made_up):
                response = http.request(method, theirs.path(route, ids), headers=key, json=body)
                text = response.text
                for name in ids.values():
                    text = text.replace(name, "…") if len(name) > 1 else text
                shown.append((response.status_code, text))
            assert shown[0] == shown[1], (method, route, body)
            assert not 200 <= shown[0][0] < 300, (method, route)
            tried += 1
    assert tried > 60


def test_another_collection_in_a_query_or_a_body_is_as_one_that_never_was(
    http: httpx.Client, parts: Parts, theirs: Theirs
) -> None:
    key = bearer(parts, Scope.ADMIN, OURS)
    document = theirs.ids["document_id"]
    bodies = (
        *(
            ("/v1/cite", {"answer": "It rains."}),
            ("/v1/ask", {"question": "Is it shut?"}),
            ("/v1/search", {"query": "x"}),
        ),
        ("/v1/compare", {"question": "Is it shut?", "left": [document], "right": [document]}),
        ("/v1/repair", {"answer": "It rains [1].", "passages": ["It rains."]}),
        ("/v1/notes", {"text": "mine"}),
    )
    gets = ("documents", "failures", "jobs", "answers", "notes", "notes/export", "suggestions", "reviews", "audit")

    def shown(name: str) -> list[tuple[int, str]]:
        responses = [http.get(f"/v1/{path}", headers=key, params={"collection": name}) for path in gets]
        responses += [http.post(path, headers=key, json={**body, "collection": name}) for path, body in bodies]
        file = ("draft.txt", b"It rains.")
        responses.append(http.post("/v1/reviews", headers=key, params={"collection": name}, files={"file": file}))
        responses.append(http.post("/v1/documents", headers=key, params={"collection": name}, files={"files": file}))
        return [(response.status_code, response.text.replace(name, "…")) for response in responses]

    there = shown(THEIRS)
    assert there == shown(ABSENT)
    assert {status for status, _ in there} == {404}


def test_ids_of_others_in_a_body_are_as_ids_that_never_were(http: httpx.Client, parts: Parts, theirs: Theirs) -> None:
    key = bearer(parts, Scope.ADMIN, OURS)

    def shown(answer: str, document: str) -> list[tuple[int, str]]:
        bodies = (
            ("/v1/notes", {"answer": answer, "collection": OURS}),
            ("/v1/notes", {"answer": answer, "fact": 1, "quote": True}),
            ("/v1/ask", {"question": "Is it shut?", "after": answer, "collection": OURS}),
            ("/v1/search", {"query": "gate", "documents": [document], "collection": OURS}),
            ("/v1/compare", {"question": "Is it shut?", "left": [document], "right": [document], "collection": OURS}),
        )
        responses = [http.post(path, headers=key, json=body) for path, body in bodies]
        return [
            (response.status_code, response.text.replace(answer, "…").replace(document, "…")) for response in responses
        ]

    there = shown(theirs.ids["answer_id"], theirs.ids["document_id"])
    assert there == shown(MADE_UP, MADE_UP)
    assert all(status >= 400 for status, _ in there)


def test_a_part_of_an_id_opens_nothing_over_http(http: httpx.Client, parts: Parts, theirs: Theirs) -> None:
    """It would say whether others have ids that begin so, and remove what was not named."""
    key = bearer(parts, Scope.ADMIN, THEIRS)
    for what in ("answer", "review", "note", "job"):
        place, id_ = f"/v1/{what}s", theirs.ids[f"{what}_id"]
        assert http.get(f"{place}/{id_[:6]}", headers=key).status_code in (404, 405)
        assert http.delete(f"{place}/{id_[:6]}", headers=key).status_code in (404, 405)
    assert http.get(f"/v1/answers/{theirs.ids['answer_id']}", headers=key).status_code == 200


def test_odd_methods_do_not_grow_the_metrics(http: httpx.Client, parts: Parts) -> None:
    """Each word that is no method would be remembered for ever, and needs no key."""
    for number in range(50):
        assert http.request(f"M{number}", "/v1/answers").status_code == 405
    text = http.get("/metrics", headers=bearer(parts, Scope.ADMIN)).text
    assert 'method="other"' in text
    assert "M49" not in text


def test_who_has_no_key_does_not_hear_why_a_server_is_not_ready(parts: Parts, tmp_path: Path) -> None:
    missing = tmp_path / f"{SECRET}-model"
    broken = Parts(parts.settings.model_copy(update={"encoder": str(missing)}))
    with running_server(broken, requires_keys=True, ready=False) as address:
        wait_until(lambda: "log" in httpx.get(f"{address}/readyz").text, "it does not say that it is not ready")
        refused = httpx.get(f"{address}/readyz")
        assert refused.status_code == 503
        assert SECRET not in refused.text
