"""The library in a real browser: what was sent is read whatever becomes of the page; it fits on a telephone."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import browsing
import pytest
from browsing import press, sent, wait_for
from selenium.webdriver.common.by import By

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

STICKS_OUT = """
    return [...document.querySelectorAll('[data-testid=stMain] :is(p, button, input, textarea, label, summary)')]
      .filter(e => !e.closest('[data-testid=stDataFrame]') && e.getBoundingClientRect().right > 391)
      .map(e => e.outerHTML.slice(0, 80));
"""
MANY = 40  # documents of an archive: more than are read before the page is loaded anew
TOO_MANY = 800  # documents that are still being read when somebody cancels them


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with a document that was read and one that was not."""
    folder = tmp_path_factory.mktemp("library")
    parts = Parts(load_settings(data_dir=folder))
    town = parts.library.create_collection("town")
    first, bad = Upload("first.txt", b"The quay is old. It has two cranes."), Upload(f"{'long' * 30}.pdf", b"no pdf")
    list(parts.ingester(town).ingest([first, bad]))
    parts.library.close()
    return folder


@pytest.fixture(scope="module")
def address(data_dir: Path) -> Iterator[str]:
    with browsing.serving(data_dir) as at:
        yield at


def num_documents(data_dir: Path) -> int:
    return Parts(load_settings(data_dir=data_dir)).library.collection("town").num_documents


def test_what_was_sent_is_read_though_the_page_is_loaded_anew(address: str, data_dir: Path, tmp_path: Path) -> None:
    packed = tmp_path / "papers.zip"
    with zipfile.ZipFile(packed, "w") as file:
        for number in range(MANY):
            file.writestr(f"{number}.txt", f"Crane {number} lifts {number + 2} tonnes. " * 30)
    with browsing.browsing() as driver:
        driver.get(f"{address}/library")
        wait_for(lambda: sent(driver, packed))
        driver.get(f"{address}/library")
        wait_for(lambda: f"{MANY} added" in driver.find_element(By.TAG_NAME, "body").text)
    assert num_documents(data_dir) == 1 + MANY


def test_what_is_being_read_is_counted_said_where_one_asks_and_cancelled(address: str, tmp_path: Path) -> None:
    packed = tmp_path / "many.zip"
    with zipfile.ZipFile(packed, "w") as file:
        for number in range(TOO_MANY):
            file.writestr(f"m{number}.txt", f"Barge {number} carries {number + 2} tonnes. " * 30)

    def body() -> str:
        return " ".join(driver.find_element(By.TAG_NAME, "body").text.split())

    def held() -> int:
        return int(body().partition(" holds ")[2].partition(" document")[0].replace(",", ""))

    with browsing.browsing() as driver:
        driver.get(f"{address}/library")
        before = wait_for(held)
        wait_for(lambda: sent(driver, packed))
        wait_for(lambda: held() > before)  # the count moves while the job goes on
        driver.get(address)
        wait_for(lambda: "being read: answers given now do not know them" in body())
        driver.get(f"{address}/library")
        cancel = '[class*="st-key-cancel-"] button'
        ended = "Cancelled: what was read until then stays"
        press(driver, cancel, lambda: "it ends after this document" in body() or ended in body(), by_key=True)
        offered = driver.find_elements(By.CSS_SELECTOR, f"{cancel}:enabled")
        assert not offered or ended in body()  # a job that is being cancelled is not offered again
        wait_for(lambda: ended in body())
        assert before < held() < before + TOO_MANY
        lines = '[class*="st-key-job-"] details'
        (line,) = driver.find_elements(By.CSS_SELECTOR, lines)  # of all uploads that have ended
        assert line.get_attribute("open") is None
        press(driver, '[class*="st-key-close-"] button', lambda: not driver.find_elements(By.CSS_SELECTOR, lines))


def test_the_library_fits_on_a_telephone(address: str, data_dir: Path) -> None:
    parts = Parts(load_settings(data_dir=data_dir))
    document = parts.library.find_document(parts.library.collection("town"), "first.txt").id
    parts.library.close()
    with browsing.browsing(390, 844, dark=True) as driver:
        for path, there in ((f"?document={document}", "stTabs"), ("", "stDataFrame")):
            driver.get(f"{address}/library{path}")
            wait_for(lambda there=there: driver.find_elements(By.CSS_SELECTOR, f'[data-testid="{there}"]'))
            browsing.settle(driver)
            assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
            assert driver.execute_script(STICKS_OUT) == []
