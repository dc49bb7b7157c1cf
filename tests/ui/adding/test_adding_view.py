"""Documents come where one asks and in the library: files with their folders, several addresses, with a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page_caches import clear_page
from scripted_llm import free_url
from serving import wait_until
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.encoding.encoder import Encoder
from propcite.ui.library import jobs

MAIN = Path(propcite.ui.__file__).parent / "main.py"
FERRY = "The ferry crosses the estuary every 20 minutes."
BRIDGE = "Heron Bridge is 96 metres long."
QUESTION = "How long is Heron Bridge?"
PATIENCE = 20  # runs of the page, each of which may take a moment

Page = Callable[[str], AppTest]


@pytest.fixture
def parts(tmp_path: Path, encoder: Encoder) -> Iterator[Parts]:
    parts = Parts(load_settings(data_dir=tmp_path))
    parts.__dict__["encoder"] = encoder
    yield parts
    parts.library.close()


@pytest.fixture
def town(parts: Parts) -> None:
    list(parts.ingester(parts.library.create_collection("town")).ingest([Upload("ferry.txt", FERRY.encode())]))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, parts: Parts) -> Iterator[Page]:
    def page(view: str) -> AppTest:
        monkeypatch.setenv("PROPCITE_DATA_DIR", str(parts.settings.data_dir))
        test = AppTest.from_file(str(MAIN), default_timeout=60).run()
        return healthy(test.switch_page(f"views/{view}.py").run())

    yield page
    clear_page()


def healthy(test: AppTest) -> AppTest:
    assert not test.exception
    return test


def texts(test: AppTest) -> str:
    kinds = (test.title, test.markdown, test.info, test.error, test.warning, test.success, test.toast)
    lines = [element.value for kind in kinds for element in kind]
    return "\n".join([*lines, *(box.label for box in test.expander)]).replace("\\", "")


def add(test: AppTest, number: int, **files: str) -> AppTest:
    sent = [(name, data.encode(), "text/plain") for name, data in files.items()]
    test.file_uploader(key=f"folder-{number}").set_value(sent)
    return healthy(test.button(key="add").click().run())


def all_read(name: str) -> None:
    wait_until(lambda: all(job.has_ended for job in jobs.uploads().jobs(name)), "it is not read")


def is_open(test: AppTest) -> bool:
    (box,) = [box for box in test.expander if box.label == "Add documents"]
    return box.proto.expanded


def sources(parts: Parts, name: str) -> set[str]:
    return {info.source for info in parts.library.documents(parts.library.collection(name))}


@pytest.mark.usefixtures("town")
def test_a_folder_keeps_its_folders_and_again_changes_what_changed(opened: Page, parts: Parts) -> None:
    test = add(opened("library"), 0, **{"town/a/notes.md": "It rained.", "town/b/notes.md": "It snowed."})
    assert sources(parts, "town") == {"ferry.txt", "town/a/notes.md", "town/b/notes.md"}
    assert {"town/a/notes.md", "town/b/notes.md"} <= set(test.dataframe[0].value["File"])
    assert "2 added: town/a/notes.md, town/b/notes.md" in texts(test)
    (close,) = [button for button in test.button if str(button.key).startswith("close-")]
    test = healthy(close.click().run())
    again = add(test, 1, **{"town/a/notes.md": "It rained.", "town/b/notes.md": "It froze."})
    assert "1 replaced, 1 already there: town/b/notes.md, town/a/notes.md" in texts(again)


def test_the_form_closes_when_its_work_begins_and_what_was_added_is_said_where_one_asks(opened: Page) -> None:
    test = opened("ask")
    assert is_open(test)
    test = add(test, 0, **{"bridge.txt": BRIDGE})
    assert not is_open(test)
    all_read("default")
    test = healthy(test.run())
    assert "bridge.txt added: 1 passage" in texts(test)
    (close,) = [button for button in test.button if str(button.key).startswith("close-")]
    assert "bridge.txt added" not in texts(healthy(close.click().run()))


@pytest.mark.usefixtures("town")
def test_files_meant_for_a_collection_that_was_deleted_meanwhile_go_to_no_other_unasked(
    opened: Page, parts: Parts
) -> None:
    test = opened("library")
    parts.library.remove_collection(parts.library.collection("town"))
    test = add(test, 0, **{"bridge.txt": BRIDGE})
    assert "“town” is no longer here." in texts(test)
    assert parts.library.collections() == []
    test = healthy(test.button(key="add").click().run())
    assert sources(parts, "default") == {"bridge.txt"}


@pytest.mark.usefixtures("town")
def test_an_address_that_is_none_is_said_and_stays_as_it_was_typed(opened: Page) -> None:
    test = opened("library")
    test.text_area(key="addresses-0").set_value("https://example.org/a nonsense")
    test = healthy(test.button(key="add").click().run())
    assert "“nonsense” is no web address: write each as https://example.org/page" in texts(test)
    assert test.text_area(key="addresses-0").value == "https://example.org/a nonsense"
    assert jobs.uploads().jobs("town") == []
    test.text_area(key="addresses-0").set_value(" ")
    assert "Nothing was chosen" in texts(healthy(test.button(key="add").click().run()))


@pytest.mark.usefixtures("town")
def test_several_addresses_are_one_job_and_each_has_its_outcome(opened: Page) -> None:
    test, url = opened("library"), free_url()
    test.text_area(key="addresses-0").set_value(f"{url}/a.html\n{url}/b.html <{url}/a.html>")
    test = healthy(test.button(key="add").click().run())
    (job,) = jobs.uploads().jobs("town")
    reasons = {outcome.source: outcome.reason for outcome in jobs.uploads().outcomes(job.id)}
    assert reasons.keys() == {f"{url}/a.html", f"{url}/b.html"}
    assert all("is inside this network, from which nothing is fetched" in reason for reason in reasons.values())
    assert "2 not added: a.html, b.html" in texts(test)


def answered(test: AppTest) -> str:
    """Run the page until its answer is open; return its id."""
    for _ in range(PATIENCE):
        if "answer" in test.query_params:
            value = test.query_params["answer"]
            return value if isinstance(value, str) else value[0]
        healthy(test.run())
    pytest.fail("it is not answered")


@pytest.mark.usefixtures("town")
def test_a_file_sent_with_a_question_is_read_before_it_is_answered(opened: Page, parts: Parts) -> None:
    test = opened("ask")
    test = healthy(test.chat_input(key="question").upload("new/bridge.txt", BRIDGE.encode()).set_value(QUESTION).run())
    answer = parts.library.answer(answered(test))
    assert "96 metres" in answer.text
    assert sources(parts, "town") == {"ferry.txt", "new/bridge.txt"}
    assert "new/bridge.txt added: 1 passage" in texts(test)


@pytest.mark.usefixtures("town")
def test_a_file_sent_with_a_question_over_some_documents_counts_too(opened: Page, parts: Parts) -> None:
    list(
        parts.ingester(parts.library.collection("town")).ingest(
            [Upload("old.txt", b"The old bridge is 12 metres long.")]
        )
    )
    test = opened("ask")
    ferry = parts.library.find_document(parts.library.collection("town"), "ferry.txt").id
    test.multiselect(key="documents").set_value([ferry]).run()
    test = healthy(test.chat_input(key="question").upload("bridge.txt", BRIDGE.encode()).set_value(QUESTION).run())
    answer = parts.library.answer(answered(test))
    assert "96 metres" in answer.text
    assert "12 metres" not in answer.text


def test_a_first_file_may_come_with_its_question_or_alone(opened: Page, parts: Parts) -> None:
    test = opened("ask")
    test = healthy(test.chat_input(key="question").upload("ferry.txt", FERRY.encode()).run())
    all_read("default")
    assert "ferry.txt added: 1 passage" in texts(healthy(test.run()))
    parts.library.remove_collection(parts.library.collection("default"))
    test = opened("ask")
    test = healthy(test.chat_input(key="question").upload("bridge.txt", BRIDGE.encode()).set_value(QUESTION).run())
    assert "96 metres" in parts.library.answer(answered(test)).text


@pytest.mark.usefixtures("town")
def test_a_question_whose_file_cannot_be_read_is_given_back_with_the_reason(opened: Page, parts: Parts) -> None:
    test = opened("ask")
    test = healthy(test.chat_input(key="question").upload("bridge.pdf", b"no pdf").set_value(QUESTION).run())
    for _ in range(PATIENCE):
        if test.chat_input(key="question").value == QUESTION:
            break
        healthy(test.run())
    assert "Your question was not answered" in texts(test)
    assert "bridge.pdf" in texts(test)
    assert test.chat_input(key="question").value == QUESTION
    assert parts.library.answers() == []
