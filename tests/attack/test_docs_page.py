"""Attacks on those who open /docs: scripts of other servers, frames, paths out of its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import browsing
import httpx
import pytest
from selenium.webdriver.common.by import By
from serving import running_server

from propcite.app.parts import Parts


@pytest.fixture
def address(open_parts: Callable[..., Parts]) -> Iterator[str]:
    with running_server(open_parts(judge="none", splitter="rules"), ready=False) as address:
        yield address


def test_the_page_of_routes_loads_nothing_from_elsewhere(address: str) -> None:
    http = httpx.Client(base_url=address)
    page = http.get("/docs")
    assert "script-src 'self';" in page.headers["content-security-policy"]
    sources = [part.split('"')[0] for part in page.text.replace('href="', 'src="').split('src="')[1:]]
    assert len(sources) == 4
    for source in sources:
        assert source.startswith(("/docs/", "data:"))
        if source.startswith("/"):
            assert http.get(source).status_code == 200
    assert http.get("/redoc").status_code == 404
    assert http.get("/docs/files/../../etc/passwd").status_code == 404
    assert http.get("/docs/files/%2e%2e/__init__.py").status_code == 404


@pytest.mark.browser
@pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)
def test_a_browser_shows_the_routes(address: str) -> None:
    with browsing.browsing() as driver:
        driver.get(f"{address}/docs")
        browsing.wait_for(lambda: "/v1/cite" in driver.find_element(By.TAG_NAME, "body").text)
        assert [line for line in driver.get_log("browser") if "Content Security Policy" in line["message"]] == []
        loaded = driver.execute_script("return performance.getEntriesByType('resource').map(one => one.name)")
        assert loaded
        assert all(name.startswith((address, "data:")) for name in loaded)
