"""vLLM's own OpenAI-compatible server as the generator: with a model that talks nonsense, and a small real one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from shown import shown_of, written
from tests.on_vllm.common import (
    LONG,
    QUESTIONS,
    SHOWN,
    TOKENS,
    answered,
    check_words,
    is_left_out,
    pipeline_over_notes,
)
from tests.on_vllm.conftest import VllmServer

from propcite.app.answering.generators import Generator, draft_of
from propcite.app.answering.generators.prompted import PromptedGenerator
from propcite.app.answering.prompts import load_prompt
from propcite.app.building import build_generator
from propcite.app.errors import GeneratorError
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.errors import AttributionError
from propcite.attribution.llm.endpoint import Endpoint
from propcite.attribution.llm.usage import measure_usage

pytestmark = pytest.mark.vllm


def generator_at(server: VllmServer, **settings: object) -> Generator:
    given = {"generator": "openai", "generator_model": server.model, "llm_url": server.base_url, "max_tokens": TOKENS}
    return build_generator(load_settings(**(given | {"prompt": "answer"} | settings)))


def test_the_text_comes_in_pieces(vllm_server: VllmServer) -> None:
    pieces, draft = written(generator_at(vllm_server), QUESTIONS[0], SHOWN)
    assert "".join(pieces) == draft.text
    assert len(pieces) > 3
    assert draft.incomplete
    assert "PROPCITE_MAX_TOKENS" in draft.notes[0]


def test_a_batch_writes_what_each_question_alone_gets(vllm_server: VllmServer) -> None:
    generator = generator_at(vllm_server)
    alone = [written(generator, question, SHOWN)[1] for question in QUESTIONS]
    assert generator.generate_many([(question, SHOWN) for question in QUESTIONS * 3]) == alone * 3
    assert len({draft.text for draft in alone}) > 1


def test_passages_that_do_not_fit_are_left_out(vllm_server: VllmServer) -> None:
    generator = generator_at(vllm_server)
    draft = written(generator, QUESTIONS[0], LONG)[1]
    assert is_left_out(draft.notes)
    assert generator.generate_many([(QUESTIONS[0], LONG)]) == [draft]
    with pytest.raises(GeneratorError, match="not even one passage fits"):
        written(generator, QUESTIONS[0], shown_of(["The barrier cost 410 million euros. " * 900]))


def test_closing_a_stream_aborts_the_request(vllm_server: VllmServer) -> None:
    """It writes far less than it was asked for."""
    options = {"max_tokens": 1500, "temperature": 0.0, "extra_body": {"ignore_eos": True}}
    model = Endpoint(vllm_server.base_url, vllm_server.model, options)
    before = vllm_server.figure("vllm:generation_tokens_total")
    writing = PromptedGenerator("openai/tiny", model, load_prompt("answer")).stream(QUESTIONS[0], SHOWN)
    next(piece for piece in writing if piece)
    writing.close()
    end = time.monotonic() + 20
    while vllm_server.figure("vllm:num_requests_running") and time.monotonic() < end:
        time.sleep(0.05)
    assert vllm_server.figure("vllm:num_requests_running") == 0
    assert 0 < vllm_server.figure("vllm:generation_tokens_total") - before < 1000


def test_a_model_that_it_does_not_serve_is_told_with_those_it_does(vllm_server: VllmServer) -> None:
    with pytest.raises(AttributionError, match=r"no chat model 'huge' .*name one of tiny"):
        draft_of(generator_at(vllm_server, generator_model="huge").stream(QUESTIONS[0], SHOWN))


def test_a_collection_is_asked(open_parts: Callable[..., Parts], tmp_path: Path, vllm_server: VllmServer) -> None:
    parts = open_parts(
        generator="openai", generator_model=vllm_server.model, llm_url=vllm_server.base_url, max_tokens=TOKENS
    )
    pipeline = pipeline_over_notes(parts, tmp_path)
    streamed = answered(pipeline, QUESTIONS[0])
    assert streamed.models["generator"] == "openai/tiny"
    assert {c.passage.id for c in streamed.citations} <= set(parts.library.passage_ids(pipeline.collection))
    batch = pipeline.answer_many(QUESTIONS)
    assert cast(CitedAnswer, batch[0]).text == streamed.text == pipeline.answer(QUESTIONS[0]).text


def test_a_small_real_model_answers_in_words(
    open_parts: Callable[..., Parts], tmp_path: Path, smollm2_server: VllmServer
) -> None:
    server = smollm2_server
    parts = open_parts(
        generator="openai", generator_model=server.model, llm_url=server.base_url, max_tokens=TOKENS, llm_timeout=120.0
    )
    with measure_usage() as meter:
        answer = answered(pipeline_over_notes(parts, tmp_path), QUESTIONS[0])
    assert answer.models["generator"] == f"openai/{server.model}"
    check_words(answer, meter.usage)
