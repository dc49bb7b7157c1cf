"""The view that compares documents: by a question, whole, wrong input, by key and screen reader in a real browser."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import browsing
import pytest
from browsing import inside, wait_for
from page_caches import clear_page
from scripted_llm import Reply, ScriptedLlm
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite import PropCite
from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.versions import comparing
from propcite.attribution.versions.records import TextComparison
from propcite.retrieval.interrupting import check_interrupt
from propcite.ui.comparing import following, texts
from propcite.ui.comparing.answers_html import comparison_html

MAIN = Path(propcite.ui.__file__).parent / "main.py"
OFFICE = "The office is in Bergen."
EARLIER = f"# Policy 2023\n\nReceipts must be handed in within 30 days. Meals are paid up to 40 euros per day. {OFFICE}"
LATER = f"# Policy 2025\n\nReceipts must be handed in within 14 days. Trains are preferred below four hours. {OFFICE}"
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


@pytest.fixture(scope="module")
def address(data_dir: Path) -> Iterator[str]:
    """The page for browsers: its models are loaded once."""
    with browsing.serving(data_dir) as at:
        yield at


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> Iterator[Callable[..., AppTest]]:
    def open_page(comparison: str = "") -> AppTest:
        monkeypatch.setenv("PROPCITE_DATA_DIR", str(data_dir))
        test = AppTest.from_file(str(MAIN), default_timeout=60)
        test.run()
        test.switch_page("views/compare.py")
        if comparison:
            test.query_params["comparison"] = comparison
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


def finished(test: AppTest) -> AppTest:
    """The page once the comparison in work has ended."""
    running = following.running_comparisons().find(test.session_state["comparison"], "")
    assert running
    wait_for(lambda: running.ended)
    return test.run()


def choose(driver: Chrome, place: str, title: str) -> bool:
    """One try to choose the document of this title: type it, press it among those on offer.  -> whether it is chosen

    What is typed or pressed while the page is drawn again is lost: that is why this is tried again.
    """

    def chosen() -> bool:
        return title in driver.find_element(By.CSS_SELECTOR, place).text

    if chosen():
        return True
    field = driver.find_element(By.CSS_SELECTOR, f"{place} input")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(title)
    options = driver.find_elements(By.CSS_SELECTOR, "[role=option]")
    next(option for option in options if title in option.text).click()
    return wait_for(chosen, browsing.PRESS_S)


def choose_both(driver: Chrome, address: str) -> None:
    """Open the view and choose the policy of 2023 on the left, that of 2025 on the right."""
    driver.get(f"{address}/compare")
    for side, title in (("left", "2023"), ("right", "2025")):
        place = f".st-key-{side}-documents"
        wait_for(lambda place=place, title=title: choose(driver, place, title))
        driver.find_element(By.CSS_SELECTOR, f"{place} input").send_keys(Keys.ESCAPE)
    browsing.settle(driver)


def test_the_words_in_which_two_answers_differ_are_marked() -> None:
    sides = (text.split("\n\n")[1].split(". ")[0] + "." for text in (EARLIER, LATER))
    compared = PropCite.default().compare(QUESTION, *((side, [side]) for side in sides))
    shown = comparison_html(compared, ("2023", "<2025>"), {})
    assert re.findall(r'<mark class="changed">(.*?)</mark>', shown) == ["30", "14"]
    assert "&lt;2025&gt;" in shown


@pytest.mark.browser
@pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)
def test_enter_chooses_one_of_the_documents_that_are_named_alike(address: str) -> None:
    with browsing.browsing() as driver:
        driver.get(f"{address}/compare")
        place = ".st-key-left-documents"
        wait_for(lambda: driver.find_element(By.CSS_SELECTOR, f"{place} input")).send_keys("Policy")
        wait_for(lambda: len(driver.find_elements(By.CSS_SELECTOR, "[role=option]")) >= 2)
        driver.find_element(By.CSS_SELECTOR, f"{place} input").send_keys(Keys.ENTER)
        assert wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, f"{place} [data-tag]")) != []
        browsing.settle(driver)
        assert len(driver.find_elements(By.CSS_SELECTOR, f"{place} [data-tag]")) == 1


@pytest.mark.parametrize(
    ("left", "right", "line"),
    [([], ["later.md"], "documents on both sides"), (["later.md"], ["later.md"], "both sides name the same documents")],
)
@pytest.mark.parametrize("question", [QUESTION, ""])
def test_wrong_sides_are_said_and_nothing_typed_is_lost(
    page: Callable[..., AppTest], left: list[str], right: list[str], line: str, question: str
) -> None:
    test = asked(page(), question, left, right)
    assert line in test.error[0].value
    assert test.text_input(key="compared-question").value == question


def test_documents_too_long_to_be_compared_whole_say_what_to_do(
    page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "MAX_SENTENCES", 1)
    test = finished(asked(page(), "", ["earlier.md"], ["later.md"]))
    assert "the left text has 4 sentences" in test.error[0].value
    assert "ask a question" in test.error[0].value


def test_a_comparison_of_whole_documents_can_be_stopped(
    page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, going_on = Event(), Event()

    def slow(*_: object) -> TextComparison:
        begun.set()
        while not going_on.is_set():
            check_interrupt()
            time.sleep(0.02)
        raise AssertionError("nobody stopped it")

    monkeypatch.setattr(texts, "compare_whole", slow)
    test = asked(page(), "", ["earlier.md"], ["later.md"])
    try:
        assert begun.wait(60)
        assert "Getting ready" in test.get("progress")[0].proto.text
        test.button(key="stop-comparison").click().run()
        test = finished(test)
        assert [error.value for error in test.error] == ["You stopped the comparison\\."]
    finally:
        going_on.set()


def test_a_question_without_an_answer_says_so(page: Callable[..., AppTest]) -> None:
    test = finished(asked(page(), "Who painted the ceiling?", ["earlier.md"], ["later.md"]))
    assert "No answer in" in test.info[0].value
    assert not test.get("download_button")


def test_another_page_finds_a_comparison_with_what_was_chosen_for_it(page: Callable[..., AppTest]) -> None:
    first = asked(page(), "", ["earlier.md"], ["later.md"])
    id_ = first.session_state["comparison"]
    other = finished(page(id_))
    assert other.multiselect(key="left-documents").value == [ids()["earlier.md"]]
    assert other.multiselect(key="right-documents").value == [ids()["later.md"]]
    assert "beside" in other.subheader[0].value
    assert other.get("download_button")
    gone = page("0123456789abcdef")
    assert [line.value for line in gone.warning] == [following.GONE]
    assert not gone.run().warning


def test_documents_that_are_gone_are_no_longer_chosen(page: Callable[..., AppTest]) -> None:
    test = page()
    test.session_state["left-documents"] = ["removed", ids()["earlier.md"]]
    test.run()
    assert not test.exception
    assert test.multiselect(key="left-documents").value == [ids()["earlier.md"]]


@pytest.mark.browser
@pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)
def test_a_comparison_is_there_again_when_the_page_is_loaded_again(data_dir: Path) -> None:
    reply = Reply(chunks=("Receipts must be handed in within 14 days.",), stalls_after=0)
    with ScriptedLlm(reply) as llm:
        settings = {"generator": "openai", "generator_model": "m", "llm_url": llm.base_url, "llm_timeout": "300"}
        with browsing.serving(data_dir, **settings) as address, browsing.browsing() as driver:
            choose_both(driver, address)
            driver.find_element(By.CSS_SELECTOR, ".st-key-compared-question input").send_keys(QUESTION, Keys.ENTER)
            stop = '[class*="st-key-stop-comparison"] button'
            browsing.press(
                driver, ".st-key-compare button:enabled", lambda: driver.find_elements(By.CSS_SELECTOR, stop)
            )
            driver.refresh()
            wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, stop))
            assert "Asking the left side" in driver.find_element(By.TAG_NAME, "body").text
            field = driver.find_element(By.CSS_SELECTOR, ".st-key-compared-question input")
            assert field.get_attribute("value") == QUESTION
            llm.resume.set()
            wait_for(lambda: inside(driver, ".compared"))
            driver.refresh()
            wait_for(lambda: inside(driver, ".compared"))


@pytest.mark.browser
@pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_two_documents_are_compared(address: str, tmp_path: Path, width: int, dark: bool) -> None:
    with browsing.browsing(width, 1000, dark=dark) as driver:
        choose_both(driver, address)
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


@pytest.mark.browser
@pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)
@pytest.mark.parametrize(("width", "dark"), [(1280, True), (390, False)])
def test_two_documents_are_compared_whole(address: str, tmp_path: Path, width: int, dark: bool) -> None:
    with browsing.browsing(width, 1000, dark=dark) as driver:
        choose_both(driver, address)
        stop = ".st-key-stop-comparison"
        browsing.press(
            driver,
            ".st-key-compare button",
            lambda: inside(driver, ".compared") or driver.find_elements(By.CSS_SELECTOR, stop),
            by_key=True,
        )
        wait_for(lambda: inside(driver, ".compared"))
        assert [row.text.split("\n")[0][2:] for row in inside(driver, ".compared")] == [
            "They differ",
            "They differ",
            "Only Policy 2023 says this",
            "Only Policy 2025 says this",
        ]
        assert [words.text for words in inside(driver, ".changed")] == ["2023", "2025", "30", "14"]
        (same,) = inside(driver, "details.same")
        assert same.text == "= 1 sentence is the same"
        same.find_element(By.CSS_SELECTOR, "summary").send_keys(Keys.ENTER)
        assert wait_for(lambda: OFFICE in same.text)
        browsing.check_readable(driver)
        driver.save_screenshot(str(tmp_path / f"compared-whole-{width}.png"))
        assert "cited=" in inside(driver, ".compared a")[0].get_attribute("href")
        assert driver.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0
