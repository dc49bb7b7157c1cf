"""Suggested questions and a document in short, as a person meets them: by key, narrow and wide, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import browsing
import pytest
from browsing import inside, press, wait_for
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

BRIDGE = """# Heron Bridge <b>over</b> the *Venn*

Heron Bridge was opened on 14 May 2025. Heron Bridge is 96 metres long and cost 7.2 million euros.

## Who may use it?

Walkers and cyclists may use Heron Bridge at any hour. Cars must take the road over the old weir.
"""
FERRY = "The river ferry was founded in 1911. The river ferry carries 90 people and their bicycles across the bay.\n"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("overview")
    parts = Parts(load_settings(data_dir=folder))
    town = parts.library.create_collection("town")
    texts = {"bridge.md": BRIDGE, "ferry.txt": FERRY}
    list(parts.ingester(town).ingest([Upload(name, text.encode()) for name, text in texts.items()]))
    parts.library.close()
    return folder


@pytest.fixture(scope="module")
def address(data_dir: Path) -> Iterator[str]:
    with browsing.serving(data_dir) as at:
        yield at


def suggested(driver: Chrome) -> list[str]:
    found = driver.find_elements(By.CSS_SELECTOR, ".st-key-suggested button p")
    return [one.text for one in found if one.text]  # an icon has none


def choose(driver: Chrome, question: str) -> None:
    """Choose what is offered, by key; Streamlit draws a button with a tooltip twice and hides one by the width."""

    def pressed() -> bool:
        buttons = driver.find_elements(By.CSS_SELECTOR, ".st-key-suggested button")
        next(one for one in buttons if one.is_displayed() and question in one.text).send_keys(Keys.ENTER)
        return True

    wait_for(pressed)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_suggestion_is_asked_and_followed_and_a_document_read_in_short(
    address: str, data_dir: Path, tmp_path: Path, width: int, dark: bool
) -> None:
    library = Parts(load_settings(data_dir=data_dir)).library
    document = library.find_document(library.collection("town"), "bridge.md").id
    with browsing.browsing(width, 1000, dark=dark) as driver:
        driver.get(address)
        first = wait_for(lambda: suggested(driver) if len(suggested(driver)) == 4 else None)
        browsing.check_readable(driver)
        driver.save_screenshot(str(tmp_path / f"first-{width}.png"))

        choose(driver, first[0])
        wait_for(lambda: inside(driver, ".cited"))
        wait_for(lambda: "You may ask next" in driver.find_element(By.CSS_SELECTOR, ".st-key-suggested").text)
        following = wait_for(lambda: [one for one in suggested(driver) if one not in first[:1]])
        assert first[0] not in following
        browsing.check_readable(driver)
        driver.save_screenshot(str(tmp_path / f"following-{width}.png"))
        choose(driver, following[0])
        wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, ".st-key-turns"))

        driver.get(f"{address}/library?document={document}")
        press(driver, '//*[@role="tab"][contains(., "In short")]', lambda: saying_in_short(driver))
        links = driver.find_elements(By.CSS_SELECTOR, '[role="tabpanel"] li a')
        target = links[0].get_attribute("href") or ""
        assert f"/source/{document}/reading?cited=" in target
        browsing.check_readable(driver)
        driver.save_screenshot(str(tmp_path / f"short-{width}.png"))
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        driver.get(target)
        wait_for(lambda: driver.find_element(By.ID, "cited").text)


def saying_in_short(driver: Chrome) -> bool:
    shown = " ".join(one.text for one in driver.find_elements(By.CSS_SELECTOR, '[role="tabpanel"] li'))
    return "Heron Bridge <b>over</b> the Venn" in shown or "Who may use it?" in shown
