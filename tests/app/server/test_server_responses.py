"""The Responses API, called by OpenAI's client: before a model server that has it, and before one that has not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
from proxied import CITED, HARBOUR, QUESTION, REPLY, events_in, killed, post, proxied, reset
from scripted_apis import CALL, REASONING
from scripted_llm import Reply, ScriptedLlm, error

from propcite.attribution.formats.json import from_dict

Standing = tuple[str, ScriptedLlm]


NATIVE = pytest.mark.parametrize("standing", ["responses"], indirect=True)  # a model server with that API
TRANSLATED = pytest.mark.parametrize("standing", ["chat/completions"], indirect=True)


@pytest.fixture(scope="module", params=["responses", "chat/completions"])
def standing(
    request: pytest.FixtureRequest, loaded: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Standing]:
    with proxied(loaded, tmp_path_factory.mktemp("responses"), [request.param]) as both:
        yield both


@pytest.fixture
def llm(standing: Standing) -> ScriptedLlm:
    return reset(standing[1])


@pytest.fixture
def address(standing: Standing, llm: ScriptedLlm) -> str:  # noqa: ARG001 - resets its script
    return standing[0]


def client(address: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{address}/v1", api_key="any", max_retries=0)


def ask(address: str, **options: Any) -> Any:
    extension = {"propcite": {"collection": "harbour", **options.pop("propcite", {})}}
    return client(address).responses.create(**{"model": "m", "input": QUESTION, "extra_body": extension, **options})


def streamed(address: str, **options: Any) -> tuple[list[Any], Any]:
    extension = {"propcite": {"collection": "harbour", **options.pop("propcite", {})}}
    with client(address).responses.stream(model="m", input=QUESTION, extra_body=extension, **options) as stream:
        return list(stream), stream.get_final_response()


def part_of(response: Any) -> Any:
    return next(item for item in response.output if item.type == "message").content[0]


def quoted(part: Any) -> list[str]:
    return [part.text[a.start_index : a.end_index] for a in part.annotations]


def test_each_fact_is_cited(address: str) -> None:
    response = ask(address)
    part = part_of(response)
    assert (response.output_text, response.status) == (REPLY, "completed")
    assert quoted(part) == CITED
    assert [a.title for a in part.annotations] == ["gates", "cost"]
    answer = from_dict(part.propcite)
    assert answer.text == REPLY
    assert (answer.collection, answer.question, answer.models["generator"]) == ("harbour", QUESTION, "m")
    assert response.usage.total_tokens


def test_a_stream_gives_the_same_as_a_whole_response(address: str) -> None:
    """The client's own helper joins it; every event has the next number, and annotations come between the words."""
    events, final = streamed(address)
    part, whole = part_of(final), part_of(ask(address))
    assert (part.text, part.annotations) == (REPLY, whole.annotations)
    assert {**part.propcite, "timings_ms": {}, "id": ""} == {**whole.propcite, "timings_ms": {}, "id": ""}
    assert [e.sequence_number for e in events] == list(range(len(events)))
    kinds = [e.type.removeprefix("response.") for e in events]
    assert kinds[:4] == ["created", "in_progress", "output_item.added", "content_part.added"]
    assert kinds[-4:] == ["output_text.done", "content_part.done", "output_item.done", "completed"]
    added = [e for e in events if e.type == "response.output_text.annotation.added"]
    assert [e.annotation_index for e in added] == [0, 1]
    assert [e.annotation["title"] if isinstance(e.annotation, dict) else e.annotation.title for e in added] == [
        *("gates", "cost")
    ]


def test_files_as_citations(address: str) -> None:
    files = part_of(ask(address, propcite={"citation_type": "file_citation"})).annotations
    assert [(a.type, a.filename, a.index) for a in files] == [
        *(("file_citation", "gates", 37), ("file_citation", "cost", 64))
    ]
    with pytest.raises(openai.UnprocessableEntityError, match="citation_type"):
        ask(address, propcite={"citation_type": "char_location"})


def test_the_model_is_shown_passages(address: str, llm: ScriptedLlm) -> None:
    ask(address, instructions="Be brief.")
    body = llm.requests[-1].body
    shown = body.get("instructions") or body["messages"][0]["content"]
    assert shown.startswith("Be brief.\n\nPassages")
    assert "fourteen steel gates" in shown
    assert "propcite" not in body


def test_markers_that_the_model_writes_are_removed(address: str, llm: ScriptedLlm) -> None:
    pieces = ["The barrier has fourteen steel gates", " [", "1", "]. It cost 410 million euros [2", "]"]
    llm.script = Reply("".join(pieces), chunks=pieces)
    clean = "The barrier has fourteen steel gates. It cost 410 million euros"
    events, final = streamed(address, propcite={"strip_markers": True})
    whole = part_of(ask(address, propcite={"strip_markers": True}))
    assert part_of(final).text == whole.text == clean
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == clean
    assert quoted(part_of(final)) == quoted(whole)


def test_a_killed_model_server(address: str, llm: ScriptedLlm) -> None:
    """What came is cited, and the response has failed."""
    llm.script = killed(llm)
    seen: list[Any] = []
    with client(address).responses.stream(model="m", input=QUESTION, extra_body=HARBOUR) as stream:
        seen.extend(stream)
        with pytest.raises(RuntimeError, match="completed"):
            stream.get_final_response()
    failed = seen[-1]
    assert failed.type == "response.failed"
    assert "broke off" in failed.response.error.message
    part = part_of(failed.response)
    assert REPLY.startswith(part.text)
    assert quoted(part)[0] == CITED[0]
    assert from_dict(part.propcite).incomplete
    assert [e.sequence_number for e in seen] == list(range(len(seen)))
    llm.script = Reply(REPLY, breaks_after=0)
    with pytest.raises(openai.APIError, match="broke off"):
        list(ask(address, stream=True))
    llm.script = killed(llm)
    with pytest.raises(openai.APIError, match="model server"):  # uncited
        list(ask(address, stream=True, propcite={"cite": False, "retrieve": False}))


def test_errors_have_the_form_of_openai(address: str, llm: ScriptedLlm) -> None:
    for body, status in (
        (b"{", 400),
        ({"input": 5}, 422),
        ({"input": ["x"]}, 422),
        ({"input": "x", "propcite": 1}, 422),
    ):
        refused = post(address, "/responses", body)
        assert (refused.status_code, refused.headers["content-type"]) == (status, "application/json")
        assert refused.json()["error"]["message"]
    llm.script = error(429, "slow down", retry_after="7")
    with pytest.raises(openai.RateLimitError, match="slow down") as caught:
        ask(address)
    assert caught.value.response.headers["retry-after"] == "7"
    llm.script = error(404, "no model m")
    with pytest.raises(openai.NotFoundError):
        ask(address)
    llm.script = Reply(body="<html>")
    with pytest.raises(openai.InternalServerError, match="JSON"):
        ask(address)


def test_earlier_answers_are_sent_back_without_citations(address: str, llm: ScriptedLlm) -> None:
    first = ask(address)
    asked = [{"role": "user", "content": QUESTION}, *(item.to_dict() for item in first.output)]
    again = [*asked, {"role": "user", "content": "And the museum?"}]
    assert part_of(ask(address, input=again)).propcite["question"] == "And the museum?"
    sent = llm.requests[-1].raw.decode()
    assert "propcite" not in sent.replace("urn:propcite", "")
    assert "url_citation" not in sent


def test_json_for_a_program_is_not_cited(address: str, llm: ScriptedLlm) -> None:
    llm.script = '["The museum opened in 1987."]'
    schema = {"type": "json_schema", "name": "list", "schema": {"type": "array"}}
    response = ask(address, text={"format": schema})
    assert not hasattr(part_of(response), "propcite")


# A model server with the Responses API: what is not text passes untouched


@NATIVE
@pytest.mark.parametrize("stream", [False, True])
def test_other_items_pass_untouched(address: str, llm: ScriptedLlm, stream: bool) -> None:
    odd = {"type": "hologram", "id": "h_1", "shape": {"points": [1.5, None]}}
    picture = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "aGk="}
    items = [REASONING, odd, picture, CALL]
    llm.script = Reply(REPLY, items=items)
    received = post(address, "/responses", {"model": "m", "input": QUESTION, "stream": stream, **HARBOUR})
    if not stream:
        assert received.json()["output"][:4] == items
        return
    events = events_in(received.content)
    assert events[-1]["response"]["output"][:4] == items
    assert [e["item"] for e in events if e["type"] == "response.output_item.done"][:4] == items
    assert [e["sequence_number"] for e in events] == list(range(len(events)))


@NATIVE
def test_without_a_collection_nothing_is_changed(address: str, llm: ScriptedLlm) -> None:
    raw = b'{"input" : "Hi",  "model":"m", "odd": [1e2]}'
    llm.script = Reply(body=b'{"output": [ {"type":"message","content":[]}]}\n')
    assert post(address, "/responses", raw).content == llm.script.body
    assert llm.requests[-1].raw == raw
    stream = b"event: x\ndata: {}\r\n\r\n: y\n\n"
    llm.script = Reply(raw=[stream])
    assert post(address, "/responses", {"input": "Hi", "stream": True}).content == stream


@NATIVE
@pytest.mark.parametrize(
    "raw",
    [
        [b"data: {\n\n", b"data: 5\n\n", b"\n\n"],
        [b'data: {"type": "response.output_text.delta", "delta": "It rained."}\n\n'],
        [b'data: {"type": "response.output_text.done", "output_index": "x"}\n\n', b"data: [DONE]\n\n"],
        [b'data: {"type": "response.created", "response": {"output": 5}}\n\n'],
        [b'data: {"type": "response.completed", "response": {"output": [5, {"content": [{"type": "x"}]}]}}\n\n'],
        [b'data: {"type": "error", "message": "out of memory"}\n\n'],
    ],
)
def test_any_stream_ends(address: str, llm: ScriptedLlm, raw: list[bytes]) -> None:
    llm.script = Reply(raw=raw)
    received = post(address, "/responses", {"input": QUESTION, "stream": True, **HARBOUR})
    kinds = [event["type"] for event in events_in(received.content.replace(b"data: {\n\n", b"")) if "type" in event]
    assert kinds[-1] in ("response.completed", "response.failed", "error")


# A model server without: requests and answers are translated


TOOL = {"type": "function", "name": "cost", "parameters": {"type": "object"}, "strict": True}


@TRANSLATED
def test_a_request_is_translated(address: str, llm: ScriptedLlm) -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "low"}
    items = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "What?"}, image]},
        {"type": "reasoning", "id": "rs", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "cost", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "cost", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "410"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "411"}]},
    ]
    options = {
        "max_output_tokens": 9,
        "reasoning": {"effort": "low"},
        "tool_choice": {"type": "function", "name": "cost"},
    }
    body = {"model": "m", "input": items, "tools": [TOOL], "temperature": 0.5, "top_k": 3, "store": False, **options}
    post(address, "/responses", {**body, "propcite": {"cite": False}})
    function = {"name": "cost", "arguments": "{}"}
    sent = llm.requests[-1].body
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{n}", "type": "function", "function": function} for n in (1, 2)],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "410"},
        {"role": "tool", "tool_call_id": "c2", "content": "411"},
    ]
    assert sent["tools"] == [{"type": "function", "function": {k: v for k, v in TOOL.items() if k != "type"}}]
    assert (sent["max_tokens"], sent["reasoning_effort"], sent["temperature"]) == (9, "low", 0.5)
    assert (sent["top_k"], "store" in sent) == (3, False)
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "cost"}}


@TRANSLATED
@pytest.mark.parametrize("stream", [False, True])
def test_calls_and_thoughts_are_translated(address: str, llm: ScriptedLlm, stream: bool) -> None:
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "cost", "arguments": '{"of"'}}
    rest = {"index": 0, "function": {"arguments": ': "it"}'}}
    other = {"index": 1, "id": "c2", "type": "function", "function": {"name": "cost", "arguments": "{}"}}
    if stream:
        pieces: list[Any] = [
            {"reasoning_content": "Hm."},
            "I",
            " look.",
            {"tool_calls": [call, other]},
            {"tool_calls": [rest]},
        ]
        llm.script = Reply("", chunks=pieces, finish_reason="tool_calls")
        _, response = streamed(address, tools=[TOOL])
    else:
        whole = {**call, "function": {"name": "cost", "arguments": '{"of": "it"}'}}
        message = {"content": "I look.", "reasoning_content": "Hm.", "tool_calls": [whole, other]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        llm.script = Reply(body=json.dumps({"choices": [choice]}))
        response = ask(address, tools=[TOOL])
    thought, message, *calls = response.output
    assert thought.content[0].text == "Hm."
    assert message.content[0].text == "I look."
    assert [(c.call_id, c.name, c.arguments) for c in calls] == [("c1", "cost", '{"of": "it"}'), ("c2", "cost", "{}")]


@TRANSLATED
def test_what_cannot_be_translated_is_refused(address: str) -> None:
    for wrong in (
        {"input": "x", "previous_response_id": "resp_1"},
        {"input": "x", "tools": [{"type": "web_search"}]},
        {"input": [{"type": "item_reference", "id": "x"}]},
        {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]},
    ):
        post(address, "/responses", {"input": "x"})  # the model server's routes are known from here on
        refused = post(address, "/responses", wrong)
        assert refused.status_code == 422
        assert "/responses itself" in refused.json()["error"]["message"]


@TRANSLATED
def test_a_cut_off_response_is_incomplete(address: str, llm: ScriptedLlm) -> None:
    llm.script = Reply("The barrier has fourteen steel", finish_reason="length")
    for response in (ask(address), events_last(address)):
        assert response.status == "incomplete"
        assert response.incomplete_details.reason == "max_output_tokens"
        assert from_dict(part_of(response).propcite).incomplete


def events_last(address: str) -> Any:
    return list(ask(address, stream=True))[-1].response


def test_the_settings_say_whether_requests_are_translated(
    loaded: dict[str, object], tmp_path: Any, serve: Callable[..., str]
) -> None:
    with proxied(loaded, tmp_path / "always", ["responses", "chat/completions"], proxy_translate="always") as (at, llm):
        assert ask(at).output_text == REPLY
        assert llm.requests[-1].path == "/v1/chat/completions"
    with proxied(loaded, tmp_path / "never", proxy_translate="never") as (at, _), pytest.raises(openai.NotFoundError):
        ask(at)
    local = serve({"harbour": {"gates.txt": "The barrier has fourteen steel gates."}})  # no model server at all
    _, final = streamed(local)
    whole = ask(local)
    assert "fourteen steel gates" in whole.output_text
    assert final.output_text == whole.output_text
    assert quoted(part_of(whole)) == quoted(part_of(final)) != []
