"""The Library's part on how words are compared: what is in force, and adapting it to what people marked right."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from page_caches import clear_page
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.ingest.sources import Upload
from propcite.app.library.feedback import export_feedback, make_feedback
from propcite.app.library.store import Opinion, QuotedSpan
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions.rules import RuleSplitter
from propcite.retrieval.encoding.encoder import Encoder

MAIN = Path(propcite.ui.__file__).parent / "main.py"
TEXTS = {
    "bridge.txt": "Heron Bridge opens to the public in May.",
    "ferry.txt": "The ferry crosses the estuary every twenty minutes.",
}

Page = Callable[[Path], AppTest]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    def page(data_dir: Path) -> AppTest:
        monkeypatch.setenv("PROPCITE_DATA_DIR", str(data_dir))
        test = AppTest.from_file(str(MAIN), default_timeout=60).run()
        return test.switch_page("views/library.py").run()

    yield page
    clear_page()


@pytest.fixture
def parts(tmp_path: Path, encoder: Encoder) -> Iterator[Parts]:
    """A collection of two texts."""
    parts = Parts(load_settings(data_dir=tmp_path))
    parts.__dict__["encoder"] = encoder
    collection = parts.library.create_collection("town")
    list(parts.ingester(collection).ingest([Upload(name, text.encode()) for name, text in TEXTS.items()]))
    yield parts
    parts.library.close()


def mark(parts: Parts, question: str, file: str) -> None:
    """A kept answer, and somebody's word that this file says it better."""
    town = parts.library.collection("town")
    propcite = PropCite(parts.encoder, splitter=RuleSplitter(), judge=None)
    answer = replace(propcite.cite(question, [TEXTS[file]]), question=question)
    parts.library.save_answer(town, answer)
    passage = parts.library.passage_ids(town, parts.library.find_document(town, file).id)[0]
    parts.feedback.save(make_feedback(answer, "1", Opinion.BETTER, better=QuotedSpan(passage, 0, 3, TEXTS[file][:3])))


def told(test: AppTest) -> str:
    assert not test.exception
    return "\n".join(element.value for kind in (test.markdown, test.error, test.caption) for element in kind).replace(
        "\\", ""
    )


def keys(test: AppTest) -> set[str]:
    return {button.key for button in test.button}


@pytest.mark.usefixtures("parts")
def test_too_few_marks_say_how_many_are_needed(opened: Page, tmp_path: Path) -> None:
    test = opened(tmp_path)
    assert "the alignment **top-k=1**, the usual one: each word with the nearest" in told(test)
    assert "Citations of 0 questions were marked right; from 2 on (8 are better)" in told(test)
    assert keys(test) & {"adapt", "alignment-away"} == set()


def test_a_collection_is_adapted_to_what_people_marked(opened: Page, parts: Parts, tmp_path: Path) -> None:
    mark(parts, "The bridge opens in May.", "bridge.txt")
    mark(parts, "The ferry crosses every twenty minutes.", "ferry.txt")
    test = opened(tmp_path)
    assert "Citations of 2 questions were marked right. 8 are better." in told(test)
    test = test.button(key="adapt").click().run()
    assert "top-k=1 stays: no other strategy ranks the 2 examples better." in told(test)
    table = test.dataframe[-1].value
    assert list(table["alignment"])[:2] == ["top-k=1", "top-k=2"]
    assert next(iter(table["nDCG@10"])) == "100.0"


def test_an_alignment_of_its_own_is_told_and_taken_away(opened: Page, parts: Parts, tmp_path: Path) -> None:
    town = parts.library.collection("town")
    parts.library.set_alignment(town, "top-k=2")
    test = opened(tmp_path)
    assert "the alignment **top-k=2**, the collection's own" in told(test)
    test = test.button(key="alignment-away").click().run()
    assert "the alignment **top-k=1**" in told(test)
    assert parts.library.alignment(town) == ""


def test_a_setting_stands_above_it(opened: Page, parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts.library.set_alignment(parts.library.collection("town"), "top-k=2")
    monkeypatch.setenv("PROPCITE_ALIGNMENT", "top-p=1%")
    test = opened(tmp_path)
    assert "the alignment **top-p=1%**, as the settings say" in told(test)
    assert keys(test) & {"adapt", "alignment-away"} == set()


def test_what_was_said_of_the_answers_can_be_taken_along(opened: Page, parts: Parts, tmp_path: Path) -> None:
    assert not opened(tmp_path).get("download_button")
    mark(parts, "Heron Bridge opens in May.", "bridge.txt")
    labels = [button.proto.label for button in opened(tmp_path).get("download_button")]
    assert "Download 1 opinion on its answers" in labels
    (line,) = export_feedback(parts, parts.library.collection("town")).splitlines()
    assert json.loads(line)["label"] == "supported"
