"""The page in a real browser: time to first paint and to evidence, and the cost of ten sessions at once.

`PYTHONPATH=. python -m tests.benchmarks.page [--rounds N]` measures the demo collection in a temporary data directory.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from browsing import browsing, inside, memory_mb, serving, settle, wait_for
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from propcite.app.demo import DOCUMENTS, QUESTIONS
from propcite.app.ingest.sources import gather
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.text import Granularity
from propcite.ui.words import UNITS

SESSIONS = 10
ASKED_OF_DEMO = [json.loads(line)["question"] for line in QUESTIONS.read_text("utf-8").splitlines()]
TURN = """
const [root, key, done] = arguments, start = performance.now();
const times = { words: 0 };
document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const look = () => {
  if (!times.words && root.querySelector(".cited")) times.words = performance.now() - start;
  const images = [...root.querySelectorAll(".page img[src]")];  // without one it is folded
  if (times.words && images.every((image) => image.complete && image.naturalWidth)) {
    done([times.words, performance.now() - start]);
  } else setTimeout(look, 1);
};
look();
"""
ASKED = """
const seen = window.seen = {}, hosts = () => [...document.querySelectorAll('[data-testid^="stBidi"]')];
const inside = (selector) => hosts().some((host) => host.shadowRoot?.querySelector(selector)?.textContent.trim());
addEventListener("keydown", () => { seen.start = performance.now(); }, { capture: true, once: true });
const look = () => {
  const now = performance.now() - seen.start;
  const written = document.querySelector(".st-key-written")?.textContent.trim();
  if (!seen.words && (written || inside(".answer"))) seen.words = now;
  if (inside(".evidence .cited")) seen.evidence = now;
  else setTimeout(look, 5);
};
look();
"""
LEVELS = [f"{UNITS[level]}s" for level in Granularity]


def fill(data_dir: Path) -> list[str]:
    """Ingest the demo and answer its questions; return the ids of answers with several citations."""
    parts = Parts(load_settings(data_dir=data_dir))
    collection = parts.library.create_collection("demo")
    list(parts.ingester(collection).ingest(gather([DOCUMENTS])[0]))
    pipeline = parts.pipeline(collection)
    answers = [pipeline.answer(question) for question in ASKED_OF_DEMO]
    return [answer.id for answer in answers if len(answer.citations) > 3]


def painted(driver: Chrome, address: str) -> tuple[float, float]:
    """Return the milliseconds to the first paint and until the evidence is shown."""
    start = time.perf_counter()
    driver.get(address)
    wait_for(lambda: inside(driver, ".evidence .cited"))
    shown = 1000 * (time.perf_counter() - start)
    paints = driver.execute_script("return performance.getEntriesByType('paint').map((e) => [e.name, e.startTime])")
    return dict(paints)["first-contentful-paint"], shown


def asked(driver: Chrome, address: str, question: str) -> tuple[float, float]:
    """Ask on an open page, and return the milliseconds from Enter to the first words and to the evidence."""
    driver.get(address)
    box = wait_for(lambda: driver.find_element(By.CSS_SELECTOR, '[data-testid="stChatInput"] textarea'))
    settle(driver)
    box.send_keys(question)
    driver.execute_script(ASKED)
    box.send_keys(Keys.ENTER)
    seen = wait_for(lambda: driver.execute_script("return window.seen.evidence && window.seen"))
    return seen["words"], seen["evidence"]


def turns(driver: Chrome, number: int) -> Iterator[list[float]]:
    root = inside(driver, ".evidence")[0]
    for _ in range(number):
        yield driver.execute_async_script(TURN, root, "j")


def rank_times(driver: Chrome, rounds: int) -> Iterator[float]:
    """Yield the milliseconds from a click on another granularity until its units are shown."""
    switch = driver.find_element(By.CSS_SELECTOR, '[class*="st-key-near-"] label')
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", switch)
    switch.click()
    wait_for(lambda: inside(driver, ".groups"))
    for number in range(rounds):
        before = inside(driver, ".groups")[0].get_attribute("innerHTML")
        button = driver.find_element(By.XPATH, f'//button[.="{LEVELS[number % 3]}"]')
        start = time.perf_counter()
        driver.execute_script("arguments[0].click()", button)
        wait_for(lambda before=before: inside(driver, ".groups")[0].get_attribute("innerHTML") != before)
        yield 1000 * (time.perf_counter() - start)


def line(name: str, values: Sequence[float], unit: str = "ms") -> None:
    print(f"| {name} | {median(values):,.0f} | {max(values):,.0f} | {len(values)} | {unit} |")


def measure(address: str, answers: Sequence[str], data_dir: Path, rounds: int) -> None:
    print("| | median | worst | times | |\n|---|---:|---:|---:|---|")
    with browsing() as driver:
        words, evidence = asked(driver, address, ASKED_OF_DEMO[0])
        line("first words of the first answer after start-up", [words])
        line("evidence of the first answer after start-up", [evidence])
        questions = ASKED_OF_DEMO[1 : rounds + 1]
        later = [asked(driver, address, question) for question in questions]
        line("first words of an answer", [words for words, _ in later])
        line("evidence of an answer", [evidence for _, evidence in later])
        first, shown = painted(driver, f"{address}/?answer={answers[0]}")
        line("first words of a kept answer after start-up", [first])
        line("evidence of a kept answer after start-up", [shown])
        again = [painted(driver, f"{address}/?answer={answers[n % len(answers)]}") for n in range(rounds)]
        line("first words of a kept answer", [one for one, _ in again])
        line("evidence of a kept answer", [one for _, one in again])
        spent = [turn for id_ in answers for turn in _turned(driver, f"{address}/?answer={id_}")]
        line("a turn to the next statement: its words", [words for words, _ in spent])
        line("a turn to the next statement: the page of its PDF too", [whole for _, whole in spent])
        line("another granularity", list(rank_times(driver, rounds)))
        line("memory of the server with one session", [memory_mb(data_dir)], "MB")
        line("another granularity with ten sessions open", list(_many(driver, address, answers)))
        line("memory of the server with ten more", [memory_mb(data_dir)], "MB")


def _turned(driver: Chrome, address: str) -> list[list[float]]:
    driver.get(address)
    wait_for(lambda: inside(driver, ".evidence .cited"))
    return list(turns(driver, 6))


def _many(driver: Chrome, address: str, answers: Sequence[str]) -> Iterator[float]:
    for number in range(SESSIONS):
        driver.switch_to.new_window("tab")
        driver.get(f"{address}/?answer={answers[number % len(answers)]}")
    for tab in driver.window_handles[1:]:
        driver.switch_to.window(tab)
        wait_for(lambda: inside(driver, ".evidence .cited"))
        yield from rank_times(driver, 2)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="propcite-page-") as folder:
        answers = fill(Path(folder))
        with serving(Path(folder), prepared=False) as address:
            measure(address, answers, Path(folder), options.rounds)


if __name__ == "__main__":
    main(sys.argv[1:])
