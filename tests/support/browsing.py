"""The real server and a real browser, for the browser test and the screenshots."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from prepared_process import PreparedProcess
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from propcite.ui.launch import ENVIRONMENT, command

CHROMIUM, CHROMEDRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
MISSING = "no chromium: apt-get install chromium chromium-driver"
FLAGS = (
    "headless=new no-sandbox disable-gpu disable-quic no-first-run disable-background-networking"
    " disable-component-update disable-sync hide-scrollbars"
).split()
PATIENCE_S = 120.0  # the first answer waits for the model, on a machine that others use too
PRESS_S = 20.0  # what a press has to show
SETTLED = """
const styles = [...document.querySelectorAll("style")];
return styles.some((style) => style.textContent.includes(".stMainBlockContainer"))
  && !document.querySelector('[data-stale="true"], [data-testid="stSpinner"]')
"""
AXE = """
const done = arguments[0];
axe.run(document, { resultTypes: ["violations"] }).then(
  (found) => done(found.violations.map((v) => [v.impact, v.id, v.nodes.map((n) => n.html.slice(0, 200))])),
  (error) => done([["serious", String(error), []]]));
"""


def there() -> bool:
    return Path(CHROMIUM).exists() and Path(CHROMEDRIVER).exists()


@contextmanager
def serving(data_dir: Path, *, prepared: bool = sys.platform == "linux", **settings: str) -> Iterator[str]:
    """The page over this data directory, with these settings beside, in which {port} is its port.  -> its address

    `prepared`: in a copy of a process that has imported what models need.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = {f"PROPCITE_{name.upper()}": value.replace("{port}", str(port)) for name, value in settings.items()}
    environment = {**os.environ, "PROPCITE_DATA_DIR": str(data_dir), "HF_HUB_OFFLINE": "1", **ENVIRONMENT, **given}
    words, log = command(port, headless=True), data_dir / "server.log"
    server = PreparedProcess(words, data_dir, environment, log) if prepared else _started(words, environment, log)
    try:
        address = f"http://localhost:{port}"
        wait_for(lambda: _healthy(address))
        yield address
    finally:
        _stop(server)


def _started(words: list[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    with open(log, "wb") as out:
        return subprocess.Popen(words, cwd=log.parent, env=environment, stdout=out, stderr=subprocess.STDOUT)


def _stop(server: PreparedProcess | subprocess.Popen[bytes]) -> None:
    """As a person does who waits in vain after the first signal: the second ends what still waits for a browser."""
    for patience_s in (20, 60):
        server.terminate()
        try:
            server.wait(patience_s)
            return
        except subprocess.TimeoutExpired:
            continue
    raise TimeoutError("the page's server did not end after two signals")


def _healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def browsing(width: int = 1280, height: int = 900, *, dark: bool = False) -> Iterator[webdriver.Chrome]:
    folder = tempfile.mkdtemp(prefix="propcite-chromium-")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"window-size={width},{height}", f"user-data-dir={folder}"):
        options.add_argument(f"--{flag}")
    driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    try:
        yield driver
    finally:
        driver.quit()
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(found: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
    """What is waited for, as soon as it is there and true."""
    end = time.monotonic() + patience_s
    while True:
        try:
            if result := found():
                return result
        except Exception as error:  # the page is being drawn
            result = error
        if time.monotonic() > end:
            raise TimeoutError(f"waited {patience_s:g} s, last: {result!r}")
        time.sleep(0.05)


def settle(driver: webdriver.Chrome) -> None:
    """Wait until the page has its style and nothing of it is drawn again."""
    wait_for(lambda: driver.execute_script(SETTLED))


def check_readable(driver: webdriver.Chrome) -> None:
    """Check that axe-core finds nothing serious on the page once it is drawn."""
    settle(driver)
    driver.execute_script((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    serious = [fault for fault in driver.execute_async_script(AXE) if fault[0] in ("serious", "critical")]
    assert serious == [], driver.current_url


def saying(words: str) -> str:
    """Where what can be pressed says these words."""
    return f'//*[self::a or self::button or self::label or self::summary][contains(., "{words}")]'


def off(key: str) -> str:
    """The switch whose key begins so, while it is off."""
    return f'[class*="st-key-{key}-"] label:has(input:not(:checked))'


def press(driver: webdriver.Chrome, place: str, until: Callable[[], Any], *, by_key: bool = False) -> Any:
    """Press what stands there, by XPath or CSS, until that shows.  -> what it shows

    What is pressed while the page scrolls or is drawn anew may be lost, or meet another: so it is pressed again, but
    not before it had its time, as some presses take back the one before.  The box where one types floats above what is
    at the lower edge: what is pressed is scrolled away from there first.
    """

    def shown() -> Any:
        try:
            return until()
        except Exception:  # the page is being drawn
            return None

    def pressed() -> Any:
        if already := shown():
            return already
        element = driver.find_element(By.XPATH if place.startswith("//") else By.CSS_SELECTOR, place)
        driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.send_keys(Keys.ENTER) if by_key else element.click()
        return wait_for(until, PRESS_S)

    return wait_for(pressed)


def inside(driver: webdriver.Chrome, selector: str) -> list[Any]:
    """Elements in the clickable answer, which has a shadow root of its own."""
    hosts = driver.find_elements(By.CSS_SELECTOR, '[data-testid="stBidiComponentIsolated"], [data-testid^="stBidi"]')
    for host in hosts:
        try:
            found = host.shadow_root.find_elements(By.CSS_SELECTOR, selector)
        except Exception:  # this one has no shadow root
            continue
        if found:
            return found
    return []


def sent(driver: webdriver.Chrome, file: Path) -> bool:
    """One try in the Library: open the form, choose the file, press Add.  -> whether it was taken

    What is pressed while the page is drawn anew is lost: that is why this is tried again.
    """

    def taken() -> bool:
        page = driver.find_element(By.TAG_NAME, "body").text
        read = (f"{file.name} added", f"{file.name} already there")
        return any(words in page for words in ("you may leave this page", *read))

    if taken():
        return True
    if not driver.find_elements(By.CSS_SELECTOR, ".st-key-adding details[open]"):
        driver.find_element(By.CSS_SELECTOR, ".st-key-adding summary").click()
        return False
    if file.name not in driver.find_element(By.CSS_SELECTOR, '[data-testid="stFileUploader"]').text:
        driver.find_element(By.CSS_SELECTOR, 'input[type="file"]').send_keys(str(file))
        listed = '[data-testid="stFileUploader"]'  # each further choice would send the file once more
        wait_for(lambda: file.name in driver.find_element(By.CSS_SELECTOR, listed).text, PRESS_S)
        return False
    button = driver.find_element(By.CSS_SELECTOR, ".st-key-add button")
    if button.is_enabled():
        button.click()
        return bool(wait_for(taken, 15))
    return False


def drop(driver: webdriver.Chrome, paths: Sequence[Path], until: Callable[[], Any]) -> Any:
    """Drop files and folders of this machine on the middle of the page until that shows.  -> what it shows

    As with a press, what is dropped while the page is drawn may be lost.
    """

    def dropped() -> Any:
        x, y = driver.execute_script("return [innerWidth / 2, innerHeight / 2]")
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "dragOver", "drop"):
            driver.execute_cdp_cmd("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})
            time.sleep(0.2)  # as a hand needs: what is dropped before the page has taken the drag is refused
        return wait_for(until, PRESS_S)

    return wait_for(dropped)


def memory_mb(data_dir: Path) -> float:
    """Of the page's server: the largest process that works in this data directory."""
    found = [0.0]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == data_dir.resolve():
                found.append(int((process / "status").read_text().split("VmRSS:")[1].split()[0]) / 1024)
        except (OSError, IndexError):
            continue
    return max(found)
