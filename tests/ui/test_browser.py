"""The page in a real browser: ask, click a marker, read the words in their source, come back to the same."""

import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from urllib.parse import parse_qs, urlsplit

import browsing
import pytest
from browsing import PRESS_S, inside, off, press, saying, sent, wait_for
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from propcite.app.demo import DOCUMENTS, QUESTIONS
from propcite.app.ingest.sources import gather
from propcite.app.library.store import Opinion
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.citations import CitedAnswer

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

HOSTILE = """The quay <script>document.title = "broken"</script>

The old quay is 300 metres long <img src=x onerror="document.title='broken'"> and carries two cranes.
"""
AT_ONCE_MS = 100  # what a hand feels as immediate


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Also where the server is started: a user's own `app` and `ui` there are not taken for ours."""
    folder = tmp_path_factory.mktemp("browser")
    for name in ("app", "ui"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise RuntimeError('this is the user's own')")
    return folder


@pytest.fixture(scope="module")
def address(data_dir: Path) -> Iterator[str]:
    with browsing.serving(data_dir) as at:
        yield at


@pytest.fixture(scope="module")
def driver() -> Iterator[Chrome]:
    with browsing.browsing() as browser:
        yield browser


def texts(driver: Chrome, selector: str) -> list[str]:
    return [" ".join(element.text.split()) for element in inside(driver, selector)]


def query(driver: Chrome) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(driver.current_url).query).items()}


def asking(driver: Chrome) -> list[WebElement]:
    """Return the sign of an answer that is being made; empty if there is none."""
    return driver.find_elements(By.CSS_SELECTOR, '[data-testid="stExpanderIconSpinner"]')


def kept(data_dir: Path, driver: Chrome) -> CitedAnswer:
    library = Parts(load_settings(data_dir=data_dir)).library
    return library.answer(wait_for(lambda: query(driver).get("answer")))


def shown(driver: Chrome) -> tuple[list[str], list[str], list[str]]:
    """What is chosen in the answer, the words marked in the source, and where they stand."""
    return texts(driver, ".fact.selected"), texts(driver, ".cited"), texts(driver, ".place")


def test_from_an_empty_library_to_the_words_in_the_source_and_back(
    driver: Chrome, address: str, data_dir: Path
) -> None:
    driver.get(address)
    question = saying("How high is the new flood barrier")
    under_way = '[data-testid="stProgress"], [data-testid="stSpinner"]'  # a second press would begin once more
    load = saying("Load the demo collection")
    press(
        driver,
        load,
        lambda: driver.find_elements(By.CSS_SELECTOR, under_way) or driver.find_elements(By.XPATH, question),
    )
    wait_for(lambda: driver.find_elements(By.XPATH, question))
    press(driver, question, lambda: asking(driver) or inside(driver, ".marker"))
    wait_for(lambda: inside(driver, ".marker"))
    answer = kept(data_dir, driver)
    last = answer.sentences[-1].citations[-1]

    assert texts(driver, ".marker")[-1] == f"[{last.number}]"
    wait_for(lambda: inside(driver, ".marker")[-1].click() or True)
    wait_for(lambda: texts(driver, ".cited") == [" ".join(last.quote.split())])
    assert last.passage.title.split(" › ")[0] in texts(driver, ".source h3")[0]
    assert texts(driver, ".evidence .badge") == ["✓ Supported"]
    wait_for(lambda: "fact" in query(driver))
    before = shown(driver)

    driver.get(driver.current_url)
    wait_for(lambda: inside(driver, ".cited"))
    assert shown(driver) == before

    feedback = Parts(load_settings(data_dir=data_dir)).feedback
    (said,) = press(driver, saying("Too broad"), lambda: feedback.of(answer.id))
    assert (said.opinion, said.citation) == (Opinion.TOO_BROAD, last.id)


def test_a_click_shows_at_once(driver: Chrome, address: str, data_dir: Path) -> None:
    driver.get(f"{address}/?answer={_any_answer(data_dir)}")
    number = len(wait_for(lambda: inside(driver, ".marker")))
    measure = """
        const [marker, panel] = arguments, start = performance.now();
        marker.click();
        panel.getBoundingClientRect();
        return performance.now() - start;
    """

    def spent_ms(place: int) -> list[float]:  # the answer is drawn anew once the server has heard of a click
        marker, panel = inside(driver, ".marker")[place], inside(driver, ".evidence")[0]
        return [driver.execute_script(measure, marker, panel)]

    assert median(wait_for(partial(spent_ms, place))[0] for place in range(number)) < AT_ONCE_MS


def _any_answer(data_dir: Path) -> str:
    """The newest, or one given now: the test that asks may run elsewhere."""
    parts = Parts(load_settings(data_dir=data_dir))
    if kept := parts.library.answers():
        return kept[0].id
    demo = parts.library.create_collection("demo")
    list(parts.ingester(demo).ingest(gather([DOCUMENTS])[0]))
    return parts.pipeline(demo).answer(json.loads(QUESTIONS.read_text("utf-8").splitlines()[0])["question"]).id


def test_facts_are_reached_and_chosen_by_key(driver: Chrome, address: str, data_dir: Path) -> None:
    driver.get(f"{address}/?answer={_any_answer(data_dir)}")

    def chosen() -> bool:
        pressed = [fact.get_attribute("aria-pressed") for fact in inside(driver, '.fact[tabindex="0"]')]
        return (pressed[0], pressed[-1]) == ("false", "true")

    def choose() -> bool:
        """Press Enter and give it time: a second press may take back the first, and one while drawing may be lost."""
        inside(driver, '.fact[tabindex="0"]')[-1].send_keys(Keys.ENTER)
        return bool(wait_for(chosen, PRESS_S))

    wait_for(choose)


def test_the_list_of_facts_and_the_answer_agree(driver: Chrome, address: str, data_dir: Path) -> None:
    driver.get(f"{address}/?answer={_any_answer(data_dir)}")
    wait_for(lambda: inside(driver, ".marker")[-1].click() or True)
    wait_for(lambda: "fact" in query(driver))
    listed = '//*[@data-testid="stExpander"][contains(., "All statements as a list")]'
    cited = texts(driver, ".cited")[0]

    def beneath() -> bool:
        return cited in " ".join(driver.find_element(By.XPATH, listed).text.split())

    press(driver, f"{listed}//details[not(@open)]/summary", beneath)


def test_what_an_upload_says_starts_nothing(driver: Chrome, address: str, tmp_path: Path) -> None:
    file = tmp_path / "quay <b>.txt"
    file.write_text(HOSTILE, encoding="utf-8")
    driver.get(f"{address}/library")
    wait_for(lambda: sent(driver, file))
    wait_for(lambda: f"{file.name} added" in driver.find_element(By.TAG_NAME, "body").text)

    driver.get(address)
    box = wait_for(lambda: driver.find_element(By.CSS_SELECTOR, '[data-testid="stChatInput"] textarea'))
    box.send_keys("How long is the old quay that carries two cranes?\n")
    cited = wait_for(lambda: [text for text in texts(driver, ".cited") if "300 metres" in text])
    assert "<img src=x onerror=" in cited[0]
    assert not inside(driver, "script, [onerror], [onclick], [onload]")
    leads = [e.get_attribute("href") or e.get_attribute("src") for e in inside(driver, "a, iframe, img")]
    assert [lead for lead in leads if not lead.startswith(f"{address}/source/")] == []
    assert driver.title != "broken"


def test_on_a_telephone_the_evidence_is_below_and_nothing_sticks_out(address: str, data_dir: Path) -> None:
    with browsing.browsing(390, 844) as driver:
        driver.get(f"{address}/?answer={_any_answer(data_dir)}")
        evidence = wait_for(lambda: inside(driver, ".evidence"))[0]
        answer = inside(driver, ".answer")[0]
        wait_for(lambda: evidence.rect["height"] > 50)
        assert evidence.rect["y"] >= answer.rect["y"] + answer.rect["height"]
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
        inside(driver, ".marker")[0].click()
        time.sleep(0.6)  # the page glides
        assert driver.execute_script("return arguments[0].getBoundingClientRect().top < innerHeight", evidence)


def test_why_shows_which_words_met_in_both_themes_and_on_a_telephone(address: str, data_dir: Path) -> None:
    answer_id = _any_answer(data_dir)
    for width, dark in ((1280, False), (390, True)):
        with browsing.browsing(width, 844, dark=dark) as driver:
            driver.get(f"{address}/?answer={answer_id}")
            wait_for(lambda: inside(driver, ".cited"))
            box = press(driver, off("why"), lambda: inside(driver, ".matrix"))[0]
            numbered = [texts(driver, f"figure:nth-of-type({n}) .met sup") for n in (1, 2)]
            assert numbered[1]
            assert {mark.lstrip("≈") for mark in numbered[0]} == set(numbered[1])
            assert [row.text for row in inside(driver, "tbody th .word")]
            assert driver.execute_script("return document.documentElement.scrollWidth") <= width
            assert box.rect["width"] <= width  # it scrolls by itself
            ground = driver.execute_script(
                "return [...arguments].map((e) => getComputedStyle(e).backgroundColor)",
                *inside(driver, "td.counts")[:3],
            )
            assert all(colour != "rgba(0, 0, 0, 0)" for colour in ground)
