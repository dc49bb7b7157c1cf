"""What is printed in a real browser: an answer on the page, and its record, without buttons and with whole words."""

from __future__ import annotations

from pathlib import Path

import browsing
import pytest
from browsing import inside, wait_for
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from propcite.app.ingest.sources import Upload
from propcite.app.library.answer_records import record_page
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.citations import CitedAnswer

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

PAPER = {"width": 680, "height": 960, "deviceScaleFactor": 1, "mobile": False}  # A4 within its margins
NAME = "river-ferry-rules.txt"
FERRY = "The river ferry was founded in 1911. The river ferry carries 90 people and their bicycles across the bay.\n"
TO_PRESS = """
const roots = [document, ...[...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean)];
const kinds = 'button:not(.marker, .note), input, textarea, summary, iframe, [data-testid="stSidebar"]';
return roots.flatMap((root) => [...root.querySelectorAll(kinds)])
  .filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 120))
"""
LINES = """
return [...document.querySelectorAll(".record th, .record td:nth-child(2)")]
  .map((one) => one.firstChild).map((words) => {
    const range = document.createRange();
    range.selectNodeContents(words);
    return range.getClientRects().length;
  })
"""


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    parts = Parts(load_settings(data_dir=tmp_path))
    list(parts.ingester(parts.library.create_collection("town")).ingest([Upload(NAME, FERRY.encode())]))
    return parts


def answered(parts: Parts) -> CitedAnswer:
    return parts.pipeline(parts.library.collection("town")).answer("When was the river ferry founded?")


def on_paper(driver: Chrome) -> None:
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PAPER)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})


def test_an_answer_is_printed_without_what_is_pressed(tmp_path: Path, parts: Parts) -> None:
    answer = answered(parts)
    with browsing.serving(tmp_path) as address, browsing.browsing() as driver:
        driver.get(f"{address}/?answer={answer.id}")
        wait_for(lambda: inside(driver, ".cited"))
        browsing.settle(driver)
        assert driver.execute_script(TO_PRESS)
        on_paper(driver)
        wait_for(lambda: driver.execute_script(TO_PRESS) == [], 10)
        (panel,) = inside(driver, ".evidence")
        assert panel.is_displayed()
        assert driver.execute_script("return arguments[0].scrollHeight <= arguments[0].clientHeight", panel)
        assert "1911" in inside(driver, ".answer")[0].text


def test_a_record_breaks_no_name_of_a_document(tmp_path: Path, parts: Parts) -> None:
    record = tmp_path / "record.html"
    record.write_text(record_page(parts, answered(parts), lambda _: True), "utf-8")
    with browsing.browsing() as driver:
        driver.get(record.as_uri())
        on_paper(driver)
        assert NAME in driver.find_element(By.CSS_SELECTOR, ".record table").text
        assert set(driver.execute_script(LINES)) == {1}
        assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
