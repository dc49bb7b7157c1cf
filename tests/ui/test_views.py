"""Each view as a person uses it, by key, over real documents and the real encoder."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from page_caches import clear_page
from scripted_llm import ScriptedLlm, error
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Library, Opinion
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.json import to_json
from propcite.retrieval.text import Granularity

MAIN = Path(propcite.ui.__file__).parent / "main.py"
BRIDGE = """# Heron Bridge

Heron Bridge opens on 14 May 2025. It is 96 metres long and 5.5 metres wide.
"""
FERRY = """The *ferry* & the [quay](javascript:alert(1))

The ferry crosses the estuary every 20 minutes. A single ticket costs 2.40 euros.
"""
QUESTION = "When does Heron Bridge open?"
TEXT = "Heron Bridge opens on 21 May 2025. It is 96 metres long."

Page = Callable[..., AppTest]


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with two collections, the second of them empty."""
    folder = tmp_path_factory.mktemp("ui")
    parts = Parts(load_settings(data_dir=folder))
    collection = parts.library.create_collection("harbour")
    list(parts.ingester(collection).ingest([Upload("bridge.md", BRIDGE.encode()), Upload("ferry.txt", FERRY.encode())]))
    parts.library.close()
    return folder


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    def page(data_dir: Path, view: str = "", **query: str) -> AppTest:
        monkeypatch.setenv("PROPCITE_DATA_DIR", str(data_dir))
        test = AppTest.from_file(str(MAIN), default_timeout=60)
        test.query_params.update(query)
        test.run()
        return test.switch_page(f"views/{view}.py").run() if view else test

    yield page
    clear_page()


def texts(test: AppTest) -> str:
    """Everything that is written on the page outside the clickable answer."""
    kinds = (test.title, test.markdown, test.caption, test.text, test.info, test.error, test.success)
    return "\n".join(element.value for kind in kinds for element in kind).replace("\\", "")


def fact(test: AppTest) -> Any:
    return next(box for box in test.selectbox if box.key.startswith("listed-"))


def address(test: AppTest, name: str) -> str:
    value = test.query_params[name]
    return value if isinstance(value, str) else value[0]


def healthy(test: AppTest) -> AppTest:
    assert not test.exception
    return test


def library(data_dir: Path) -> Library:
    return Parts(load_settings(data_dir=data_dir)).library


def ask(test: AppTest, question: str) -> AppTest:
    return healthy(test.chat_input(key="question").set_value(question).run())


def test_a_question_is_answered_with_its_evidence(opened: Page, filled: Path) -> None:
    test = ask(opened(filled), QUESTION)
    assert "2 of 2 statements supported by a source" in texts(test)
    assert "“Heron Bridge opens on 14 May 2025.”" in texts(test)
    assert "Heron Bridge · bridge.md" in texts(test)
    assert fact(test).options == [
        "✓ When does Heron Bridge open: 14 May 2025.",
        "✓ Heron Bridge opens on 14 May 2025.",
    ]


def test_a_kept_answer_opens_exactly_as_it_was(opened: Page, filled: Path) -> None:
    asked = ask(opened(filled), QUESTION)
    answer_id = address(asked, "answer")
    assert to_json(library(filled).answer(answer_id)) == to_json(library(filled).answer(answer_id[:6]))
    again = healthy(opened(filled, answer=answer_id))
    assert QUESTION in texts(again)
    assert [t.value for t in again.text] == [t.value for t in asked.text]
    assert again.button(key=f"earlier-{answer_id}").label.replace("\\", "") == f"**{QUESTION}**"


def test_what_a_reader_must_know_of_an_answer_stands_above_it(opened: Page, filled: Path) -> None:
    kept = library(filled).answer(address(ask(opened(filled), QUESTION), "answer"))
    told = replace(kept, text=f"{kept.text} And", incomplete=True, notes=("the server went away",))
    known = library(filled)
    known.save_answer(known.collection(kept.collection), told)
    test = healthy(opened(filled, answer=told.id))
    assert [w.value.replace("\\", "") for w in test.warning] == ["This answer is incomplete.  \nThe server went away."]
    assert re.search(
        r"2 of 2 statements supported by a source · “supported” is right in .* · written without a language model",
        texts(test),
    )


def test_an_answer_is_downloaded_in_every_format(opened: Page, filled: Path) -> None:
    test = ask(opened(filled), QUESTION)
    offered = [str(button.key) for button in test.get("download_button")]
    for_people = ["html", "pdf", "docx", "markdown", "csv", "bibtex"]
    for_programs = [name for name in FORMATS if name not in for_people]
    assert offered == [*(f"download-{name}" for name in (*for_people, *for_programs)), "record"]
    assert "For programs" in [box.label for box in test.expander]


def test_an_earlier_answer_is_opened_from_the_list(opened: Page, filled: Path) -> None:
    ask(opened(filled), QUESTION)
    test = opened(filled)
    assert "Ask your documents" in texts(test)
    earlier = next(button for button in test.button if str(button.key).startswith("earlier-"))
    assert "14 May 2025" in texts(healthy(earlier.click().run()))


def test_an_unknown_answer_is_said_and_the_page_goes_on(opened: Page, filled: Path) -> None:
    test = healthy(opened(filled, answer="feedbeef"))
    assert "no answer 'feedbeef'" in texts(test)
    assert "2 of 2" in texts(ask(test, QUESTION))


def test_a_question_nobody_answers_is_said_plainly(opened: Page, filled: Path) -> None:
    test = ask(opened(filled), "Who won the football championship in 2022?")
    assert "does not say" in texts(test)
    test = healthy(test.button(key="search-instead").click().run())
    assert test.text_input(key="search-text").value == "Who won the football championship in 2022?"


def test_what_was_asked_comes_back_when_it_failed(
    opened: Page, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPCITE_ENCODER", str(tmp_path / "nowhere"))
    test = ask(opened(filled), QUESTION)
    assert "nowhere" in texts(test)
    assert test.chat_input(key="question").value == QUESTION


def test_a_text_is_cited_fact_by_fact(opened: Page, filled: Path) -> None:
    test = opened(filled, "cite")
    test.text_area(key="text-to-cite").set_value(TEXT)
    test = healthy(test.button(key="cite").click().run())
    assert "1 of 2 statements supported by a source · 1 contradicted" in texts(test)
    assert "source says 14 May; text says 21 May" in texts(test)
    assert "answer says" not in texts(test)  # it is no answer
    assert test.text_area(key="text-to-cite").value == TEXT
    (earlier,) = [button for button in test.button if str(button.key).startswith("earlier-")]
    assert earlier.label.replace("\\", "") == TEXT  # how it begins, not a time
    test = healthy(fact(test).set_value(1).run())
    assert "“It is 96 metres long and 5.5 metres wide.”" in texts(test)
    assert address(test, "fact") == "1"
    again = healthy(opened(filled, answer=address(test, "answer"), fact="1"))
    assert fact(again).value == 1


def test_nothing_to_cite_is_said_and_what_was_typed_stays(opened: Page, filled: Path) -> None:
    test = opened(filled, "cite")
    test.text_area(key="text-to-cite").set_value("   ")
    test = healthy(test.button(key="cite").click().run())
    assert "needs some words" in texts(test)


def test_what_was_typed_is_there_after_another_view(opened: Page, filled: Path) -> None:
    test = opened(filled, "cite")
    test.text_area(key="text-to-cite").set_value(TEXT).run()
    test.switch_page("views/library.py").run()
    test.switch_page("views/cite.py").run()
    assert test.text_area(key="text-to-cite").value == TEXT


@pytest.mark.parametrize("granularity", ["passage", "sentence", "proposition"])
def test_a_search_finds_units_of_each_kind(opened: Page, filled: Path, granularity: str) -> None:
    test = opened(filled, "search")
    test.text_input(key="search-text").set_value("How often does the ferry cross?")
    test.button_group(key="granularity").set_value(Granularity(granularity))
    assert "nearest, best first" in texts(healthy(test.run()))


def test_a_search_by_words_and_with_quotes_finds_what_has_them(opened: Page, filled: Path) -> None:
    test = opened(filled, "search")
    test.text_input(key="search-text").set_value("Heron").run()
    test.button_group(key="search-way").set_value("words")
    by_words = texts(healthy(test.run()))
    assert "nearest, best first" in by_words
    test.text_input(key="search-text").set_value("xylophone").run()
    assert "Nothing has these words" in texts(healthy(test))
    test.text_input(key="search-text").set_value('"Bridge Heron"').run()
    assert "Nothing has the words in quotes" in texts(healthy(test))


def test_a_search_and_a_question_look_at_the_chosen_documents_alone(opened: Page, filled: Path) -> None:
    test = opened(filled, "search")
    test.text_input(key="search-text").set_value("How often does the ferry cross?").run()
    assert "The 5 nearest" in texts(test)
    test.multiselect(key="documents").select("Heron Bridge").run()
    assert "The 2 nearest" in texts(healthy(test))
    test.multiselect(key="documents").set_value([]).run()
    test.text_input(key="where").set_value("title~heron and not kind=pdf").run()
    assert "The 2 nearest" in texts(healthy(test))
    assert "expected a value" in texts(test.text_input(key="where").set_value("title~").run())
    test.text_input(key="where").set_value("").run()
    test.multiselect(key="documents").select("Heron Bridge").run()
    test.switch_page("views/ask.py").run()
    assert test.multiselect(key="documents").value
    test.chat_input(key="question").set_value("How often does the ferry cross the estuary?").run()
    assert "No passage answers this" in texts(healthy(test))


def test_documents_are_added_listed_and_removed(opened: Page, tmp_path: Path) -> None:
    test = healthy(opened(tmp_path, "library"))
    assert "There are no documents yet" in texts(test)
    test.file_uploader(key="files-0").set_value(
        [("bridge.md", BRIDGE.encode(), "text/markdown"), ("bad.pdf", b"not a pdf", "application/pdf")]
    )
    test = healthy(test.button(key="add").click().run())
    assert "**bridge.md** added: 1 passage" in texts(test)
    assert "**bad.pdf** not added" in texts(test)
    assert list(test.dataframe[0].value["File"]) == ["bridge.md"]

    asked = ask(opened(tmp_path), QUESTION)
    assert "14 May 2025" in texts(asked)

    document = library(tmp_path).documents(library(tmp_path).collection("default"))[0]
    test = opened(tmp_path, "library", document=document.id)
    assert "1 kept answer" in texts(test)
    test = healthy(test.button(key="remove-now").click().run())
    assert not test.dataframe
    again = healthy(opened(tmp_path, answer=address(asked, "answer")))
    assert "source removed" in texts(again)


def test_a_new_collection_is_made_and_chosen(opened: Page, filled: Path) -> None:
    test = opened(filled, "library")
    test = healthy(test.text_input(key="new-collection").set_value("*second*").run())
    assert test.selectbox(key="collection").value == "*second*"
    assert "holds 0 documents" in texts(test)
    test = healthy(test.switch_page("views/ask.py").run())
    assert "is empty" in texts(test)
    test = healthy(test.selectbox(key="collection").set_value("harbour").run())
    assert test.chat_input(key="question")
    library(filled).remove_collection(library(filled).collection("*second*"))


@pytest.mark.parametrize("view", ["ask", "cite", "search"])
def test_an_empty_library_says_what_to_do(opened: Page, tmp_path: Path, view: str) -> None:
    test = healthy(opened(tmp_path, view))
    assert "There are no documents yet" in texts(test)
    assert test.button(key="load-demo")


def test_the_demo_is_one_click_away(opened: Page, tmp_path: Path) -> None:
    test = healthy(opened(tmp_path).button(key="load-demo").click().run())
    suggested = [button for button in test.button if str(button.key).startswith("suggested-")]
    test = healthy(suggested[0].click().run())
    assert "6.4 metres" in " ".join(fact(test).options)


def test_settings_that_cannot_be_are_told(opened: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPCITE_BATCH_SIZE", "many")
    assert "batch_size" in texts(healthy(opened(tmp_path)))


GIVEN = """[1] Heron Bridge opens on 14 May 2025. It is 96 metres long.

[2] A single ticket of the ferry costs 2.40 euros.
"""


def cited(test: AppTest, text: str, given: str) -> AppTest:
    test.text_area(key="text-to-cite").set_value(text)
    test.text_area(key="given-passages").set_value(given)
    return healthy(test.button(key="cite").click().run())


def test_a_text_with_its_own_passages_has_its_markers_checked(opened: Page, filled: Path) -> None:
    text = "Heron Bridge is 96 metres long [1]. A ferry ticket costs 2.40 euros [1]. A boat flies [7]."
    test = cited(opened(filled, "cite"), text, GIVEN)
    written = texts(test)
    assert "✓ [1] right: Heron Bridge is 96 metres long." in written
    assert "✗ [1] wrong, removed: A ferry ticket costs 2.40 euros." in written
    assert "+ [2] was missing: A ferry ticket costs 2.40 euros." in written
    assert "✗ [7] no such passage: A boat flies." in written
    assert "A ferry ticket costs 2.40 euros [2]." in test.code[0].value
    assert "given with the text" in written


def test_markers_that_no_judge_could_check_stay(opened: Page, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedLlm(lambda _: error(500, "out of memory")) as llm:
        for name, value in (("judge", "llm"), ("judge_model", "m"), ("llm_url", llm.base_url)):
            monkeypatch.setenv(f"PROPCITE_{name.upper()}", value)
        test = cited(opened(filled, "cite"), "Heron Bridge is 96 metres long [1].", GIVEN)
    assert "1 marker could not be checked" in [box.label for box in test.expander]
    assert "? [1] kept as it was: Heron Bridge is 96 metres long. (not checked: " in texts(test)
    assert test.code[0].value == "Heron Bridge is 96 metres long [1]."


def test_what_the_given_passages_lack_is_found_in_the_collection(opened: Page, filled: Path) -> None:
    test = cited(opened(filled, "cite"), "The ferry crosses the estuary every 20 minutes.", GIVEN)
    assert "1 of 1 statement supported by a source" in texts(test)
    assert "ferry.txt · found by the check" in texts(test)
    assert not test.code


# What people say of citations


def choices(test: AppTest, kind: str = "opinion-") -> Any:
    kinds = (test.segmented_control, test.radio)
    return next(box for boxes in kinds for box in boxes if str(box.key).startswith(kind))


def test_a_citation_is_judged_in_a_click_and_pointed_away_from(opened: Page, filled: Path) -> None:
    test = ask(opened(filled), QUESTION)
    feedback = Parts(load_settings(data_dir=filled)).feedback
    answer_id = address(test, "answer")
    assert choices(test).value is None
    test = healthy(choices(test).set_value(Opinion.WRONG).run())
    assert [one.opinion for one in feedback.of(answer_id)] == [Opinion.WRONG]
    again = healthy(opened(filled, answer=answer_id))
    assert choices(again).value is Opinion.WRONG
    again = healthy(choices(again).set_value(Opinion.BETTER).run())
    better = next(text for text in choices(again, "better-").options if "96 metres" in text)
    healthy(choices(again, "better-").set_value(better.replace("\\", "")).run())
    (said,) = feedback.of(answer_id)
    assert (said.opinion, said.better and said.better.quote) == (
        Opinion.BETTER,
        "It is 96 metres long and 5.5 metres wide.",
    )
    last = healthy(opened(filled, answer=answer_id))
    assert choices(last, "better-").value == "It is 96 metres long and 5.5 metres wide."
    healthy(choices(last).set_value(None).run())
    assert feedback.of(answer_id) == []


def test_nothing_that_is_chosen_at_first_is_told_the_browser_but_once(opened: Page, filled: Path) -> None:
    """What is set from outside an element goes out with one run, and is lost if the next begins before it is read."""
    test = cited(opened(filled, "cite"), "A ticket costs 2.40 euros. Heron Bridge is 96 metres long.", "")
    answer_id = address(test, "answer")
    healthy(choices(opened(filled, answer=answer_id, fact="1")).set_value(Opinion.WRONG).run())
    test = opened(filled, answer=answer_id, fact="1")
    for switch in list(test.toggle):
        test = healthy(switch.set_value(True).run())
    levels = [choices(test, f"{view}-level-") for view in ("near", "why")]
    assert [list(box.proto.default) for box in (choices(test), *levels)] == [[1], [1], [1]]
    assert fact(test).proto.default == 1
    assert not [box.key for box in (choices(test), *levels, fact(test)) if box.proto.set_value]


def test_a_fact_that_nothing_supports_may_be_said_to_be_supported(opened: Page, filled: Path) -> None:
    test = opened(filled, "cite")
    test.text_area(key="text-to-cite").set_value(TEXT)
    test = healthy(test.button(key="cite").click().run())
    assert "no source supports" in choices(test).label
    healthy(choices(test).set_value(Opinion.WRONG).run())
    (said,) = Parts(load_settings(data_dir=filled)).feedback.of(address(test, "answer"))
    assert (said.opinion, said.citation) == (Opinion.WRONG, "")


# Why a fact has its source


def why(test: AppTest) -> Any:
    return next(switch for switch in test.toggle if str(switch.key).startswith("why-"))


def test_why_is_told_when_it_is_asked_for(opened: Page, filled: Path) -> None:
    test = cited(opened(filled, "cite"), TEXT, "")
    assert "words of weight" not in texts(test)
    test = healthy(why(test).set_value(True).run())
    assert "1 met by another word (“21” by “14”)" in texts(test)
    assert "which counts for 30%" in texts(test)
    assert "source says 14 May; text says 21 May" in texts(test)
    test = healthy(fact(test).set_value(1).run())
    assert "“96”" in texts(test)
    (level,) = [box for box in test.segmented_control if str(box.key).startswith("why-level-")]
    assert level.value is Granularity.SENTENCE
    test = healthy(level.set_value(Granularity.PASSAGE).run())
    assert "with the whole passage and its title" in texts(test)
    assert not test.error


def test_an_answer_of_another_encoder_says_so_where_why_is_asked(opened: Page, filled: Path) -> None:
    kept = library(filled).answer(address(ask(opened(filled), QUESTION), "answer"))
    foreign = replace(kept, text=f"{kept.text} So", models={**kept.models, "encoder": "colbert@1"})
    known = library(filled)
    known.save_answer(known.collection(kept.collection), foreign)
    test = healthy(why(opened(filled, answer=foreign.id)).set_value(True).run())
    (error,) = test.error
    assert "this answer was cited with the encoder colbert@1" in error.value.replace("\\", "")
