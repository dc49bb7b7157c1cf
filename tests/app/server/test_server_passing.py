"""Routes of the model server that pass uncited, and sources as text for clients that drop citations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from proxied import CITED, HARBOUR, QUESTION, REPLY, post, proxied, reset
from scripted_llm import Reply, ScriptedLlm, error
from serving import parts_with, running_server, wait_until

from propcite.app.library.store import Scope
from propcite.app.server.routes.model_server import PASSED

VECTORS = json.dumps({"object": "list", "data": [{"index": 0, "embedding": [0.5, 1.0]}]})
MESSAGES = [{"role": "user", "content": QUESTION}]


@pytest.fixture(scope="module")
def standing(loaded: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ScriptedLlm]]:
    apis = ["chat/completions", "responses", "messages"]
    with proxied(loaded, tmp_path_factory.mktemp("passing"), apis) as both:
        yield both


@pytest.fixture
def llm(standing: tuple[str, ScriptedLlm]) -> ScriptedLlm:
    return reset(standing[1])


@pytest.fixture
def address(standing: tuple[str, ScriptedLlm], llm: ScriptedLlm) -> str:  # noqa: ARG001 - resets its script
    return standing[0]


@pytest.mark.parametrize("base", ["/v1", "/v1/collections/harbour"])
def test_other_routes_pass_as_they_are(address: str, llm: ScriptedLlm, base: str) -> None:
    sound = bytes(range(256)) * 100
    llm.others = {
        "/v1/embeddings": Reply(body=VECTORS, headers={"x-request-id": "up-1"}),
        "/v1/audio/transcriptions": Reply(body='{"text": "hi"}'),
        "/v1/audio/speech": Reply(body=sound, media_type="audio/mpeg"),
        "/v1/completions": Reply(raw=[b'data: {"choices": []}\n\n', b"data: [DONE]\n\n"]),
        "/v1/models/org/m:7b": Reply(body='{"id": "org/m:7b", "object": "model", "created": 0, "owned_by": "x"}'),
        "/v1/responses/resp_1": Reply(body='{"id": "resp_1"}'),
        "/v1/messages/count_tokens": Reply(body='{"input_tokens": 3}'),
    }
    client = openai.OpenAI(base_url=f"{address}{base}", api_key="any", max_retries=0)
    assert client.embeddings.create(model="e", input="x", encoding_format="float").data[0].embedding == [0.5, 1.0]
    assert client.audio.transcriptions.create(model="a", file=("a.mp3", sound)).text == "hi"
    assert sound in llm.requests[-1].raw
    assert llm.requests[-1].headers["content-type"].startswith("multipart/form-data; boundary=")
    assert client.audio.speech.create(model="a", voice="v", input="hi").read() == sound
    assert [c.choices for c in client.completions.create(model="c", prompt="x", stream=True)] == [[]]
    assert client.models.retrieve("org/m:7b").owned_by == "x"
    assert httpx.get(f"{address}{base}/responses/resp_1?include=x").json() == {"id": "resp_1"}
    assert llm.requests[-1].path == "/v1/responses/resp_1?include=x"
    assert httpx.delete(f"{address}{base}/responses/resp_1").json() == {"id": "resp_1"}
    assert httpx.post(f"{address}{base}/messages/count_tokens", content=b"{}").json() == {"input_tokens": 3}


def test_what_does_not_pass(address: str, llm: ScriptedLlm) -> None:
    """Files and batches of the account, other methods, and paths that leave the API."""
    for method, path in (
        *(("GET", "/files"), ("POST", "/batches"), ("GET", "/messages/batches"), ("DELETE", "/models/m")),
        *(("GET", "/models/a%2F..%2F..%2Fadmin"), ("GET", "/models/..%5Cx"), ("POST", "/audio/x%0d%0ay")),
        ("POST", "/collections/nowhere/embeddings"),
    ):
        refused = httpx.request(method, f"{address}/v1{path}")
        assert refused.status_code in (404, 405), path
        assert refused.json()["error"]["message"], path
    with pytest.raises(openai.NotFoundError, match="there is nothing at /v1/files"):
        openai.OpenAI(base_url=f"{address}/v1", api_key="any", max_retries=0).files.list()
    assert llm.requests == []


def test_refusals_have_the_form_of_the_api(address: str, llm: ScriptedLlm) -> None:
    """Also those that no route has seen: keys, rates, sizes, methods."""
    large, headers = b"x" * 10_000_000, {"anthropic-version": "2023-06-01"}
    for path in (
        "/embeddings",
        "/completions",
        "/audio/transcriptions",
        "/responses",
        "/collections/harbour/responses",
    ):
        assert post(address, path, large).json()["error"]["message"].endswith("PROPCITE_SERVE_BODY_MB")
        assert httpx.put(f"{address}/v1{path}").json()["error"]["type"] == "invalid_request_error"
    assert httpx.put(f"{address}/v1/messages").json()["type"] == "error"
    assert post(address, "/responses/resp_1", b"").json()["error"]["message"] == "Not Found"
    foreign = {"Origin": "https://evil.example"}
    assert post(address, "/embeddings", b"{}", headers=foreign).json()["error"]["type"] == "permission_error"
    assert post(address, "/messages", b"{}", headers=foreign).json()["error"]["type"] == "permission_error"
    assert httpx.get(f"{address}/v1/models/x", headers=headers).json()["type"] == "error"
    llm.others["/v1/embeddings"] = error(429, "slow down", retry_after="7")
    refused = post(address, "/embeddings", b"{}")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "7")
    llm.others["/v1/embeddings"] = Reply(status=500, body="Traceback")
    assert (
        post(address, "/embeddings", b"{}").status_code,
        "Traceback" in post(address, "/embeddings", b"{}").text,
    ) == (*(502, False),)


def test_every_route_asks_for_a_key(llm: ScriptedLlm, loaded: dict[str, object], tmp_path: Path) -> None:
    parts = parts_with(loaded, {"ours": {}, "theirs": {}}, data_dir=tmp_path, llm_url=llm.base_url)
    _, secret = parts.keys.create("bot", Scope.READ, ["ours"])
    with running_server(parts, requires_keys=True) as address:
        for methods, route in PASSED:
            path, bearer = route.replace("{rest:path}", "x"), {"Authorization": f"Bearer {secret}"}
            llm.others[f"/v1{path}"] = Reply(body="{}")
            for base, key, status in (
                *(("/v1", {}, 401), ("/v1", bearer, 200), ("/v1/collections/ours", bearer, 200)),
                *(("/v1/collections/theirs", bearer, 404), ("/v1/collections/ours", {}, 401)),
            ):
                answered = httpx.request(methods[0], f"{address}{base}{path}", headers=key)
                assert (answered.status_code, base, path) == (status, base, path)
        assert secret not in str([request.headers for request in llm.requests])


def test_a_rate(llm: ScriptedLlm, loaded: dict[str, object], tmp_path: Path) -> None:
    parts = parts_with(loaded, {}, data_dir=tmp_path, llm_url=llm.base_url, serve_rate=2)
    _, secret = parts.keys.create("bot", Scope.READ, [])
    with running_server(parts, requires_keys=True) as keyed:
        assert post(keyed, "/embeddings", b"{}").json()["error"]["type"] == "authentication_error"
        bearer = {"Authorization": f"Bearer {secret}"}
        kinds = [post(keyed, "/messages", b"{}", headers=bearer).json()["error"]["type"] for _ in range(3)]
        assert kinds == ["invalid_request_error", "invalid_request_error", "rate_limit_error"]


def test_the_same_limits(loaded: dict[str, object], tmp_path: Path) -> None:
    """Slots are shared with chats, and released when a client leaves."""
    settings = {"serve_streams": 2, "serve_wait_seconds": 0.01}
    with proxied(loaded, tmp_path, ["messages"], **settings) as (address, llm), ThreadPoolExecutor(2) as threads:
        llm.others["/v1/completions"] = Reply(raw=[b"data: {}\n\n"] * 50, chunk_delay=0.1)
        leaving = [threads.submit(_leave, f"{address}/v1/completions") for _ in range(2)]
        wait_until(lambda: 'propcite_running{queue="chats"} 2.0' in httpx.get(f"{address}/metrics").text, "running")
        for path, kind in (("/embeddings", "server_error"), ("/messages", "overloaded_error")):
            busy = post(address, path, {"messages": MESSAGES})
            assert (busy.status_code, busy.json()["error"]["type"]) == (503, kind)
            assert int(busy.headers["retry-after"]) >= 1
        for one in leaving:
            one.result()
        assert llm.client_left.wait(5)
        wait_until(lambda: 'propcite_running{queue="chats"} 0.0' in httpx.get(f"{address}/metrics").text, "free")
        assert post(address, "/embeddings", b"{}").status_code == 404  # the model server's own refusal


def _leave(url: str) -> None:
    with httpx.stream("POST", url, content=b"{}", timeout=60) as response:
        for number, _ in enumerate(response.iter_bytes()):
            if number == 10:
                return


def test_a_stream_that_breaks_off(address: str, llm: ScriptedLlm) -> None:
    llm.others["/v1/completions"] = Reply(raw=[b"data: {}\n\n"] * 5, breaks_after=2)
    with pytest.raises(openai.APIError, match="broke off"):
        list(
            openai.OpenAI(base_url=f"{address}/v1", api_key="any").completions.create(
                model="c", prompt="x", stream=True
            )
        )
    llm.others["/v1/embeddings"] = Reply(body=VECTORS, breaks_after=10)
    assert post(address, "/embeddings", b"{}").status_code == 502


def test_without_a_model_server_nothing_passes(serve: Any) -> None:
    refused = post(serve(), "/embeddings", b"{}")
    assert refused.status_code == 404
    assert "PROPCITE_LLM_URL" in refused.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/responses", "/messages"])
@pytest.mark.parametrize("cites", [True, False])
def test_a_client_that_disconnects_stops_the_model_server(
    address: str, llm: ScriptedLlm, path: str, cites: bool
) -> None:
    asked = {"input": QUESTION} if path == "/responses" else {"messages": MESSAGES}
    body = {**asked, "stream": True, "propcite": {"collection": "harbour", "cite": cites}}
    for apis in ({"chat/completions"}, {"chat/completions", path[1:]}):
        llm.apis, llm.script = apis, Reply(REPLY * 50, chunk_delay=0.05)
        llm.client_left.clear()
        with httpx.stream("POST", f"{address}/v1{path}", json=body, timeout=60) as response:
            next(response.iter_bytes())
        assert llm.client_left.wait(5)
    llm.apis = {"chat/completions", "responses", "messages"}


# Sources as text

LISTED = (
    "The barrier has fourteen steel gates.[1] It cost 410 million euros.[2] The mayor likes it.\n\n**Sources**\n\n"
    "1. gates: “The tidal barrier has fourteen steel gates.”\n2. cost: “The barrier cost 410 million euros.”"
)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["/chat/completions", "/responses", "/messages"])
def test_sources_as_text(address: str, path: str, stream: bool) -> None:
    """By a header: markers behind the sentences, a list behind the answer, and no annotations."""
    asked = {"input": QUESTION} if path == "/responses" else {"messages": MESSAGES}
    received = post(address, path, {**asked, "stream": stream, **HARBOUR}, headers={"PropCite-Sources": "text"})
    contents = [received.json()] if not stream else _contents(received.text)
    assert "".join(text for content in contents for text in _texts(content)) == LISTED
    assert '"annotations": [{' not in received.text
    assert '"citations": [{' not in received.text.replace('"citations": [{"id"', "")  # of the cited answer
    assert json.dumps(REPLY) in received.text  # the cited answer has the model's own text


def test_sources_as_text_by_a_setting_or_a_field(loaded: dict[str, object], tmp_path: Path) -> None:
    with proxied(loaded, tmp_path, proxy_sources="text") as (address, _):
        texts = [
            post(address, "/chat/completions", {"messages": MESSAGES, "propcite": {"collection": "harbour", **form}})
            for form in ({}, {"sources": "annotations"})
        ]
        assert [t.json()["choices"][0]["message"]["content"] for t in texts] == [LISTED, REPLY]


def test_words_wait_for_their_markers_alone(address: str, llm: ScriptedLlm) -> None:
    """Text comes piece by piece, in the pieces of the model where no sentence ends."""
    pieces = ["The", " barrier has", " fourteen steel gates", ".", " It", " cost 410", " million euros."]
    llm.script = Reply("".join(pieces), chunks=pieces)
    body = {"messages": MESSAGES, "stream": True, **HARBOUR}
    received = post(address, "/chat/completions", body, headers={"PropCite-Sources": "text"})
    texts = [text for content in _contents(received.text) for text in _texts(content) if text]
    assert texts[:4] == pieces[:4]
    assert "".join(texts).startswith(f"{CITED[0]}[1] It cost 410 million euros.[2]\n\n**Sources**")


def _contents(stream: str) -> list[Any]:
    data = [line.removeprefix("data: ") for line in stream.splitlines() if line.startswith("data: {")]
    return [json.loads(one) for one in data]


def _texts(content: Any) -> list[str]:
    """Return the texts of a whole answer, or what an event adds."""
    choices = content.get("choices", [])
    found = [choice.get("message", choice.get("delta", {})).get("content") or "" for choice in choices]
    if content.get("type") == "response.output_text.delta":
        found.append(content["delta"])
    if content.get("type") == "content_block_delta":
        found.append(content["delta"].get("text", ""))
    if "type" not in content:
        found += [part["text"] for item in content.get("output", []) for part in item["content"]]
    if content.get("type") == "message":
        found += [block["text"] for block in content["content"]]
    return found
