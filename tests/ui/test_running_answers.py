"""Answers in work: followed by any page, stopped, and what becomes of errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_llm import Reply, ScriptedLlm, free_url

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.app.turns.costs import Costs, Kind
from propcite.app.turns.jobs import Job
from propcite.app.turns.turns import Turns
from propcite.attribution.citations import Label
from propcite.retrieval.encoding.encoder import Encoder
from propcite.ui.asking.running import STOPPED, Order, Question, RunningAnswer, RunningAnswers

TEXT = "The bridge cost 4 million euros. The ferry cost 2 million euros."
PIECES = ("The bridge cost", " 4 million euros. It", " is all.")
ORDER = Order("", "town", Question("What did the bridge cost?"))
PATIENCE_S = 60.0


@pytest.fixture
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm(Reply(chunks=PIECES, stalls_after=2)) as server:
        yield server


def parts_at(folder: Path, encoder: Encoder, url: str) -> Parts:
    parts = Parts(load_settings(data_dir=folder, generator="openai", generator_model="m", llm_url=url))
    parts.__dict__["encoder"] = encoder
    town = parts.library.create_collection("town")
    list(parts.ingester(town).ingest([Upload("town.txt", TEXT.encode())]))
    return parts


@pytest.fixture
def parts(tmp_path: Path, encoder: Encoder, llm: ScriptedLlm) -> Iterator[Parts]:
    parts = parts_at(tmp_path, encoder, llm.base_url)
    yield parts
    parts.library.close()


def begun(answers: RunningAnswers, parts: Parts, order: Order = ORDER) -> RunningAnswer:
    job = Job(Turns(1, 60.0), Costs(), "", Kind.READ, 600.0)
    return answers.begin(order, job, lambda _: parts.pipeline(parts.library.collection(order.collection)))


def followed(one: RunningAnswer, until: str = "") -> None:
    """Follow to the end, or until its text has these words."""
    for _ in one.follow(PATIENCE_S):
        if until and until in one.text.replace("\\", ""):
            return


def test_pages_follow_one_answer_and_the_same_question_starts_no_other(parts: Parts, llm: ScriptedLlm) -> None:
    answers = RunningAnswers()
    one = begun(answers, parts)
    followed(one, "4 million euros.")
    assert begun(answers, parts) is one
    assert answers.find(one.id, "") is one
    assert answers.find(one.id, "somebody else") is None
    assert answers.unfinished("", ["town"]) == [one]
    assert answers.unfinished("", ["other"]) == []
    llm.resume.set()
    followed(one)
    assert parts.library.answer(one.answer_id).text == "".join(PIECES)
    assert answers.unfinished("", ["town"]) == []
    assert not one.error
    assert begun(answers, parts) is not one


def test_what_was_written_until_it_is_stopped_is_kept(parts: Parts) -> None:
    one = begun(RunningAnswers(), parts)
    followed(one, "4 million euros.")
    one.stop()
    followed(one)
    answer = parts.library.answer(one.answer_id)
    assert answer.incomplete
    assert answer.text.startswith("The bridge cost 4 million euros.")
    assert [fact.verdict.label for fact in answer.facts if fact.verdict][-1] is Label.UNCHECKED
    assert answer.answered is None


def test_a_model_that_says_nothing_is_heard_to_be_silent_and_stopped(tmp_path: Path, encoder: Encoder) -> None:
    with ScriptedLlm(Reply(chunks=PIECES, stalls_after=0)) as silent:
        parts = parts_at(tmp_path, encoder, silent.base_url)
        one = begun(RunningAnswers(), parts)
        while not one.silent_s:
            assert not one.ended
        one.stop()
        followed(one)
    assert (one.answer_id, one.error, one.model_failed) == ("", STOPPED, False)
    parts.library.close()


def test_a_model_that_is_away_is_named_and_known_as_the_cause(tmp_path: Path, encoder: Encoder) -> None:
    url = free_url()
    parts = parts_at(tmp_path, encoder, url)
    one = begun(RunningAnswers(), parts)
    followed(one)
    assert one.error == f"no server answers at {url}: start it or correct the PROPCITE_LLM_URL"
    assert one.model_failed
    parts.library.close()


def test_a_collection_that_is_deleted_meanwhile_is_named(parts: Parts, llm: ScriptedLlm) -> None:
    one = begun(RunningAnswers(), parts)
    followed(one, "4 million euros.")
    parts.remove_collection(parts.library.collection("town"))
    llm.resume.set()
    followed(one)
    assert "town" in one.error
    assert not one.answer_id
