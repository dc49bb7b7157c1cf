"""A draft in a real browser: sent, cited while the page is loaded again, decided on by key, taken along as Word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browsing
import docx
import pytest
from browsing import inside, press, saying, wait_for
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from propcite.app.demo import DOCUMENTS
from propcite.app.ingest.sources import gather
from propcite.app.library.store import ReviewInfo, ReviewState
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.ui.session import DEMO

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

LINES = [
    "Heron Bridge opens on 28 May 2025. It is 96 metres long.",
    "<b>The barrier</b> is 6.4 metres high and was painted green by volunteers.",
    *["The harbour was busy on all days of the year, as people say who live there."] * 40,
]


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    parts = Parts(load_settings(data_dir=tmp_path))
    list(parts.ingester(parts.library.create_collection(DEMO)).ingest(gather([DOCUMENTS])[0]))
    yield parts
    parts.library.close()


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    document: Any = docx.Document()
    document.add_heading("The works", 1)
    for line in LINES:
        document.add_paragraph(line)
    document.save(str(tmp_path / "works.docx"))
    return tmp_path / "works.docx"


def body(driver: Chrome) -> str:
    return " ".join(driver.find_element(By.TAG_NAME, "body").text.split())


def chosen(driver: Chrome) -> str:
    return " ".join(inside(driver, ".evidence .claim")[0].text.split())


def in_sight(driver: Chrome, element: Any) -> bool:
    edges = "const edges = arguments[0].getBoundingClientRect(); return [edges.top, innerHeight - edges.bottom]"
    return all(edge >= 0 for edge in driver.execute_script(edges, element))


def only(parts: Parts) -> ReviewInfo:
    (info,) = parts.reviews.all()
    return info


def send(driver: Chrome, draft: Path) -> None:
    box = '[data-testid="stFileUploader"]'
    wait_for(lambda: driver.find_element(By.CSS_SELECTOR, 'input[type="file"]')).send_keys(str(draft))
    wait_for(lambda: draft.name in driver.find_element(By.CSS_SELECTOR, box).text)
    press(driver, ".st-key-begin-review button", lambda: "review=" in driver.current_url)


def test_a_draft_is_reviewed_from_its_file_to_its_file(tmp_path: Path, parts: Parts, draft: Path) -> None:
    with browsing.serving(tmp_path) as address, browsing.browsing() as driver:
        allowed = {"behavior": "allow", "downloadPath": str(tmp_path / "got")}
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
        driver.get(f"{address}/review")
        send(driver, draft)
        driver.get(driver.current_url)  # the page that began it is gone, the work is not
        wait_for(lambda: only(parts).state is ReviewState.DONE)
        wait_for(lambda: inside(driver, ".fact"))
        assert "<b>The barrier</b>" in inside(driver, ".answer")[0].text
        assert chosen(driver).startswith("Heron Bridge opens")

        press(driver, ".st-key-decide-rejected button", lambda: "96 metres" in chosen(driver), by_key=True)
        wait_for(lambda: "1 of " in body(driver) and "statements decided" in body(driver))
        wait_for(lambda: next(one for one in inside(driver, ".fact") if "painted" in one.text).click() or True)
        wait_for(lambda: "painted green" in chosen(driver))
        unsupported = "//button[contains(., 'No support found')]"
        press(driver, unsupported, lambda: not any("28 May" in one.text for one in inside(driver, ".fact")))
        assert "painted green" in chosen(driver)
        change = '[class*="st-key-change-"] button'
        press(driver, change, lambda: driver.find_elements(By.CSS_SELECTOR, ".st-key-decide-changed button"))
        press(driver, ".st-key-decide-changed button", lambda: only(parts).num_decided == 2)

        got = tmp_path / "got" / "works-reviewed.docx"
        press(driver, unsupported, lambda: "28 May" in inside(driver, ".fact")[0].text)
        offer = ".st-key-review-as-docx button"
        press(driver, saying("Download the reviewed draft"), lambda: driver.find_elements(By.CSS_SELECTOR, offer))
        press(driver, offer, got.exists)
        document: Any = docx.Document(str(got))
        assert [paragraph.text for paragraph in document.paragraphs] == ["The works", *LINES]
        comments = [comment.text for comment in document.comments]
        assert len(comments) == only(parts).num_facts
        assert comments[0].startswith("✗ Contradicted")
        assert "Rejected on" in comments[0]
        opened = f"{address}/review?review={only(parts).id}"
        look_otherwise(driver, opened)
        decide_where_one_reads(driver, opened)
        read_the_source_of_the_first_statement(driver, opened)
        with browsing.browsing(390, 844, dark=True) as narrow:
            look_otherwise(narrow, f"{address}/review?review={only(parts).id}")
            look_otherwise(narrow, f"{address}/review")


def decide_where_one_reads(driver: Chrome, address: str) -> None:
    """A statement far down is in sight with its source and its buttons: when it is opened, and when one goes on."""
    driver.get(f"{address}&statement=30")
    for place in ("//button[contains(., 'Next')]", "//button[contains(., 'Previous')]"):
        wait_for(lambda: in_sight(driver, inside(driver, ".answer .selected")[0]))
        assert in_sight(driver, inside(driver, ".evidence .claim")[0])
        assert in_sight(driver, driver.find_element(By.CSS_SELECTOR, ".st-key-decide-accepted button"))
        before = driver.current_url
        driver.find_element(By.XPATH, place).click()
        wait_for(lambda url=before: driver.current_url != url)


def read_the_source_of_the_first_statement(driver: Chrome, address: str) -> None:
    """In a low window too, the cited words are above the buttons when the draft is opened."""
    size = {"width": 1280, "height": 600, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get(address)
    wait_for(lambda: inside(driver, ".evidence .cited"))
    browsing.settle(driver)
    edges = "return [arguments[0].getBoundingClientRect().bottom, arguments[1].getBoundingClientRect().top]"
    buttons = driver.find_element(By.CSS_SELECTOR, ".st-key-reviewing")
    words, bar = driver.execute_script(edges, inside(driver, ".evidence .cited")[0], buttons)
    assert words <= bar


def look_otherwise(driver: Chrome, address: str) -> None:
    """axe-core finds nothing serious, and nothing is wider than the window."""
    driver.get(address)
    wait_for(lambda: inside(driver, ".fact") or driver.find_elements(By.CSS_SELECTOR, ".st-key-drafts button"))
    browsing.check_readable(driver)
    assert driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
