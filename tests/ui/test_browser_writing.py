"""The page while a language model writes: its text comes at once, its citations as soon as a sentence ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import browsing
import pytest
from browsing import inside, wait_for
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from app.bootstrap import Parts
from app.ingester import Upload
from app.settings import load_settings
from tests.scripted_llm import Reply, ScriptedLlm

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

TEXT = "The ferry leaves the quay at seven. It carries ninety people and their bicycles.\n"
PIECES = (
    "The ferry leaves the quay",
    " at seven.",
    " It carries",
    " ninety people",
    " <b>",
    " and no more.",
    " The end.",
)
STALLED = 4  # pieces that come before the rest is waited for


@pytest.fixture
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm(Reply(chunks=PIECES, stalls_after=STALLED)) as server:
        yield server


@pytest.fixture
def driver(tmp_path: Path, llm: ScriptedLlm) -> Iterator[Chrome]:
    parts = Parts(load_settings(data_dir=tmp_path))
    harbour = parts.library.create_collection("harbour")
    list(parts.ingester(harbour).ingest([Upload("ferry.txt", TEXT.encode())]))
    parts.library.close()
    with (
        browsing.serving(
            tmp_path, generator="openai", generator_model="test-model", llm_url=llm.base_url, collection="harbour"
        ) as address,
        browsing.browsing() as driver,
    ):
        driver.get(address)
        yield driver


def test_an_answer_is_read_while_it_is_written(driver: Chrome, llm: ScriptedLlm) -> None:
    wait_for(lambda: driver.find_element(By.CSS_SELECTOR, "textarea")).send_keys(
        "When does the ferry leave?" + Keys.ENTER
    )

    def body() -> str:
        return driver.find_element(By.TAG_NAME, "body").text

    wait_for(lambda: "leaves the quay at seven.[1]" in body())
    early = body()
    assert "no more" not in early
    assert "written by" not in early
    llm.close()  # the rest comes
    wait_for(lambda: inside(driver, ".marker"))
    assert "written by openai/test-model" in " ".join(body().split())
    assert "end." in "".join(element.text for element in inside(driver, ".answer"))
    assert driver.find_elements(By.TAG_NAME, "b") == []
