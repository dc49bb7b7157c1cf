"""Latency that the citing endpoint adds to a chat completion: a model server called directly and through the proxy.

    python -m tests.benchmarks.proxy [--rounds 200] [--cited 30] [--tokens-a-second 50]

A model server with a fixed answer, PropCite and the client are three processes on loopback; direct and proxied requests
take turns.  The table has the times of answers that pass through uncited, and for a cited answer of five sentences over
the demo collection the time from the model's last word to the end of the stream, or to the complete answer.  The model
server has Chat Completions alone, so responses and messages are translated.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.types import Receive, Scope, Send
from tests.benchmarks.servers import served, started

ANSWER = (
    "The Lantern Point flood barrier is 6.4 metres high. It was finished on 18 October 2024, eleven weeks late. "
    "The barrier cost €212.4 million, which is €16.9 million more than Council approved in 2018. "
    "Heron Bridge opens to the public on 21 May 2025. The first official crossing is at 14:00 that day."
)
TOKENS = re.findall(r"\s*\S+", ANSWER)
MESSAGES = [{"role": "user", "content": "How high is the flood barrier, when was it finished and what did it cost?"}]
UNCITED, CITED = {"cite": False}, {"collection": "demo"}


@dataclass(frozen=True)
class Road:
    """An API: its route, the field and the form of the question, and what names a word and the end in its stream."""

    path: str
    asked: dict[str, Any]
    word: str
    end: str


CHAT = Road("/chat/completions", {"messages": MESSAGES}, '"content"', "data: [DONE]")
RESPONSES = Road("/responses", {"input": MESSAGES}, "event: response.output_text.delta", "response.completed")
MESSAGES_API = Road("/messages", {"messages": MESSAGES, "max_tokens": 500}, '"text_delta"', "message_stop")


async def model_server(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve an OpenAI-compatible endpoint with one fixed answer; `pace` in the body is the seconds per word."""
    assert scope["type"] == "http"
    raw, more = b"", True
    while more:
        message = await receive()
        raw, more = raw + message.get("body", b""), message.get("more_body", False)
    body = json.loads(raw or b"{}")
    if scope["path"].endswith(("/responses", "/messages")):
        await send({"type": "http.response.start", "status": 404, "headers": []})
        return await send({"type": "http.response.body", "body": b"{}"})
    kind = b"text/event-stream" if body.get("stream") else b"application/json"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
    if not body.get("stream"):
        message = {"role": "assistant", "content": ANSWER}
        reply = {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        return await send({"type": "http.response.body", "body": json.dumps(reply).encode()})
    for token in (*TOKENS, None):
        delta = {"content": token} if token else {}
        choice = {"index": 0, "delta": delta, "finish_reason": None if token else "stop"}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
        await send({"type": "http.response.body", "body": _event(json.dumps(chunk)), "more_body": True})
        await asyncio.sleep(body.get("pace", 0) if token else 0)
    return await send({"type": "http.response.body", "body": _event("[DONE]")})


def _event(data: str) -> bytes:
    return f"data: {data}\n\n".encode()


async def whole(http: httpx.AsyncClient, extension: dict[str, Any] | None, road: Road = CHAT) -> float:
    """Return the milliseconds to a complete answer that is not streamed."""
    start = time.perf_counter()
    response = await http.post(road.path, json=_body(extension, road))
    assert response.status_code == 200, response.text
    if road is not CHAT:
        assert "propcite/answer" in response.text
        return 1000 * (time.perf_counter() - start)
    message = response.json()["choices"][0]["message"]
    assert message["content"] == ANSWER
    assert ("collection" in (extension or {})) == bool(message.get("annotations"))
    return 1000 * (time.perf_counter() - start)


async def streamed(
    http: httpx.AsyncClient, extension: dict[str, Any] | None, pace: float = 0, road: Road = CHAT
) -> tuple[float, float]:
    """Return the milliseconds to the first word, and from the last word to the end."""
    start, words = time.perf_counter(), []
    body = {**_body(extension, road), "stream": True, "pace": pace}
    async with http.stream("POST", road.path, json=body) as response:
        async for line in _lines(response, road.end):
            words += [time.perf_counter()] if road.word in line and "propcite/answer" not in line else []
    end = time.perf_counter()
    assert len(words) == len(TOKENS) or road is MESSAGES_API  # there words may come together
    return 1000 * (words[0] - start), 1000 * (end - words[-1])


async def _lines(response: httpx.Response, end: str) -> AsyncIterator[str]:
    last = ""
    async for line in response.aiter_lines():
        last = line or last
        yield line
    assert end in last


def _body(extension: dict[str, Any] | None, road: Road = CHAT) -> dict[str, Any]:
    return {"model": "m", **road.asked, **({"propcite": extension} if extension else {})}


def print_row(name: str, direct: list[float], proxied: list[float]) -> None:
    """Print a row: median and p95 of both, and of the difference of each pair."""
    added = [b - a for a, b in zip(direct, proxied, strict=True)]
    cells = [f"{_median(x):.1f} / {_p95(x):.1f}" for x in (direct, proxied, added)]
    print(f"| {name} | {' | '.join(cells)} | {_median(proxied) / _median(direct):.2f} |", flush=True)


def _median(times: list[float]) -> float:
    return statistics.median(times)


def _p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


async def measure(direct_url: str, proxy_url: str, rounds: int, cited: int, pace: float) -> None:
    print("| milliseconds, median / p95 | directly | through the proxy | added | ratio |\n|---|---:|---:|---:|---:|")
    async with (
        httpx.AsyncClient(base_url=direct_url, timeout=120) as direct,
        httpx.AsyncClient(base_url=proxy_url, timeout=120) as proxy,
    ):
        for _ in range(5):
            await whole(direct, None), await whole(proxy, CITED), await streamed(proxy, CITED)
        for what, extension in (("no collection", None), ("`cite: false`", UNCITED)):
            both = [(await whole(direct, None), await whole(proxy, extension)) for _ in range(rounds)]
            print_row(f"{what}, whole", [a for a, _ in both], [b for _, b in both])
        words, alone = f"{1 / pace:.0f} words a second", {**CITED, "retrieve": False}
        for what, extension in (("`cite: false`", UNCITED), ("cited, passages shown", CITED), ("cited", alone)):
            slow = [(await streamed(direct, None, pace), await streamed(proxy, extension, pace)) for _ in range(cited)]
            print_row(f"{what}, {words}: to the first word", [a[0] for a, _ in slow], [b[0] for _, b in slow])
            print_row(f"{what}, {words}: last word to end", [a[1] for a, _ in slow], [b[1] for _, b in slow])
        quick = [(await streamed(direct, None), await streamed(proxy, alone)) for _ in range(cited)]
        print_row("cited, all words at once: last word to end", [a[1] for a, _ in quick], [b[1] for _, b in quick])
        both = [(await whole(direct, None), await whole(proxy, alone)) for _ in range(cited)]
        print_row("cited, whole", [a for a, _ in both], [b for _, b in both])
        for name, road in (("responses", RESPONSES), ("messages", MESSAGES_API)):
            await whole(proxy, alone, road)
            slow = [
                (await streamed(direct, None, pace), await streamed(proxy, alone, pace, road)) for _ in range(cited)
            ]
            print_row(f"{name}, cited, {words}: to the first word", [a[0] for a, _ in slow], [b[0] for _, b in slow])
            print_row(f"{name}, cited, {words}: last word to end", [a[1] for a, _ in slow], [b[1] for _, b in slow])
            both = [(await whole(direct, None), await whole(proxy, alone, road)) for _ in range(cited)]
            print_row(f"{name}, cited, whole", [a for a, _ in both], [b for _, b in both])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--cited", type=int, default=30)
    parser.add_argument("--tokens-a-second", type=float, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, started("tests.benchmarks.proxy:model_server") as model:
        direct = f"{model}/v1"
        os.environ.update(PROPCITE_DATA_DIR=folder, PROPCITE_LLM_URL=direct)
        with served("") as (address, _):
            asyncio.run(measure(direct, f"{address}/v1", options.rounds, options.cited, 1 / options.tokens_a_second))


if __name__ == "__main__":
    main()
