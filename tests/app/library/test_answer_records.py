"""The record of a kept answer: who asked and when, the versions of its sources, names for those who may see them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from commanded import commanded
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.ingest.sources import Upload
from propcite.app.library.answer_records import answer_record, record_page
from propcite.app.library.store import Action, Scope, Via
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer

GATE = "The gate of the <harbour> is shut at night."


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    return open_parts(splitter="rules", judge="none")


def kept(parts: Parts) -> CitedAnswer:
    """An answer that two people asked for, over a document that has a newer version since."""
    harbour = parts.library.create_collection("harbour")
    list(parts.ingester(harbour).ingest([Upload("gate.txt", GATE.encode())]))
    answer = parts.pipeline(harbour).cite(GATE)
    for who, via, action in (
        ("ada", Via.PAGE, Action.ASKED),
        ("ben (key 1f)", Via.HTTP, Action.CITED),
        ("zoe", Via.PAGE, Action.GAVE_FEEDBACK),
    ):
        parts.audit.record(who, via, action, "harbour", answer.id)
    parts.audit.record("eve", Via.PAGE, Action.ASKED, "harbour", "another")
    list(parts.ingester(harbour).ingest([Upload("gate.txt", b"The gate is open.")]))
    return answer


def test_a_record_names_who_asked_and_the_versions_of_the_sources(parts: Parts) -> None:
    answer = kept(parts)
    record = answer_record(parts, answer)
    assert [(one.who, one.via) for one in record.askings] == [("ada", "page"), ("ben (key 1f)", "http")]
    assert record.kept_at is not None
    (source,) = record.sources
    assert (source.source, source.status) == ("gate.txt", "replaced since")
    assert len(source.digest) == 64
    assert source.read_at is not None
    page = record_page(parts, answer)
    for words in (
        "by ada, through page",
        source.digest,
        "replaced since",
        "The gate of the &lt;harbour&gt;",
        "PropCite ",
    ):
        assert words in page
    assert "<harbour>" not in page
    assert "@media print" in page


def test_names_are_for_those_who_may_see_them(parts: Parts) -> None:
    page = record_page(parts, kept(parts), lambda who: who == "ada")
    assert "by ada" in page
    assert "ben" not in page
    assert "1 by others" in page


def test_without_an_audit_log_nobody_is_named(open_parts: Callable[..., Parts]) -> None:
    parts = open_parts(splitter="rules", judge="none", audit_days=0)
    assert "The audit log has no entry of it." in record_page(parts, kept(parts))


def test_the_command_writes_the_record(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], parts: Parts, tmp_path: Path
) -> None:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    answer = kept(parts)
    call = commanded(monkeypatch, capsys)
    assert call("record", answer.id, "-o", "record.html").code == 0
    assert "by ada, through page" in (tmp_path / "record.html").read_text("utf-8")
    assert "by ada" in call("record", answer.id).out
    for words, line in (
        (("record", "ffff"), "propcite list --answers"),
        (("record", answer.id, "-o", "record.txt"), ".html or .pdf"),
        (("record", answer.id, "-o", "nowhere/record.html"), "a folder that exists"),
    ):
        said = call(*words)
        assert (said.code, line in said.err) == (2, True)


def test_over_http_admins_see_all_names_and_others_their_own(serve: Callable[..., str], parts: Parts) -> None:
    address = serve({"harbour": {"gate.txt": GATE}}, requires_keys=True, collection="harbour")
    secrets = {scope: parts.keys.create(f"{scope} key", scope)[1] for scope in (Scope.ADMIN, Scope.READ, Scope.WRITE)}

    def get(scope: Scope, path: str) -> httpx.Response:
        return httpx.get(f"{address}{path}", headers={"Authorization": f"Bearer {secrets[scope]}"}, timeout=60)

    body = {"answer": GATE, "collection": "harbour", "keep": True}
    headers = {"Authorization": f"Bearer {secrets[Scope.WRITE]}"}
    made = httpx.post(f"{address}/v1/cite", json=body, headers=headers, timeout=60)
    assert made.status_code == 200, made.text
    path = f"/v1/answers/{made.json()['id']}/record"
    seen = get(Scope.ADMIN, path)
    assert seen.headers["Content-Type"].startswith("text/html")
    assert "by write key (key" in seen.text
    assert "by write key (key" in get(Scope.WRITE, path).text
    hidden = get(Scope.READ, path).text
    assert "by write key (key" not in hidden
    assert "1 by others" in hidden
    assert get(Scope.READ, "/v1/answers/ffff/record").status_code == 404
