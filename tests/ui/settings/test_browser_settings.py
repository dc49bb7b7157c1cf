"""Settings in a real browser: a wrong value, a try, saving; the key that was typed is nowhere afterwards."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import browsing
import pytest
from browsing import press, wait_for
from scripted_llm import ScriptedLlm, error
from scripted_replies import Request
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

SECRET = "sk-very-secret-4711"
SAVED = "# ours\ntemperature = 0.3  # warm\n"


def reply_of(request: Request) -> object:
    """Refuse other keys, and quote what was sent, as careless servers do."""
    sent = request.headers.get("authorization", "")
    return "Tuesday." if sent == f"Bearer {SECRET}" else error(400, f"no such key: {sent}")


@pytest.fixture
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm(reply_of) as server:  # type: ignore[arg-type]
        yield server


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    (folder / "propcite.toml").write_text(SAVED)
    with browsing.serving(folder, num_passages="6") as at:
        yield at


@pytest.fixture(scope="module")
def unsaved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page on which nothing is saved."""
    with serving(tmp_path_factory.mktemp("unsaved")) as at:
        yield at


def body(driver: Chrome) -> str:
    return " ".join(driver.find_element(By.TAG_NAME, "body").text.split())


def box(driver: Chrome, name: str) -> WebElement:
    return wait_for(lambda: driver.find_element(By.CSS_SELECTOR, f".st-key-setting-{name} input"))  # type: ignore[no-any-return]


def fill(driver: Chrome, name: str, text: str) -> None:
    box(driver, name).send_keys(Keys.CONTROL, "a")
    box(driver, name).send_keys(Keys.BACKSPACE, text)


def everywhere(driver: Chrome, data_dir: Path) -> str:
    """What the browser holds and what the server logged."""
    typed = driver.execute_script("return [...document.querySelectorAll('input, textarea')].map((one) => one.value)")
    return "\n".join([driver.page_source, *typed, (data_dir / "server.log").read_text()])


def check(driver: Chrome) -> None:
    browsing.check_readable(driver)
    assert driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def open_settings(driver: Chrome, address: str) -> None:
    driver.get(address)
    wait_for(lambda: driver.find_element(By.CSS_SELECTOR, '[data-testid="stSidebarNav"]'))
    driver.get(f"{address}/settings")
    box(driver, "llm_key")
    browsing.settle(driver)


def test_a_model_is_set_up_on_the_page(tmp_path: Path, llm: ScriptedLlm) -> None:
    with serving(tmp_path) as address, browsing.browsing() as driver:
        open_settings(driver, address)
        fill(driver, "temperature", "hot")
        fill(driver, "llm_url", llm.base_url)
        fill(driver, "generator_model", "test-model")
        fill(driver, "llm_key", SECRET)
        press(driver, ".st-key-try-model button", lambda: "cannot be 'hot'" in body(driver))
        assert box(driver, "llm_url").get_attribute("value") == llm.base_url
        assert box(driver, "temperature").get_attribute("value") == "hot"
        wait_for(lambda: box(driver, "llm_key").get_attribute("placeholder") == "typed, not saved yet")
        assert SECRET not in everywhere(driver, tmp_path)
        check(driver)

        fill(driver, "temperature", "0.5")
        press(driver, ".st-key-try-model button", lambda: "Tuesday. (" in body(driver))
        assert "PROPCITE_LLM_KEY" in body(driver)
        assert (tmp_path / "propcite.toml").read_text() == SAVED
        press(driver, ".st-key-save-model button", lambda: "Saved in" in body(driver))
        saved = (tmp_path / "propcite.toml").read_text()
        assert saved.startswith("# ours\ntemperature = 0.5  # warm\n")
        assert tomllib.loads(saved)["llm_key"] == SECRET
        wait_for(lambda: box(driver, "llm_key").get_attribute("placeholder") == "set; type a new one to replace it")
        assert SECRET not in everywhere(driver, tmp_path)

        fill(driver, "llm_key", f"{SECRET}-wrong")
        press(driver, ".st-key-try-model button", lambda: "no such key: Bearer …" in body(driver))
        assert SECRET not in everywhere(driver, tmp_path)
        driver.refresh()
        box(driver, "llm_key")
        browsing.settle(driver)
        assert box(driver, "temperature").get_attribute("value") == "0.5"
        assert SECRET not in everywhere(driver, tmp_path)


@pytest.mark.parametrize("dark", [False, True])
def test_no_serious_trouble_for_who_sets_otherwise(unsaved: str, dark: bool) -> None:
    with browsing.browsing(390, 844, dark=dark) as driver:
        open_settings(driver, unsaved)
        check(driver)
        for name, field in (("Checking", "judge_model"), ("Searching", "encoder"), ("Answers", "num_passages")):
            press(
                driver,
                f'//*[@role="tab"][contains(., "{name}")]',
                lambda field=field: box(driver, field).is_displayed(),
            )
            check(driver)
        assert "PROPCITE_NUM_PASSAGES in the environment comes before" in body(driver)
        press(driver, '//*[@role="tab"][contains(., "Searching")]', lambda: box(driver, "encoder").is_displayed())
        fill(driver, "encoder", "minilm")
        press(driver, ".st-key-lines-encoder button", lambda: "make the index of each collection again" in body(driver))
        check(driver)
