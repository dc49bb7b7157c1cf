"""Evidence where it stands: a PDF's page with its lines marked, rendered text; nothing acts, all can read it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from statistics import median

import browsing
import pytest
from browsing import inside, memory_mb, off, press, wait_for
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)]

AT_ONCE_MS = 300
PAGES = 300
KEEPER = "The keeper of Skarn lighthouse in 1931 was Ada Holm."
LAMP = "The lamp of Skarn lighthouse burns 41 litres of oil a night."
BELL = "The bell of Skarn church weighs 912 kilograms and was cast in Leith."
ATTACKS = [
    "<script>top.struck = 1</script>",
    "<img src=x onerror='top.struck = 1'>",
    "<svg onload='top.struck = 1'></svg>",
    '<a href="javascript:top.struck=1">ferry</a>',
    "<iframe srcdoc='<script>top.struck = 1</script>'></iframe>",
    "<details open ontoggle='top.struck = 1'>ferry</details>",
    "![ferry](https://struck.example/pixel.png)",
    "[ferry](javascript:top.struck=1)",
    "<style>@import 'https://struck.example/x.css'; * { background: url(https://struck.example/y.png) }</style>",
    "\"><button autofocus onfocus='top.struck = 1'>",
    "</blockquote></div><base href='https://struck.example/'>",
]


def pdf() -> bytes:
    """A long one, with what is asked for on page 217."""
    written = BytesIO()
    canvas = Canvas(written, A4)
    for number in range(1, PAGES + 1):
        canvas.setFont("Helvetica", 11)
        canvas.drawString(72, 780, f"Log of the harbour master, sheet {number}")
        canvas.drawString(72, 740, f"On day {number} the tide gauge showed {200 + number} centimetres.")
        if number == 217:
            canvas.drawString(72, 500, KEEPER)
            canvas.drawString(72, 480, "She had come from the north coast.")
        canvas.showPage()
    canvas.save()
    return written.getvalue()


def hostile(number: int, attack: str) -> list[Upload]:
    """A document of each kind that is rendered, whose words, title and name would act if they were let."""
    text = f"{attack} Ferry {number} carries {number + 20} cars. {attack}"
    return [
        Upload(f"{number} {attack[:30].replace('/', '')}.md", f"# Ferry {attack}\n\n{text}\n".encode()),
        Upload(f"{number}.html", f"<title>{attack}</title><body><h1>{attack}</h1><p>{text}</p>".encode()),
        Upload(f"{number}.csv", f"Ferry,Cars\n{text.replace(',', ' ')},{number}\nother,3\n".encode()),
    ]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


@pytest.fixture(scope="module")
def answers(data_dir: Path) -> dict[str, str]:
    """Kept answers by what they are about: their ids."""
    parts = Parts(load_settings(data_dir=data_dir))
    collection = parts.library.create_collection("skarn")
    sheet = "Lamp,Oil\n" + "".join(f"Lamp {n},{n} litres\n" for n in range(200))
    sources = [
        Upload("log.pdf", pdf()),
        Upload("lamp.md", f"# Lamps\n\n*Skarn*\n\n{LAMP}\n\n> It was lit at dusk.\n".encode()),
        Upload("lamps.csv", sheet.encode()),
        Upload("church.txt", f"{BELL} It rings at noon.".encode()),
        *(source for number, attack in enumerate(ATTACKS) for source in hostile(number, attack)),
    ]
    outcomes = list(parts.ingester(collection).ingest(sources))
    assert {outcome.state for outcome in outcomes} == {"added"}
    pipeline = parts.pipeline(collection)
    texts = {
        "all": f"{KEEPER} {LAMP} {BELL} Lamp 117 burns 117 litres of oil.",
        "struck": " ".join(f"Ferry {n} carries {n + 20} cars {attack}." for n, attack in enumerate(ATTACKS)),
        "wrong": "The keeper of Skarn lighthouse in 1931 was Ada Holm. The bell of Skarn church weighs 512 kilograms.",
    }
    return {name: pipeline.cite(text).id for name, text in texts.items()}


@pytest.fixture(scope="module")
def address(data_dir: Path, answers: dict[str, str]) -> Iterator[str]:
    assert answers
    with browsing.serving(data_dir) as at:
        yield at


@pytest.fixture(scope="module")
def driver() -> Iterator[Chrome]:
    with browsing.browsing() as browser:
        yield browser


def open_answer(driver: Chrome, address: str, answer_id: str) -> None:
    driver.get(f"{address}/cite?answer={answer_id}")
    wait_for(lambda: inside(driver, ".evidence .badge"))


def turn_to(driver: Chrome, words: str) -> None:
    """The fact that says these words, by key from anywhere on the page."""

    def claims() -> bool:
        if words in " ".join(inside(driver, ".claim")[0].text.split()):
            return True
        ActionChains(driver).send_keys("j").perform()
        return False

    wait_for(claims)


def original(driver: Chrome) -> str:
    return str(inside(driver, ".original summary")[0].text)


def test_the_page_of_a_pdf_shows_the_very_lines(driver: Chrome, address: str, answers: dict[str, str]) -> None:
    open_answer(driver, address, answers["all"])
    turn_to(driver, "The keeper of Skarn")
    wait_for(lambda: original(driver) == "In the document: page 217")
    image = wait_for(lambda: inside(driver, ".page img"))[0]
    wait_for(lambda: driver.execute_script("return arguments[0].naturalWidth", image) == 1000)
    lines = inside(driver, ".cited-line")
    assert len(lines) == 1
    figure = inside(driver, ".page")[0]
    shown, frame = lines[0].rect, figure.rect
    assert frame["y"] <= shown["y"] <= frame["y"] + frame["height"] - shown["height"]  # it was scrolled there
    # 500 points from the lower edge of a page that is 842 high, 72 from the left.
    place = driver.execute_script(
        "const [l, i] = arguments; return [l.offsetTop / i.height, l.offsetLeft / i.width]", lines[0], image
    )
    assert place == pytest.approx([1 - 510 / 842, 72 / 595], abs=0.01)
    link = inside(driver, ".deeds a")[0].get_attribute("href")
    assert link.endswith("/file#page=217")


def marked_in_frame(driver: Chrome) -> tuple[str, float]:
    """What is marked in the document, and how far that is scrolled; the frame may be replaced while one looks."""
    frame = inside(driver, "iframe[src]")[0]
    assert frame.get_attribute("sandbox") == ""
    driver.switch_to.frame(frame)
    try:
        return driver.find_element(By.ID, "cited").text, float(driver.execute_script("return scrollY"))
    finally:
        driver.switch_to.default_content()


def test_who_turns_faster_than_the_server_hears_stays_where_he_turned_to(
    driver: Chrome, address: str, answers: dict[str, str]
) -> None:
    """Nor is the answer drawn anew: what was unfolded and scrolled stays so."""
    open_answer(driver, address, answers["all"])
    first = inside(driver, ".fact")[0]
    driver.execute_script("arguments[0].seen = true", first)
    (root,) = inside(driver, ".propcite")
    for _ in range(8):
        ActionChains(driver).send_keys("jjj").perform()
        chosen = driver.execute_script("return arguments[0].fact", root)
        wait_for(lambda chosen=chosen: driver.current_url.endswith(f"fact={chosen}"), 30)
        assert driver.execute_script("return arguments[0].fact", root) == chosen
    assert driver.execute_script("return arguments[0].seen", inside(driver, ".fact")[0])
    assert "ForwardMsg" not in str(driver.get_log("browser"))  # what the server sent could be read


def test_what_is_pressed_right_after_a_turn_is_of_the_fact_turned_to(
    driver: Chrome, address: str, answers: dict[str, str]
) -> None:
    """Whether or not the server has heard of the turn, or has drawn it, or the browser what it drew."""
    press = """
        const [ms, done] = arguments;
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
        setTimeout(() => { document.querySelector('[class*="st-key-near-"] label input').click(); done(); }, ms);
    """
    for ms in (0, 40, 80, 160, 320):
        open_answer(driver, address, answers["wrong"])
        wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, '[class*="st-key-near-"] label input'))
        browsing.settle(driver)
        driver.execute_async_script(press, ms)
        wait_for(lambda: inside(driver, ".groups"))
        wait_for(lambda: "Contradicts it" in inside(driver, ".groups")[0].text, 30)
        assert driver.current_url.endswith("fact=1")


def test_rendered_text_and_rows_are_marked_where_they_stand(
    driver: Chrome, address: str, answers: dict[str, str]
) -> None:
    open_answer(driver, address, answers["all"])
    for words, marked in (("The lamp of Skarn", LAMP.rstrip(".")), ("The bell of Skarn", BELL)):
        turn_to(driver, words)
        wait_for(lambda marked=marked: marked in marked_in_frame(driver)[0])
    turn_to(driver, "Lamp 117")
    wait_for(lambda: "Lamp 117" in marked_in_frame(driver)[0])
    wait_for(lambda: marked_in_frame(driver)[1] > 100)


def test_a_click_shows_the_evidence_within_what_a_reader_waits(
    driver: Chrome, address: str, answers: dict[str, str]
) -> None:
    """Words at once, the page of a 300-page PDF soon after; by the browser's own clock."""
    open_answer(driver, address, answers["all"])
    measure = """
        const [root, done] = arguments, start = performance.now();
        const key = new KeyboardEvent("keydown", { key: "j", bubbles: true });
        document.dispatchEvent(key);
        const look = () => {
          const images = [...root.querySelectorAll(".page img")], words = root.querySelector(".cited");
          if (words && images.every((i) => i.complete && i.naturalWidth)) done(performance.now() - start);
          else setTimeout(look, 5);
        };
        look();
    """
    root = inside(driver, ".evidence")[0]
    spent = [driver.execute_async_script(measure, root) for _ in range(12)]
    assert median(spent) < AT_ONCE_MS


def test_granularity_ranks_anew_and_conflicts_stand_beside_support(
    driver: Chrome, address: str, answers: dict[str, str]
) -> None:
    open_answer(driver, address, answers["wrong"])
    turn_to(driver, "The bell of Skarn")
    ask_near(driver)
    wait_for(lambda: any(heading.text.startswith("Contradicts it") for heading in inside(driver, ".group h2")))
    reasons = [reason.get_attribute("textContent") or "" for reason in inside(driver, ".groups .why")]
    assert any("912" in reason for reason in reasons)

    def first_card() -> tuple[str, bool]:
        """Return the words of the first card, and whether they are marked in their passage."""
        card = inside(driver, ".group .nearby")[0]
        quote = card.find_element(By.CSS_SELECTOR, ".quote").get_attribute("textContent") or ""
        return quote, bool(card.find_elements(By.CSS_SELECTOR, ".cited"))

    def chosen(level: str) -> list[WebElement]:
        return driver.find_elements(By.XPATH, f'//button[.="{level}"][@aria-checked="true"]')

    for level, words, is_marked in (
        ("passages", "", False),
        ("statements", "The bell of Skarn church weighs 912", True),
        ("sentences", BELL, True),
    ):
        press(driver, f'//button[.="{level}"]', partial(chosen, level))
        wait_for(
            lambda words=words, is_marked=is_marked: first_card()[1] == is_marked and first_card()[0].startswith(words)
        )
    wait_for(lambda: chosen("sentences")[0].click() or True)
    wait_for(lambda: chosen("sentences"), 20)  # pressed again, it stays


def test_nothing_that_a_document_or_a_text_says_acts(driver: Chrome, address: str, answers: dict[str, str]) -> None:
    for path in (f"/cite?answer={answers['struck']}", f"/?answer={answers['struck']}", "/library", "/search"):
        driver.get(address + path)
        if "answer" in path:
            wait_for(lambda: inside(driver, ".evidence .badge"))
            for _ in range(len(ATTACKS)):
                ActionChains(driver).send_keys("j").perform()
                for closed in inside(driver, "details:not([open])"):  # of a fact without support
                    driver.execute_script("arguments[0].open = true", closed)
                for frame in inside(driver, "iframe"):
                    wait_for(lambda frame=frame: frame.get_attribute("src"))
        else:
            wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, "h1"))
        assert driver.execute_script("return window.struck") is None
        fetched = driver.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
        assert [place for place in fetched if not place.startswith((address, "data:", "blob:"))] == []
    assert not [
        line for line in driver.get_log("browser") if "struck" in line["message"] and "ERR_NAME" in line["message"]
    ]


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False)])
def test_no_serious_trouble_for_who_reads_otherwise(
    address: str, answers: dict[str, str], width: int, dark: bool
) -> None:
    """axe-core, in every view; in the answer's the near evidence and the explanation are open."""
    with browsing.browsing(width, 1000, dark=dark) as driver:
        for path in (
            "/",
            f"/?answer={answers['wrong']}",
            f"/cite?answer={answers['all']}",
            "/search",
            "/evaluate",
            "/library",
        ):
            driver.get(address + path)
            wait_for(lambda: driver.find_elements(By.CSS_SELECTOR, "h1"))
            if "answer" in path:
                wait_for(lambda: inside(driver, ".evidence .badge"))
            browsing.check_readable(driver)


def test_ten_sessions_share_one_model(driver: Chrome, address: str, answers: dict[str, str], data_dir: Path) -> None:
    """Each sees its own answer; the memory of the server grows by pages, not by models."""
    open_answer(driver, address, answers["all"])
    ask_near(driver)
    before = memory_mb(data_dir)
    first = driver.current_window_handle
    names = list(answers)
    for number in range(10):
        driver.switch_to.new_window("tab")
        driver.get(f"{address}/cite?answer={answers[names[number % 3]]}")
    tabs = [handle for handle in driver.window_handles if handle != first]
    try:
        for number, tab in enumerate(tabs):
            driver.switch_to.window(tab)
            wait_for(lambda: inside(driver, ".evidence .badge"))
            expected = {"all": "Skarn", "struck": "Ferry", "wrong": "512"}[names[number % 3]]
            assert expected in inside(driver, ".answer")[0].text
            ask_near(driver)
        assert memory_mb(data_dir) < before + 400
    finally:
        for tab in tabs:
            driver.switch_to.window(tab)
            driver.close()
        driver.switch_to.window(first)


def ask_near(driver: Chrome) -> None:
    """What needs the model."""

    press(driver, off("near"), lambda: inside(driver, ".groups"))


def test_what_is_gone_is_told_where_it_would_be_seen(driver: Chrome, address: str) -> None:
    for place in ("file", "reading", "page/1"):
        driver.get(f"{address}/source/nobody/{place}")
        assert "there is no document 'nobody'" in driver.find_element(By.TAG_NAME, "body").text
