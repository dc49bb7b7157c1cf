"""Many requests at once: fair turns between keys, refusals in time, and clients that are gone or do not read."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from scripted_llm import Reply, ScriptedLlm
from serving import parts_with, running_server, wait_until
from word_encoder import WordEncoder

from propcite.app.library.store import Scope
from propcite.app.parts import Parts
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.text import Passage

QUICK = {"splitter": "rules", "judge": "none", "min_score": 0.8}
TEXTS = {"gates.txt": "The tidal barrier has fourteen steel gates."}
HELD = "It rained until somebody let it stop."
MESSAGES = [{"role": "user", "content": "How many gates?"}]
CHAT = "/v1/chat/completions"


class HeldEncoder(WordEncoder):
    """Reads one passage until the test goes on, as a slow machine would; `seen` has the batches that it reads."""

    def __init__(self) -> None:
        self.begun, self.released = threading.Event(), threading.Event()
        self.seen: list[list[str]] = []

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        self.seen.append([passage.text for passage in passages])
        if any(passage.text == HELD for passage in passages):
            self.begun.set()
            self.released.wait(60)
        return super().encode_passages(passages)

    def place_of(self, text: str) -> int:
        """Return how many batches were read before that of a text."""
        return next(number for number, batch in enumerate(self.seen) if text in batch)


@pytest.fixture
def encoder() -> Iterator[HeldEncoder]:
    held = HeldEncoder()
    yield held
    held.released.set()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(64) as pool:
        yield pool


class Client:
    """Sends requests of one key in threads."""

    def __init__(self, threads: ThreadPoolExecutor, address: str, secret: str = "") -> None:
        self._threads, self._address = threads, address
        self._headers = {"Authorization": f"Bearer {secret}"} if secret else {}

    def post(self, path: str, **body: Any) -> httpx.Response:
        return httpx.post(self._address + path, json=body, headers=self._headers, timeout=60)

    def cite(self, text: str) -> httpx.Response:
        return self.post("/v1/cite", answer=text, passages=[text])

    def citing(self, text: str) -> Future[httpx.Response]:
        return self._threads.submit(self.cite, text)

    def metrics(self) -> str:
        return httpx.get(f"{self._address}/metrics", headers=self._headers).text

    def wait_for(self, figure: str) -> None:
        wait_until(lambda: figure in self.metrics(), figure)


def served(data_dir: Path, encoder: WordEncoder, **settings: object) -> Parts:
    documents = {"harbour": TEXTS}
    return parts_with({"encoder": encoder}, documents, data_dir=data_dir, **QUICK, **{"serve_threads": 1, **settings})


@contextmanager
def running(parts: Parts, threads: ThreadPoolExecutor) -> Iterator[list[Client]]:
    """Run a server that needs keys; yield the clients of two keys, the second of which may read metrics."""
    secrets = [parts.keys.create(name, Scope.ADMIN)[1] for name in ("flood", "other")]
    with running_server(parts, requires_keys=True) as address:
        yield [Client(threads, address, secret) for secret in secrets]


def test_a_key_that_floods_delays_another_by_one_turn(
    tmp_path: Path, encoder: HeldEncoder, threads: ThreadPoolExecutor
) -> None:
    with running(served(tmp_path, encoder), threads) as (flood, other):
        sent = [flood.citing(HELD)]
        assert encoder.begun.wait(60)
        sent += [flood.citing(f"It rained on day {number}.") for number in range(50)]
        other.wait_for('propcite_waiting{queue="work"} 50.0')
        sent.append(other.citing("It snowed on the hills."))
        other.wait_for('propcite_waiting{queue="work"} 51.0')
        other.wait_for('propcite_waiting_clients{queue="work"} 2.0')
        encoder.released.set()
        assert {one.result().status_code for one in sent} == {200}
        assert encoder.place_of("It snowed on the hills.") == encoder.place_of(HELD) + 1


def test_a_long_answer_of_one_key_does_not_hold_up_another(
    tmp_path: Path, encoder: HeldEncoder, threads: ThreadPoolExecutor
) -> None:
    long, marked = "It rained on the town and in the hills. " * 400, "It hailed."
    with running(served(tmp_path, encoder, serve_wait_seconds=1000), threads) as (flood, other):
        sent = [flood.citing(HELD)]
        assert encoder.begun.wait(60)
        sent += [threads.submit(flood.post, "/v1/cite", answer=long, passages=[f"{marked} {n}"]) for n in range(3)]
        sent += [other.citing("It snowed on the hills.")]
        other.wait_for('propcite_waiting{queue="work"} 4.0')
        encoder.released.set()
        assert {one.result().status_code for one in sent} == {200}
        assert encoder.place_of("It snowed on the hills.") <= encoder.place_of(HELD) + 2


def test_what_would_wait_too_long_is_refused_with_the_time_to_come_back(
    tmp_path: Path, encoder: HeldEncoder, threads: ThreadPoolExecutor
) -> None:
    with ScriptedLlm("The barrier has fourteen steel gates.") as llm:
        parts = served(tmp_path, encoder, serve_wait_seconds=0.01, llm_url=llm.base_url)
        with running(parts, threads) as (flood, other):
            first = flood.citing(HELD)
            assert encoder.begun.wait(60)
            refused = flood.cite("It rained.")
            assert (refused.status_code, refused.headers["content-type"]) == (503, "application/problem+json")
            assert int(refused.headers["retry-after"]) >= 1
            assert (
                refused.json()["detail"] == f"too much waits already: try again in {refused.headers['retry-after']} s"
            )
            for path in ("/v1/search", "/v1/ask"):
                assert flood.post(path, query="gates", collection="harbour").status_code in (422, 503)
            asked = flood.post("/v1/ask", question="How many gates?", collection="harbour", stream=True)
            assert (asked.status_code, asked.headers["retry-after"]) == (503, refused.headers["retry-after"])
            chat = flood.post(CHAT, messages=MESSAGES, propcite={"collection": "harbour"})
            assert (chat.status_code, chat.headers["content-type"]) == (503, "application/json")
            assert chat.json()["error"]["type"] == "server_error"
            assert int(chat.headers["retry-after"]) >= 1
            assert not llm.requests  # no model writes what nobody could cite
            assert 'propcite_refused_total{queue="work",route="/v1/cite"} 1.0' in other.metrics()
            assert 'propcite_waiting{queue="work"} 0.0' in other.metrics()
            encoder.released.set()
            assert first.result().status_code == 200
            wait_until(lambda: flood.cite("It rained.").status_code == 200, "it stays busy")


def test_a_client_that_goes_away_frees_its_place(
    tmp_path: Path, encoder: HeldEncoder, threads: ThreadPoolExecutor
) -> None:
    with running(served(tmp_path, encoder), threads) as (client, other):
        first = client.citing(HELD)
        assert encoder.begun.wait(60)
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(
                f"{client._address}/v1/cite",
                json={"answer": "It rained.", "passages": ["It rained on nobody."]},
                headers=client._headers,
                timeout=httpx.Timeout(60, read=0.5),
            )
        other.wait_for('propcite_waiting{queue="work"} 0.0')
        other.wait_for('propcite_wait_seconds_count{outcome="left",queue="work",route="/v1/cite"} 1.0')
        encoder.released.set()
        assert first.result().status_code == 200
        assert client.cite("It rained.").status_code == 200
        assert not any("It rained on nobody." in batch for batch in encoder.seen)


# Streams


def connect(address: str, path: str, body: str) -> socket.socket:
    """Send a request by a connection that takes in little and reads nothing by itself."""
    host, _, port = address.removeprefix("http://").partition(":")
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((host, int(port)))
    head = f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {len(body)}\r\n\r\n"
    client.sendall(f"{head}{body}".encode())
    return client


@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize("cite", ["true", "false"])
def test_a_reader_of_a_stream_that_stalls_or_trickles_loses_its_slot(
    tmp_path: Path, threads: ThreadPoolExecutor, reads: bool, cite: str
) -> None:
    with ScriptedLlm(Reply(chunks=["word " * 20_000] * 400)) as llm:
        settings = {"serve_streams": 1, "serve_stream_seconds": 1, "serve_idle_seconds": 1, "serve_sentences": 10**6}
        parts = served(tmp_path, WordEncoder(), llm_url=llm.base_url, **settings)
        with running_server(parts) as address:
            client = Client(threads, address)
            message = '[{"role":"user","content":"x"}]'
            body = f'{{"stream":true,"messages":{message},"propcite":{{"cite":{cite}}}}}'
            with connect(address, CHAT, body) as slow:
                client.wait_for('propcite_running{queue="chats"} 1.0')
                llm.script = "Yes."
                other = threads.submit(client.post, CHAT, messages=MESSAGES)
                slow.settimeout(0.3)
                while reads and not other.done():
                    try:
                        slow.recv(64)
                    except OSError:
                        break
                assert other.result().status_code == 200


def test_a_stream_that_takes_too_long_ends_with_an_error(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    setting, written_by = "PROPCITE_SERVE_STREAM_SECONDS", {"generator": "openai", "generator_model": "m"}
    with ScriptedLlm("Fourteen steel gates.") as llm:
        parts = served(tmp_path, WordEncoder(), llm_url=llm.base_url, serve_stream_seconds=2, **written_by)
        question = {"question": "How many gates?", "collection": "harbour"}
        with running_server(parts) as address:
            client = Client(threads, address)
            wait_until(lambda: client.post("/v1/ask", **question).status_code == 200, "no answer in time")
            llm.script = Reply("The barrier has fourteen steel gates. It is long. " * 40, chunk_delay=0.1)
            for extension in ({"collection": "harbour"}, {"cite": False}):
                chat = client.post(CHAT, messages=MESSAGES, stream=True, propcite=extension)
                *events, error, done, _ = chat.text.split("\n\n")
                assert done == "data: [DONE]"
                assert error.startswith('data: {"error"')
                assert setting in error
                assert any("barrier" in event for event in events)
                assert any('"incomplete": true' in event for event in events) == ("collection" in extension)
            *events, last, _ = client.post("/v1/ask", **question, stream=True).text.split("\n\n")
            assert last.startswith("event: error")
            assert setting in last
            assert any(event.startswith("event: answer.delta") for event in events)
            kept = lambda: [parts.library.answer(one.id) for one in parts.library.answers()]  # noqa: E731
            wait_until(lambda: any(answer.incomplete for answer in kept()), "what was written is lost")
            client.wait_for('propcite_running{queue="answers"} 0.0')
            assert llm.client_left.wait(10)
