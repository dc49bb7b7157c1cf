"""A notebook in a browser: a statement is pinned, words are written and cited beside it, narrow and wide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import browsing
import pytest
from browsing import inside, press, saying, wait_for
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Note
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

FERRY = "The river ferry was founded in 1911. The river ferry carries 90 people and their bicycles across the bay.\n"
WORDS = "The river ferry carries 90 people. <img src=x onerror='top.struck = 1'>"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notes")
    parts = Parts(load_settings(data_dir=folder))
    town = parts.library.create_collection("town")
    list(parts.ingester(town).ingest([Upload("ferry.txt", FERRY.encode())]))
    parts.pipeline(town).answer("When was the river ferry founded?")
    parts.library.close()
    return folder


@pytest.fixture(scope="module")
def address(data_dir: Path) -> Iterator[str]:
    with browsing.serving(data_dir) as at:
        yield at


def kept(data_dir: Path) -> list[Note]:
    parts = Parts(load_settings(data_dir=data_dir))
    return parts.notes.all(parts.library.collection("town"))


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_statement_is_pinned_and_words_are_cited_beside_it(
    address: str, data_dir: Path, tmp_path: Path, width: int, dark: bool
) -> None:
    parts = Parts(load_settings(data_dir=data_dir))
    (answer,) = parts.library.find_answers(questions=True, limit=1).items
    for note in kept(data_dir):
        parts.notes.remove(note.id)
    with browsing.browsing(width, 1000, dark=dark) as driver:
        driver.get(f"{address}/?answer={answer.id}")
        wait_for(lambda: inside(driver, ".cited"))
        choice = saying("The chosen statement")
        press(driver, saying("Pin to notes"), lambda: driver.find_elements(By.XPATH, choice), by_key=True)
        press(driver, choice, lambda: kept(data_dir), by_key=True)
        (note,) = kept(data_dir)
        assert note.pinned is not None
        there = saying("Open the note")
        press(driver, choice, lambda: "It is pinned already" in driver.page_source, by_key=True)
        wait_for(lambda: driver.find_element(By.XPATH, there).get_attribute("href").endswith(f"/notes?note={note.id}"))

        driver.get(f"{address}/notes")
        box = f".st-key-note-{note.id} textarea"
        wait_for(lambda: driver.find_element(By.CSS_SELECTOR, box).send_keys(WORDS, Keys.TAB) or True)
        cited = f".st-key-cite-{note.id} button"
        press(driver, cited, lambda: kept(data_dir)[-1].cited, by_key=True)
        wait_for(lambda: driver.find_elements(By.XPATH, saying("Open with its sources")))
        assert kept(data_dir)[-1].text == WORDS
        assert driver.execute_script("return top.struck") is None
        assert not driver.find_elements(By.CSS_SELECTOR, '[data-testid="stException"]')
        browsing.check_readable(driver)
        driver.save_screenshot(str(tmp_path / f"notes-{width}.png"))
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
