"""The chat as a person uses it, by key: follow-ups, earlier turns, the history, and what may go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from page_caches import clear_page
from scripted_llm import free_url
from serving import wait_until
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Library
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.app.turns.fair_queue import Waiting
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.text import Document
from propcite.ui.library import jobs
from propcite.ui.people import turns
from propcite.ui.session import MAX_NAMED

MAIN = Path(propcite.ui.__file__).parent / "main.py"
TEXTS = {
    "2022.txt": "The programme spent 71 million euros in 2022. It hired 38 apprentices in 2022.",
    "2023.txt": "The programme spent 84 million euros in 2023. It hired 54 apprentices in 2023.",
}
QUESTION = "How much did the programme spend in 2023?"
HOSTILE = "How *long* is <script>alert(1)</script> the [quay](javascript:alert(1))?"

Page = Callable[..., AppTest]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """A data directory with one collection of two texts."""
    folder = tmp_path_factory.mktemp("asking")
    parts = Parts(load_settings(data_dir=folder))
    parts.__dict__["encoder"] = encoder
    town = parts.library.create_collection("town")
    list(parts.ingester(town).ingest([Upload(name, text.encode()) for name, text in TEXTS.items()]))
    parts.library.close()
    return folder


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    def page(data_dir: Path, **query: str) -> AppTest:
        monkeypatch.setenv("PROPCITE_DATA_DIR", str(data_dir))
        test = AppTest.from_file(str(MAIN), default_timeout=60)
        test.query_params.update(query)
        return healthy(test.run())

    yield page
    clear_page()


@pytest.fixture
def library(filled: Path) -> Iterator[Library]:
    opened = Parts(load_settings(data_dir=filled)).library
    yield opened
    for info in opened.answers():
        opened.remove_answer(info.id)
    opened.close()


def healthy(test: AppTest) -> AppTest:
    assert not test.exception
    return test


def texts(test: AppTest) -> str:
    kinds = (test.title, test.header, test.markdown, test.caption, test.text, test.info, test.error)
    return "\n".join(element.value for kind in kinds for element in kind).replace("\\", "")


def ask(test: AppTest, question: str) -> AppTest:
    return healthy(test.chat_input(key="question").set_value(question).run())


def address(test: AppTest) -> str:
    value = test.query_params["answer"]
    return value if isinstance(value, str) else value[0]


def keys(test: AppTest, beginning: str) -> list[str]:
    return [str(button.key) for button in test.button if str(button.key).startswith(beginning)]


def keep(library: Library, question: str, text: str = "Yes.", after: str = "") -> CitedAnswer:
    answer = CitedAnswer(text, question=question, collection="town", after=after)
    library.save_answer(library.collection("town"), answer)
    return answer


def talk(library: Library, *questions: str) -> list[CitedAnswer]:
    said: list[CitedAnswer] = []
    for question in questions:
        said.append(keep(library, question, f"About {question}", said[-1].id if said else ""))
    return said


def test_a_follow_up_is_understood_and_earlier_turns_stand_above(opened: Page, filled: Path, library: Library) -> None:
    test = ask(opened(filled), QUESTION)
    first = address(test)
    assert not keys(test, "turn-")
    test = ask(test, "And in 2022?")
    second = address(test)
    assert "understood as: How much did the programme spend in 2022?" in texts(test)
    assert library.answer(second).after == first
    assert "71 million" in library.answer(second).text
    assert keys(test, "turn-") == [f"turn-{first}"]
    assert "84 million" in test.button(key=f"turn-{first}").label
    back = healthy(test.button(key=f"turn-{first}").click().run())
    assert QUESTION in texts(back)
    assert not keys(back, "turn-")
    assert "understood as" not in texts(back)


def test_the_words_themselves_may_be_asked(opened: Page, filled: Path, library: Library) -> None:
    test = ask(ask(opened(filled), QUESTION), "How many apprentices did it hire?")
    assert "understood as: How many apprentices did the programme hire?" in texts(test)
    test = healthy(test.button(key="as-it-stands").click().run())
    alone = library.answer(address(test))
    assert (alone.question, alone.understood, alone.after) == ("How many apprentices did it hire?", "", "")


def test_steps_and_the_meter_stand_with_a_reopened_answer(opened: Page, filled: Path, library: Library) -> None:
    first = address(ask(opened(filled), QUESTION))
    test = opened(filled, answer=first)
    (steps,) = [box for box in test.expander if " written in " in box.label]
    assert steps.label.startswith("found 2 passages in ")
    shown = texts(test)
    assert all(f"✓ {word}" in shown for word in ("Found passages", "Wrote", "Split it", "Checked that they"))
    assert library.answer(first).timings_ms["retrieve"] > 0


def test_a_long_conversation_is_shown_in_short(opened: Page, filled: Path, library: Library) -> None:
    said = talk(library, *(f"Number {n}?" for n in range(6)))
    test = opened(filled, answer=said[-1].id)
    assert keys(test, "turn-") == [f"turn-{answer.id}" for answer in said[:-1]]
    assert [box.label for box in test.expander if "earlier" in box.label] == ["2 earlier questions"]


def test_a_new_conversation_follows_nothing(opened: Page, filled: Path, library: Library) -> None:
    (one,) = talk(library, "Number 1?")
    test = healthy(opened(filled, answer=one.id).button(key="new").click().run())
    assert "Ask your documents" in texts(test)
    assert "answer" not in test.query_params
    assert library.answer(address(ask(test, QUESTION))).after == ""


def test_the_history_is_searched_and_paged(opened: Page, filled: Path, library: Library) -> None:
    made = [keep(library, f"Number {n}?", "Seven." if n == 7 else "No.").id for n in range(12)][::-1]
    test = opened(filled)
    assert keys(test, "earlier-") == [f"earlier-{id_}" for id_ in made[:10]]
    assert "1 to 10 of 12" in texts(test)
    older = healthy(test.button(key="older").click().run())
    assert keys(older, "earlier-") == [f"earlier-{id_}" for id_ in made[10:]]
    assert older.button(key="older").disabled
    found = healthy(older.text_input(key="history-words").set_value("SEVEN number").run())
    assert keys(found, "earlier-") == [f"earlier-{made[4]}"]
    none = healthy(found.text_input(key="history-words").set_value("nothing").run())
    assert "None has these words" in texts(none)
    opened_one = healthy(found.text_input(key="history-words").set_value("seven").run())
    opened_one = healthy(opened_one.button(key=f"earlier-{made[4]}").click().run())
    assert address(opened_one) == made[4]


def test_the_history_of_one_collection_or_of_all(opened: Page, filled: Path, library: Library) -> None:
    here = keep(library, "Here?")
    other = library.create_collection("other")
    library.save_answer(other, CitedAnswer("There.", question="There?", collection="other"))
    (there,) = library.find_answers(other).items
    test = opened(filled)
    assert keys(test, "earlier-") == [f"earlier-{here.id}"]
    test = healthy(test.segmented_control(key="history-within").set_value("All collections").run())
    assert set(keys(test, "earlier-")) == {f"earlier-{here.id}", f"earlier-{there.id}"}
    test = healthy(test.button(key=f"earlier-{there.id}").click().run())
    assert test.selectbox(key="collection").value == "other"
    test = healthy(test.selectbox(key="collection").set_value("town").run())
    assert "answer" not in test.query_params
    library.remove_collection(other)


def test_an_answer_is_deleted_with_what_follows_it(opened: Page, filled: Path, library: Library) -> None:
    first, second, third = talk(library, "One?", "Two?", "Three?")
    test = opened(filled, answer=second.id)
    assert "This answer and the 1 answer that follows it will be deleted" in texts(test)
    test = healthy(test.button(key="delete-now").click().run())
    assert address(test) == first.id
    assert [info.id for info in library.answers()] == [first.id]
    test = healthy(test.button(key="delete-now").click().run())
    assert "Ask your documents" in texts(test)
    assert library.answers() == []
    assert not library.has_answer(third.id)


def test_a_link_to_the_answer_may_be_copied_and_says_who_can_open_it(
    opened: Page, filled: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = talk(library, "One?")
    codes = [block.value for block in opened(filled, answer=one.id).code]
    assert codes[0].endswith(f"?answer={one.id}")
    assert "works on this machine only" in texts(opened(filled, answer=one.id))
    monkeypatch.setenv("PROPCITE_PUBLIC_ADDRESS", "https://propcite.example")
    shared = opened(filled, answer=one.id)
    assert shared.code[0].value.startswith("https://propcite.example/")
    assert "works on this machine only" not in texts(shared)


def test_what_people_wrote_is_shown_as_text(opened: Page, filled: Path, library: Library) -> None:
    first = keep(library, HOSTILE, "<b>No</b> ![x](y)")
    second = keep(library, "And?", "No.", first.id)
    test = opened(filled, answer=second.id)
    label = test.button(key=f"turn-{first.id}").label
    assert r"\<script\>alert\(1\)\<\/script\>" in label
    assert r"\[quay\]\(javascript\:alert\(1\)\)" in label
    assert r"\<b\>No\<\/b\> \!\[x\]\(y\)" in label
    assert r"\[quay\]" in test.button(key=f"earlier-{first.id}").label


def test_a_server_that_is_down_is_named_and_the_sources_may_answer_instead(
    opened: Page, filled: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = free_url()
    for name, value in (("GENERATOR", "openai"), ("GENERATOR_MODEL", "m"), ("LLM_URL", url)):
        monkeypatch.setenv(f"PROPCITE_{name}", value)
    test = ask(opened(filled), QUESTION)
    assert f"No server answers at {url}: start it or correct the PROPCITE_LLM_URL" in texts(test)
    assert test.chat_input(key="question").value == QUESTION
    test = healthy(test.button(key="without-model").click().run())
    assert "84 million" in library.answer(address(test)).text
    assert library.answer(address(test)).models["generator"] == "extractive"


def test_without_a_collection_the_question_stays(opened: Page, tmp_path: Path) -> None:
    test = ask(opened(tmp_path), QUESTION)
    assert "There are no documents to ask yet" in texts(test)
    assert test.chat_input(key="question").value == QUESTION
    assert test.button(key="load-demo")


def test_a_collection_that_was_deleted_meanwhile_is_told(opened: Page, filled: Path, library: Library) -> None:
    gone = library.create_collection("gone")
    test = opened(filled)
    test = healthy(test.selectbox(key="collection").set_value("gone").run())
    library.remove_collection(gone)
    test = ask(test, QUESTION)
    reason = "The collection “gone” is gone. Nothing was asked: send it again to ask “town”."
    assert reason in texts(test)
    assert test.chat_input(key="question").value == QUESTION
    assert library.answers() == []
    test = healthy(test.run())  # as when suggested questions arrive
    assert reason in texts(test)
    test = ask(test, QUESTION)
    assert "84 million" in library.answer(address(test)).text
    assert reason not in texts(test)


def test_a_follow_up_to_an_answer_that_was_deleted_meanwhile_is_told(
    opened: Page, filled: Path, library: Library
) -> None:
    (one,) = talk(library, QUESTION)
    test = opened(filled, answer=one.id)
    library.remove_answer(one.id)
    test = ask(test, "And in 2022?")
    assert "was deleted: send it again to ask it by itself" in texts(test)
    assert test.chat_input(key="question").value == "And in 2022?"
    assert library.answers() == []


def test_a_large_collection_is_narrowed_by_conditions_alone(opened: Page, filled: Path, library: Library) -> None:
    large = library.create_collection("large")
    for number in range(MAX_NAMED + 1):
        library.put_document(
            large, Document(f"{number:012x}", "", f"N {number}", f"{number}.txt"), f"{number:064x}", []
        )
    test = opened(filled)
    assert test.selectbox(key="collection").value == "large"
    assert not test.multiselect
    assert test.text_input(key="where")
    test = healthy(test.selectbox(key="collection").set_value("town").run())
    assert test.multiselect(key="documents")
    library.remove_collection(large)


def test_the_page_opens_with_the_collection_that_was_asked_last(opened: Page, filled: Path, library: Library) -> None:
    large = library.create_collection("large")
    for number in range(len(TEXTS) + 1):
        library.put_document(large, Document(f"{number:012x}", "", "", f"{number}.txt"), f"{number:064x}", [])
    test = opened(filled)
    assert test.selectbox(key="collection").value == "large"
    ask(healthy(test.selectbox(key="collection").set_value("town").run()), QUESTION)
    assert opened(filled).selectbox(key="collection").value == "town"
    library.remove_collection(large)


def test_documents_that_came_after_an_answer_are_counted_and_it_is_asked_again(
    opened: Page, tmp_path: Path, encoder: Encoder
) -> None:
    parts = Parts(load_settings(data_dir=tmp_path))
    parts.__dict__["encoder"] = encoder
    ingester = parts.ingester(parts.library.create_collection("town"))
    list(ingester.ingest([Upload("2022.txt", TEXTS["2022.txt"].encode())]))
    test = ask(opened(tmp_path), QUESTION)
    assert not keys(test, "ask-again")
    list(ingester.ingest([Upload("2023.txt", TEXTS["2023.txt"].encode())]))
    test = healthy(test.run())
    assert "1 document came or changed after this answer." in texts(test)
    test = healthy(test.button(key="ask-again").click().run())
    assert "84 million" in parts.library.answer(address(test)).text
    assert not keys(test, "ask-again")
    parts.library.close()


def test_documents_are_added_where_one_asks(opened: Page, tmp_path: Path) -> None:
    test = opened(tmp_path)
    test.file_uploader(key="files-0").set_value([("2023.txt", TEXTS["2023.txt"].encode(), "text/plain")])
    test = healthy(test.button(key="add").click().run())
    wait_until(lambda: all(job.has_ended for job in jobs.uploads().jobs("default")), "it is not read")
    test = ask(healthy(test.run()), QUESTION)
    assert "84 million" in Parts(load_settings(data_dir=tmp_path)).library.answer(address(test)).text


def test_a_question_that_names_a_document_which_is_not_cited_says_so(
    opened: Page, filled: Path, library: Library
) -> None:
    town = library.collection("town")
    (first, second) = library.documents(town)
    kept = library.answer(address(ask(opened(filled), QUESTION)))
    asked = replace(kept, question="What does 2022.txt say of 2023?", text=f"{kept.text} ")
    library.save_answer(town, asked)
    assert "84 million" in kept.text
    warned = [warning.value for warning in opened(filled, answer=asked.id).warning]
    assert any(first.title in line and second.title in line for line in warned)
    assert not opened(filled, answer=kept.id).warning


def test_a_long_question_is_set_in_smaller_letters(opened: Page, filled: Path, library: Library) -> None:
    long = "Is it so? " * 40
    test = opened(filled, answer=keep(library, long).id)
    assert [heading.value.replace("\\", "") for heading in test.subheader] == [long.strip()]


def test_a_condition_that_leaves_no_document_keeps_the_question(opened: Page, filled: Path, library: Library) -> None:
    test = opened(filled)
    test = healthy(test.text_input(key="where").set_value("title=nothing").run())
    assert "no document matches title=nothing" in texts(test)
    test = ask(test, QUESTION)
    assert test.chat_input(key="question").value == QUESTION
    assert library.answers() == []


def test_a_question_that_would_wait_too_long_is_given_back(
    opened: Page, filled: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPCITE_SERVE_THREADS", "1")
    monkeypatch.setenv("PROPCITE_SERVE_WAIT_SECONDS", "0.01")
    page = opened(filled)
    settings = load_settings()
    page_turns = turns._workers(settings.serve_threads, settings.serve_wait_seconds).turns
    somebody = Waiting("somebody else", 0.5, 60.0, lambda: None)
    page_turns.put(somebody)
    test = ask(page, QUESTION)
    assert "Too much waits already: try again in" in texts(test)
    assert not library.answers()
    page_turns.end(somebody, 0.5)
    assert "84 million" in library.answer(address(ask(test, QUESTION))).text
    assert page_turns.running == 0
