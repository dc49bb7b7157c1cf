"""The whole story in a real browser: a PDF is sent, asked, believed on its own page, judged, taken along."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import browsing
import pytest
from browsing import inside, off, press, saying, sent, wait_for
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from propcite.app.library.store import Opinion
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

LINES = {
    1: ["Report on the lighthouse of Skarn", "The tower was built of granite in 1871 by the brothers Teller."],
    2: ["The lamp", "The lamp was changed from oil to electric light in 1934.", "It is seen for 21 sea miles."],
}


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "skarn.pdf"
    canvas = Canvas(str(path), A4)
    for lines in LINES.values():
        canvas.setFont("Helvetica", 12)
        for number, line in enumerate(lines):
            canvas.drawString(72, 760 - 40 * number, line)
        canvas.showPage()
    canvas.save()
    return path


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def driver(data_dir: Path, tmp_path: Path) -> Iterator[Chrome]:
    with browsing.serving(data_dir) as address, browsing.browsing() as browser:
        kept = {"behavior": "allow", "downloadPath": str(tmp_path)}
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", kept)
        browser.get(f"{address}/library")
        yield browser


def is_chosen(driver: Chrome, words: str) -> bool:
    button = driver.find_element(By.XPATH, f'//button[contains(., "{words}")]')
    return bool(button.get_attribute("aria-checked") == "true")


def marked(driver: Chrome) -> str:
    return " ".join(mark.text for mark in inside(driver, ".evidence .cited"))


def cited_place(driver: Chrome) -> list[float]:
    """Of the boxed line on the picture of its page, in shares of that."""
    wait_for(lambda: driver.execute_script("return arguments[0].naturalWidth", inside(driver, ".page img")[0]))
    line, image = inside(driver, ".cited-line")[0], inside(driver, ".page img")[0]
    place = "const [l, i] = arguments; return [l.offsetLeft / i.width, l.offsetTop / i.height]"
    return list(driver.execute_script(place, line, image))


def test_from_a_pdf_to_an_answer_that_is_believed_and_taken_along(
    driver: Chrome, report: Path, data_dir: Path, tmp_path: Path
) -> None:
    wait_for(lambda: sent(driver, report))
    wait_for(lambda: "skarn.pdf added" in driver.find_element(By.TAG_NAME, "body").text)

    box = '[data-testid="stChatInput"] textarea'
    press(driver, saying("Ask"), lambda: driver.find_elements(By.CSS_SELECTOR, box))
    wait_for(lambda: driver.find_element(By.CSS_SELECTOR, box)).send_keys("When did the lamp become electric?\n")
    wait_for(lambda: inside(driver, ".marker"))
    wait_for(lambda: inside(driver, ".marker")[0].click() or True)
    wait_for(lambda: marked(driver) == LINES[2][1])
    card = inside(driver, ".marker")[0].get_attribute("aria-describedby")  # it has the focus, and a card over it
    assert LINES[2][1] in inside(driver, f"#{card}")[0].text
    assert inside(driver, ".original summary")[0].text == "In the document: page 2"
    assert wait_for(lambda: cited_place(driver)) == pytest.approx([72 / 595, 1 - 730 / 842], abs=0.012)

    copied = wait_for(lambda: inside(driver, ".answer [data-copy]"))[0]
    assert "[1] “" in copied.get_attribute("data-copy")
    copied.click()
    assert copied.text == "Copied"

    press(driver, off("near"), lambda: inside(driver, ".groups .source"))
    summaries = inside(driver, ".nearby > summary")
    summaries[0].send_keys(Keys.END)
    last = wait_for(lambda: driver.execute_script("return arguments[0].getRootNode().activeElement", summaries[0]))
    assert last == summaries[-1]
    for level in ("statements", "passages", "sentences"):
        press(driver, saying(level), partial(is_chosen, driver, level))
        wait_for(lambda: inside(driver, ".groups .source"))
    press(driver, saying("Right"), lambda: is_chosen(driver, "Right"))
    parts = Parts(load_settings(data_dir=data_dir))
    (said,) = wait_for(lambda: parts.feedback.all())
    assert said.opinion is Opinion.RIGHT

    driver.get(driver.current_url)
    wait_for(lambda: marked(driver) == LINES[2][1])
    assert wait_for(lambda: is_chosen(driver, "Right"))
    json_button = ".st-key-download-json button"
    press(driver, saying("Download"), lambda: driver.find_elements(By.CSS_SELECTOR, json_button))
    press(
        driver,
        '//summary[contains(., "For programs")]',
        lambda: driver.find_element(By.CSS_SELECTOR, json_button).is_displayed(),
    )
    press(driver, saying("json"), lambda: list(tmp_path.glob("propcite-*.json")))
    (file,) = tmp_path.glob("propcite-*.json")
    answer = json.loads(file.read_text("utf-8"))
    assert answer["id"] == said.answer_id
    assert LINES[2][1] in json.dumps(answer)
