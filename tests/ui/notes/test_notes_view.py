"""Notes on the page: pinned, written, cited; two tabs, a collection deleted meanwhile, a reader without rights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page_caches import clear_page
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.ingest.sources import Upload
from propcite.app.notes.pinning import pinned
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.encoding.encoder import Encoder

MAIN = Path(propcite.ui.__file__).parent / "main.py"
FERRY = "The ferry leaves at seven. It carries ninety people and their bicycles across the bay.\n"
HOSTILE = "<script>alert(1)</script> is *here*"

Page = Callable[..., AppTest]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    def page(data_dir: Path, view: str = "views/notes.py", **query: str) -> AppTest:
        monkeypatch.setenv("PROPCITE_DATA_DIR", str(data_dir))
        test = AppTest.from_file(str(MAIN), default_timeout=60)
        test.query_params.update(query)
        return healthy(test.run().switch_page(view).run() if view else test.run())

    yield page
    clear_page()


@pytest.fixture
def parts(tmp_path: Path, encoder: Encoder) -> Iterator[Parts]:
    parts = Parts(load_settings(data_dir=tmp_path))
    parts.__dict__["encoder"] = encoder
    town = parts.library.create_collection("town")
    list(parts.ingester(town).ingest([Upload("ferry.txt", FERRY.encode())]))
    yield parts
    parts.library.close()


def healthy(test: AppTest) -> AppTest:
    assert not test.exception
    return test


def texts(test: AppTest) -> str:
    kinds = (test.title, test.markdown, test.caption, test.text, test.info, test.error, test.warning, test.code)
    return "\n".join(element.value for kind in kinds for element in kind).replace("\\", "")


def press(test: AppTest, key: str) -> AppTest:
    return healthy(test.button(key=key).click().run())


def typed(test: AppTest, key: str, text: str) -> AppTest:
    return healthy(test.text_area(key=key).set_value(text).run())


def test_a_note_is_written_cited_and_removed(opened: Page, parts: Parts, tmp_path: Path) -> None:
    town = parts.library.collection("town")
    test = press(typed(opened(tmp_path), "note-", "The ferry leaves at seven."), "add-note")
    (note,) = parts.notes.all(town)
    assert note.text == "The ferry leaves at seven."
    assert test.text_area(key="note-").value == ""
    test = press(test, f"cite-{note.id}")
    assert parts.notes.find(note.id).cited is not None
    assert "1 of 1 statement" in texts(test)
    test = press(typed(test, f"note-{note.id}", HOSTILE), f"save-{note.id}")
    assert parts.notes.find(note.id).text == HOSTILE
    press(test, f"gone-{note.id}")
    assert parts.notes.all(town) == []


def test_a_note_shows_what_has_no_source_and_which_source_was_removed(
    opened: Page, parts: Parts, tmp_path: Path
) -> None:
    town = parts.library.collection("town")
    cited = parts.pipeline(town).cite("The ferry leaves at seven. The ferry carries twelve people and [a](b) crane.")
    note = parts.notes.add(town, cited.text)
    parts.notes.set_cited(note.id, cited, note.version)
    said = texts(opened(tmp_path))
    assert "The ferry carries twelve people" in said.replace(cited.text, "")
    assert "(source/" in said
    assert "source removed" not in said
    (ferry,) = parts.library.documents(town)
    parts.ingester(town).remove(ferry.id)
    said = texts(opened(tmp_path))
    assert "source removed" in said
    assert "(source/" not in said


def test_two_notes_may_say_the_same(opened: Page, parts: Parts, tmp_path: Path) -> None:
    town = parts.library.collection("town")
    cited = parts.pipeline(town).cite("The ferry leaves at seven.")
    for pin in (cited, None):
        parts.notes.set_cited(parts.notes.add(town, cited.text, pin).id, cited, 1)
    test = opened(tmp_path)
    assert len([box for box in test.text_area if box.value == cited.text]) == 2


def test_an_answer_its_statement_and_its_quote_are_pinned(opened: Page, parts: Parts, tmp_path: Path) -> None:
    town = parts.library.collection("town")
    answer = parts.pipeline(town).answer("How many people does the ferry carry?")
    test = opened(tmp_path, view="", answer=answer.id)
    for kind in ("answer", "fact", "quote"):
        test = press(test, f"pin-{kind}")
    whole, _, quote = [note.pinned for note in parts.notes.all(town)]
    assert whole == parts.library.answer(answer.id)
    assert quote is not None
    assert quote.text.startswith("“")
    assert "ninety people" in texts(opened(tmp_path))


@pytest.mark.parametrize("kind", ["answer", "fact", "quote"])
def test_what_is_pinned_twice_leads_to_the_note_that_is_there(
    opened: Page, parts: Parts, tmp_path: Path, kind: str
) -> None:
    town = parts.library.collection("town")
    answer = parts.pipeline(town).answer("How many people does the ferry carry?")
    parts.notes.add(town, "another note")
    test = press(opened(tmp_path, view="", answer=answer.id), f"pin-{kind}")
    assert [toast.value for toast in test.toast] == ["Pinned to the notes of this collection"]
    test = press(test, f"pin-{kind}")
    assert [toast.value for toast in test.toast] == ["It is pinned already"]
    (_, note) = parts.notes.all(town)
    link = next(one for one in test.get("page_link") if one.proto.label == "Open the note")
    assert link.proto.query_string == f"note={note.id}"

    alone = opened(tmp_path, note=note.id)
    assert answer.question in texts(alone)
    assert "another note" not in [box.value for box in alone.text_area]
    assert len(press(alone, "all-notes").text_area) == 3
    assert "was removed" in texts(opened(tmp_path, note="gone"))


def test_a_pinned_statement_opens_its_answer_at_its_place(opened: Page, parts: Parts, tmp_path: Path) -> None:
    town = parts.library.collection("town")
    answer = parts.pipeline(town).answer("How many people does the ferry carry?")
    note = parts.notes.add(town, "", pinned(answer, "2"), answer=answer.id)
    test = press(opened(tmp_path), f"answer-{note.id}")
    assert (test.query_params["answer"], test.query_params["fact"]) == (answer.id, "2")
    parts.library.remove_answer(answer.id)
    assert f"answer-{note.id}" not in [button.key for button in opened(tmp_path).button]


def test_what_is_typed_in_two_tabs_is_not_lost(opened: Page, parts: Parts, tmp_path: Path) -> None:
    note = parts.notes.add(parts.library.collection("town"), "one")
    first, second = opened(tmp_path), opened(tmp_path)
    press(typed(second, f"note-{note.id}", "two"), f"save-{note.id}")
    first.text_area(key=f"note-{note.id}").set_value("three")  # and pressed before the page hears of it
    first = press(first, f"save-{note.id}")
    assert parts.notes.find(note.id).text == "two"
    assert "somebody changed this note meanwhile" in texts(first)
    assert "two" in texts(first)
    assert first.text_area(key=f"note-{note.id}").value == "three"
    press(first, f"save-{note.id}")
    assert parts.notes.find(note.id).text == "three"


def test_what_is_typed_outlives_its_collection(opened: Page, parts: Parts, tmp_path: Path) -> None:
    town = parts.library.collection("town")
    note = parts.notes.add(town, "one")
    test = typed(typed(opened(tmp_path), f"note-{note.id}", "my long thoughts"), "note-", "and these")
    parts.library.remove_collection(town)
    test = press(test, f"save-{note.id}")
    assert "was deleted" in texts(test)
    assert "my long thoughts" in texts(test)
    assert "and these" in texts(test)


def test_what_is_typed_stays_while_another_view_is_open(opened: Page, tmp_path: Path, parts: Parts) -> None:
    note = parts.notes.add(parts.library.collection("town"), "one")
    test = typed(opened(tmp_path), f"note-{note.id}", "half a thought")
    test = healthy(test.switch_page("views/search.py").run())
    test = healthy(test.switch_page("views/notes.py").run())
    assert test.text_area(key=f"note-{note.id}").value == "half a thought"
