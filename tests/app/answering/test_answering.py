"""Questions answered by a language model over a collection: streamed, in batches, stopped, kept as they were told."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from scripted_llm import Reply, Request, Script, ScriptedLlm, error
from word_encoder import WordEncoder

from propcite.__main__ import main
from propcite.app import parts as bootstrap
from propcite.app.answering.pipeline import Pipeline
from propcite.app.answering.prompts import FOLDER
from propcite.app.answering.running import STOPPED
from propcite.app.errors import AppError, GeneratorError, NotFoundError
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta
from propcite.attribution.formats.json import from_dict
from propcite.retrieval.errors import PropCiteError

QUESTION = "What did the barrier cost?"
NOTES = {
    "cost.txt": "The barrier cost 410 million euros. The state paid two thirds of it.\n",
    "gate.txt": "Each gate weighs 300 tonnes. The gates close in twenty minutes.\n",
}
TOLD = Reply(chunks=("The barrier cost 410 million", " euros [1]. Each gate", " weighs 300 tonnes. It is", " new."))
OpenParts = Callable[..., Parts]


@contextmanager
def asking(
    open_parts: OpenParts, folder: Path, script: Script, **settings: object
) -> Iterator[tuple[ScriptedLlm, Pipeline]]:
    """A collection of two notes, asked through a scripted server."""
    with ScriptedLlm(script) as server:
        given = {"generator": "openai", "generator_model": "m", "llm_url": server.base_url, "llm_timeout": 5.0} | {
            "splitter": "rules"
        }
        parts = open_parts(**(given | settings))
        collection = parts.library.create_collection("notes")
        for name, text in NOTES.items():
            (folder / name).write_text(text)
        list(parts.ingester(collection).ingest([folder / name for name in NOTES]))
        yield server, parts.pipeline(collection)


def kept(pipeline: Pipeline) -> list[CitedAnswer]:
    return [pipeline.library.answer(info.id) for info in pipeline.library.answers(pipeline.collection)]


def alike(one: CitedAnswer, other: CitedAnswer) -> bool:
    """Apart from times."""
    return replace(one, timings_ms={}) == replace(other, timings_ms={})


def last(events: Sequence[Event]) -> CitedAnswer:
    assert isinstance(events[-1], AnswerDone)
    return events[-1].answer


def test_a_stream_tells_text_sentences_and_the_answer_as_it_is_kept(open_parts: OpenParts, tmp_path: Path) -> None:
    with asking(open_parts, tmp_path, TOLD) as (_, pipeline):
        stream = pipeline.answer_stream(QUESTION)
        events = list(stream)
        answer = last(events)
        assert "".join(e.text for e in events if isinstance(e, TextDelta)) == answer.text
        assert [e.sentence for e in events if isinstance(e, SentenceCited)] == list(answer.sentences)
        assert answer.text == "The barrier cost 410 million euros. Each gate weighs 300 tonnes. It is new."
        assert [len(sentence.citations) for sentence in answer.sentences[:2]] == [1, 1]
        assert answer.models["generator"] == "openai/m"
        assert answer.models["prompt"] == "answer/1"
        assert {"retrieve", "write", "judge"} <= answer.timings_ms.keys()
        assert (answer.question, answer.collection) == (QUESTION, "notes")
        assert (answer.incomplete, answer.notes, answer.abstained) == (False, (), False)
        assert kept(pipeline) == [answer]
        assert stream.stored == answer
        assert alike(pipeline.answer(QUESTION), answer)


def test_the_extractive_generator_is_streamed_as_it_answers(open_parts: OpenParts, tmp_path: Path) -> None:
    with asking(open_parts, tmp_path, "Never", generator="extractive") as (server, pipeline):
        question = "The barrier cost 410 million euros?"
        streamed = last(list(pipeline.answer_stream(question)))
        assert streamed.models["generator"] == "extractive"
        assert "prompt" not in streamed.models
        assert alike(pipeline.answer(question), streamed)
        assert [alike(answer, streamed) for answer in pipeline.answer_many([question])] == [True]
    assert server.requests == []


def test_a_sentence_is_cited_while_the_model_is_silent(open_parts: OpenParts, tmp_path: Path) -> None:
    """The second sentence never comes; the first is cited all the same."""
    reply = Reply(chunks=("The barrier cost 410 million euros. And then", " it"), stalls_after=1)
    with asking(open_parts, tmp_path, reply, llm_timeout=20.0) as (server, pipeline):
        with pipeline.answer_stream(QUESTION) as stream:
            cited = next(event for event in stream if isinstance(event, SentenceCited))
            assert cited.citations
        assert server.client_left.wait(5)
        assert stream.stored is not None
        assert stream.stored.text == "The barrier cost 410 million euros. And then"
        assert (stream.stored.incomplete, stream.stored.notes) == (True, (STOPPED,))
        assert [len(s.citations) for s in stream.stored.sentences] == [1, 0]  # what was begun is kept, and not cited
        assert kept(pipeline) == [stream.stored]
        assert list(stream) == []


def test_another_thread_may_stop_an_answer(open_parts: OpenParts, tmp_path: Path) -> None:
    reply = Reply(chunks=("The barrier", " cost"), stalls_after=1)
    with asking(open_parts, tmp_path, reply, llm_timeout=20.0) as (server, pipeline):
        stream = pipeline.answer_stream(QUESTION)
        assert next(stream) == TextDelta("The barrier")
        threading.Timer(0.2, stream.close).start()
        start = time.perf_counter()
        assert list(stream) == []
        assert time.perf_counter() - start < 20
        assert server.client_left.wait(5)


def test_where_nothing_came_nothing_is_kept(open_parts: OpenParts, tmp_path: Path) -> None:
    with asking(open_parts, tmp_path, Reply("Never", stalls_after=0), llm_timeout=20.0) as (_, pipeline):
        stream = pipeline.answer_stream(QUESTION)
        threading.Timer(0.3, stream.close).start()
        assert list(stream) == []
        assert (stream.stored, kept(pipeline)) == (None, [])
        unread = pipeline.answer_stream(QUESTION)
        unread.close()
        assert (list(unread), kept(pipeline)) == ([], [])


def test_a_server_that_goes_away_leaves_an_incomplete_answer(open_parts: OpenParts, tmp_path: Path) -> None:
    reply = Reply("The barrier cost 410 million euros. Each gate weighs", breaks_after=8)
    with asking(open_parts, tmp_path, reply) as (_, pipeline):
        answer = last(list(pipeline.answer_stream(QUESTION)))
        assert answer.incomplete
        assert answer.notes == ("the server went away in the middle of the answer",)
        assert answer.sentences[0].citations
        assert kept(pipeline) == [answer]
        assert alike(pipeline.answer(QUESTION), answer)


def test_passages_that_were_left_out_are_told(open_parts: OpenParts, tmp_path: Path) -> None:
    def reply(request: Request) -> str | Reply:
        few = request.prompt.count("<passage ") == 1
        return "The barrier cost 410 million euros." if few else error(400, "maximum context length is 9 tokens")

    with asking(open_parts, tmp_path, reply) as (_, pipeline):
        assert pipeline.answer(QUESTION).notes == ("1 of 2 passages was left out: the context of the model is full",)


def test_an_abstention_is_one_however_it_comes(open_parts: OpenParts, tmp_path: Path) -> None:
    with asking(open_parts, tmp_path, "The passages do not say.") as (_, pipeline):
        assert last(list(pipeline.answer_stream(QUESTION))).abstained
        assert pipeline.answer(QUESTION).abstained


def test_markers_that_the_model_typed_are_counted(open_parts: OpenParts, tmp_path: Path) -> None:
    """PropCite cites in any case; [2] is another passage, the third sentence has none."""
    said = "The barrier cost 410 million euros [1]. The state paid two thirds of it [2]. Each gate weighs 300 tonnes."
    with asking(open_parts, tmp_path, said, prompt="cite") as (_, pipeline):
        answer = pipeline.answer("What did the barrier cost, the state paid two thirds?")
        assert "[1]" not in answer.text
        assert [len(s.citations) for s in answer.sentences] == [1, 1, 1]
        assert answer.notes == ("1 of the 2 markers that the language model typed is right, 2 are missing",)
        streamed = last(list(pipeline.answer_stream("What did the barrier cost, the state paid two thirds?")))
        assert alike(streamed, answer)
        assert answer.models["prompt"] == "cite/1"


def test_many_questions_are_answered_as_each_alone(open_parts: OpenParts, tmp_path: Path) -> None:
    def reply(request: Request) -> str | Reply:
        if "gate" in request.prompt.rpartition("<question>")[2]:
            return "Each gate weighs 300 tonnes."
        return error(500, "out of order") if "order" in request.prompt else "The barrier cost 410 million euros."

    with asking(open_parts, tmp_path, reply) as (_, pipeline):
        answers = pipeline.answer_many([QUESTION, "How heavy is a gate?", " ", "What is out of order?"])
        good = [answer for answer in answers if isinstance(answer, CitedAnswer)]
        assert [answer.text for answer in good] == [
            "The barrier cost 410 million euros.",
            "Each gate weighs 300 tonnes.",
        ]
        assert all(alike(answer, pipeline.answer(answer.question)) for answer in good)
        assert [type(answer) for answer in answers[2:]] == [AppError, GeneratorError]
        assert {a.id for a in kept(pipeline)} == {a.id for a in good}


def test_a_batch_without_a_server_says_so_at_each_question(open_parts: OpenParts, tmp_path: Path) -> None:
    with asking(open_parts, tmp_path, error(401, "no")) as (server, pipeline):
        answers = pipeline.answer_many([QUESTION] * 5)
    assert all(isinstance(a, PropCiteError) and "refuses the API key" in str(a) for a in answers)
    assert len(server.requests) <= 5


def test_a_question_that_cannot_be_asked_is_told_before_the_stream(open_parts: OpenParts, tmp_path: Path) -> None:
    with asking(open_parts, tmp_path, "Never") as (_, pipeline):
        with pytest.raises(AppError, match="a question needs some words"):
            pipeline.answer_stream(" ")
        empty = replace(pipeline, collection=pipeline.library.create_collection("empty"))
        with pytest.raises(NotFoundError):
            empty.answer_stream(QUESTION)


# Settings


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"generator": "openai"}, "this generator needs a setting: give PROPCITE_GENERATOR_MODEL"),
        ({"generator": "openai", "generator_model": "m"}, "give PROPCITE_LLM_URL"),
        ({"generator": "openai", "generator_model": "m", "llm_url": "nowhere"}, "PROPCITE_LLM_URL or"),
        ({"generator": "vllm", "generator_model": "m"}, "vllm is not installed: "),
        ({"generator": "openai", "generator_model": "m", "prompt": "anwser"}, "no prompt named 'anwser'"),
    ],
)
def test_what_a_generator_lacks_is_one_line(open_parts: OpenParts, settings: dict[str, str], line: str) -> None:
    if "vllm" in line and find_spec("vllm"):
        pytest.skip("vllm is here: what is said without it is tested elsewhere")
    with pytest.raises(AppError) as caught:
        _ = open_parts(**settings).generator
    assert line in str(caught.value)


def test_who_only_searches_needs_no_language_model(open_parts: OpenParts, tmp_path: Path) -> None:
    with asking(open_parts, tmp_path, "Never", generator_model="") as (_, pipeline):
        assert pipeline.search("gates")
        with pytest.raises(AppError, match="PROPCITE_GENERATOR_MODEL"):
            pipeline.answer(QUESTION)


# On the command line


@pytest.fixture
def ask(
    open_parts: OpenParts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., tuple[int, str, str]]]:
    """`propcite ask` over the two notes, with a server that answers; -> exit code, what it wrote, what it told."""
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    with asking(open_parts, tmp_path, TOLD) as (server, pipeline):
        pipeline.library.close()

        def call(*words: str) -> tuple[int, str, str]:
            monkeypatch.setenv("PROPCITE_LLM_URL", server.base_url)
            monkeypatch.setenv("PROPCITE_SPLITTER", "rules")
            monkeypatch.setattr(sys, "argv", ["propcite", "ask", *words, "-c", "notes"])
            with pytest.raises(SystemExit) as ended:
                main()
            return (int(ended.value.code or 0), *capsys.readouterr())

        yield call


def test_ask_names_the_generator_and_the_model(ask: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = ask(QUESTION, "--generator", "openai", "--model", "m")
    assert code == 0
    assert "The barrier cost 410 million euros.[1]" in out
    assert "written by the language model m" in err
    code, out, err = ask("The barrier cost 410 million euros?")
    assert "written without a language model" in err


def test_ask_streams_its_events(ask: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = ask(QUESTION, "--generator", "openai", "--model", "m", "--stream")
    told = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert {t["event"] for t in told[:-1]} == {"text", "sentence"}
    assert told[-1]["event"] == "done"
    assert from_dict(told[-1]["data"]).models["generator"] == "openai/m"


def test_ask_answers_a_file_of_questions(ask: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    lines = [json.dumps({"question": QUESTION}), "{}", json.dumps({"question": "How heavy is a gate?"})]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines))
    code, out, _ = ask("--batch", str(tmp_path / "questions.jsonl"), "--generator", "openai", "--model", "m")
    first, bad, second = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [from_dict(a).question for a in (first, second)] == [QUESTION, "How heavy is a gate?"]
    assert "question" in bad["error"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--batch", "-", QUESTION], "--batch reads its questions from a file"),
        ([QUESTION, "--stream", "--format", "html"], "leave out --format, --out and --offsets"),
        ([], "a question needs some words"),
        ([QUESTION, "--generator", "openai"], "PROPCITE_GENERATOR_MODEL"),
    ],
)
def test_what_ask_cannot_do_is_one_line(
    ask: Callable[..., tuple[int, str, str]], words: Sequence[str], line: str
) -> None:
    code, out, err = ask(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert line in err


def test_prompts_are_listed_and_written(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def prompts(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["propcite", "prompts", *words])
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr().out

    used = [(p["name"], p["used"]) for p in json.loads(prompts("--json"))]
    assert used == [
        *(("answer", True), ("cite", False), ("earlier", True), ("list", False), ("list_cite", False)),
        *(("short", False), ("standalone", True), ("suggest", False)),
    ]
    assert "answer ✓" in prompts()
    monkeypatch.setenv("PROPCITE_GENERATOR_MODEL", "Qwen/Qwen2.5-0.5B-Instruct")
    assert "short ✓" in prompts()
    assert prompts("cite") == (FOLDER / "cite.txt").read_text()
    assert json.loads(prompts("cite", "--json"))["version"] == "1"
