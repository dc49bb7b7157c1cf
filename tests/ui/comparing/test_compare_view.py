"""The view that compares documents: chosen, asked, wrong, and read by key and screen reader in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import browsing
import pytest
from browsing import inside, wait_for
from page_caches import clear_page
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

MAIN = Path(propcite.ui.__file__).parent / "main.py"
EARLIER = "# Policy 2023\n\nReceipts must be handed in within 30 days. Meals are paid up to 40 euros per day.\n"
LATER = "# Policy 2025\n\nReceipts must be handed in within 14 days. Rail travel is preferred below four hours.\n"
QUESTION = "When must receipts be handed in?"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    parts = Parts(load_settings(data_dir=folder))
    texts = {"earlier.md": EARLIER, "later.md": LATER}
    uploads = [Upload(name, text.encode()) for name, text in texts.items()]
    list(parts.ingester(parts.library.create_collection("travel")).ingest(uploads))
    parts.library.close()
    return folder


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> Iterator[Callable[[], AppTest]]:
    def open_page() -> AppTest:
        monkeypatch.setenv("PROPCITE_DATA_DIR", str(data_dir))
        test = AppTest.from_file(str(MAIN), default_timeout=60)
        test.run()
        test.switch_page("views/compare.py")
        return test.run()

    yield open_page
    clear_page()


def ids() -> dict[str, str]:
    """The documents on offer, by title."""
    library = Parts(load_settings()).library
    return {info.source: info.id for info in library.documents(library.collection("travel"))}


def asked(test: AppTest, question: str, left: list[str], right: list[str]) -> AppTest:
    known = ids()
    test.multiselect(key="left-documents").set_value([known[name] for name in left])
    test.multiselect(key="right-documents").set_value([known[name] for name in right])
    test.text_input(key="compared-question").set_value(question).run()
    test.button(key="compare").click().run()
    assert not test.exception
    return test


def choose(driver: Chrome, title: str) -> bool:
    """Choose the document of this title among those on offer; the list is drawn again while one types."""
    options = driver.find_elements(By.CSS_SELECTOR, "[role=option]")
    option = next(option for option in options if title in option.text)
    option.click()
    return True


def test_without_a_question_there_is_nothing_to_press(page: Callable[[], AppTest]) -> None:
    assert page().button(key="compare").disabled


@pytest.mark.parametrize(
    ("left", "right", "line"),
    [([], ["later.md"], "documents on both sides"), (["later.md"], ["later.md"], "both sides name the same documents")],
)
def test_wrong_sides_are_said_and_nothing_typed_is_lost(
    page: Callable[[], AppTest], left: list[str], right: list[str], line: str
) -> None:
    test = asked(page(), QUESTION, left, right)
    assert line in test.error[0].value
    assert test.text_input(key="compared-question").value == QUESTION


def test_a_question_without_an_answer_says_so(page: Callable[[], AppTest]) -> None:
    test = asked(page(), "Who painted the ceiling?", ["earlier.md"], ["later.md"])
    assert "No answer in" in test.info[0].value
    assert not test.get("download_button")


@pytest.mark.browser
@pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_two_documents_are_compared(data_dir: Path, tmp_path: Path, width: int, dark: bool) -> None:
    with browsing.serving(data_dir) as address, browsing.browsing(width, 1000, dark=dark) as driver:
        driver.get(f"{address}/compare")
        for side, title in (("left", "2023"), ("right", "2025")):
            place = f".st-key-{side}-documents"
            field = wait_for(lambda place=place: driver.find_element(By.CSS_SELECTOR, f"{place} input"))
            field.send_keys(title)
            wait_for(lambda title=title: choose(driver, title))
            wait_for(lambda place=place, title=title: title in driver.find_element(By.CSS_SELECTOR, place).text)
            field.send_keys(Keys.ESCAPE)
        field = driver.find_element(By.CSS_SELECTOR, ".st-key-compared-question input")
        field.send_keys(QUESTION, Keys.ENTER)
        button = wait_for(lambda: driver.find_element(By.CSS_SELECTOR, ".st-key-compare button:enabled"))
        button.send_keys(Keys.ENTER)
        (row,) = wait_for(lambda: inside(driver, ".compared"))
        assert "They differ" in row.text
        assert "Policy 2023" in row.text
        assert [quote.text for quote in inside(driver, ".cited")] == [
            "Receipts must be handed in within 30 days.",
            "Receipts must be handed in within 14 days.",
        ]
        browsing.check_readable(driver)
        driver.save_screenshot(str(tmp_path / f"compared-{width}.png"))
        link = inside(driver, ".compared a")[0].get_attribute("href")
        assert "cited=" in link
        wide = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
