"""How a language model samples: settings in both forms, what reaches a server, and what a server refuses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted_llm import Reply, Request, Script, ScriptedLlm, error
from shown import shown_of, written

from propcite.app.answering.generators import Draft
from propcite.app.building import build_generator, chosen_prompt
from propcite.app.errors import AppError
from propcite.app.setting_values import SAMPLING
from propcite.app.settings import load_settings

QUESTION = "What did the barrier cost?"
SHOWN = shown_of()
THINKING = {"chat_template_kwargs": {"enable_thinking": False}}
EXTRA = '{"top_k": 20, "chat_template_kwargs": {"enable_thinking": false}}'


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def asked(script: Script, times: int = 1, **settings: Any) -> tuple[Sequence[Request], list[Draft]]:
    """What a server is asked under settings, and the drafts."""
    with ScriptedLlm(script) as server:
        of_server = {"generator": "openai", "generator_model": "test-model", "llm_url": server.base_url}
        generator = build_generator(load_settings(**of_server, **settings))
        drafts = [written(generator, QUESTION, SHOWN)[1] for _ in range(times)]
        batched = generator.generate_many([(QUESTION, SHOWN)])
    assert batched == drafts[-1:]
    return server.requests, drafts


def test_only_what_is_set_is_sent() -> None:
    requests, drafts = asked("It cost 5.")
    assert drafts == [Draft("It cost 5.")]
    for request in requests:
        fields = set(request.body) - {"model", "messages", "stream", "stream_options"}
        assert fields == {"max_tokens", "temperature", "seed"}


def test_what_is_set_reaches_the_server() -> None:
    settings = {
        "stop": ["\n\n", "###"],
        "top_p": 0.9,
        "frequency_penalty": 0.5,
        "presence_penalty": -0.5,
        "repetition_penalty": 1.1,
    }
    requests, _ = asked("It cost 5.", **settings, extra_body={"top_k": 20, **THINKING})
    assert len(requests) == 2
    for request in requests:
        assert request.body["stream"]
        assert {name: request.body[name] for name in settings} == settings
        assert request.body["top_k"] == 20
        assert request.body["chat_template_kwargs"] == {"enable_thinking": False}
        assert "extra_body" not in request.body


@pytest.mark.parametrize(
    ("option", "settings"),
    [
        ("stop", {"stop": ["#"]}),
        ("top_p", {"top_p": 0.5}),
        ("repetition_penalty", {"repetition_penalty": 1.2}),
        ("top_k", {"extra_body": {"top_k": 3, **THINKING}}),
        ("chat_template_kwargs", {"extra_body": {"top_k": 3, **THINKING}}),
    ],
)
def test_what_a_server_refuses_is_left_out_from_then_on(option: str, settings: dict[str, Any]) -> None:
    def reply(request: Request) -> str | Reply:
        return error(400, f"Unrecognized argument: {option}") if option in request.body else "It cost 5."

    requests, drafts = asked(reply, 2, **settings)
    assert drafts == [Draft("It cost 5.")] * 2
    assert [option in request.body for request in requests] == [True, False, False, False]
    others = set(settings.get("extra_body", {})) - {option}
    assert all(others <= set(request.body) for request in requests)


def test_a_refusal_is_remembered_where_the_answer_is_stopped_too() -> None:
    def reply(request: Request) -> str | Reply:
        looping = Reply(chunks=["The ferry leaves at nine in the morning. "] * 9, stalls_after=9)
        return error(400, "top_p is not supported") if "top_p" in request.body else looping

    requests, drafts = asked(reply, 2, top_p=0.5)
    assert [draft.text for draft in drafts] == ["The ferry leaves at nine in the morning."] * 2
    assert ["top_p" in request.body for request in requests] == [True, False, False, False]


def test_a_word_that_only_holds_an_option_names_none() -> None:
    def reply(request: Request) -> str | Reply:
        return error(400, "the worker stopped") if "stream_options" in request.body else "It cost 5."

    requests, _ = asked(reply, stop=["#"])
    assert ["stop" in request.body for request in requests] == [True, True, True]


# Settings


def test_a_list_and_an_object_stand_in_the_environment_and_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("propcite.toml").write_text(
        'stop = ["###", "\\n"]\ntop_p = 0.9\n'
        "[extra_body]\ntop_k = 20\nchat_template_kwargs = {enable_thinking = false}\n"
    )
    of_file = load_settings()
    assert of_file.stop == ["###", "\n"]
    assert of_file.extra_body == {"top_k": 20, **THINKING}
    monkeypatch.setenv("PROPCITE_STOP", '["###", "\\n"]')
    monkeypatch.setenv("PROPCITE_EXTRA_BODY", EXTRA)
    Path("propcite.toml").write_text("top_p = 0.9")
    assert load_settings() == of_file
    monkeypatch.setenv("PROPCITE_STOP", "[END]")
    assert load_settings().stop == ["[END]"]
    monkeypatch.setenv("PROPCITE_STOP", "")
    assert load_settings().stop == []


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("STOP", '[""]', "at least 1 character"),
        ("STOP", "[1]", "a valid string"),
        ("TOP_P", "0", "greater than 0"),
        ("TOP_P", "1.5", "less than or equal to 1"),
        ("FREQUENCY_PENALTY", "3", "less than or equal to 2"),
        ("PRESENCE_PENALTY", "-3", "greater than or equal to -2"),
        ("REPETITION_PENALTY", "0", "greater than 0"),
        ("EXTRA_BODY", "top_k=3", 'write a JSON object, like {"top_k": 20}'),
        ("EXTRA_BODY", "[1]", "valid dictionary"),
        ("EXTRA_BODY", '{"messages": []}', "messages is what PropCite sends itself"),
        ("EXTRA_BODY", '{"top_p": 1}', "top_p has a setting of its own, PROPCITE_TOP_P"),
        ("EXTRA_BODY", '{"top_k": NaN}', "cannot be sent as JSON"),
    ],
)
def test_a_value_that_cannot_be_is_one_line(monkeypatch: pytest.MonkeyPatch, name: str, value: str, why: str) -> None:
    monkeypatch.setenv(f"PROPCITE_{name}", value)
    with pytest.raises(AppError) as caught:
        load_settings()
    assert f"(PROPCITE_{name})" in str(caught.value)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_list_that_is_no_json_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPCITE_SERVE_ORIGINS", "https://chat.example")
    with pytest.raises(AppError, match=r'"serve_origins".*write a list as JSON'):
        load_settings()


def test_every_field_of_sampling_is_a_setting() -> None:
    assert set(SAMPLING) <= set(type(load_settings()).model_fields)


# The prompt of a model


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"generator_model": "HuggingFaceTB/SmolLM2-135M-Instruct"}, "short"),
        ({"generator_model": "Qwen/Qwen2.5-7B-Instruct"}, "answer"),
        ({"generator_model": "Qwen/Qwen2.5-0.5B-Instruct", "prompt": "cite"}, "cite"),
        ({"generator_model": "Qwen/Qwen2.5-7B-Instruct", "prompt": "short"}, "short"),
    ],
)
def test_an_answer_names_the_prompt_that_its_model_got(settings: dict[str, str], name: str) -> None:
    with ScriptedLlm("It cost 5.") as server:
        given = load_settings(generator="openai", llm_url=server.base_url, **settings)
        generator = build_generator(given)
        written(generator, QUESTION, SHOWN)
    assert generator.prompt.rpartition("/")[0] == name
    assert chosen_prompt(given) == name
    assert len(server.requests[0].messages) == (2 if name == "short" else 8)
