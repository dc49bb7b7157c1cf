"""Attacks by uploads: one key takes all places in the queue."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from serving import running_server

from propcite.app.ingest import uploads
from propcite.app.library.store import Scope
from propcite.app.parts import Parts


def test_one_key_leaves_places_for_others(open_parts: Callable[..., Parts], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_JOBS", 5)
    monkeypatch.setattr(uploads, "OF_ONE", 3)
    parts = open_parts(judge="none", splitter="rules", serve_reads=False)
    parts.library.create_collection("default")
    eve, ada = ({"Authorization": f"Bearer {parts.keys.create(name, Scope.WRITE)[1]}"} for name in ("eve", "ada"))
    with running_server(parts, requires_keys=True) as address, httpx.Client(base_url=address, timeout=60) as http:

        def sent(key: dict[str, str], collection: str = "default") -> httpx.Response:
            file = {"files": ("a.txt", b"It rained.")}
            return http.post("/v1/documents", headers=key, params={"collection": collection}, files=file)

        assert [sent(eve, f"c{n}").status_code for n in range(3)] == [202] * 3
        refused = sent(eve, "another")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "60")
        assert "3 uploads of eve wait" in refused.json()["detail"]
        assert [sent(ada).status_code for _ in range(2)] == [202] * 2
        assert "5 uploads wait" in sent(ada).json()["detail"]
