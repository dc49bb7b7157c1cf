"""A conversation in a real browser: steps while the answer is written, a follow-up, its link, and a way back."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import browsing
import pytest
from browsing import inside, press, wait_for
from scripted_llm import Reply, Request, ScriptedLlm
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

TEXT = "The bridge cost 4 million euros. The ferry cost 2 million euros."
FIRST = ("The bridge cost", " 4 million euros. It", " is all.")


def reply(request: Request) -> Reply:
    """The first answer stalls after its first sentence, until it may go on."""
    if "<passage" not in request.prompt:
        return Reply("What did the ferry cost?")
    if "the ferry" in request.prompt.split("<question>")[-1]:
        return Reply("The ferry cost 2 million euros.")
    return Reply(chunks=FIRST, stalls_after=2)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedLlm]:
    with ScriptedLlm(reply) as server:
        yield server


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, server: ScriptedLlm) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("chat")
    parts = Parts(load_settings(data_dir=folder))
    town = parts.library.create_collection("town")
    list(parts.ingester(town).ingest([Upload("town.txt", TEXT.encode())]))
    parts.library.close()
    settings = {"generator": "openai", "generator_model": "m", "llm_url": server.base_url, "llm_timeout": "60"}
    with browsing.serving(folder, **settings) as at:
        yield at


def body(driver: Chrome) -> str:
    return driver.find_element(By.TAG_NAME, "body").text


def ask(driver: Chrome, question: str) -> None:
    box = '[data-testid="stChatInput"] textarea'
    wait_for(lambda: driver.find_element(By.CSS_SELECTOR, box)).send_keys(f"{question}\n")


def code(driver: Chrome) -> str:
    return driver.find_element(By.CSS_SELECTOR, "code").text


def opened(driver: Chrome) -> str:
    return parse_qs(urlsplit(driver.current_url).query).get("answer", [""])[0]


def test_a_conversation_is_led_on_the_page(address: str, server: ScriptedLlm) -> None:
    with browsing.browsing() as driver:
        driver.get(address)
        ask(driver, "What did the bridge cost?")
        wait_for(lambda: "The bridge cost 4 million euros" in body(driver) and "Writing…" in body(driver))
        assert "✓ Found passages" in body(driver)
        assert "Splitting it into single statements" in body(driver)

        driver.get(driver.current_url)  # the answer in work is found again
        wait_for(lambda: "The bridge cost 4 million euros" in body(driver) and "Writing…" in body(driver))
        driver.get(f"{address}/library")
        wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, '[data-testid="stDataFrame"]'))
        driver.get(address)
        running = '[class*="st-key-running-"] button'
        press(driver, running, lambda: "The bridge cost 4 million euros" in body(driver) and "Writing…" in body(driver))
        server.resume.set()
        first = wait_for(lambda: opened(driver))
        wait_for(lambda: inside(driver, ".marker") and "written in" in body(driver))
        assert "Writing…" not in body(driver)
        assert inside(driver, ".meter .bar i.supported")
        line = inside(driver, ".answered")[0]
        driver.execute_script("arguments[0].className = 'answered partly'", line)
        assert line.value_of_css_property("background-image") == "none"  # the bar's pattern is not below words

        ask(driver, "and the ferry?")
        wait_for(lambda: opened(driver) not in ("", first))
        wait_for(lambda: "understood as: What did the ferry cost?" in body(driver))
        wait_for(lambda: "2 million" in inside(driver, ".answer")[0].text)
        second = driver.current_url
        earlier = f'[class*="st-key-turn-{first}"] button'
        wait_for(lambda: "The bridge cost 4 million euros." in driver.find_element(By.CSS_SELECTOR, earlier).text)

        driver.get(second)
        wait_for(lambda: "2 million" in inside(driver, ".answer")[0].text)
        press(driver, '[class*="st-key-share"] button', lambda: f"answer={opened(driver)}" in code(driver))
        driver.get(second)
        press(driver, earlier, lambda: opened(driver) == first)


def test_the_box_stays_in_sight_and_nothing_sticks_out_on_a_telephone(address: str, server: ScriptedLlm) -> None:
    server.resume.set()
    with browsing.browsing(390, 844, dark=True) as driver:
        driver.get(address)
        ask(driver, "What did the bridge cost?")
        wait_for(lambda: inside(driver, ".marker"))
        browsing.settle(driver)
        box = wait_for(lambda: driver.find_element(By.CSS_SELECTOR, '[data-testid="stChatInput"]'))
        wait_for(lambda: 0 < box.rect["y"] < 844)
        assert driver.execute_script("return arguments[0].getBoundingClientRect().bottom <= innerHeight", box)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
