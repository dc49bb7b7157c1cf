"""Pictures of every view, wide and narrow, light and dark: python tests/ui/screenshots.py FOLDER [NAMES]

`python tests/ui/screenshots.py docs ask-1280-light evidence-1280-light near-1280-dark` makes those of the README, with
`review-1280-light` and `whole-1280-light` that of a draft under review, and of two documents compared whole.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))

from browsing import browsing, inside, serving, settle, wait_for
from scripted_llm import Reply, Request, ScriptedLlm, error, free_url

from propcite.app.answering.pipeline import Pipeline
from propcite.app.demo import DOCUMENTS, QUESTIONS
from propcite.app.ingest.sources import gather
from propcite.app.notes.pinning import pinned
from propcite.app.parts import Parts
from propcite.app.reviewing.citing import Unpaced, cite_draft, kept_draft
from propcite.app.reviewing.exports import cited_draft
from propcite.app.reviewing.facts import make_decision
from propcite.app.settings import load_settings
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import TextDelta
from propcite.attribution.formats.reviewed.decisions import Choice

DRAFT = """# Briefing on the works

{} The Lantern Point flood barrier cost €212.4 million.

The Lantern Point flood barrier was finished on 18 October 2024. It protects 40,000 homes.
"""
TEXT = (
    "Heron Bridge opens to the public on 28 May 2025. It is 96 metres long and 5.5 metres wide. "
    "The barrier is 6.4 metres high and was painted green by volunteers. What a fine city!"
)


def fill(data_dir: Path) -> dict[str, str]:
    """The demo, and answers over it.  -> the address of each picture's page"""
    parts = Parts(load_settings(data_dir=data_dir))
    collection = parts.library.create_collection("demo")
    list(parts.ingester(collection).ingest(gather([DOCUMENTS])[0]))
    pipeline = parts.pipeline(collection)
    questions = [json.loads(line)["question"] for line in QUESTIONS.read_text("utf-8").splitlines()]
    answers = [pipeline.answer(question) for question in (questions[9], questions[0], questions[-1])]
    for follow in ("How wide are its gates?", "And who designed it?"):
        answers.append(pipeline.answer(follow, answers[-1].id if len(answers) > 3 else answers[1].id))
    cited = pipeline.cite(TEXT)
    library = parts.library
    library.note_failures(collection, {"/srv/locked.pdf": "locked.pdf is locked: save it without a password"})
    draft = _review(parts, pipeline)
    _pin(parts, pipeline, answers[1])
    document = library.find_document(collection, "engineering-note-14-barrier.pdf")
    return {
        "welcome": "/",
        "ask": f"/?answer={answers[1].id}",
        "evidence": f"/?answer={answers[1].id}",
        "near": f"/cite?answer={cited.id}",
        "chat": f"/?answer={answers[-1].id}",
        "abstained": f"/?answer={answers[2].id}",
        "cite": f"/cite?answer={cited.id}",
        "why": f"/cite?answer={cited.id}",
        "search": "/search",
        "library": "/library",
        "compare": "/compare",
        "whole": "/compare",
        "review": f"/review?review={draft}",
        "settings": "/settings",
        "notes": "/notes",
        "document": f"/library?document={document.id}",
        **_runs(parts),
        **_doubtful(data_dir),
    }


def _doubtful(data_dir: Path) -> dict[str, str]:
    """A text that the judge read in part, and an answer that was stopped."""

    def judged(request: Request) -> str | Reply:
        return error(500, "out of memory") if "Heron" in request.prompt else '{"verdict": "unsupported", "support": 4}'

    with ScriptedLlm(judged) as llm:
        parts = Parts(load_settings(data_dir=data_dir, judge="llm", judge_model="m", llm_url=llm.base_url))
        unchecked = parts.pipeline(parts.library.collection("demo")).cite(TEXT)
    with ScriptedLlm(Reply(chunks=("The barrier is 6.4 metres high. ", "It was finished"), stalls_after=2)) as llm:
        parts = Parts(load_settings(data_dir=data_dir, generator="openai", generator_model="m", llm_url=llm.base_url))
        with parts.pipeline(parts.library.collection("demo")).answer_stream("How high is the barrier?") as stopped:
            next(event for event in stopped if isinstance(event, TextDelta) and "finished" in event.text)
    assert stopped.stored
    return {"unchecked": f"/cite?answer={unchecked.id}", "stopped": f"/?answer={stopped.stored.id}", "failed": "/"}


def _pin(parts: Parts, pipeline: Pipeline, answer: CitedAnswer) -> None:
    """A pinned statement, and a note whose words are cited."""
    fact = answer.facts[0]
    parts.notes.keep(pipeline.collection, "For the briefing", pinned(answer, fact.id), "", answer.id)
    words = "The barrier is 6.4 metres high. It was painted green by volunteers."
    note = parts.notes.add(pipeline.collection, words, None, "")
    parts.notes.set_cited(note.id, pipeline.cite(words), note.version)


def _review(parts: Parts, pipeline: Pipeline) -> str:
    """A draft, cited, its first statement rejected.  -> its id"""
    content = DRAFT.format(TEXT).encode()
    info = parts.reviews.add(pipeline.collection, "briefing.md", content, len(content))
    cite_draft(parts.reviews, info, lambda: kept_draft(parts, info), lambda: pipeline, Unpaced())
    answer = cited_draft(parts, parts.reviews.find(info.id))
    parts.reviews.decide(info.id, make_decision(answer, "1", Choice.REJECTED, note="The minutes say 14 May"))
    return info.id


def compare_whole(driver: webdriver.Chrome) -> None:
    """Compare two versions of the budget."""

    def chosen(title: str) -> bool:
        options = driver.find_elements(By.CSS_SELECTOR, "[role=option]")
        next(option for option in options if title in option.text).click()
        return True

    for side, title in (("left", "(DRAFT)"), ("right", "(FINAL)")):
        field = wait_for(lambda side=side: driver.find_element(By.CSS_SELECTOR, f".st-key-{side}-documents input"))
        field.send_keys("budget")
        wait_for(lambda title=title: chosen(title))
        field.send_keys(Keys.ESCAPE)
        settle(driver)
    driver.find_element(By.CSS_SELECTOR, ".st-key-compare button").send_keys(Keys.ENTER)
    rows = wait_for(lambda: inside(driver, ".compared"))
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", rows[0])


def _runs(parts: Parts) -> dict[str, str]:
    """Two runs beside each other, one of them alone, and an item."""
    from sample_runs import sample_run

    one, other = sample_run(parts.runs), sample_run(parts.runs, better=0.1)
    place = f"/evaluate?run={one.id}"
    return {
        "runs": "/evaluate",
        "run": place,
        "compared": f"{place}&beside={other.id}",
        "item": f"{place}&item=q7",
    }


def take(driver: webdriver.Chrome, address: str, name: str, folder: Path) -> None:
    driver.get(address)
    ready: dict[str, Callable[[], object]] = {
        "ask": lambda: inside(driver, ".cited"),
        "evidence": lambda: inside(driver, ".cited"),
        "near": lambda: inside(driver, ".cited"),
        "cite": lambda: inside(driver, ".cited"),
        "why": lambda: inside(driver, ".cited"),
        "chat": lambda: inside(driver, ".meter"),
        "document": lambda: driver.find_elements(By.CSS_SELECTOR, '[data-testid="stTabs"]'),
        "library": lambda: driver.find_elements(By.CSS_SELECTOR, '[data-testid="stDataFrame"]'),
        "search": lambda: driver.find_elements(By.CSS_SELECTOR, ".st-key-search-text input"),
        "notes": lambda: driver.find_elements(By.CSS_SELECTOR, ".st-key-add-note button"),
        "settings": lambda: driver.find_elements(By.CSS_SELECTOR, ".st-key-setting-llm_key input"),
        "abstained": lambda: driver.find_elements(By.CSS_SELECTOR, '[data-testid="stAlert"]'),
        "runs": lambda: driver.find_elements(By.CSS_SELECTOR, '[class*="st-key-run-"]'),
        "run": lambda: inside(driver, ".plot"),
        "compared": lambda: inside(driver, "table"),
        "item": lambda: inside(driver, ".item"),
        "compare": lambda: driver.find_elements(By.CSS_SELECTOR, ".st-key-compare button"),
        "whole": lambda: driver.find_elements(By.CSS_SELECTOR, ".st-key-compare button"),
        "review": lambda: inside(driver, ".cited"),
        "unchecked": lambda: inside(driver, ".note.unchecked"),
        "stopped": lambda: inside(driver, ".note.unchecked"),
        "failed": lambda: driver.find_elements(By.CSS_SELECTOR, '[data-testid="stChatInput"]'),
        "welcome": lambda: driver.find_elements(By.CSS_SELECTOR, '[data-testid="stChatInput"]'),
    }
    wait_for(ready[name.split("-")[0]])
    for view, shown in (("why", ".matrix"), ("near", ".groups")):
        if name.startswith(view):
            switch = driver.find_element(By.CSS_SELECTOR, f'[class*="st-key-{view}-"] label')
            driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", switch)
            switch.click()
            wait_for(lambda shown=shown: inside(driver, shown))
            driver.execute_script("arguments[0].scrollIntoView()", switch)
    if name.startswith("evidence"):
        image = wait_for(lambda: inside(driver, ".page img"))[0]
        wait_for(lambda: driver.execute_script("return arguments[0].naturalWidth", image))
        driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", inside(driver, ".page")[0])
    if name.startswith("unchecked"):
        inside(driver, ".note.unchecked")[0].click()
        wait_for(lambda: inside(driver, ".evidence .badge.unchecked"))
    if name.startswith("failed"):
        settle(driver)
        driver.find_element(By.CSS_SELECTOR, '[data-testid="stChatInput"] textarea').send_keys("What does it cost?\n")
        wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, '[data-testid="stAlert"]'))
    if name.startswith("search"):
        driver.find_element(By.CSS_SELECTOR, ".st-key-search-text input").send_keys("Who pays for it?\n")
        wait_for(lambda: inside(driver, ".source"))
    if name.startswith("whole"):
        compare_whole(driver)
    settle(driver)
    driver.implicitly_wait(0)
    driver.execute_async_script("setTimeout(arguments[0], 600)")
    driver.save_screenshot(str(folder / f"{name}.png"))


def main(folder: Path, names: Sequence[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="propcite-pictures-") as data:
        pages = fill(Path(data))
        away = {"generator": "openai", "generator_model": "m", "llm_url": free_url()}
        with serving(Path(data)) as address, serving(Path(data), **away) as without_model:
            for (width, height), theme in product(((1280, 860), (390, 844)), ("light", "dark")):
                with browsing(width, height, dark=theme == "dark") as driver:
                    for view, path in pages.items():
                        name = f"{view}-{width}-{theme}"
                        if not names or name in names:
                            take(driver, (without_model if view == "failed" else address) + path, name, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
