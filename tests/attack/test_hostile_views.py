"""Attacks by documents that are shown and drafts that are exported: slow to render, without end when unpacked."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import docx
import httpx
import pytest
from attacking import small_library
from serving import running_server, wait_until

from propcite.app.errors import BusyError
from propcite.app.parts import Parts
from propcite.app.processes import HelperProcess
from propcite.app.viewing import page_images
from propcite.app.viewing.page_images import MAX_WAITING, PageImages
from propcite.app.viewing.rendering import RenderRequest
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.reviewed import commented

HARD = "The gates are heavy.\n\n" + "[" * 60_000  # of which the parser looks for the end of each, some seconds
QUICK: dict[str, Any] = {"judge": "none", "splitter": "rules"}


def document(parts: Parts) -> str:
    return parts.library.documents(parts.library.collection("harbour"))[0].id


@pytest.fixture
def parts(tmp_path: Any) -> Callable[[str, str], Parts]:
    return lambda name, text: small_library(tmp_path / "data", {name: text})


def test_a_document_that_is_slow_to_render_is_shown_as_its_text(
    parts: Callable[[str, str], Parts], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_images, "RENDER_S", 1.0)
    hard = parts("hard.md", HARD)
    with running_server(hard) as address:
        shown = httpx.get(f"{address}/v1/documents/{document(hard)}/reading?cited=0-20", timeout=60)
    assert shown.status_code == 200
    assert "id=cited>The gates are heavy." in shown.text


def test_a_flood_of_views_holds_up_nothing_else(
    parts: Callable[[str, str], Parts], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More views wait than the server has threads for short work."""
    begun, released = Event(), Event()

    def hang(_: PageImages, __: RenderRequest) -> str:
        begun.set()
        released.wait(60)
        return "<p>shown</p>"

    monkeypatch.setattr(PageImages, "html", hang)
    slow = parts("slow.md", "The gates are heavy.")
    with running_server(slow) as address, ThreadPoolExecutor(60) as clients:
        place = f"{address}/v1/documents/{document(slow)}/reading"
        views = [clients.submit(httpx.get, place, timeout=60) for _ in range(60)]
        try:
            assert begun.wait(60)
            for path in ("/v1/documents", "/v1/collections", "/v1/answers"):
                assert httpx.get(f"{address}{path}", timeout=30).status_code == 200
        finally:
            released.set()
        statuses = {view.result().status_code for view in views}
    assert statuses <= {200, 503}
    assert 200 in statuses


def test_few_wait_for_the_process_that_draws() -> None:
    """Each that waits holds a thread, of which the page has few."""
    released = Event()

    class Busy(HelperProcess):
        """A process that answers once it is released."""

        def request(self, *_: object) -> str:
            released.wait(60)
            return ""

    images = PageImages()
    images._process = Busy("propcite.app.viewing.process")
    asked = RenderRequest(Path("a.md"), "a.md", "markdown")
    with ThreadPoolExecutor(MAX_WAITING + 5) as pool:
        views = [pool.submit(images.html, asked) for _ in range(MAX_WAITING + 5)]
        wait_until(lambda: sum(view.done() for view in views) == 5, "too many wait")
        released.set()
        refused = [view for view in views if view.exception()]
    assert len(refused) == 5
    assert all(isinstance(view.exception(), BusyError) for view in refused)


def bomb(megabytes: int) -> bytes:
    """Return a Word file with one part that unpacks to so much."""
    made: Any = docx.Document()
    made.add_paragraph("The tidal barrier has fourteen steel gates.")
    whole = io.BytesIO()
    made.save(whole)
    with zipfile.ZipFile(whole, "a", zipfile.ZIP_DEFLATED) as parts, parts.open("word/media/x.bin", "w") as part:
        for _ in range(megabytes):
            part.write(bytes(1 << 20))
    return whole.getvalue()


def test_a_word_file_that_unpacks_without_end_becomes_no_draft(parts: Callable[[str, str], Parts]) -> None:
    """Nothing reads it again, in a process without limits, to write comments into it."""
    data = bomb(300)
    assert len(data) < 1 << 20
    with running_server(parts("gates.txt", "The tidal barrier has fourteen steel gates.")) as address:
        refused = httpx.post(f"{address}/v1/reviews", files={"file": ("draft.docx", data)}, timeout=60)
        assert refused.status_code == 422
        assert "would unpack to 3" in refused.json()["detail"]
        assert httpx.get(f"{address}/v1/reviews").json()["reviews"] == []


@pytest.mark.parametrize("id_", ["abc", "-1", "2147483647", "99999999999999999999"])
def test_odd_ids_of_comments_in_a_draft_are_left_as_they_are(id_: str) -> None:
    made: Any = docx.Document()
    run = made.add_paragraph().add_run("It rained.")
    made.add_comment(run, "before", "Ada")
    made.comments._comments_elm.comment_lst[0].set(docx.oxml.ns.qn("w:id"), id_)
    whole = io.BytesIO()
    made.save(whole)
    written = commented.to_commented_docx(CitedAnswer("It rained."), {}, whole.getvalue())
    assert zipfile.ZipFile(io.BytesIO(written)).testzip() is None
