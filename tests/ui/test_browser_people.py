"""People in a real browser, with a real OpenID provider: sign in, share a collection, read the log, sign out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import browsing
import pytest
from browsing import press, saying, wait_for
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from shared_library import ADA, BEN, OURS, SECRET, THEIRS, SharedLibrary, shared_library
from signing_in import page_of, provider

from propcite.app.library.store import Action, Via

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING),
]
ZOE = "zoe@propcite.example"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedLibrary]:
    with shared_library(tmp_path_factory.mktemp("shared")) as library:
        yield library


@pytest.fixture(scope="module")
def address(library: SharedLibrary) -> Iterator[str]:
    with provider() as issuer, page_of(Path(library.parts.settings.data_dir), issuer) as address:
        yield address


def text(driver: Chrome) -> str:
    return str(driver.find_element(By.TAG_NAME, "body").text)


def sign_in(driver: Chrome, address: str, person: str) -> None:
    """Press what a person presses: the link on the page, then the provider's own form."""
    driver.get(f"{address}/library")
    wait_for(lambda: "Sign in to use PropCite." in text(driver))
    driver.find_element(By.LINK_TEXT, "Sign in").click()
    box = wait_for(lambda: driver.find_element(By.NAME, "sub"))
    box.send_keys(person, Keys.ENTER)
    wait_for(lambda: driver.current_url.startswith(address))


def test_a_collection_is_shared_on_the_page_and_taken_back(address: str, library: SharedLibrary) -> None:
    with browsing.browsing() as ben, browsing.browsing() as zoe:
        sign_in(zoe, address, ZOE)
        wait_for(lambda: f"{ZOE} has no role here" in text(zoe))
        sign_in(ben, address, BEN)
        wait_for(lambda: BEN in text(ben) and "Sign out" in text(ben))
        ben.get(f"{address}/library")
        box = ".st-key-share-with input"
        press(ben, saying("Shared with"), lambda: ben.find_element(By.CSS_SELECTOR, box).is_displayed())
        ben.find_element(By.CSS_SELECTOR, box).send_keys(ZOE)
        press(ben, ".st-key-share-now button", lambda: "Shared with 2 people" in text(ben))

        zoe.get(f"{address}/library")
        wait_for(lambda: OURS in text(zoe) and "gate.txt" in zoe.page_source)
        assert SECRET not in text(zoe)
        assert "Delete the collection" not in text(zoe)
        assert "Evaluate" not in text(zoe)

        press(ben, '[class*="st-key-unshare-zoe"] button', lambda: "Shared with 1 person" in text(ben))
        wait_for(lambda: f"{ZOE} has no role here" in text(zoe))  # without any press

        ben.get(f"{address}/audit")
        wait_for(lambda: ben.find_elements(By.CSS_SELECTOR, '[data-testid="stDataFrame"]'))
    did = [(one.who, one.action, one.subject) for one in library.parts.audit.find().items]
    assert did[:2] == [(BEN, "unshared", ZOE), (BEN, "shared", f"{ZOE}: read")]


def test_the_page_opens_with_the_collection_that_this_person_asked_last(address: str, library: SharedLibrary) -> None:
    def opened(driver: Chrome) -> str:
        driver.get(address)
        box = '[data-testid="stSidebar"] [data-testid="stSelectbox"] input'
        return str(wait_for(lambda: driver.find_element(By.CSS_SELECTOR, box).get_attribute("value")))

    with browsing.browsing() as ben:
        sign_in(ben, address, BEN)
        assert opened(ben) == OURS
        library.parts.audit.record(BEN, Via.PAGE, Action.ASKED, THEIRS, library.answers[THEIRS])
        library.parts.audit.record(ADA, Via.PAGE, Action.ASKED, OURS, library.answers[OURS])
        assert opened(ben) == THEIRS


def test_signing_out_ends_what_is_open_in_other_tabs(address: str) -> None:
    with browsing.browsing() as driver:
        sign_in(driver, address, BEN)
        wait_for(lambda: "Sign out" in text(driver))
        first = driver.current_window_handle
        driver.switch_to.new_window("tab")
        driver.get(f"{address}/library")
        press(driver, ".st-key-sign-out button", lambda: not driver.current_url.startswith(address))  # at the provider
        driver.get(address)
        wait_for(lambda: "Sign in to use PropCite." in text(driver))
        driver.switch_to.window(first)
        wait_for(lambda: "Sign in to use PropCite." in text(driver))
