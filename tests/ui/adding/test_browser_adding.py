"""Documents are added in a real browser: folders that are dropped, what is left out, files with a question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import browsing
import pytest
from browsing import drop, press, wait_for
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]
SAID = """
    const shown = [...document.querySelectorAll('[data-testid^="stBidi"]')];
    return shown.map(one => one.shadowRoot?.querySelector(".said")?.textContent).filter(line => line !== undefined)
"""
LEFT_OUT = {"1 hidden", "1 .exe", "1 empty"}  # of a folder that was dropped: what lies in hidden folders is not seen
OPEN = ".st-key-adding details[open]"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("adding")
    parts = Parts(load_settings(data_dir=folder))
    list(parts.ingester(parts.library.create_collection("quay")).ingest([Upload("quay.txt", b"The quay is old.")]))
    parts.library.close()
    with browsing.serving(folder) as at:
        yield at


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A folder as people have them: two files of one name, and what cannot be read."""
    files = {
        "a/notes.md": "The red crane lifts nine tonnes.",
        "b/notes.md": "The blue crane lifts four tonnes.",
        ".git/config.txt": "no document",
        "__pycache__/m.txt": "no document",
        ".DS_Store": "no document",
        "program.exe": "no document",
        "empty.txt": "",
    }
    for name, text in files.items():
        file = tmp_path / "town" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "town"


def body(driver: Chrome) -> str:
    return " ".join(driver.find_element(By.TAG_NAME, "body").text.split())


def said(driver: Chrome) -> str:
    """Return what is said of files that were chosen."""
    return " ".join(driver.execute_script(SAID)).strip()


def added(driver: Chrome, line: str) -> None:
    """Press Add, and wait for the line on what became of it; the form is closed then."""
    press(driver, ".st-key-add button", lambda: not driver.find_elements(By.CSS_SELECTOR, OPEN), by_key=True)
    wait_for(lambda: line in body(driver))
    assert not driver.find_elements(By.CSS_SELECTOR, OPEN)
    assert said(driver) == ""
    press(driver, '[class*="st-key-close-"] button', lambda: line not in body(driver))


def test_a_folder_is_dropped_anywhere_and_what_is_left_out_is_counted(address: str, town: Path) -> None:
    with browsing.browsing() as driver:
        driver.get(f"{address}/library")
        wait_for(lambda: driver.execute_script(SAID))  # what takes files is there
        browsing.settle(driver)
        drop(driver, [town], lambda: said(driver))
        assert set(said(driver).removeprefix("3 files left out: ").rstrip(".").split(", ")) == LEFT_OUT
        listed = '[class*="st-key-files-"]'
        wait_for(lambda: driver.find_element(By.CSS_SELECTOR, listed).text.count("notes.md") == 2)
        browsing.check_readable(driver)
        added(driver, "2 added: town/a/notes.md, town/b/notes.md")


def test_what_is_dropped_where_one_asks_is_read_before_the_answer(address: str, tmp_path: Path) -> None:
    (bridge := tmp_path / "bridge.md").write_text("# Heron Bridge\n\nHeron Bridge is 96 metres long.\n")
    with browsing.browsing(390, 844, dark=True) as driver:
        driver.get(address)
        box = wait_for(lambda: driver.find_element(By.CSS_SELECTOR, '[data-testid="stChatInput"] textarea'))
        wait_for(lambda: driver.execute_script(SAID))
        browsing.settle(driver)
        box.send_keys("How long is Heron Bridge?")
        drop(driver, [bridge], lambda: "bridge.md" in driver.find_element(By.CSS_SELECTOR, ".st-key-asking").text)
        browsing.check_readable(driver)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
        box.send_keys(Keys.ENTER)
        wait_for(lambda: "answer=" in driver.current_url)
        wait_for(lambda: any("96 metres" in one.text for one in browsing.inside(driver, ".answer")))
