"""Drafts under review in the database: cited as running work, cancelled, taken up again, decided on, backed up."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import docx
import pytest

from propcite.app.errors import AppError, NotFoundError, ReadError
from propcite.app.ingest.sources import Upload
from propcite.app.library.backup.creation import create_backup
from propcite.app.library.backup.restoration import restore_backup
from propcite.app.library.store import CollectionInfo, ReviewInfo, ReviewState
from propcite.app.library.store.writing import reviews as stored
from propcite.app.parts import Parts
from propcite.app.reviewing.citing import Reviewing, Unpaced, cite_draft, kept_draft
from propcite.app.reviewing.drafts import read_draft
from propcite.app.reviewing.exports import ReviewFormat, cited_draft, export_review
from propcite.app.reviewing.facts import counts, decide_open, draft_facts, make_decision
from propcite.app.reviewing.parts_of_text import part_numbers, part_of, parts_of
from propcite.attribution.citations import Label
from propcite.attribution.formats.reviewed.decisions import Choice

FERRY = "The ferry crosses the estuary every 20 minutes. A single ticket costs 2.40 euros."
DRAFT = "# The ferry\n\nThe ferry crosses the estuary every 20 minutes.\n\nIt is made of gold.\n"
LONG = "\n\n".join(["The ferry crosses the estuary every 20 minutes."] * 400)


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    return open_parts(splitter="rules", judge="embedded")


@pytest.fixture
def harbour(parts: Parts) -> CollectionInfo:
    collection = parts.library.create_collection("harbour")
    list(parts.ingester(collection).ingest([Upload("ferry.txt", FERRY.encode())]))
    return parts.library.collection("harbour")


def begun(parts: Parts, collection: CollectionInfo, text: str = DRAFT, name: str = "draft.md") -> ReviewInfo:
    content = text.encode()
    total = len(read_draft(parts.settings, name, content).text)
    return parts.reviews.add(collection, name, content, total, "ada")


def cited(parts: Parts, info: ReviewInfo, work: Unpaced | None = None) -> ReviewInfo:
    pipeline = parts.pipeline(parts.library.collection(info.collection))
    return cite_draft(parts.reviews, info, lambda: kept_draft(parts, info), lambda: pipeline, work or Unpaced())


def waited_for(parts: Parts, id_: str) -> ReviewInfo:
    for _ in range(1200):
        info = parts.reviews.find(id_)
        if info.state is not ReviewState.CITING:
            return info
        time.sleep(0.05)
    pytest.fail("the citing does not end")


def test_a_draft_is_cited_and_its_headings_state_nothing(parts: Parts, harbour: CollectionInfo) -> None:
    info = cited(parts, begun(parts, harbour))
    assert (info.state, info.share, info.num_facts, info.num_decided) == (ReviewState.DONE, 1.0, 2, 0)
    answer = cited_draft(parts, info)
    assert draft_facts(answer, {})[0].cited.proposition.text.startswith("The ferry crosses")
    assert sum(counts(answer).values()) == 2
    assert parts.library.find_answers(harbour, questions=False).total == 0  # drafts have a list of their own
    assert parts.library.find_answers(harbour).total == 1


def test_a_word_draft_keeps_its_headings_in_markdown(parts: Parts, harbour: CollectionInfo) -> None:
    document: Any = docx.Document()
    document.add_heading("The ferry", 1)
    document.add_heading("Its times", 2)
    document.add_paragraph("The ferry crosses the estuary every 20 minutes.")
    document.save(saved := io.BytesIO())
    content = saved.getvalue()
    info = cited(parts, parts.reviews.add(harbour, "draft.docx", content, 1))
    written = export_review(parts, info, ReviewFormat.MARKDOWN).data.decode()
    lines = "# The ferry", "## Its times", "The ferry crosses the estuary every 20 minutes.[^fact-1]"
    assert written.startswith("\n\n".join(lines))


def test_the_newest_decision_counts_and_all_are_kept(parts: Parts, harbour: CollectionInfo) -> None:
    info = cited(parts, begun(parts, harbour))
    answer = cited_draft(parts, info)
    for choice, words, by in (
        (Choice.ACCEPTED, "", "ada"),
        (Choice.CHANGED, " It is made of steel. ", "ben"),
        (Choice.REJECTED, "", "zoe"),
    ):
        parts.reviews.decide(info.id, make_decision(answer, "2", choice, words=words, by=by))
    parts.reviews.decide(info.id, make_decision(answer, answer.facts[0].id, Choice.ACCEPTED))
    parts.reviews.decide(info.id, make_decision(answer, "1", Choice.OPEN))
    decisions = parts.reviews.decisions(info.id)
    assert [(one.choice, one.by) for one in decisions.values()] == [(Choice.REJECTED, "zoe")]
    every = parts.reviews.all_decisions(info.id)
    assert [one.words for one in every if one.by == "ben"] == ["It is made of steel."]
    assert all(one.at for one in every)
    assert parts.reviews.find(info.id[:6]).num_decided == 1
    assert [one.number for one in draft_facts(answer, decisions, choices=[Choice.OPEN])] == [1]
    assert draft_facts(answer, decisions, [Label.CONTRADICTED]) == []


def test_facts_without_a_decision_are_decided_at_once(parts: Parts, harbour: CollectionInfo) -> None:
    info = cited(parts, begun(parts, harbour))
    answer = cited_draft(parts, info)
    parts.reviews.decide(info.id, make_decision(answer, "1", Choice.REJECTED, by="ada"))
    every = draft_facts(answer, parts.reviews.decisions(info.id))
    parts.reviews.decide_all(info.id, decide_open(every, Choice.ACCEPTED, note=" read ", by="ben"))
    said = parts.reviews.decisions(info.id)
    assert [(said[one.cited.id].choice, said[one.cited.id].by, said[one.cited.id].note) for one in every] == [
        (Choice.REJECTED, "ada", ""),
        (Choice.ACCEPTED, "ben", "read"),
    ]
    assert decide_open(draft_facts(answer, said), Choice.ACCEPTED) == []
    with pytest.raises(AppError, match="accepted or rejected"):
        decide_open(every, Choice.CHANGED)


@pytest.mark.parametrize(
    ("fact", "choice", "words", "line"),
    [
        ("9", Choice.ACCEPTED, "", "facts 1 to 2"),
        ("1", Choice.CHANGED, " ", "new words"),
        ("1", Choice.ACCEPTED, "Other words", "only a changed fact"),
        ("1", Choice.CHANGED, "x" * 10_001, "shorten"),
    ],
)
def test_wrong_decisions_get_one_line(
    parts: Parts, harbour: CollectionInfo, fact: str, choice: Choice, words: str, line: str
) -> None:
    answer = cited_draft(parts, cited(parts, begun(parts, harbour)))
    with pytest.raises(AppError, match=line):
        make_decision(answer, fact, choice, words=words)


def test_a_cancelled_draft_keeps_what_was_cited_and_can_be_cited_again(
    parts: Parts, harbour: CollectionInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("propcite.app.reviewing.citing.SIGN_S", 0.01)
    info = begun(parts, harbour, LONG)
    work, seen = Unpaced(), list[float]()

    def stop(share: float) -> None:
        seen.append(share)
        parts.reviews.cancel(info.id)

    pipeline = parts.pipeline(harbour)
    info = cite_draft(parts.reviews, info, lambda: kept_draft(parts, info), lambda: pipeline, work, stop)
    assert info.state is ReviewState.CANCELLED
    assert 0 < info.share < 1
    partly = cited_draft(parts, info)
    assert partly.incomplete
    assert partly.text == kept_draft(parts, info).text
    parts.reviews.decide(info.id, make_decision(partly, "1", Choice.ACCEPTED))
    Reviewing(parts).go_on(info, lambda: pipeline, Unpaced())
    again = waited_for(parts, info.id)
    assert (again.state, again.num_decided) == (ReviewState.DONE, 1)
    assert again.num_facts > info.num_facts
    assert not parts.library.has_answer(info.answer_id)  # the part is replaced by the whole


def test_a_draft_of_a_process_that_ended_is_interrupted_and_is_taken_up_once(
    parts: Parts, harbour: CollectionInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = begun(parts, harbour)
    assert parts.reviews.find(info.id).state is ReviewState.CITING
    assert not parts.reviews.claim(info.id)
    monkeypatch.setattr(stored, "SILENT", timedelta(0))
    assert parts.reviews.find(info.id).state is ReviewState.INTERRUPTED
    assert parts.reviews.claim(info.id)


def test_a_draft_over_a_collection_that_was_emptied_fails_with_the_reason(parts: Parts) -> None:
    empty = parts.library.create_collection("empty")
    failed = cited(parts, begun(parts, empty))
    assert failed.state is ReviewState.FAILED
    assert "propcite ingest" in failed.reason


def test_a_removed_draft_takes_its_citations_along(parts: Parts, harbour: CollectionInfo) -> None:
    one, other = (cited(parts, begun(parts, harbour)) for _ in range(2))
    assert one.answer_id == other.answer_id
    parts.reviews.remove(one.id)
    assert parts.library.has_answer(other.answer_id)
    parts.reviews.remove(other.id)
    assert not parts.library.has_answer(other.answer_id)
    with pytest.raises(NotFoundError, match="propcite reviews list"):
        parts.reviews.find(other.id)


@pytest.mark.parametrize(("name", "data"), [("a.zip", b"PK"), ("a.md", b" \n"), ("a.docx", b"no word"), ("a", b"it")])
def test_files_that_are_no_drafts_get_one_line(parts: Parts, name: str, data: bytes) -> None:
    with pytest.raises(ReadError) as error:
        read_draft(parts.settings, name, data)
    assert "\n" not in str(error.value)


def test_a_long_text_is_shown_in_parts_with_the_chosen_facts(parts: Parts, harbour: CollectionInfo) -> None:
    answer = cited_draft(parts, cited(parts, begun(parts, harbour, LONG)))
    spans = parts_of(answer)
    assert len(spans) > 5
    assert " ".join(span.of(answer.text) for span in spans).split() == answer.text.split()
    numbers = part_numbers(answer, spans)
    shown = {fact.id for fact in answer.facts[::2]}
    part = part_of(answer, spans[1], shown)
    assert len(part.facts) == sum(numbers[id_] == 1 for id_ in shown)
    assert all(part.words(fact.proposition.spans).startswith("The ferry") for fact in part.facts)


def test_drafts_and_decisions_are_in_a_backup(
    parts: Parts, harbour: CollectionInfo, open_parts: Callable[..., Parts], tmp_path: Path
) -> None:
    info = cited(parts, begun(parts, harbour))
    parts.reviews.decide(info.id, make_decision(cited_draft(parts, info), "1", Choice.ACCEPTED, by="ada"))
    create_backup(parts.library, parts.settings.data_dir, tmp_path / "all.zip")
    other = open_parts(data_dir=tmp_path / "other")
    restore_backup(tmp_path / "all.zip", lambda: other.library, tmp_path / "other")
    assert other.reviews.find(info.id).num_decided == 1
    assert other.reviews.content(info.id) == DRAFT.encode()
