"""The page used for a long time over real documents: the memory of its server, minute by minute.

`PYTHONPATH=. python -m tests.benchmarks.page_memory CACHE [--minutes 60]` fetches the first set of documents of
`tests.benchmarks.answers` into CACHE, ingests them in a temporary data directory, and goes round: a question is asked,
its statements are turned, what comes near one is ranked, words are searched, a document is opened, a statement is
pinned, and a text is cited.  The first rounds load the models; memory is flat if later minutes do not rise.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from browsing import browsing, inside, memory_mb, press, saying, serving, settle, wait_for
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from tests.benchmarks.answers.documents import COLLECTION, ingest
from tests.benchmarks.answers.packages import copy_document, fetch
from tests.benchmarks.answers.questions import read_documents, read_questions
from tests.benchmarks.page import TURN

from propcite.app.parts import Parts
from propcite.app.settings import load_settings

SET = "first"
STEADY = 1 / 3  # of the minutes, after which the models are loaded and every view was opened
BOX = '[data-testid="stChatInput"] textarea'
DONE = ".st-key-actions button"  # below an answer, and below none


def fill(data_dir: Path, cache: Path) -> list[str]:
    """Ingest the set's documents; return their ids."""
    places = read_documents(SET)
    fetch([package for package, _ in places], cache)
    parts = Parts(load_settings(data_dir=data_dir))
    for place in places:
        copy_document(*place, cache, data_dir / "files")
    collection = parts.library.create_collection(COLLECTION)
    ingest(parts, collection, data_dir / "files")
    return [info.id for info in parts.library.documents(collection)]


def ask(driver: Chrome, address: str, question: str) -> None:
    """Ask, and use the answer as a reader does."""
    driver.get(address)
    wait_for(lambda: driver.find_element(By.CSS_SELECTOR, BOX)).send_keys(question, Keys.ENTER)
    wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, DONE))
    settle(driver)
    if not inside(driver, ".evidence .cited"):
        return  # nothing answers it
    for _ in range(3):
        driver.execute_async_script(TURN, inside(driver, ".evidence")[0], "j")
    near = '[class*="st-key-near-"] label'
    press(driver, near, lambda: inside(driver, ".groups"))
    choice = saying("The chosen statement")
    press(driver, saying("Pin to notes"), lambda: driver.find_elements(By.XPATH, choice))
    press(driver, choice, lambda: driver.find_elements(By.XPATH, saying("Open the note")))


def look(driver: Chrome, address: str, question: str, document: str) -> None:
    """Search the question's words, open a document, read the notes, and cite the question as a text."""
    driver.get(f"{address}/search")
    wait_for(lambda: driver.find_element(By.CSS_SELECTOR, ".st-key-search-text input")).send_keys(question, Keys.ENTER)
    wait_for(lambda: inside(driver, ".source"))
    driver.get(f"{address}/library?document={document}")
    wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, '[data-testid="stTabs"]'))
    driver.get(f"{address}/notes")
    wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, ".st-key-add-note button"))
    driver.get(f"{address}/cite")
    text = wait_for(lambda: driver.find_element(By.CSS_SELECTOR, ".st-key-text-to-cite textarea"))
    text.send_keys(f"This is so: {question.rstrip('?')}.", Keys.TAB)
    press(driver, ".st-key-cite button", lambda: inside(driver, ".answer"))
    settle(driver)


def walk(
    address: str, questions: Sequence[str], documents: Sequence[str], minutes: float, memory: Callable[[], float]
) -> Iterator[tuple[float, int, float]]:
    """Go round for some minutes; yield the minute, the rounds so far and the memory, once a minute."""
    start, said, rounds = time.monotonic(), -1, 0
    with browsing() as driver:
        for question, document in zip(cycle(questions), cycle(documents), strict=False):
            ask(driver, address, question)
            look(driver, address, question, document)
            rounds += 1
            minute = (time.monotonic() - start) / 60
            if int(minute) > said:
                said = int(minute)
                yield minute, rounds, memory()
            if minute > minutes:
                return


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="propcite-page-") as folder:
        documents = fill(Path(folder), options.cache)
        questions = [question.text for question in read_questions(SET)]
        with serving(Path(folder)) as address:
            report(walk(address, questions, documents, options.minutes, lambda: memory_mb(Path(folder))))


def report(measured: Iterator[tuple[float, int, float]]) -> None:
    """Print each minute, and how much memory rose once everything was loaded."""
    print("| minute | rounds | MB |\n|---:|---:|---:|")
    rows = []
    for minute, rounds, used in measured:
        rows.append((rounds, used))
        print(f"| {minute:.0f} | {rounds} | {used:,.0f} |", flush=True)
    steady = rows[int(len(rows) * STEADY) :]
    (first, before), (last, after) = steady[0], steady[-1]
    each = (after - before) / max(1, last - first)
    print(f"\nrounds {first} to {last}: {before:,.0f} to {after:,.0f} MB, {each:+.2f} MB a round")


if __name__ == "__main__":
    main(sys.argv[1:])
