"""In a browser, a collection that is deleted elsewhere: the question stays typed, and the page stays readable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import browsing
import pytest
from browsing import inside, saying, wait_for
from scripted_llm import Reply, ScriptedLlm
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

FERRY = "The river ferry was founded in 1911. The river ferry carries 90 people and their bicycles across the bay.\n"
QUESTION = "How many people does the ferry carry?"
BOX = '[data-testid="stChatInput"] textarea'
PIECES = ("The river ferry carries", " 90 people.", " It is", " old.")


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    parts = Parts(load_settings(data_dir=tmp_path))
    for name in ("bay", "town"):
        list(parts.ingester(parts.library.create_collection(name)).ingest([Upload("ferry.txt", FERRY.encode())]))
    yield parts
    parts.library.close()


def body(driver: Chrome) -> str:
    return " ".join(driver.find_element(By.TAG_NAME, "body").text.split())


def test_what_is_asked_and_opened_while_its_collection_is_deleted(tmp_path: Path, parts: Parts) -> None:
    bay = parts.library.collection("bay")
    answer = parts.pipeline(bay).answer(QUESTION)
    with ScriptedLlm(Reply(chunks=PIECES, stalls_after=3)) as llm:
        model = {"generator": "openai", "generator_model": "m", "llm_url": llm.base_url, "llm_timeout": "300"}
        with browsing.serving(tmp_path, collection="bay", **model) as address, browsing.browsing() as driver:
            driver.get(f"{address}/cite?answer={answer.id}")
            wait_for(lambda: inside(driver, ".cited"))
            driver.execute_script("window.open(arguments[0])", address)
            driver.switch_to.window(driver.window_handles[1])
            wait_for(lambda: driver.find_element(By.CSS_SELECTOR, BOX)).send_keys(f"{QUESTION}\n")
            wait_for(lambda: "90 people" in body(driver))
            parts.remove_collection(bay)
            llm.resume.set()
            wait_for(lambda: "Your question was not answered. The collection 'bay' was deleted" in body(driver))
            wait_for(lambda: "Questions to begin with" in body(driver))
            wait_for(
                lambda: "being looked for" not in body(driver)
            )  # drawn once more, without the line on the collection
            assert driver.find_element(By.CSS_SELECTOR, BOX).get_attribute("value") == QUESTION

            driver.switch_to.window(driver.window_handles[0])
            driver.find_element(By.XPATH, saying("Too broad")).click()
            wait_for(lambda: "it was deleted, or is not shared with you" in body(driver))
            assert "“bay” is no longer here. What you do now is done over “town”." in body(driver)


def test_a_record_of_what_was_deleted_meanwhile_says_so(tmp_path: Path, parts: Parts) -> None:
    bay = parts.library.collection("bay")
    answer = parts.pipeline(bay).answer(QUESTION)
    got = tmp_path / "got"
    with browsing.serving(tmp_path, collection="bay") as address, browsing.browsing() as driver:
        allowed = {"behavior": "allow", "downloadPath": str(got)}
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
        driver.get(f"{address}/cite?answer={answer.id}")
        wait_for(lambda: inside(driver, ".cited"))
        browsing.settle(driver)
        parts.remove_collection(bay)
        driver.find_element(By.CSS_SELECTOR, ".st-key-record button").click()
        wait_for(lambda: "it was deleted, or is not shared with you" in body(driver))
        (file,) = wait_for(lambda: list(got.glob("*.html")))
        assert "no collection" in file.read_text("utf-8")
