"""The Messages API, called by Anthropic's client: before a model server that has it, and before one that has not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx
import pytest
from proxied import CITED, HARBOUR, QUESTION, REPLY, events_in, killed, post, proxied, reset
from scripted_llm import Reply, ScriptedLlm, error
from serving import parts_with, running_server

from propcite.app.library.store import Scope
from propcite.attribution.formats.json import from_dict

Standing = tuple[str, ScriptedLlm]
MESSAGES: list[Any] = [{"role": "user", "content": QUESTION}]
DOCUMENT = {
    "type": "document",
    "title": "Letter",
    "source": {"type": "text", "media_type": "text/plain", "data": "Dear 😀 all. The mayor likes the barrier."},
    "citations": {"enabled": True},
}
RESULT = {
    "type": "search_result",
    "source": "https://example.org/gates",
    "title": "Gates",
    "content": [
        {"type": "text", "text": "A museum is there."},
        {"type": "text", "text": "The barrier has fourteen steel gates."},
    ],
    "citations": {"enabled": True},
}


NATIVE = pytest.mark.parametrize("standing", ["messages"], indirect=True)  # a model server with that API
TRANSLATED = pytest.mark.parametrize("standing", ["chat/completions"], indirect=True)


@pytest.fixture(scope="module", params=["messages", "chat/completions"])
def standing(
    request: pytest.FixtureRequest, loaded: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Standing]:
    with proxied(loaded, tmp_path_factory.mktemp("messages"), [request.param]) as both:
        yield both


@pytest.fixture
def llm(standing: Standing) -> ScriptedLlm:
    return reset(standing[1])


@pytest.fixture
def address(standing: Standing, llm: ScriptedLlm) -> str:  # noqa: ARG001 - resets its script
    return standing[0]


def client(address: str, **options: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(**{"base_url": address, "api_key": "any", "max_retries": 0, **options})


def options(given: dict[str, Any]) -> dict[str, Any]:
    extension = {"propcite": {"collection": "harbour", **given.pop("propcite", {})}}
    return {"model": "m", "max_tokens": 99, "messages": MESSAGES, "extra_body": extension, **given}


def ask(address: str, **given: Any) -> Any:
    return client(address).messages.create(**options(given))


def streamed(address: str, **given: Any) -> tuple[list[Any], Any]:
    with client(address).messages.stream(**options(given)) as stream:
        return list(stream), stream.get_final_message()


def texts(message: Any) -> list[tuple[str, list[str]]]:
    """Return the texts of a message, each with the titles of its citations."""
    return [
        (block.text, [getattr(c, "title", None) or getattr(c, "document_title", "") for c in block.citations or []])
        for block in message.content
        if block.type == "text"
    ]


THREE = [(CITED[0], ["gates"]), (f" {CITED[1]}", ["cost"]), (" The mayor likes it.", [])]


def test_each_sentence_has_its_citations(address: str) -> None:
    message = ask(address)
    assert texts(message) == THREE
    citation = message.content[0].citations[0]
    assert citation.type == "search_result_location"
    assert citation.cited_text.strip() == "The tidal barrier has fourteen steel gates."
    assert citation.source.startswith("urn:propcite:passage:")
    assert [b.citations[0].search_result_index for b in message.content[:2]] == [0, 1]
    (answer,) = message.propcite
    assert from_dict(answer).text == REPLY
    assert from_dict(answer).collection == "harbour"
    assert (message.stop_reason, bool(message.usage.output_tokens)) == ("end_turn", True)


def test_a_stream_gives_the_same_as_a_whole_message(address: str) -> None:
    """The client's own helper joins it; blocks follow each other, and citations come before the next words."""
    events, final = streamed(address)
    whole = ask(address)
    assert texts(final) == THREE
    assert [b.citations for b in final.content] == [b.citations for b in whole.content]
    assert final.stop_reason == "end_turn"
    raw = events_in(
        post(address, "/messages", {"messages": MESSAGES, "max_tokens": 9, "stream": True, **HARBOUR}).content
    )
    shown = [(e["type"], e.get("index"), e.get("delta", {}).get("type")) for e in raw]
    delta = "content_block_delta"
    assert [s for s in shown if s[2] != "text_delta" and s[0] != "ping"] == [
        ("message_start", None, None),
        *(("content_block_start", 0, None), (delta, 0, "citations_delta"), ("content_block_stop", 0, None)),
        *(("content_block_start", 1, None), (delta, 1, "citations_delta"), ("content_block_stop", 1, None)),
        *(("content_block_start", 2, None), ("content_block_stop", 2, None)),
        ("message_delta", None, None),
        ("message_stop", None, None),
    ]
    assert raw[-2]["propcite"][0]["text"] == REPLY
    assert "".join(e.text for e in events if e.type == "text") == REPLY


def test_words_come_while_the_rest_is_written(address: str, llm: ScriptedLlm) -> None:
    pieces = ["The barrier has fourteen steel gates. It", " cost", " 410", " million", " euros."]
    llm.script = Reply("".join(pieces), chunks=pieces, stalls_after=len(pieces) + (2 if "messages" in llm.apis else -1))
    seen = []
    for event in ask(address, stream=True):
        seen.append(event)
        if event.type == "content_block_delta" and event.delta.type == "citations_delta":
            llm.resume.set()
    words = [e.delta.text for e in seen if e.type == "content_block_delta" and e.delta.type == "text_delta"]
    assert words[0] == CITED[0]
    assert "".join(words) == "".join(pieces)


def test_documents_and_search_results_of_the_request(address: str, llm: ScriptedLlm) -> None:
    """They are cited as what they are, also without a collection; offsets count what the client wants."""
    llm.script = "The barrier has fourteen steel gates. The mayor likes the barrier. It cost 410 million euros."
    uncited = {**DOCUMENT, "citations": {"enabled": False}}
    asked = [{"role": "user", "content": [uncited, DOCUMENT, RESULT, {"type": "text", "text": QUESTION}]}]
    for extension, cost in (({}, None), ({"propcite": {"collection": "harbour"}}, ("search_result_location", 1))):
        body = {"model": "m", "max_tokens": 9, "messages": asked, **extension}
        for headers, start in (({}, 12), ({"PropCite-Offsets": "utf-16"}, 13), ({"PropCite-Offsets": "bytes"}, 15)):
            message = post(address, "/messages", body, headers=headers).json()
            gates, mayor, costs = message["content"]
            gates, mayor = gates["citations"][0], mayor["citations"][0]
            assert (gates["type"], gates["search_result_index"], gates["start_block_index"]) == (
                *("search_result_location", 0, 1),
            )
            assert gates["source"] == "https://example.org/gates"
            assert (mayor["type"], mayor["document_index"], mayor["start_char_index"]) == ("char_location", 1, start)
            found = costs.get("citations") and (
                costs["citations"][0]["type"],
                costs["citations"][0]["search_result_index"],
            )
            assert found == cost
    sent = json.dumps(llm.requests[-1].body)
    assert '"enabled": true' not in sent  # this server cites
    assert "The mayor likes the barrier." in sent


def test_what_only_the_model_server_can_read_it_cites_itself(address: str, llm: ScriptedLlm) -> None:
    pdf = {**DOCUMENT, "source": {"type": "url", "url": "https://example.org/letter.pdf"}}
    asked = [{"role": "user", "content": [pdf, DOCUMENT, {"type": "text", "text": QUESTION}]}]
    if "messages" in llm.apis:
        ask(address, messages=asked)
        assert json.dumps(llm.requests[-1].body).count('"enabled": true') == 2
    else:
        with pytest.raises(anthropic.UnprocessableEntityError, match="document of type url"):
            ask(address, messages=asked)


@pytest.mark.parametrize("stream", [False, True])
def test_kinds_of_citations_by_request(address: str, stream: bool) -> None:
    call = streamed if stream else lambda *a, **o: ((), ask(*a, **o))
    for kind in ("char_location", "page_location", "web_search_result_location"):
        _, message = call(address, propcite={"citation_type": kind})
        citation = message.content[1].citations[0]
        assert citation.type == kind.replace("page", "char")  # these documents have no pages
        assert getattr(citation, "document_index", 1) == 1
    with pytest.raises(anthropic.UnprocessableEntityError, match="citation_type"):
        ask(address, propcite={"citation_type": "url_citation"})


def test_earlier_answers_are_sent_back_without_citations(address: str, llm: ScriptedLlm) -> None:
    first = ask(address).to_dict()
    again = [*MESSAGES, {"role": "assistant", "content": first["content"]}, {"role": "user", "content": "Why?"}]
    ask(address, messages=again)
    sent = llm.requests[-1].raw.decode()
    assert '"propcite"' not in sent
    assert "search_result_location" not in sent
    page = {"type": "web_search_result_location", "url": "u", "title": "t", "cited_text": "c"}
    kept = [{**page, "encrypted_index": "theirs"}]
    text = {"type": "text", "text": "It cost.", "citations": [{**page, "encrypted_index": "propcite"}, *kept]}
    again[1] = {"role": "assistant", "content": [text]}  # as a client that keeps the fields that it knows
    post(address, "/messages", {"model": "m", "max_tokens": 9, "messages": again})
    if "messages" in llm.apis:
        assert llm.requests[-1].messages[1]["content"][0]["citations"] == kept


def test_a_killed_model_server(address: str, llm: ScriptedLlm) -> None:
    """What came is cited, and the client raises an error."""
    llm.script = killed(llm)
    with client(address).messages.stream(**options({})) as stream:
        with pytest.raises(anthropic.APIStatusError, match="broke off"):
            stream.get_final_message()
        assert texts(stream.current_message_snapshot)[0] == THREE[0]
    body = {"messages": MESSAGES, "stream": True, **HARBOUR}
    last = events_in(post(address, "/messages", body).content)[-1]
    assert last["type"] == "error"
    assert last["propcite"][0]["incomplete"]
    for uncited in ({}, {"cite": False}):
        llm.script = killed(llm, 0 if not uncited else 8)
        with pytest.raises(anthropic.APIStatusError, match="model server"):
            list(ask(address, stream=True, propcite=uncited))


def test_errors_have_the_form_of_anthropic(address: str, llm: ScriptedLlm) -> None:
    for body, status in (
        (b"{", 400),
        ({}, 422),
        ({"messages": [1]}, 422),
        ({"messages": MESSAGES, "propcite": 1}, 422),
    ):
        refused = post(address, "/messages", body)
        assert refused.status_code == status
        assert (refused.json()["type"], refused.json()["error"]["type"]) == ("error", "invalid_request_error")
    llm.script = error(429, "slow down", retry_after="7")
    with pytest.raises(anthropic.RateLimitError, match="slow down"):
        ask(address)
    llm.script = error(404, "no model m")
    with pytest.raises(anthropic.NotFoundError):
        ask(address)
    with pytest.raises(anthropic.NotFoundError, match="nowhere"):
        ask(address, propcite={"collection": "nowhere"})
    large = b'{"messages": [{"role": "user", "content": "' + b"x" * 10_000_000 + b'"}]}'
    assert post(address, "/messages", large).json()["error"]["type"] == "request_too_large"


def test_a_key_as_anthropics_clients_send_it(loaded: dict[str, object], tmp_path: Any, llm: ScriptedLlm) -> None:
    parts = parts_with(loaded, {"harbour": {"a.txt": "It rained."}}, data_dir=tmp_path, llm_url=llm.base_url)
    _, secret = parts.keys.create("bot", Scope.READ, ["harbour"])
    with running_server(parts, requires_keys=True) as address:
        with pytest.raises(anthropic.AuthenticationError, match="unknown"):
            ask(address)
        refused = httpx.get(f"{address}/v1/models", headers={"anthropic-version": "2023-06-01"})
        assert refused.json()["error"]["type"] == "authentication_error"
        own = client(address, api_key=secret)
        assert own.messages.create(**options({})).content[0].text
        assert secret not in str(llm.requests[-1].headers)


def test_the_servers_key_as_the_model_server_reads_it(serve: Callable[..., str], llm: ScriptedLlm) -> None:
    """In both headers where it has the Messages API; the client's own is not sent."""
    address = serve({"harbour": {"a.txt": "It rained."}}, llm_url=llm.base_url, llm_key="sk-1")
    ask(address)
    sent = llm.requests[-1].headers
    assert sent["authorization"] == "Bearer sk-1"
    assert sent.get("x-api-key") == ("sk-1" if "messages" in llm.apis else None)
    llm.script = error(401, "Incorrect key sk-1")
    with pytest.raises(anthropic.InternalServerError, match="PROPCITE_LLM_KEY") as caught:
        ask(address)
    assert "sk-1" not in caught.value.response.text


@pytest.mark.parametrize("stream", [False, True])
def test_tools_pass(address: str, llm: ScriptedLlm, stream: bool) -> None:
    block = {"type": "tool_use", "id": "c1", "name": "cost", "input": {"of": "it"}}
    tool: Any = {"name": "cost", "input_schema": {"type": "object"}}
    if "messages" in llm.apis:
        llm.script = Reply("It cost 410 million euros. I look.", items=[block], finish_reason="tool_calls")
    else:
        call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "cost", "arguments": '{"of": "it"}'}}
        message = {"content": "It cost 410 million euros. I look.", "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        pieces: list[Any] = ["It cost 410 million euros.", " I look.", {"tool_calls": [call]}]
        llm.script = (
            Reply("", chunks=pieces, finish_reason="tool_calls")
            if stream
            else Reply(body=json.dumps({"choices": [choice]}))
        )
    answer = streamed(address, tools=[tool])[1] if stream else ask(address, tools=[tool])
    assert texts(answer) == [(CITED[1], ["cost"]), (" I look.", [])]
    assert answer.content[-1].to_dict() == block
    assert answer.stop_reason == "tool_use"


# A model server with the Messages API


@NATIVE
def test_without_a_collection_nothing_is_changed(address: str, llm: ScriptedLlm) -> None:
    raw = b'{"messages" : [{"role":"user","content":"Hi"}],  "odd": [1e2]}'
    llm.script = Reply(body=b'{"content": [ {"type":"text","text":"Hi."}]}\n')
    assert post(address, "/messages", raw).content == llm.script.body
    assert llm.requests[-1].raw == raw


@NATIVE
def test_other_blocks_pass_untouched(address: str, llm: ScriptedLlm) -> None:
    odd = [
        {"type": "thinking", "thinking": "The museum opened in 1987.", "signature": "s"},
        {"type": "hologram", "shape": {"points": [1.5, None]}},
        {"type": "text", "text": "It cost 410 million euros.", "citations": [{"type": "char_location"}]},
        {"type": "text", "text": " "},
    ]
    llm.script = Reply(body=json.dumps({"type": "message", "content": odd}))
    assert post(address, "/messages", {"messages": MESSAGES, **HARBOUR}).json()["content"] == odd


@NATIVE
@pytest.mark.parametrize(
    "raw",
    [
        [b"data: {\n\n", b"data: 5\n\n", b"\n\n"],
        [b'data: {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "x"}}\n\n'],
        [b'data: {"type": "content_block_start", "index": "x", "content_block": 5}\n\n'],
        [b'data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}\n\n'],
        [b'data: {"type": "error", "error": {"type": "overloaded_error", "message": "out of memory"}}\n\n'],
    ],
)
def test_any_stream_ends(address: str, llm: ScriptedLlm, raw: list[bytes]) -> None:
    llm.script = Reply(raw=raw)
    received = post(address, "/messages", {"messages": MESSAGES, "stream": True, **HARBOUR}).content
    *_, last = received.strip().split(b"\n\n")
    assert last.startswith(b"event: error\n")


# A model server without


@TRANSLATED
def test_a_request_is_translated(address: str, llm: ScriptedLlm) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "410"}, image]}
    thought = {"type": "thinking", "thinking": "Hm.", "signature": ""}
    call = {"type": "tool_use", "id": "c1", "name": "cost", "input": {}}
    body = {
        "model": "m",
        "max_tokens": 9,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [DOCUMENT, {"type": "text", "text": "What?"}]},
            {"role": "assistant", "content": [thought, {"type": "text", "text": "I look."}, call]},
            {"role": "user", "content": [result, RESULT]},
        ],
        "tools": [{"name": "cost", "description": "d", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "stop_sequences": ["END"],
        "repetition_penalty": 1.1,
        "propcite": {"cite": False},
    }
    post(address, "/messages", body)
    sent = llm.requests[-1].body
    system, user, assistant, tool, seen = sent.pop("messages")
    assert system == {"role": "system", "content": "Be brief."}
    assert user["content"].startswith("<document>\ntitle: Letter\n")
    assert user["content"].endswith("What?")
    function = {"name": "cost", "arguments": "{}"}
    calls = [{"id": "c1", "type": "function", "function": function}]
    assert assistant == {"role": "assistant", "content": "I look.", "tool_calls": calls}
    assert tool == {"role": "tool", "tool_call_id": "c1", "content": "410"}
    assert [part["type"] for part in seen["content"]] == ["image_url", "text"]
    assert (sent["tool_choice"], sent["repetition_penalty"]) == ("required", 1.1)
    assert (sent["parallel_tool_calls"], sent["stop"], sent["max_tokens"]) == (False, ["END"], 9)
    for wrong in (
        {"tools": [{"type": "web_search_20250305", "name": "w"}]},
        {"messages": [{"content": [{"type": "x"}]}]},
    ):
        refused = post(address, "/messages", {"messages": MESSAGES, **wrong})
        assert refused.status_code == 422
        assert "/messages itself" in refused.json()["error"]["message"]


def test_without_a_model_server_the_local_generator_answers(serve: Callable[..., str]) -> None:
    address = serve({"harbour": {"gates.txt": "The barrier has fourteen steel gates."}})
    assert texts(streamed(address)[1]) == texts(ask(address))
    assert texts(ask(address))[0][1] == ["gates"]
