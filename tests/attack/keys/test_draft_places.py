"""Attacks with drafts: one key takes all places, a reader stops or replaces what others had cited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event

import httpx
import pytest
from agent_calls import call, refusal
from serving import running_server, wait_until

from propcite.app.errors import BusyError, ReadError
from propcite.app.ingest.sources import Upload
from propcite.app.library.store import CollectionInfo, Scope
from propcite.app.parts import Parts
from propcite.app.reviewing.citing import MAX_RUNNING, OF_ONE, Reviewing, Unpaced

DRAFT = b"The gate is shut."


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    parts = open_parts(judge="none", splitter="rules", collection="ours")
    list(parts.ingester(parts.library.create_collection("ours")).ingest([Upload("gate.txt", DRAFT)]))
    return parts


@pytest.fixture
def ours(parts: Parts) -> CollectionInfo:
    return parts.library.collection("ours")


class Held:
    """Drafts whose reading goes on until they are released."""

    def __init__(self, parts: Parts, ours: CollectionInfo) -> None:
        self.reviewing, self.ours, self.released = Reviewing(parts), ours, Event()
        self.pipeline = parts.pipeline(ours)

    def begin(self, by: str) -> None:
        def opened() -> object:
            self.released.wait(60)
            return self.pipeline

        self.reviewing.begin(self.ours, "draft.txt", lambda: DRAFT, opened, Unpaced(), by)  # type: ignore[arg-type]


@pytest.fixture
def held(parts: Parts, ours: CollectionInfo) -> Iterator[Held]:
    held = Held(parts, ours)
    yield held
    held.released.set()
    wait_until(lambda: not held.reviewing._running.total(), "places stay taken")


def test_one_sender_leaves_places_for_others(held: Held) -> None:
    for _ in range(OF_ONE):
        held.begin("attacker")
    with pytest.raises(BusyError, match="drafts are being cited already"):
        held.begin("attacker")
    for _ in range(MAX_RUNNING - OF_ONE):
        held.begin("ben")
    with pytest.raises(BusyError):
        held.begin("zoe")


def test_a_place_is_taken_before_the_draft_is_read_and_given_back(
    held: Held, parts: Parts, ours: CollectionInfo
) -> None:
    """However many come at once, no more are in memory and in readers than there are places."""
    for _ in range(OF_ONE):
        held.begin("attacker")

    def content() -> bytes:
        pytest.fail("the draft was read")

    with pytest.raises(BusyError):
        held.reviewing.begin(ours, "draft.txt", content, lambda: held.pipeline, Unpaced(), "attacker")
    for _ in range(2 * MAX_RUNNING):
        with pytest.raises(ReadError, match="empty"):
            held.reviewing.begin(ours, "draft.txt", lambda: b" ", lambda: held.pipeline, Unpaced(), "ben")
    held.begin("ben")
    assert len(parts.reviews.all()) == OF_ONE + 1


def test_a_reader_neither_stops_nor_replaces_drafts_of_others(parts: Parts) -> None:
    def bearer(name: str, scope: Scope) -> dict[str, str]:
        return {"Authorization": f"Bearer {parts.keys.create(name, scope, ['ours'])[1]}"}

    reader, owner, writer = (bearer(*one) for one in (("eve", Scope.READ), ("ada", Scope.READ), ("ben", Scope.WRITE)))
    with running_server(parts, requires_keys=True) as address, httpx.Client(base_url=address, timeout=60) as http:
        id_ = http.post("/v1/reviews", files={"file": ("draft.txt", DRAFT)}, headers=owner).json()["id"]
        place = f"/v1/reviews/{id_}"
        wait_until(lambda: http.get(place, headers=owner).json()["state"] == "done", "it is not cited")
        before = http.get(place, headers=owner).json()
        for action in ("cancel", "restart"):
            refused = http.post(f"{place}/{action}", headers=reader)
            assert refused.status_code == 403
            assert "this draft is by ada" in refused.json()["detail"]
        key = reader["Authorization"].removeprefix("Bearer ")
        assert "by ada" in refusal(call(address, "cancel_review", key, review=id_))
        assert "by ada" in refusal(call(address, "begin_review", key, review=id_))
        assert http.get(place, headers=owner).json() == before
        for key_of in (owner, writer):
            assert http.post(f"{place}/restart", headers=key_of).status_code == 202
            wait_until(lambda: http.get(place, headers=owner).json()["state"] == "done", "it is not cited again")
            assert http.post(f"{place}/cancel", headers=key_of).status_code == 200
