"""A chatbot's own client, our server, a real vLLM behind it: citations come with the text, nonsense or not."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import openai
import pytest
from serving import running_server
from tests.on_vllm.common import QUESTIONS, TOKENS, check_words, pipeline_over_notes
from tests.on_vllm.conftest import VllmServer

from propcite.app.parts import Parts
from propcite.attribution.formats.json import from_json
from propcite.attribution.llm.usage import Usage

pytestmark = pytest.mark.vllm

OVER = {"propcite": {"collection": "notes"}}


@pytest.fixture
def parts(open_parts: Callable[..., Parts], tmp_path: Path, vllm_server: VllmServer) -> Parts:
    return parts_behind(vllm_server, open_parts, tmp_path)


def parts_behind(server: VllmServer, open_parts: Callable[..., Parts], folder: Path) -> Parts:
    parts = open_parts(generator="openai", generator_model=server.model, llm_url=server.base_url, max_tokens=TOKENS)
    pipeline_over_notes(parts, folder)
    return parts


@pytest.fixture
def address(parts: Parts) -> Iterator[str]:
    with running_server(parts) as address:
        yield address


@pytest.fixture
def client(address: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{address}/v1", api_key="none", timeout=120, max_retries=0)


def known(parts: Parts) -> set[str]:
    return set(parts.library.passage_ids(parts.library.collection("notes")))


def asked(question: str) -> dict[str, object]:
    messages = [{"role": "user", "content": question}]
    return {"model": "tiny", "messages": messages, "max_tokens": TOKENS, "temperature": 0}


def test_a_completion_comes_with_its_cited_answer(client: openai.OpenAI, parts: Parts) -> None:
    whole = client.chat.completions.create(**asked(QUESTIONS[0]), extra_body=OVER)  # type: ignore[call-overload]
    message = whole.choices[0].message
    cited = message.model_extra["propcite"]
    assert cited["text"] == message.content
    assert cited["models"]["generator"] == "tiny"
    assert {p["id"] for p in cited["passages"]} <= known(parts)
    assert whole.usage.completion_tokens == TOKENS
    assert whole.choices[0].finish_reason == "length"
    assert cited["incomplete"]


def test_a_stream_adds_up_to_the_completion(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(**asked(QUESTIONS[1]), extra_body=OVER)  # type: ignore[call-overload]
    text, told, reasons, usage = "", [], [], None
    for chunk in client.chat.completions.create(  # type: ignore[call-overload]
        **asked(QUESTIONS[1]), stream=True, stream_options={"include_usage": True}, extra_body=OVER
    ):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            told += [choice.delta.model_extra["propcite"]] if "propcite" in (choice.delta.model_extra or {}) else []
            reasons += [choice.finish_reason] if choice.finish_reason else []
    assert text == whole.choices[0].message.content
    assert reasons == [whole.choices[0].finish_reason]
    assert usage == whole.usage
    assert [one["text"] for one in told] == [text]


def test_what_is_not_cited_is_passed_on_as_it_is(client: openai.OpenAI, vllm_server: VllmServer) -> None:
    direct = openai.OpenAI(base_url=vllm_server.base_url, api_key="none")
    bare = {"propcite": {"cite": False}}
    ours = client.chat.completions.create(**asked(QUESTIONS[2]), extra_body=bare)  # type: ignore[call-overload]
    theirs = direct.chat.completions.create(**asked(QUESTIONS[2]))  # type: ignore[call-overload]
    assert ours.choices[0].message.content == theirs.choices[0].message.content
    assert ours.choices[0].message.model_extra.get("propcite") is None
    assert [model.id for model in client.models.list()] == [model.id for model in direct.models.list()]


def test_a_client_that_leaves_ends_the_writing(client: openai.OpenAI, vllm_server: VllmServer) -> None:
    before = vllm_server.figure("vllm:generation_tokens_total")
    long = {**asked(QUESTIONS[3]), "max_tokens": 1500}
    more = {**OVER, "ignore_eos": True}
    with client.chat.completions.create(**long, stream=True, extra_body=more) as stream:  # type: ignore[call-overload]
        next(iter(stream))
    end = time.monotonic() + 20
    while vllm_server.figure("vllm:num_requests_running") and time.monotonic() < end:
        time.sleep(0.05)
    assert vllm_server.figure("vllm:num_requests_running") == 0
    assert vllm_server.figure("vllm:generation_tokens_total") - before < 1000


def test_a_model_that_is_not_there_and_a_prompt_that_is_too_long(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="huge"):
        client.chat.completions.create(**{**asked("What?"), "model": "huge"})  # type: ignore[call-overload]
    with pytest.raises(openai.BadRequestError, match="context"):
        client.chat.completions.create(**asked("The barrier cost. " * 4000))  # type: ignore[call-overload]


def test_a_question_is_answered_over_our_own_route(address: str, parts: Parts) -> None:
    body = {"question": QUESTIONS[0], "collection": "notes"}
    whole = httpx.post(f"{address}/v1/ask", json=body, timeout=120).json()
    assert whole["models"]["generator"] == "openai/tiny"
    assert {p["id"] for p in whole["passages"]} <= known(parts)
    told = httpx.post(f"{address}/v1/ask", json={**body, "stream": True}, timeout=120).text
    events = [dict(line.split(": ", 1) for line in block.splitlines()) for block in told.strip().split("\n\n")]
    texts = [json.loads(e["data"])["text"] for e in events if e.get("event") == "answer.delta"]
    assert "".join(texts) == whole["text"]
    assert len(texts) > 3
    assert events[-1]["event"] == "result"


def test_a_small_real_model_answers_in_words(
    open_parts: Callable[..., Parts], tmp_path: Path, smollm2_server: VllmServer
) -> None:
    parts = parts_behind(smollm2_server, open_parts, tmp_path)
    body = {**asked(QUESTIONS[0]), "model": smollm2_server.model}
    with running_server(parts) as address:
        client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", timeout=240, max_retries=0)
        whole = client.chat.completions.create(**body, extra_body=OVER)  # type: ignore[call-overload]
    message, used = whole.choices[0].message, whole.usage
    assert message.model_extra["propcite"]["text"] == message.content
    answer = from_json(json.dumps(message.model_extra["propcite"]))
    check_words(answer, Usage(used.prompt_tokens, used.completion_tokens))
