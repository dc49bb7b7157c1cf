"""A language model that keeps silent or goes away, in a real browser: what is said, and what can be done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import browsing
import pytest
from browsing import inside, press, saying, wait_for
from scripted_llm import Reply, ScriptedLlm
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

TEXT = "The bridge cost 4 million euros. The ferry cost 2 million euros."
QUESTION = "What did the bridge cost?"
BOX = '[data-testid="stChatInput"] textarea'


@pytest.fixture
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm(Reply(chunks=("The bridge cost a lot.",), stalls_after=0)) as server:
        yield server


@pytest.fixture
def address(tmp_path: Path, llm: ScriptedLlm) -> Iterator[str]:
    parts = Parts(load_settings(data_dir=tmp_path))
    town = parts.library.create_collection("town")
    list(parts.ingester(town).ingest([Upload("town.txt", TEXT.encode())]))
    parts.library.close()
    settings = {"generator": "openai", "generator_model": "m", "llm_url": llm.base_url, "llm_timeout": "300"}
    with browsing.serving(tmp_path, **settings) as at:
        yield at


def body(driver: Chrome) -> str:
    return " ".join(driver.find_element(By.TAG_NAME, "body").text.split())


def ask(driver: Chrome, question: str) -> None:
    wait_for(lambda: driver.find_element(By.CSS_SELECTOR, BOX)).send_keys(f"{question}\n")


def typed(driver: Chrome) -> str:
    return str(driver.find_element(By.CSS_SELECTOR, BOX).get_attribute("value"))


def test_a_silent_model_is_stopped_and_one_that_is_away_is_done_without(address: str, llm: ScriptedLlm) -> None:
    with browsing.browsing(390, 844) as driver:
        driver.get(address)
        ask(driver, QUESTION)
        wait_for(lambda: "The language model has said nothing for" in body(driver))
        driver.get(address)  # as from a bookmark: the answer in work is named on the page, not in the folded sidebar
        running = wait_for(lambda: driver.find_element(By.CSS_SELECTOR, ".st-key-unfinished button"))
        assert running.rect["x"] >= 0
        press(driver, ".st-key-unfinished button", lambda: "asking=" in driver.current_url)
        wait_for(lambda: "The language model has said nothing for" in body(driver))
        stop = ".st-key-stop-answer button"
        press(driver, stop, lambda: "stopped it before anything was written" in body(driver), by_key=True)
        wait_for(lambda: typed(driver) == QUESTION)

        url = llm.base_url
        llm.close()
        driver.get(address)
        ask(driver, QUESTION)
        wait_for(lambda: f"no server answers at {url}" in body(driver))
        assert "Your question was not answered." in body(driver)
        wait_for(lambda: typed(driver) == QUESTION)
        assert driver.find_elements(By.XPATH, saying("Change the language model"))
        press(driver, saying("Answer in the words of the sources"), lambda: inside(driver, ".marker"))
        assert "4 million" in inside(driver, ".answer")[0].text
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
