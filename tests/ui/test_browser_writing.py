"""The page while a language model writes: its text comes at once, its citations as soon as a sentence ends."""

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
from propcite.ui.session import DEMO

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

TEXT = "The ferry leaves the quay at seven. It carries ninety people and their bicycles.\n"
PIECES = ("The ferry leaves the quay", " at seven.", " It carries", " 90 people", " <b>", " and no more.", " The end.")
STALLED = 4  # pieces that come before the rest is waited for


@pytest.fixture
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm(Reply(chunks=PIECES, stalls_after=STALLED)) as server:
        yield server


@pytest.fixture
def driver(tmp_path: Path, llm: ScriptedLlm) -> Iterator[Chrome]:
    parts = Parts(load_settings(data_dir=tmp_path))
    demo = parts.library.create_collection(DEMO)
    list(parts.ingester(demo).ingest([Upload("ferry.txt", TEXT.encode())]))
    parts.library.close()
    settings = {"generator": "openai", "generator_model": "test-model", "llm_url": llm.base_url, "llm_timeout": "300"}
    with browsing.serving(tmp_path, **settings) as address, browsing.browsing() as driver:
        driver.get(address)
        yield driver


def test_an_answer_is_read_while_it_is_written(driver: Chrome, llm: ScriptedLlm) -> None:
    def body() -> str:
        return " ".join(driver.find_element(By.TAG_NAME, "body").text.split())

    question = saying("How high is the new flood barrier")
    early = press(driver, question, lambda: body() if "leaves the quay at seven.[1]" in body() else "")
    assert "no more" not in early
    assert "written by" not in early
    llm.resume.set()
    wait_for(lambda: "written by the language model test-model" in body())
    wait_for(lambda: inside(driver, ".marker"))
    wait_for(lambda: "end." in "".join(element.text for element in inside(driver, ".answer")))
    assert driver.find_elements(By.TAG_NAME, "b") == []
