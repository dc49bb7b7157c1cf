"""A server that ends while it answers: the question is kept, and asked again by a button."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import browsing
import pytest
from browsing import wait_for
from page_caches import clear_page
from scripted_llm import Reply, ScriptedLlm
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.ui.asking import writing
from propcite.ui.asking.interrupted import FOLDER, MAX_KEPT, KeptOrders
from propcite.ui.asking.running import Order, Question

MAIN = Path(propcite.ui.__file__).parent / "main.py"
QUESTION = "What did the bridge cost?"
ORDER = Order("", "town", Question(QUESTION, quoted=True), ("d1",))


def test_an_order_is_read_back_by_who_gave_it(tmp_path: Path) -> None:
    kept = KeptOrders(tmp_path)
    assert kept.of("", ["town"]) == {}
    kept.keep("a1", ORDER)
    assert kept.find("a1", "") == ORDER
    assert kept.of("", ["town"]) == {"a1": ORDER}
    assert kept.of("", ["other"]) == {}
    assert kept.find("a1", "somebody else") is None
    assert (tmp_path / FOLDER / "a1.json").stat().st_mode & 0o077 == 0
    kept.drop("a1")
    kept.drop("a1")
    assert kept.find("a1", "") is None


def test_what_is_no_order_is_none(tmp_path: Path) -> None:
    kept = KeptOrders(tmp_path)
    for id_, text in (("a1", "{"), ("a2", "[]"), ("a3", '{"by": ""}')):
        kept.keep(id_, ORDER)
        (tmp_path / FOLDER / f"{id_}.json").write_text(text)
    assert [kept.find(id_, "") for id_ in ("a1", "a2", "a3", "", "../a1")] == [None] * 5
    assert kept.of("", ["town"]) == {}


def test_the_oldest_go(tmp_path: Path) -> None:
    kept = KeptOrders(tmp_path)
    for number in range(MAX_KEPT + 1):
        kept.keep(f"a{number:04}", ORDER)
        os.utime(tmp_path / FOLDER / f"a{number:04}.json", (number, number))
    kept.keep("newest", ORDER)
    assert len(list((tmp_path / FOLDER).iterdir())) == MAX_KEPT
    assert kept.find("newest", "")
    assert kept.find("a0000", "") is None


def test_a_folder_that_cannot_be_written_hinders_nothing(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("no folder")
    kept = KeptOrders(tmp_path)
    kept.keep("a1", ORDER)
    kept.drop("a1")
    assert kept.find("a1", "") is None


@pytest.fixture
def town(tmp_path: Path) -> Path:
    parts = Parts(load_settings(data_dir=tmp_path))
    upload = Upload("town.txt", b"The bridge cost 4 million euros. The ferry cost 2 million euros.")
    list(parts.ingester(parts.library.create_collection("town")).ingest([upload]))
    parts.library.create_collection("empty")
    parts.library.close()
    return tmp_path


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, town: Path) -> Iterator[Callable[[str], AppTest]]:
    def open_page(asking: str = "") -> AppTest:
        monkeypatch.setenv("PROPCITE_DATA_DIR", str(town))
        test = AppTest.from_file(str(MAIN), default_timeout=60)
        if asking:
            test.query_params[writing.ASKING] = asking
        return test.run()

    yield open_page
    clear_page()


def test_the_page_says_what_was_interrupted_and_asks_it_again(page: Callable[[str], AppTest], town: Path) -> None:
    library = Parts(load_settings(data_dir=town)).library
    [document] = library.documents(library.collection("town"))
    kept = KeptOrders(town)
    kept.keep("a1", Order("", "town", Question(QUESTION, after="deleted", quoted=True), (document.id,)))
    test = page("a1")
    assert QUESTION in test.warning[0].value.replace("\\", "")
    assert "was interrupted" in test.warning[0].value
    test.button(key="ask-interrupted").click().run()
    assert not test.exception
    wait_for(lambda: library.answers(library.collection("town")))
    [answer] = library.answers(library.collection("town"))
    assert answer.question == QUESTION
    wait_for(lambda: not list((town / FOLDER).iterdir()))


def test_it_is_listed_until_it_is_forgotten(page: Callable[[str], AppTest], town: Path) -> None:
    KeptOrders(town).keep("a1", ORDER)
    KeptOrders(town).keep("a2", Order("somebody else", "town", Question("Which other?")))
    test = page("")
    assert [button.key for button in test.button if str(button.key).startswith("running-")] == ["running-a1"]
    test.button(key="running-a1").click().run()
    test.button(key="forget-interrupted").click().run()
    assert not [button for button in test.button if str(button.key).startswith("running-")]
    assert KeptOrders(town).find("a1", "") is None


@pytest.mark.browser
@pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)
def test_a_server_that_is_started_again_offers_the_question(town: Path) -> None:
    with ScriptedLlm(Reply(chunks=("The bridge cost", " 4 million euros."), stalls_after=1)) as llm:
        settings = {"generator": "openai", "generator_model": "m", "llm_url": llm.base_url}
        settings |= {"splitter": "rules", "judge": "none"}
        with browsing.browsing() as driver:
            with browsing.serving(town, **settings) as address:
                driver.get(address)
                box = wait_for(lambda: driver.find_element(By.CSS_SELECTOR, ".st-key-question textarea"))
                box.send_keys(QUESTION, Keys.ENTER)
                wait_for(lambda: "asking=" in driver.current_url and llm.requests)
                asked = driver.current_url.partition("?")[2]
            llm.resume.set()
            with browsing.serving(town, **settings) as address:
                driver.get(f"{address}/?{asked}")
                again = ".st-key-ask-interrupted button"
                wait_for(lambda: driver.find_element(By.CSS_SELECTOR, again))
                browsing.press(driver, again, lambda: "answer=" in driver.current_url, by_key=True)
                wait_for(lambda: "4 million euros" in "".join(one.text for one in browsing.inside(driver, ".answer")))
