"""Questions that follow others: understood from them, answered, kept with the answer that they go on from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from commanded import Propcite
from scripted_llm import Reply, Request, Script, ScriptedLlm, error, free_url
from serving import running_server

from propcite.app.answering.pipeline import Pipeline
from propcite.app.answering.steps import steps_line
from propcite.app.demo import DOCUMENTS
from propcite.app.errors import GeneratorError, NotFoundError
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.question_parts import Answered
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import PropCiteError

OpenParts = Callable[..., Parts]
MAIN = "How high is the new flood barrier, when was it finished and what did it cost?"

# A conversation a line: the first question, then each that follows with how it is understood and what it finds.
TALKS = [
    [
        (MAIN, "", "6.4 metres"),
        (
            "Why did it cost more than planned?",
            "Why did the new flood barrier cost more than planned?",
            "dearer steel, longer piles and a late gate",
        ),
        ("And who designed it?", "And who designed the new flood barrier?", "Stellan Rook Engineers"),
    ],
    [
        ("How much did the programme spend in 2023?", "", "€84.6 million"),
        ("And in 2022?", "How much did the programme spend in 2022?", "€71.3 million"),
        ("How many apprentices worked on the sites then?", "How many apprentices worked on the sites in 2022?", "38"),
        ("and in 2023?", "How many apprentices worked on the sites in 2023?", "54"),
    ],
    [
        ("How long does the barrier take to close?", "", "35 minutes"),
        (
            "At what forecast water level is it closed?",
            "At what forecast water level is the barrier closed?",
            "2.60 metres",
        ),
    ],
    [
        ("When does Heron Bridge open to the public?", "", "21 May 2025"),
        ("How long is it?", "How long is Heron Bridge?", "96 metres"),
    ],
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Parts]:
    """The demo, read by the real encoder."""
    parts = Parts(load_settings(data_dir=tmp_path_factory.mktemp("talks")))
    parts.__dict__["encoder"] = encoder
    collection = parts.library.create_collection("demo")
    list(parts.ingester(collection).ingest(sorted(DOCUMENTS.iterdir())))
    yield parts
    parts.library.close()


def pipeline(parts: Parts) -> Pipeline:
    return parts.pipeline(parts.library.collection("demo"))


def test_what_sentences_answer_is_read_in_their_sources(demo: Parts) -> None:
    """The sentence with the cost does not say that the barrier is new, as the report's other sentences do."""
    answer = pipeline(demo).answer(MAIN)
    assert [(part.question, part.answered) for part in answer.parts] == [
        ("How high is the new flood barrier?", Answered.YES),
        ("When was the new flood barrier finished?", Answered.YES),
        ("What did the new flood barrier cost?", Answered.YES),
    ]


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk[0][0])
def test_a_conversation_over_the_demo(demo: Parts, talk: list[tuple[str, str, str]]) -> None:
    asked, said = pipeline(demo), [""]
    for question, understood, found in talk:
        answer = asked.answer(question, said[-1])
        assert (answer.question, answer.understood, answer.after) == (question, understood, said[-1])
        assert found in answer.text
        assert answer.models.get("understanding", "") == ("rules/2" if said[-1] else "")
        assert len(answer.written_from) == 8
        assert demo.library.answer(answer.id) == answer
        said.append(answer.id)
    assert [turn.id for turn in demo.library.conversation(said[-1])] == said[1:]


def test_a_stream_goes_on_from_an_answer_and_tells_its_steps(demo: Parts) -> None:
    asked = pipeline(demo)
    first = asked.answer("How much did the programme spend in 2023?")
    heard: list[tuple[str, bool]] = []
    with asked.answer_stream("And in 2022?", first.id[:8], lambda step, ms: heard.append((step, ms is None))) as stream:
        assert [name for name, _ in heard] == ["understand", "understand", "retrieve", "retrieve"]
        assert [begins for _, begins in heard] == [True, False, True, False]
        assert stream.steps == []
        next(stream)
        assert [step.name for step in stream.steps][:1] == ["write"]
        assert not any(step.done for step in stream.steps if step.name == "cite")
        list(stream)
    assert stream.stored is not None
    assert stream.stored.after == first.id
    assert [step.name for step in stream.steps] == ["write", "split", "cite", "judge"]
    assert all(step.done for step in stream.steps)
    assert list(stream.stored.timings_ms)[:3] == ["understand", "retrieve", "write"]
    assert steps_line(stream.stored).startswith("found 8 passages in ")


def test_an_answer_that_is_not_there_is_told_before_anything_is_asked(demo: Parts) -> None:
    other = demo.library.create_collection("other")
    demo.library.save_answer(other, CitedAnswer("Yes.", question="Is it?", collection="other"))
    (elsewhere,) = demo.library.find_answers(other).items
    for unknown in ("feedbeef", elsewhere.id):
        with pytest.raises(NotFoundError, match="in 'demo'"):
            pipeline(demo).answer("And in 2022?", unknown)
    demo.library.remove_collection(other)


def test_the_command_goes_on_from_an_answer_or_from_the_newest(propcite: Propcite, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(
        "The ferry cost 4 million euros in 2022.\nThe ferry cost 5 million euros in 2023.\n"
    )
    assert propcite("ingest", tmp_path).code == 0
    assert "to go on from" in propcite("ask", "And in 2022?", "--continue").err
    first = propcite("ask", "What did the ferry cost in 2023?", "--json").json
    second = propcite("ask", "And in 2022?", "--continue", "--json").json
    assert (second["after"], second["understood"]) == (first["id"], "What did the ferry cost in 2022?")
    told = propcite("ask", "And in 2022?", "--after", first["id"]).out
    assert "understood as: What did the ferry cost in 2022?" in told
    assert "4 million" in told
    assert "understood as" in propcite("show", second["id"]).out
    assert "give only one of them" in propcite("ask", "And?", "--after", first["id"], "--continue").err
    assert "no answer 'feedbeef'" in propcite("ask", "And?", "--after", "feedbeef").err
    assert "leave out" in propcite("ask", "--batch", "x", "--continue").err


# With a language model


@dataclass
class Talk:
    server: ScriptedLlm
    pipeline: Pipeline


@contextmanager
def talking(open_parts: OpenParts, folder: Path, script: Script, **settings: object) -> Iterator[Talk]:
    with ScriptedLlm(script) as server:
        given = {"generator": "openai", "generator_model": "m", "llm_url": server.base_url, "splitter": "rules"}
        parts = open_parts(**(given | {"llm_timeout": 5.0} | settings))
        (folder / "cost.txt").write_text("The barrier cost 410 million euros. The ferry cost 4 million euros.\n")
        collection = parts.library.create_collection("notes")
        list(parts.ingester(collection).ingest([folder / "cost.txt"]))
        yield Talk(server, parts.pipeline(collection))


def replies(request: Request) -> str:
    """As a model does that understands."""
    if "<passage" not in request.prompt:
        return "Question: What did the ferry cost?\n"
    return (
        "The ferry cost 4 million euros."
        if "the ferry cost?" in request.prompt
        else "The barrier cost 410 million euros."
    )


def test_a_model_writes_the_question_anew_and_is_shown_what_was_said(open_parts: OpenParts, tmp_path: Path) -> None:
    with talking(open_parts, tmp_path, replies) as talk:
        first = talk.pipeline.answer("What did the barrier cost?")
        second = talk.pipeline.answer("and the ferry? </question>", first.id)
        streamed = [*talk.pipeline.answer_stream("and the ferry?", first.id)][-1]
        third = talk.pipeline.answer("why?", second.id)
    assert (second.question, second.understood) == ("and the ferry? </question>", "What did the ferry cost?")
    assert second.text == "The ferry cost 4 million euros."
    assert [len(s.citations) for s in second.sentences] == [1]
    assert second.models["understanding"] == "standalone/1"
    assert (second.after, third.after) == (first.id, second.id)
    asked, anew, written, *_ = [request.prompt for request in talk.server.requests]
    assert "<earlier>" not in asked
    said = "<earlier>\nQuestion: What did the barrier cost?\nAnswer: The barrier cost 410 million euros.\n</earlier>"
    assert anew == f"{said}\n\n<question>and the ferry? &lt;/question></question>"
    assert written.startswith(f"{said}\n\nWhat stands in <earlier>")
    assert written.endswith("<question>What did the ferry cost?</question>")
    assert (
        "What did the ferry cost?\nAnswer: The ferry cost 4 million euros.\n</earlier>"
        in talk.server.requests[-1].prompt
    )
    assert streamed.answer.understood == "What did the ferry cost?"  # type: ignore[union-attr]


@pytest.mark.parametrize("said", ["", "…", "The passages do not say.", "x " * 600])
def test_where_a_model_writes_no_question_the_rules_do(open_parts: OpenParts, tmp_path: Path, said: str) -> None:
    script = ["The barrier cost 410 million euros.", said, "The ferry cost 4 million euros."]
    with talking(open_parts, tmp_path, script) as talk:
        first = talk.pipeline.answer("What did the barrier cost?")
        assert talk.pipeline.answer("And the ferry?", first.id).understood == "What did the ferry cost?"


def test_what_was_said_is_left_out_where_it_has_no_room(open_parts: OpenParts, tmp_path: Path) -> None:
    def full(request: Request) -> str | Reply:
        if request.prompt.count("Answer: ") > 1:
            return error(400, "maximum context length is 100 tokens")
        return replies(request)

    with talking(open_parts, tmp_path, full) as talk:
        answers = [talk.pipeline.answer("What did the barrier cost?")]
        for question in ("and the ferry?", "and that one?"):
            answers.append(talk.pipeline.answer(question, answers[-1].id))
    assert answers[2].notes == ("1 of 2 earlier questions was left out: the context of the model is full",)
    assert "What did the barrier cost?" not in talk.server.requests[-1].prompt
    assert answers[2].understood == "What did the ferry cost?"


def test_a_model_that_fails_at_understanding_is_told(open_parts: OpenParts, tmp_path: Path) -> None:
    with talking(open_parts, tmp_path, ["The barrier cost 410 million euros.", error(401, "no")]) as talk:
        first = talk.pipeline.answer("What did the barrier cost?")
        with pytest.raises(PropCiteError, match="refuses the API key"):
            talk.pipeline.answer("And the ferry?", first.id)
    with talking(open_parts, tmp_path, [*["It cost 4."], error(400, "I will not")]) as talk:
        (first_id,) = [i.id for i in talk.pipeline.library.answers(talk.pipeline.collection)]
        talk.server.script = error(400, "I will not")
        with pytest.raises(GeneratorError, match="gave no answer"):
            talk.pipeline.answer("And the ferry?", first_id)


def test_a_server_that_is_down_is_named(open_parts: OpenParts, tmp_path: Path) -> None:
    with talking(open_parts, tmp_path, replies) as talk:
        first = talk.pipeline.answer("What did the barrier cost?")
    url = free_url()
    parts = open_parts(generator="openai", generator_model="m", llm_url=url, splitter="rules")
    with pytest.raises(PropCiteError, match=f"no server answers at {url}"):
        parts.pipeline(parts.library.collection("notes")).answer("And the ferry?", first.id)


def test_over_http_a_question_goes_on_from_an_answer(demo: Parts) -> None:
    with running_server(demo) as address:
        ask = {"collection": "demo"}
        first = httpx.post(f"{address}/v1/ask", json=ask | {"question": TALKS[1][0][0]}, timeout=60).json()
        follows = ask | {"question": "And in 2022?", "after": first["id"]}
        second = httpx.post(f"{address}/v1/ask", json=follows, timeout=60).json()
        assert (second["after"], second["understood"]) == (first["id"], TALKS[1][1][1])
        streamed = httpx.post(f"{address}/v1/ask", json=follows | {"stream": True}, timeout=60).text
        assert f'"understood": "{TALKS[1][1][1]}"' in streamed
        listed = httpx.get(f"{address}/v1/answers", params=ask | {"search": "SPEND programme", "limit": 1}).json()
        assert ([one["id"] for one in listed["answers"]], listed["total"] >= 2) == ([second["id"]], True)
        older = httpx.get(f"{address}/v1/answers", params=ask | {"search": "SPEND programme", "first": 1}).json()
        assert second["id"] not in [one["id"] for one in older["answers"]]
        assert httpx.get(f"{address}/v1/failures", params=ask).json() == {"collection": "demo", "failures": []}
        unknown = httpx.post(f"{address}/v1/ask", json=follows | {"after": "feedbeef"}, timeout=60)
        assert (unknown.status_code, "feedbeef" in unknown.json()["detail"]) == (404, True)
        following = demo.library.following(second["id"])
        gone = httpx.delete(f"{address}/v1/answers/{second['id']}").json()
        assert gone == {"id": second["id"], "removed": 1 + len(following)}
        assert httpx.get(f"{address}/v1/answers/{second['id']}").status_code == 404
