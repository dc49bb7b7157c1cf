"""A request is refused when it asks for too much work, and a long one never holds up short ones."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest
from attacking import QUICK
from serving import parts_with, running_server, wait_until
from word_encoder import WordEncoder

from propcite.app.parts import Parts
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.interrupting import check_interrupt
from propcite.retrieval.text import Passage

SHORT = {"answer": "It rained in the town.", "passages": ["It rained in the town."]}
LONG_PASSAGE = "The long rain fell on the town. " * 400
LONG = {"answer": "It rained in the town. " * 600, "passages": [LONG_PASSAGE]}


class SlowEncoder(WordEncoder):
    """Takes all the time there is for a long passage, as a slow machine would, but asks whether it may go on."""

    def __init__(self) -> None:
        self.begun, self.released, self.ended = threading.Event(), threading.Event(), threading.Event()

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        if any(passage.text == LONG_PASSAGE for passage in passages):
            self.begun.set()
            try:
                while not self.released.wait(0.01):
                    check_interrupt()
                raise EncoderError("the test has ended")  # to cite what was held up takes seconds
            finally:
                self.ended.set()
        return super().encode_passages(passages)


def served(data_dir: Path, encoder: WordEncoder, **settings: object) -> Parts:
    return parts_with({"encoder": encoder}, {}, data_dir=data_dir, **QUICK, **settings)


@pytest.fixture
def encoder() -> Iterator[SlowEncoder]:
    slow = SlowEncoder()
    yield slow
    slow.released.set()


@pytest.mark.parametrize("route", ["/v1/cite", "/v1/repair"])
@pytest.mark.parametrize(
    ("settings", "answer", "told"),
    [
        ({"serve_characters": 1000}, "It rained. " * 100, "PROPCITE_SERVE_CHARACTERS"),
        ({"serve_sentences": 20}, "It rained. " * 21, "PROPCITE_SERVE_SENTENCES"),
    ],
)
def test_too_much_is_refused(tmp_path: Path, route: str, settings: dict[str, int], answer: str, told: str) -> None:
    with running_server(served(tmp_path, WordEncoder(), **settings)) as address:
        refused = httpx.post(f"{address}{route}", json={**SHORT, "answer": answer}, timeout=60)
        assert refused.status_code == 413
        assert told in refused.json()["detail"]
        assert httpx.post(f"{address}{route}", json=SHORT, timeout=60).status_code == 200


def test_work_ends_when_its_time_is_over(tmp_path: Path, encoder: SlowEncoder) -> None:
    """On a busy machine a request needs more than a second to reach the encoder."""
    with running_server(served(tmp_path, encoder, serve_seconds=2.0)) as address:
        refused = httpx.post(f"{address}/v1/cite", json=LONG, timeout=60)
        assert refused.status_code == 413
        assert "PROPCITE_SERVE_SECONDS" in refused.json()["detail"]
        assert encoder.ended.is_set()


def test_short_requests_do_not_wait_for_long_ones(tmp_path: Path, encoder: SlowEncoder) -> None:
    with running_server(served(tmp_path, encoder)) as address:
        senders = [
            threading.Thread(target=httpx.post, args=(f"{address}/v1/{route}",), kwargs={"json": LONG, "timeout": 60})
            for route in ("cite", "cite", "repair")
        ]
        for sender in senders:
            sender.start()
        assert encoder.begun.wait(60)
        for _ in range(5):
            assert httpx.post(f"{address}/v1/cite", json=SHORT, timeout=30).status_code == 200
        assert not encoder.ended.is_set()
        encoder.released.set()
        for sender in senders:
            sender.join(60)


def test_work_ends_when_its_client_is_gone(tmp_path: Path, encoder: SlowEncoder) -> None:
    with running_server(served(tmp_path, encoder)) as address:
        with httpx.Client(base_url=address, timeout=60) as client, pytest.raises(httpx.ReadTimeout):
            client.post("/v1/cite", json=LONG, timeout=httpx.Timeout(60, read=1.0))
        assert encoder.begun.is_set()
        wait_until(encoder.ended.is_set, "the work went on without a client")
