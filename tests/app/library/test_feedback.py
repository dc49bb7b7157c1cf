"""Feedback on citations: stored with the answer on every database, from the command line and over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from commanded import Propcite, commanded
from sample_answers import ANSWER
from serving import running_server
from sqlalchemy import text
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.commands.feedback import OpinionName
from propcite.app.errors import AppError, NotFoundError
from propcite.app.lab.citing.gold import GoldVerdict
from propcite.app.lab.citing.rows import read_gold
from propcite.app.library.feedback import labelled_claims, make_feedback
from propcite.app.library.store import CollectionInfo, Feedback, FeedbackStore, Library, Opinion, QuotedSpan
from propcite.app.library.store.database import upgrade
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.errors import NotInAnswerError

FERRY = "The ferry leaves at seven. It carries ninety people and their bicycles across the bay.\n"
TEXT = "The ferry leaves at seven. It carries ninety people."
BETTER = QuotedSpan("cost", 0, 17, "It cost 5 million")


@pytest.fixture
def library(database_url: str) -> Iterator[Library]:
    opened = Library(database_url)
    yield opened
    opened.close()


@pytest.fixture
def rivers(library: Library) -> CollectionInfo:
    return library.create_collection("rivers")


@pytest.fixture
def feedbacks(library: Library, rivers: CollectionInfo) -> FeedbackStore:
    library.save_answer(rivers, ANSWER)
    return FeedbackStore(library)


def feedback_on(opinion: Opinion = Opinion.RIGHT, fact: str = "1", **options: Any) -> Feedback:
    return make_feedback(ANSWER, fact, opinion, **options)


# The store


def test_the_newest_opinion_of_a_person_replaces_the_older(feedbacks: FeedbackStore) -> None:
    feedbacks.save(feedback_on(Opinion.WRONG, note=" another year "))
    entry = feedbacks.save(feedback_on(Opinion.BETTER, better=BETTER))
    other = feedbacks.save(feedback_on(Opinion.RIGHT, by="Ana"))
    assert feedbacks.of(ANSWER.id) == [entry, other]
    assert entry.better == BETTER
    assert (entry.fact, entry.citation) == (ANSWER.facts[0].id, ANSWER.citations[0].id)
    assert feedbacks.remove([entry.id, "nothing"]) == 1
    assert feedbacks.all() == [other]


def test_feedback_stays_when_the_same_answer_is_saved_again(
    feedbacks: FeedbackStore, library: Library, rivers: CollectionInfo
) -> None:
    entry = feedbacks.save(feedback_on())
    library.save_answer(rivers, replace(ANSWER, timings_ms={"split": 2.0}))
    assert feedbacks.all(rivers) == [entry]
    assert library.answer(ANSWER.id).timings_ms == {"split": 2.0}


def test_feedback_is_removed_with_its_collection(
    feedbacks: FeedbackStore, library: Library, rivers: CollectionInfo
) -> None:
    feedbacks.save(feedback_on())
    assert feedbacks.all(library.create_collection("lakes")) == []
    library.remove_collection(rivers)
    assert feedbacks.all() == []


def test_older_names_of_opinions_are_still_read(feedbacks: FeedbackStore, library: Library) -> None:
    entries = [
        feedbacks.save(feedback_on(Opinion.TOO_BROAD)),
        feedbacks.save(feedback_on(Opinion.BETTER, better=BETTER, by="Ana")),
        feedbacks.save(feedback_on(Opinion.WRONG, by="Ben")),
    ]
    with library.engine.begin() as connection:
        upgrade(connection, "0005")
        names = text("SELECT opinion FROM feedback ORDER BY given_at")
        assert list(connection.scalars(names)) == ["too broad", "better one here", "wrong"]
        upgrade(connection)
    assert feedbacks.of(ANSWER.id) == entries
    assert [one.opinion.value for one in entries] == ["too-broad", "better", "wrong"]


def test_feedback_needs_a_stored_answer(feedbacks: FeedbackStore) -> None:
    with pytest.raises(NotFoundError, match="propcite list --answers"):
        feedbacks.save(replace(feedback_on(), answer_id="gone"))


# The target of feedback, and the labels that it yields


@pytest.mark.parametrize(
    ("fact", "options", "message"),
    [
        ("0", {}, "it has 5, counted from 1"),
        ("nothing", {}, "no fact 'nothing'"),
        ("2", {}, r"the fact has the citations \[2\], \[1\]: name one of them"),
        ("2", {"citation": "3"}, "name one of them"),
        ("3", {"citation": "1"}, "the fact has the citations none"),
    ],
)
def test_an_unknown_fact_or_citation_is_refused(fact: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(NotInAnswerError, match=message):
        feedback_on(fact=fact, **options)


def test_better_words_must_be_named() -> None:
    with pytest.raises(AppError, match="say which words are better"):
        feedback_on(Opinion.BETTER)


def test_a_fact_and_a_citation_may_be_named_by_id_and_by_number() -> None:
    price = ANSWER.facts[1]
    by_number = feedback_on(fact="2", citation="2")
    assert by_number == feedback_on(fact=price.id, citation=price.citations[0].id)
    assert by_number.citation == price.citations[0].id


@pytest.mark.parametrize(
    ("feedback", "rows"),
    [
        (feedback_on(), [("Each gate weighs 300 tonnes 😀.", "supported")]),
        (feedback_on(Opinion.TOO_BROAD), [("Each gate weighs 300 tonnes 😀.", "supported")]),
        (feedback_on(Opinion.WRONG), [("Each gate weighs 300 tonnes 😀.", "not_supported")]),
        (feedback_on(Opinion.BETTER, better=BETTER), [("It cost 5 million", "supported")]),
        (feedback_on(fact="2", citation="2"), [("It cost 5 million They close.", "supported")]),
        (feedback_on(Opinion.WRONG, fact="2", citation="1"), [("They close.", "not_supported")]),
        (feedback_on(fact="3"), [("=2+2 is 4.", "not_supported")]),
        (feedback_on(Opinion.WRONG, fact="3"), []),
        (feedback_on(fact="5"), []),
        (replace(feedback_on(), fact="gone"), []),
        (replace(feedback_on(), citation="gone"), []),
    ],
)
def test_feedback_becomes_labelled_claims(feedback: Feedback, rows: list[tuple[str, str]]) -> None:
    labels = [one.row for one in labelled_claims({ANSWER.id: ANSWER}, [feedback])]
    assert [(" ".join(d["text"] for d in row["docs"]), row["label"]) for row in labels] == rows
    assert list(labelled_claims({}, [feedback])) == []


# The command line


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propcite:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    monkeypatch.setenv("PROPCITE_SPLITTER", "rules")
    monkeypatch.setenv("PROPCITE_JUDGE", "none")
    return commanded(monkeypatch, capsys)


@pytest.fixture
def answer(open_parts: Callable[..., Parts], tmp_path: Path) -> CitedAnswer:
    """A stored answer over a collection."""
    parts = open_parts(judge="none", splitter="rules")
    (tmp_path / "ferry.txt").write_text(FERRY)
    list(parts.ingester(parts.library.create_collection("default")).ingest([tmp_path / "ferry.txt"]))
    return parts.pipeline(parts.library.collection("default")).cite(TEXT)


def test_feedback_is_given_listed_exported_and_removed(propcite: Propcite, answer: CitedAnswer, tmp_path: Path) -> None:
    facts = propcite("feedback", "facts", answer.id, "--json").json
    assert [f["fact"] for f in facts] == ["The ferry leaves at seven.", "[The ferry] carries ninety people."]
    assert "no feedback yet" in propcite("feedback", "list").err
    assert propcite("feedback", "give", answer.id, "1", "wrong", "--note", "old timetable").code == 0
    words = "ninety people   and their bicycles"
    better = propcite("feedback", "give", answer.id, "2", "better", "--words", words, "--by", "Ana", "--json").json
    assert better["better"]["quote"] == "ninety people and their bicycles"
    assert propcite("feedback", "facts", answer.id, "--json").json[1]["said"] == ["better"]
    listed = propcite("feedback", "list", "--json").json
    assert [(one["opinion"], one["note"], one["by"]) for one in listed] == [
        ("wrong", "old timetable", ""),
        ("better", "", "Ana"),
    ]
    assert "old timetable" in propcite("feedback", "list").out
    assert propcite("feedback", "export", "--out", str(tmp_path / "said.jsonl")).code == 0
    rows = [row for row in read_gold(tmp_path / "said.jsonl") if isinstance(row, GoldVerdict)]
    assert [(row.evidence, row.supported) for row in rows] == [
        (("The ferry leaves at seven.",), False),
        (("ninety people and their bicycles",), True),
    ]
    assert propcite("feedback", "export").out == (tmp_path / "said.jsonl").read_text("utf-8")
    assert propcite("feedback", "remove", better["id"]).code == 0
    assert propcite("feedback", "remove", better["id"]).code == 2
    assert len(propcite("feedback", "list", "-c", "default", "--json").json) == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["give", "nothing", "1", "right"], "propcite list --answers"),
        (["give", "ANSWER", "9", "right"], "it has 2, counted from 1"),
        (["give", "ANSWER", "1", "right", "--words", "x"], "--words belong to better"),
        (["give", "ANSWER", "1", "better"], "say which words are better"),
        (["give", "ANSWER", "1", "better", "--words", "the moon is red"], "no passage contains 'the moon is red'"),
        (["export", "--out", "/nowhere/said.jsonl"], "give another --out"),
    ],
)
def test_an_error_is_one_line(propcite: Propcite, answer: CitedAnswer, words: list[str], line: str) -> None:
    result = propcite("feedback", *(answer.id if word == "ANSWER" else word for word in words))
    assert result.code == 2
    assert line in result.err
    assert result.err.count("\n") == 1


def test_the_command_line_has_all_opinions_of_the_store() -> None:
    assert [option.value for option in OpinionName] == [opinion.value for opinion in Opinion]


# HTTP


def test_feedback_over_http(open_parts: Callable[..., Parts], answer: CitedAnswer) -> None:
    parts = open_parts(judge="none", splitter="rules")
    with running_server(parts) as address, httpx.Client(base_url=f"{address}/v1/answers/{answer.id}") as http:
        right = http.post("/feedback", json={"fact": 1, "opinion": "right", "by": "user-7"})
        assert right.status_code == 201
        better = http.post("/feedback", json={"fact": 2, "opinion": "better", "words": "ninety people and"})
        assert better.json()["better"]["quote"] == "ninety people and"
        assert http.get("/feedback").json()["feedback"] == [right.json(), better.json()]
        for wrong, status in (
            ({"fact": 9, "opinion": "right"}, 404),
            ({"fact": 1, "opinion": "nonsense"}, 422),
            ({"fact": 1, "opinion": "right", "words": "It"}, 422),
            ({"fact": 1, "opinion": "better"}, 400),
            ({"opinion": "right"}, 422),
        ):
            response = http.post("/feedback", json=wrong)
            assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
        assert httpx.get(f"{address}/v1/answers/nothing/feedback").status_code == 404
