"""Runs in a real browser: one is opened, compared with another, and followed down to an item that moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import browsing
import pytest
from browsing import inside, press, saying, wait_for
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from propcite.app.library.store import RunItem, Runs
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

HOSTILE = "<img src=x onerror=\"document.title='broken'\">"


def keep(runs: Runs, better: float) -> str:
    run = runs.start(
        "asqa", "towers.json", {"context": 5}, {"command": "propcite eval asqa towers.json"}, "embedded/minilm"
    )
    runs.add(run.id, [_item(n, way, better) for n in range(12) for way in ("propcite", "sentence")])
    return runs.finish(run.id).id


def _item(number: int, way: str, better: float) -> RunItem:
    recall = min(1.0, number / 12 + (better if number == 7 else 0))
    judgements = [{"text": f"Tower {number} is high {HOSTILE}.", "docs": [1], "holds": recall > 0.5}]
    output = {
        "question": f"How high is tower {number}?",
        "text": f"Tower {number} is high [1]. {HOSTILE}",
        "judgements": judgements,
    }
    measures = {"citation_recall": recall, "citation_precision": 1.0, "length": 5.0 * (number + 1)}
    return RunItem(f"q{number}", way, measures, output, {"seconds": 0.5})


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    folder = tmp_path_factory.mktemp("runs")
    parts = Parts(load_settings(data_dir=folder))
    runs = keep(parts.runs, 0.0), keep(parts.runs, 0.4)
    parts.library.close()
    return folder, *runs


@pytest.fixture(scope="module")
def address(kept: tuple[Path, str, str]) -> Iterator[str]:
    with browsing.serving(kept[0]) as at:
        yield at


def enter(driver: Chrome, place: str, until: Callable[[], Any]) -> Any:
    """As one who has no mouse."""
    return press(driver, place, until, by_key=True)


def read(driver: Chrome, selector: str) -> str:
    return " ".join(" ".join(one.text.split()) for one in inside(driver, selector))


def test_a_run_is_opened_compared_and_followed_to_an_item(address: str, kept: tuple[Path, str, str]) -> None:
    with browsing.browsing() as driver:
        driver.get(f"{address}/evaluate")
        enter(driver, saying("asqa on towers.json"), lambda: "citation recall" in read(driver, "th"))
        wait_for(lambda: len(driver.find_elements(By.CSS_SELECTOR, '[data-testid="stExpander"]')) >= 3)
        plot = wait_for(lambda: _plot(driver))
        assert plot.rect["width"] > 100
        compare = ".st-key-compare button"
        enter(
            driver,
            '//summary[contains(., "Compare")]',
            lambda: driver.find_element(By.CSS_SELECTOR, compare).is_displayed(),
        )
        enter(driver, compare, lambda: "difference" in read(driver, "th"))
        assert all(run in driver.page_source for run in kept[1:])
        enter(driver, saying("How high is tower 7?"), lambda: "Tower 7 is high [1]." in read(driver, ".text"))
        assert HOSTILE in read(driver, ".text")
        assert {"✓ supported by [1]", "✗ not supported by [1]"} & {one.text for one in inside(driver, ".signs li")}
        assert not inside(driver, "img, script, a, iframe")
        assert driver.title != "broken"
        place = driver.current_url
        driver.get(place)  # what the address names is there again
        wait_for(lambda: "Tower 7 is high [1]." in read(driver, ".text"))
        enter(driver, saying("Back to the comparison"), lambda: "difference" in read(driver, "th"))


def _plot(driver: Chrome) -> WebElement:
    return inside(driver, "svg.plot:not([aria-hidden])")[0]  # type: ignore[no-any-return]


def test_on_a_telephone_nothing_sticks_out(address: str, kept: tuple[Path, str, str]) -> None:
    with browsing.browsing(390, 844) as driver:
        for place in (f"run={kept[1]}", f"run={kept[1]}&beside={kept[2]}", f"run={kept[1]}&item=q7"):
            driver.get(f"{address}/evaluate?{place}")
            wait_for(lambda: inside(driver, "table, .item"))
            assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
