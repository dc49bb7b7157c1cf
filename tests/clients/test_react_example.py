"""The React example of the npm package, built by Vite, in a real browser that calls a server of another address."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import browsing
import pytest
from app_fixtures import loaded, settings_of_its_own  # noqa: F401 - fixtures
from browsing import browsing as open_browser
from browsing import wait_for
from npm_package import MISSING, build, is_installed, npm
from proxied import QUESTION, TEXTS
from scripted_llm import Reply, Request, ScriptedLlm
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from serving import parts_with, running_server

if not is_installed():
    pytest.skip(MISSING, allow_module_level=True)
pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

GATES = "The tidal barrier has fourteen steel gates."
ANSWER = (f"\U0001f30a {GATES} The", " mayor", " likes it.")
KILLED = "Who built it?"


def reply(request: Request) -> Reply:
    """Stop in the second sentence until the answer may go on; one question gets a reply that breaks off."""
    if KILLED in request.prompt:
        return Reply("".join(ANSWER), breaks_after=4)
    return Reply("".join(ANSWER), chunks=ANSWER, stalls_after=2)


class Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm(reply) as llm:
        yield llm


@pytest.fixture(scope="module")
def driver(
    llm: ScriptedLlm,
    loaded: dict[str, object],  # noqa: F811 - the fixture
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Chrome]:
    """Show the example, which calls a server that knows the page's address and makes links to its own."""
    folder, built = tmp_path_factory.mktemp("react"), tmp_path_factory.mktemp("built")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    at = f"http://127.0.0.1:{port}"
    build()
    command = ("npx", "vite", "build", "examples/react", "--outDir", str(built), "--emptyOutDir")
    npm(*command, VITE_SERVER=at, VITE_COLLECTION="harbour")
    with hosted(built) as page:
        given = {"generator": "openai", "generator_model": "m", "llm_url": llm.base_url, "public_address": at}
        parts = parts_with(loaded, {"harbour": TEXTS}, data_dir=folder, serve_origins=[page], **given)
        with running_server(parts, port=port), open_browser() as driver:
            driver.get(page)
            yield driver


def ask(driver: Chrome, question: str) -> None:
    box = wait_for(lambda: driver.find_element(By.NAME, "question"))
    box.clear()
    box.send_keys(f"{question}\n")


def shown(driver: Chrome) -> str:
    return driver.find_element(By.CLASS_NAME, "cited-text").text


def test_an_answer_streams_and_its_citations_open(driver: Chrome, llm: ScriptedLlm) -> None:
    ask(driver, QUESTION)
    wait_for(lambda: shown(driver).endswith("The mayor"))
    marker = wait_for(lambda: driver.find_element(By.CLASS_NAME, "marker"))  # before the second sentence ends
    assert marker.accessible_name == "Source 1: gates"
    llm.resume.set()
    wait_for(lambda: shown(driver) == f"\U0001f30a {GATES}[1] The mayor likes it.")
    note = driver.find_element(By.CSS_SELECTOR, '[role="note"]')
    assert not note.is_displayed()
    marker.click()
    wait_for(note.is_displayed)
    assert note.find_element(By.TAG_NAME, "q").text.strip("“”") == GATES
    driver.execute_script((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    assert driver.execute_async_script(browsing.AXE) == []
    note.find_element(By.TAG_NAME, "a").click()
    assert wait_for(lambda: driver.find_element(By.CLASS_NAME, "cited")).text == GATES
    driver.back()


def test_what_came_of_a_killed_model_stays_with_the_reason(driver: Chrome) -> None:
    ask(driver, KILLED)
    assert "went away" in wait_for(lambda: driver.find_element(By.CSS_SELECTOR, '[role="status"]')).text
    assert shown(driver).startswith("\U0001f30a The tidal")


def test_what_the_server_refuses_is_one_line(driver: Chrome) -> None:
    ask(driver, "  ")
    assert (
        wait_for(lambda: driver.find_element(By.CSS_SELECTOR, '[role="alert"]')).text == "question: it needs some words"
    )
    assert not driver.find_elements(By.CLASS_NAME, "cited-text")
