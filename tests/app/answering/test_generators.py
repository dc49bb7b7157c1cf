"""A language model behind a scripted server as the generator: real HTTP and the real client, no model."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import pytest
import shown
from scripted_llm import Reply, Request, Script, ScriptedLlm, error, free_url
from shown import shown_of
from word_encoder import WordEncoder

from propcite.app.answering.generators import Draft, GenerationContext, Generator, draft_of
from propcite.app.answering.generators.extractive import ExtractiveGenerator
from propcite.app.answering.generators.prompted import PromptedGenerator
from propcite.app.answering.prompts import ABSTENTION, load_prompt
from propcite.app.errors import GeneratorError
from propcite.attribution.errors import AttributionError
from propcite.attribution.llm.endpoint import Endpoint
from propcite.attribution.llm.usage import Usage, measure_usage
from propcite.attribution.propcite import PropCite
from propcite.attribution.questions.reader import QuestionReader
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Passage

QUESTION = "What did the barrier cost?"
SECRET = "sk-verysecret"
SHOWN = shown_of()


def generator_at(url: str, prompt: str = "answer", **options: Any) -> PromptedGenerator:
    model = Endpoint(
        url, "test-model", {"max_tokens": 64, "temperature": 0.0, "seed": 0}, **({"retries": 0, "timeout": 5} | options)
    )
    return PromptedGenerator("openai/test-model", model, load_prompt(prompt), num_parallel=4)


@contextmanager
def scripted(script: Script, prompt: str = "answer", **options: Any) -> Iterator[tuple[ScriptedLlm, PromptedGenerator]]:
    with ScriptedLlm(script) as server:
        yield server, generator_at(server.base_url, prompt, **options)


def written(generator: Generator) -> tuple[list[str], Draft]:
    return shown.written(generator, QUESTION, SHOWN)


def refused(generator: Generator) -> str:
    with pytest.raises((GeneratorError, AttributionError)) as caught:
        draft_of(generator.stream(QUESTION, SHOWN))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def failed(generator: Generator) -> str:
    """What stands in the place of a draft, in a batch of one."""
    answer = generator.generate_many([(QUESTION, SHOWN)])[0]
    assert isinstance(answer, GeneratorError)
    return str(answer)


def test_the_text_comes_in_the_pieces_in_which_it_is_written() -> None:
    with scripted(Reply(chunks=("It cost", " 410 million", " euros."))) as (server, generator):
        assert written(generator) == (["It cost", " 410 million", " euros."], Draft("It cost 410 million euros."))
    (request,) = server.requests
    assert {name: request.body[name] for name in ("model", "max_tokens", "temperature", "seed", "stream")} == {
        "model": "test-model",
        "max_tokens": 64,
        "temperature": 0.0,
        "seed": 0,
        "stream": True,
    }
    assert [m["role"] for m in request.messages] == ["system", *["user", "assistant"] * 3, "user"]
    assert request.prompt.endswith(f"<question>{QUESTION}</question>")
    assert generator.prompt == "answer/1"


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        (["It cost", " 5 euros [", "1", "][2]. ", "It is high 【1†s", "ource】."], "It cost 5 euros. It is high."),
        (["<th", "ink>5 or 6? It says", " 5</thi", "nk>\n\nIt cost 5."], "It cost 5."),
        (["[THINK]Hm[/THINK]It cost 5 [1]."], "It cost 5."),
        (["\n<thinking>", "a </thin", "g> b", "</thinking>", "It <b> 5."], "It <b> 5."),
        ([{"reasoning_content": "Hm."}, {"content": None}, {"content": "It cost 5."}], "It cost 5."),
        ([{"content": [{"type": "text", "text": "It cost 5."}]}], "It cost 5."),
    ],
)
def test_thoughts_and_markers_are_left_out_however_they_are_cut(chunks: Sequence[Any], text: str) -> None:
    with scripted(Reply(chunks=chunks)) as (_, generator):
        pieces, draft = written(generator)
    assert "".join(pieces) == text
    assert draft == Draft(text)


def test_thoughts_that_began_in_the_prompt_are_left_out_where_nobody_reads_along() -> None:
    with scripted(Reply(chunks=("5 or 6", "? 5.</think>", "It cost 5."))) as (_, generator):
        assert generator.generate_many([(QUESTION, SHOWN)]) == [Draft("It cost 5.")]
        pieces, draft = written(generator)
    assert "".join(pieces) == draft.text == "5 or 6It cost 5."
    assert not draft.incomplete
    assert "the answer begins with the model's reasoning" in draft.notes[0]


def test_a_batch_keeps_its_order_and_few_requests_are_in_flight() -> None:
    def reply(request: Request) -> Reply:
        number = request.prompt.rpartition("Number ")[2].removesuffix("?</question>")
        return Reply(f"It is {number}.", delay=0.02) if int(number) % 3 else error(500, "no threes")

    with scripted(reply) as (server, generator):
        answers = generator.generate_many([(f"Number {n}?", SHOWN) for n in range(12)])
    for number, answer in enumerate(answers):
        if number % 3:
            assert answer == Draft(f"It is {number}.")
        else:
            assert isinstance(answer, GeneratorError)
            assert "the server answered 500: no threes" in str(answer)
    assert 1 < server.max_in_flight <= 4


def num_words(request: Request) -> int:
    return sum(len(message["content"].split()) for message in request.messages)


def test_an_answer_tells_the_tokens_that_it_took() -> None:
    with scripted("It cost 410 million euros.") as (server, generator), measure_usage() as meter:
        _, alone = written(generator)
        (batched,) = generator.generate_many([(QUESTION, SHOWN)])
    assert isinstance(batched, Draft)
    assert alone.usage == batched.usage == Usage(num_words(server.requests[0]), 5)
    assert meter.usage == alone.usage + batched.usage
    with scripted(Reply(body='{"choices": [{"message": {"content": "It cost 5."}, "finish_reason": "stop"}]}')) as (
        _,
        generator,
    ):
        assert written(generator)[1].usage is None


@pytest.mark.parametrize("complaint", ["unknown field stream_options", "bad request"])
def test_a_server_that_tells_no_tokens_is_not_asked_for_them_again(complaint: str) -> None:
    def reply(request: Request) -> str | Reply:
        return error(400, complaint) if "stream_options" in request.body else "It cost 5."

    with scripted(reply) as (server, generator):
        drafts = [written(generator)[1] for _ in range(2)]
    assert [(draft.text, draft.usage) for draft in drafts] == [("It cost 5.", None)] * 2
    assert ["stream_options" in request.body for request in server.requests] == [True, False, False]


def test_an_answer_in_a_batch_is_the_answer_alone() -> None:
    with scripted(Reply("It cost 410 million euros [1].", finish_reason="length")) as (_, generator):
        assert generator.generate_many([(QUESTION, SHOWN)] * 2) == [written(generator)[1]] * 2


# What went wrong


@pytest.mark.parametrize(
    "reply",
    [
        Reply("It cost 410 million euros. It", breaks_after=5),
        Reply(raw=[b'data: {"choices": [{"delta": {"content": "It cost 410 million euros."}}]}\n\n', b'data: {"choi']),
        Reply(raw=[b'data: {"choices": [{"delta": {"content": "It cost 410 million euros."}}]}\n\n']),
    ],
    ids=["hangs up", "cut in an event", "no end"],
)
def test_a_server_that_goes_away_leaves_what_came(reply: Reply) -> None:
    with scripted(reply) as (_, generator):
        draft = written(generator)[1]
    assert draft.text.startswith("It cost 410 million euros.")
    assert draft.incomplete
    assert len(draft.notes) == 1
    assert "\n" not in draft.notes[0]


def test_a_server_that_falls_silent_leaves_what_came() -> None:
    reply = Reply(chunks=("It cost 410 million euros. ", "It"), stalls_after=2)
    with scripted(reply, timeout=0.4) as (server, generator):
        draft = written(generator)[1]
        assert server.client_left.wait(5)
    assert draft == Draft(
        "It cost 410 million euros. It", incomplete=True, notes=("the server sent nothing for 0.4 seconds",)
    )


def test_comments_do_not_stand_for_words() -> None:
    """A server that only says that it is still there is silent."""
    start = b'data: {"choices": [{"delta": {"content": "It cost 5."}}]}\n\n'
    with scripted(Reply(raw=[start, *[b": ping\n\n"] * 40], chunk_delay=0.05), timeout=0.4) as (_, generator):
        assert written(generator)[1].notes == ("the server sent nothing for 0.4 seconds",)


def test_a_stream_that_breaks_before_a_word_is_asked_for_again() -> None:
    with scripted([Reply("It cost 5.", breaks_after=0), "It cost 5."], retries=1) as (server, generator):
        assert written(generator)[1] == Draft("It cost 5.")
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reason", "note"), [("length", "raise PROPCITE_MAX_TOKENS"), ("content_filter", "filter"), ("tool_calls", "tool")]
)
def test_an_answer_that_did_not_end_by_itself_says_so(reason: str, note: str) -> None:
    with scripted(Reply("It cost 410", finish_reason=reason)) as (_, generator):
        draft = written(generator)[1]
    assert (draft.text, draft.incomplete) == ("It cost 410", True)
    assert note in draft.notes[0]


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        (Reply(""), "its reply is empty"),
        (Reply("[1][2]"), "its reply is only citation markers"),
        (Reply("<think>5 or 6, that is", finish_reason="length"), "raise PROPCITE_MAX_TOKENS"),
        (Reply("", finish_reason="content_filter"), "filter"),
        (Reply(chunks=[{"refusal": "I cannot."}]), "the model refuses to answer: I cannot."),
        (Reply(body="<html>Welcome</html>"), "the reply is not a chat completion: <html>"),
        (Reply(raw=[b"data: 5\n\n"]), "the reply is not a chat completion"),
        (Reply(raw=[b'data: {"error": {"message": "CUDA is gone"}}\n\n']), "the server stopped with an error: CUDA is"),
        (Reply("It cost 5.", breaks_after=0), "the server went away"),
        (error(429, "slow down", retry_after="7"), "too many requests (429): try again in 7 seconds: slow down"),
        (error(503, "loading"), "the server answered 503"),
        (error(400, "no good"), "the server answered 400: no good"),
    ],
)
def test_without_a_word_the_reason_is_one_line(reply: Reply, line: str) -> None:
    with scripted(reply) as (_, generator):
        assert line in refused(generator)
        assert line in failed(generator)


def test_no_server_no_key_and_no_model_are_errors_without_the_key() -> None:
    assert "no server answers at" in refused(generator_at(free_url()))
    for status in (401, 403):
        with scripted(error(status, f"bad key {SECRET}"), api_key=SECRET) as (_, generator):
            said = refused(generator)
        assert "refuses the API key" in said
        assert SECRET not in said
    with scripted(error(404, "no such model")) as (_, generator):
        assert "name one of test-model" in refused(generator)
        with pytest.raises(AttributionError, match="name one of test-model"):
            generator.generate_many([(QUESTION, SHOWN)] * 3)


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    script = [error(429, "slow down", retry_after_ms="1"), error(503, "loading", retry_after_ms="1"), "It cost 5."]
    with scripted(script, retries=2) as (server, generator):
        assert written(generator)[1].text == "It cost 5."
    assert len(server.requests) == 3


@pytest.mark.parametrize("option", ["seed", "temperature", "max_tokens"])
def test_a_refused_option_is_left_out_from_then_on(option: str) -> None:
    def reply(request: Request) -> str | Reply:
        return error(400, f"'{option}' is not supported") if option in request.body else "It cost 5."

    with scripted(reply) as (server, generator):
        assert written(generator)[1].text == written(generator)[1].text == "It cost 5."
    assert [option in request.body for request in server.requests] == [True, False, False]


def test_a_template_without_a_system_gets_the_task_from_the_user() -> None:
    def reply(request: Request) -> str | Reply:
        known = request.messages[0]["role"] == "user"
        return "It cost 5." if known else error(400, "System role not supported")

    with scripted(reply) as (server, generator):
        assert written(generator)[1].text == "It cost 5."
    assert server.requests[-1].messages[0]["content"].startswith("You answer a question")


def test_a_server_that_does_not_stream_is_read_whole() -> None:
    message = {"role": "assistant", "content": "<think>Hm</think>It cost 5 [1]."}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    with scripted(Reply(body=body)) as (_, generator):
        assert written(generator)[1] == Draft("It cost 5.")


# More than the model can hold

TOO_LONG = {
    "vllm": "This model's maximum context length is 512 tokens. However, you requested 64 output tokens and your "
    "prompt contains at least 449 input tokens, for a total of at least 513 tokens.",
    "openai": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "llama.cpp": "the request exceeds the available context size. try increasing the context size or enable shift",
    "anthropic": "prompt is too long: 210000 tokens > 200000 maximum",
    "tgi": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
}


@pytest.mark.parametrize("complaint", TOO_LONG.values(), ids=TOO_LONG)
@pytest.mark.parametrize("streamed", [False, True])
def test_passages_that_do_not_fit_are_left_out_from_the_last(complaint: str, streamed: bool) -> None:
    def reply(request: Request) -> str | Reply:
        if request.prompt.count("<passage ") == 1:
            return "It cost 5."
        event = json.dumps({"error": {"message": complaint, "code": 400}})
        return Reply(raw=[f"data: {event}\n\n".encode()]) if streamed else error(400, complaint)

    with scripted(reply) as (server, generator):
        draft = written(generator)[1]
    note = "2 of 3 passages were left out: the context of the model is full"
    assert draft == Draft("It cost 5.", notes=(note,))
    assert [r.prompt.count("<passage ") for r in server.requests] == [3, 2, 1]
    assert "410 million" in server.requests[-1].prompt


def test_where_no_passage_fits_that_is_one_line() -> None:
    with scripted(error(400, TOO_LONG["openai"])) as (server, generator):
        assert "give it a longer context, or lower PROPCITE_MAX_TOKENS" in refused(generator)
    assert len(server.requests) == 3


# Stopping


def test_a_stream_that_is_closed_ends_the_request_at_once() -> None:
    with scripted(Reply(chunks=("It ", "cost ", "5."), stalls_after=2), timeout=60) as (server, generator):
        writing = generator.stream(QUESTION, SHOWN)
        assert next(piece for piece in writing if piece) == "It"
        start = time.perf_counter()
        writing.close()
        assert server.client_left.wait(5)
        assert time.perf_counter() - start < 5
        assert written(generator_at(server.base_url, timeout=0.2))[1].incomplete  # the server goes on


def test_who_waits_is_told_that_nothing_has_come() -> None:
    with scripted(Reply("It cost 5.", delay=0.3)) as (_, generator):
        pieces = [*generator.stream(QUESTION, SHOWN)]
    assert pieces[0] == ""
    assert "".join(pieces) == "It cost 5."


# What the model says of the passages


@pytest.mark.parametrize("said", [ABSTENTION, '"The passages do not say."', "the passages don't say who paid for it!"])
def test_an_answer_that_says_that_there_is_none_abstains(said: str) -> None:
    with scripted(said) as (_, generator):
        assert written(generator)[1].abstained


@pytest.mark.parametrize(
    "said",
    [
        "The passages do not say who paid, but it cost 5 million.",
        "The passages say that it cost 5.",
        "It cost 5. The passages do not say more.",
    ],
)
def test_an_answer_that_says_something_does_not_abstain(said: str) -> None:
    with scripted(said) as (_, generator):
        assert not written(generator)[1].abstained


def test_without_passages_nothing_is_asked() -> None:
    with scripted("It cost 5.") as (server, generator):
        draft = draft_of(generator.stream(QUESTION, shown_of(())))
    assert draft == Draft(ABSTENTION, abstained=True)
    assert server.requests == []


def test_markers_that_were_asked_for_stay_with_the_draft() -> None:
    with scripted("It cost 5 [1]. It is high [2].", prompt="cite") as (_, generator):
        pieces, draft = written(generator)
    assert "".join(pieces) == draft.text == "It cost 5. It is high."
    assert draft.given == "It cost 5 [1]. It is high [2]."


def test_the_extractive_generator_is_one_too() -> None:
    generator: Generator = ExtractiveGenerator(QuestionReader())
    draft = draft_of(generator.stream("What did the barrier cost?", SHOWN))
    assert generator.generate_many([("What did the barrier cost?", SHOWN)]) == [draft]


def test_words_that_may_not_answer_are_shown_as_no_more_than_that() -> None:
    text, question = "The gates are closed in storms by the harbour master.", "Who pays for the gates?"
    shown, reader = shown_of([text], "Barrier"), QuestionReader()
    draft = draft_of(ExtractiveGenerator(reader).stream(question, shown))
    assert draft.abstained
    assert draft.text == f"The collection does not clearly say. The nearest words:\n\n{text}"
    far = draft_of(ExtractiveGenerator(reader).stream("Who is the harbour master?", shown))
    assert (far.text, far.abstained) == ("The collection does not say.", True)
    plain = draft_of(ExtractiveGenerator(reader, plain=True).stream(question, shown))
    assert (plain.text, plain.abstained) == (text, False)


def test_no_answer_opens_with_words_that_its_passages_do_not_support() -> None:
    passages = (passage_from_text("b", "Ada Moor succeeded Ben Hale as director in 2019.", "Museum"),)
    shown = GenerationContext(passages, Retriever.over(Encoder(), passages))
    question, generator = "Who succeeded Ada Moor?", ExtractiveGenerator(QuestionReader())

    def supports(words: str) -> bool:
        return all(fact.citations for fact in PropCite.default().cite(words, passages, question=question).facts)

    unchecked = draft_of(generator.stream(question, shown))
    assert unchecked.text == f"Ben Hale. {passages[0].text}"
    checked = draft_of(generator.stream(question, replace(shown, supports=supports)))
    assert checked.text == passages[0].text


class NumbersAlike(WordEncoder):
    """Tells one number from another as little as a language's encoder does."""

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        return super().encode_passages([replace(passage, text=blurred(passage.text)) for passage in passages])

    def encode_queries(
        self, texts: Sequence[str], granularity: Granularity = Granularity.PASSAGE
    ) -> list[TokenVectors]:
        return super().encode_queries([blurred(text) for text in texts], granularity)


def blurred(text: str) -> str:
    return re.sub(r"\d", "0", text)


def test_the_row_of_the_year_that_is_asked_for_is_found_among_rows_that_are_alike() -> None:
    """More rows than are looked at, whose last one is meant: an answer of another year would be a wrong one."""
    rows = [f"In {year} the highest flow of the river was {year - 1700} cubic metres." for year in range(1995, 2021)]
    passages = (passage_from_text("table", " ".join(rows)),)
    shown = GenerationContext(passages, Retriever.over(cast(Encoder, NumbersAlike()), passages))
    answer = draft_of(
        ExtractiveGenerator(QuestionReader()).stream("What was the highest flow of the river in 2020?", shown)
    )
    assert answer.text == "320 cubic metres. In 2020 the highest flow of the river was 320 cubic metres."
    absent = draft_of(
        ExtractiveGenerator(QuestionReader()).stream("What was the highest flow of the river in 1990?", shown)
    )
    assert absent.abstained
