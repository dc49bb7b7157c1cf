"""A collection is deleted in one tab while another one still shows it: nothing is done over a different collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page_caches import clear_page
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Opinion, ReviewInfo
from propcite.app.parts import Parts
from propcite.app.reviewing.citing import Unpaced, cite_draft
from propcite.app.reviewing.drafts import read_draft
from propcite.app.settings import load_settings
from propcite.app.turns.jobs import Job
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.encoding.encoder import Encoder
from propcite.ui.asking.running import Order, Question, RunningAnswer
from propcite.ui.people.turns import _workers

MAIN = Path(propcite.ui.__file__).parent / "main.py"
FERRY = "The ferry leaves at seven. The ferry carries ninety people and their bicycles.\n"
DRAFT = b"The ferry leaves at nine. It carries ninety people.\n"
GONE = "“bay” is no longer here. What you do now is done over “town”."

Page = Callable[..., AppTest]


@pytest.fixture
def parts(tmp_path: Path, encoder: Encoder) -> Iterator[Parts]:
    """Open a library with the collections `bay`, which is shown first, and `town`."""
    parts = Parts(load_settings(data_dir=tmp_path))
    parts.__dict__["encoder"] = encoder
    for name, text in (("bay", FERRY * 2), ("town", "The mill is twenty metres high.\n")):
        files = [Upload(f"{name}-{number}.txt", f"{text}Number {number}.\n".encode()) for number in (1, 2)]
        list(parts.ingester(parts.library.create_collection(name)).ingest(files[: 2 if name == "bay" else 1]))
    yield parts
    parts.library.close()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Page]:
    def page(view: str = "", **query: str) -> AppTest:
        monkeypatch.setenv("PROPCITE_DATA_DIR", str(tmp_path))
        test = AppTest.from_file(str(MAIN), default_timeout=60)
        test.session_state["collection"] = "bay"
        if not view:
            test.query_params.update(query)
        test.run()
        if view:
            test.switch_page(f"views/{view}.py")
            test.query_params.update(query)
            test.run()
        return healthy(test)

    yield page
    clear_page()


def healthy(test: AppTest) -> AppTest:
    assert not test.exception
    return test


def texts(test: AppTest) -> str:
    kinds = (test.title, test.caption, test.info, test.error, test.warning, test.code)
    return "\n".join(element.value for kind in kinds for element in kind).replace("\\", "")


def delete_bay(parts: Parts) -> None:
    parts.remove_collection(parts.library.collection("bay"))


def answered(parts: Parts) -> CitedAnswer:
    return parts.pipeline(parts.library.collection("bay")).answer("How many people does the ferry carry?")


def reviewed(parts: Parts) -> ReviewInfo:
    bay = parts.library.collection("bay")
    draft = read_draft(parts.settings, "draft.md", DRAFT)
    info = parts.reviews.add(bay, "draft.md", DRAFT, len(draft.text))
    return cite_draft(parts.reviews, info, lambda: draft, lambda: parts.pipeline(bay), Unpaced())


def test_an_opinion_on_an_answer_that_is_gone_leaves_the_page_readable(opened: Page, parts: Parts) -> None:
    test = opened(answer=answered(parts).id)
    opinion = next(box for box in test.segmented_control if str(box.key).startswith("opinion-"))
    delete_bay(parts)
    test = healthy(opinion.set_value(Opinion.RIGHT).run())
    assert "it was deleted, or is not shared with you" in texts(test)
    assert GONE in texts(test)


def test_a_text_is_not_cited_over_another_collection(opened: Page, parts: Parts) -> None:
    test = opened("cite")
    test.text_area(key="text-to-cite").set_value("The ferry leaves at seven.")
    delete_bay(parts)
    test = healthy(test.button(key="cite").click().run())
    assert GONE in texts(test)
    assert test.text_area(key="text-to-cite").value == "The ferry leaves at seven."
    assert parts.library.find_answers().total == 0
    healthy(test.button(key="cite").click().run())  # the warning was read
    assert parts.library.find_answers().total == 1


def test_a_draft_is_not_sent_to_another_collection(opened: Page, parts: Parts) -> None:
    test = opened("review")
    test.file_uploader(key="draft-file").set_value([("draft.md", DRAFT, "text/markdown")]).run()
    delete_bay(parts)
    test = healthy(test.button(key="begin-review").click().run())
    assert GONE in texts(test)
    assert parts.reviews.all() == []


def test_documents_of_a_collection_that_is_gone_are_not_compared(opened: Page, parts: Parts) -> None:
    test = opened("compare")
    for side, box in zip((0, 1), test.multiselect, strict=True):
        box.set_value([box.options[side]])
    delete_bay(parts)
    test = healthy(test.button(key="compare").click().run())
    assert GONE in texts(test)
    assert not test.error


def test_a_search_says_that_it_is_over_another_collection(opened: Page, parts: Parts) -> None:
    test = opened("search")
    delete_bay(parts)
    assert GONE in texts(healthy(test.text_input(key="search-text").set_value("ferry").run()))


@pytest.mark.parametrize("button", ["decide-accepted", "decide-all-rejected"])
def test_a_decision_on_a_draft_that_is_gone_says_so_and_gives_the_note_back(
    opened: Page, parts: Parts, button: str
) -> None:
    test = opened("review", review=reviewed(parts).id)
    note = next(box for box in test.text_input if str(box.key).startswith("review-note-"))
    note.set_value("see the timetable")
    delete_bay(parts)
    test = healthy(test.button(key=button).click().run())
    assert test.title[0].value == "Review a draft"
    assert "This draft was removed" in texts(test)
    assert "see the timetable" in texts(test)
    assert "propcite" not in texts(test)


def test_an_answer_whose_collection_is_deleted_names_no_other_collection(parts: Parts) -> None:
    job: Job = _workers(1, 10.0).writing_job("somebody")
    running = RunningAnswer(Order("", "bay", Question("When does the ferry leave?")), job)
    delete_bay(parts)
    running.write(lambda one: parts.pipeline(parts.library.collection(one.order.collection)), lambda _: None)
    assert running.error == "no collection 'bay'"
