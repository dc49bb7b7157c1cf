"""Answers out of a library and into one; documents described; what the commands and the server tell of both."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from commanded import Propcite, commanded
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.library.store import Scope
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.formats.json.native import from_native

LETTERS = {"a.txt": "The heron stands in the reeds. It eats 3 fish.", "b.txt": "The kingfisher dives for 2 fish."}


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propcite:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    monkeypatch.setenv("PROPCITE_SPLITTER", "rules")
    monkeypatch.setenv("PROPCITE_JUDGE", "none")
    monkeypatch.setenv("PROPCITE_MIN_SCORE", "0.9")
    call = commanded(monkeypatch, capsys)
    for name, text in LETTERS.items():
        Path(name).write_text(text)
    Path("claim.txt").write_text("The heron stands in the reeds. The otter sings.")
    assert call("ingest", *LETTERS).code == 0
    return call


def cited(propcite: Propcite) -> str:
    said = propcite("cite", "claim.txt", "--json")
    return str(said.json["id"])


def test_an_export_is_imported_as_the_very_answers(propcite: Propcite, monkeypatch: pytest.MonkeyPatch) -> None:
    id_ = cited(propcite)
    assert propcite("export", "-o", "all.jsonl").err == "1 answer written to all.jsonl\n"
    whole = propcite("show", id_, "--json").out
    Path("one.json").write_text(json.dumps(json.loads(whole), indent=2))
    assert Path("all.jsonl").read_text() == whole
    monkeypatch.setenv("PROPCITE_DATA_DIR", "other")
    said = propcite("import", "all.jsonl")
    assert (said.code, said.out) == (0, "")
    assert "1 answers kept, 0 already here, 0 not read" in said.err
    assert "1 documents that they cite are not here" in said.err
    assert from_native(propcite("show", id_, "--json").out) == from_native(whole)
    shown = propcite("show", id_)
    assert shown.code == 0
    assert "no longer in the library" in shown.out
    assert "0 answers kept, 1 already here" in propcite("import", "one.json").err
    [told] = propcite("import", "all.jsonl", "--json").rows
    assert (told["state"], told["id"], told["collection"]) == ("already here", id_, "default")
    counted = propcite("export", id_[:6], "--offsets", "utf-16")
    monkeypatch.setenv("PROPCITE_DATA_DIR", "third")
    Path("counted.jsonl").write_text(counted.out + "not json\n\n" + '{"schema": "other"}\n')
    mixed = propcite("import", "counted.jsonl")
    assert mixed.code == 1
    assert "counted.jsonl, line 2: " in mixed.err
    assert "1 answers kept, 0 already here, 2 not read" in mixed.err
    assert propcite("import", "nowhere.jsonl").code == 2


def test_an_answer_over_given_passages_is_kept_where_it_is_imported(propcite: Propcite) -> None:
    Path("passages.jsonl").write_text('{"id": "p", "text": "The otter sings."}\n')
    given = propcite("cite", "claim.txt", "--passages", "passages.jsonl", "--json")
    Path("given.json").write_text(given.out)
    assert propcite("import", "given.json", "-c", "notes").code == 0
    shown = propcite("show", given.json["id"])
    assert (shown.code, "no longer" in shown.out) == (0, False)
    assert from_native(propcite("show", given.json["id"], "--json").out) == from_native(given.out)


def test_many_answers_are_one_bibliography_or_a_file_each(propcite: Propcite) -> None:
    id_ = cited(propcite)
    assert propcite("describe", "a.txt", "author=Ana Rossi", "date=2024-05-17").code == 0
    bib = propcite("export", "-f", "bibtex")
    assert bib.out.startswith("@misc{rossi-2024-")
    assert bib.out == propcite("show", id_, "-f", "bibtex").out
    assert propcite("export", "-f", "html", "-o", "answers").code == 0
    assert [p.name for p in Path("answers").iterdir()] == [f"{id_}.html"]
    assert "is a file an answer: name a folder" in propcite("export", "-f", "html").err
    assert "no format 'odt'" in propcite("export", "-f", "odt").err
    assert "bibtex cannot count places in bytes" in propcite("export", "-f", "bibtex", "--offsets", "bytes").err


def test_an_answer_says_what_became_of_its_sources(propcite: Propcite) -> None:
    id_ = cited(propcite)
    assert "replaced since" not in propcite("show", id_).out
    Path("a.txt").write_text("The bittern booms.")
    propcite("ingest", "a.txt")
    for form in ([], ["-f", "html"], ["-f", "markdown"]):
        assert "replaced since" in propcite("show", id_, *form).out
    [version] = propcite("list", "--versions", "--json").json
    assert (version["replaced"], Path(version["source"]).name) == (True, "a.txt")
    assert propcite("remove", "a.txt").code == 0
    for form in ([], ["-f", "html"], ["-f", "markdown"]):
        assert "source removed" in propcite("show", id_, *form).out
    assert "heron stands in the reeds" in propcite("show", id_).out


def test_documents_are_described_and_listed_by_what_is_said(propcite: Propcite) -> None:
    said = propcite("describe", "a.txt", "pages=12", "author=Ana Rossi", 'flags=["x"]', "--tag", "birds", "--json")
    assert said.json[0]["details"] | {"kind": ""} == {
        "kind": "",
        "pages": 12,
        "author": "Ana Rossi",
        "flags": ["x"],
        "tags": ["birds"],
    }
    assert propcite("describe", "--where", "kind=text", "--tag", "fish", "date=2024").err == "2 documents described\n"
    rows = propcite("list", "--where", "tags=fish and not (pages>9 or author~ana)", "--json").json
    assert [Path(row["source"]).name for row in rows] == ["b.txt"]
    assert propcite("describe", "a.txt", "author=", "--untag", "fish", "--json").json[0]["details"]["tags"] == ["birds"]
    hits = propcite("search", "fish", "--where", "tags=birds", "--json").json
    assert {hit["title"] for hit in hits} == {"a"}
    for words in (["describe"], ["describe", "a.txt", "=x"], ["describe", "a.txt", "id=x"], ["describe", "a.txt", "x"]):
        assert (propcite(*words).code, propcite(*words).err.count("\n")) == (2, 1)
    assert "at the end: expected a value" in propcite("list", "--where", "date>").err
    assert propcite("list", "--where", "date>2030").err == "nothing of that kind\n"


def test_answers_with_a_fact_without_support_are_listed(propcite: Propcite) -> None:
    id_ = cited(propcite)
    Path("claim.txt").write_text("The heron stands in the reeds.")
    cited(propcite)
    assert len(propcite("list", "--answers", "--json").json) == 2
    assert [row["id"] for row in propcite("list", "--unsupported", "--json").json] == [id_]
    assert "1 of 2 supported" in propcite("list", "--unsupported").out
    assert propcite("list", "--contradicted").err == "nothing of that kind\n"


def test_a_collections_owner_is_told_and_set(propcite: Propcite) -> None:
    assert propcite("owner").err == "default belongs to nobody\n"
    assert propcite("owner", "zoë").err == "default belongs to zoë\n"
    assert propcite("list", "--json").json[0]["owner"] == "zoë"
    assert propcite("keys", "create", "hers", "--owner", "zoë", "--json").json["collections"] == ["default"]


def test_a_server_describes_narrows_and_tells_its_health(serve: Callable[..., str], tmp_path: Path) -> None:
    address = serve({"harbour": LETTERS}, collection="harbour", requires_keys=True)
    keys = Parts(load_settings(data_dir=tmp_path / "data")).keys

    def client(scope: Scope, owner: str = "") -> httpx.Client:
        secret = keys.create("a test", scope, owner=owner)[1]
        return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {secret}"}, timeout=60)

    http = client(Scope.WRITE)
    first = http.get("/v1/documents").json()["documents"][0]
    body = {"fields": {"author": "Ana", "n": [1, {"a": None}]}, "tags": ["birds"]}
    said = http.patch(f"/v1/documents/{first['id']}", json=body)
    assert said.status_code == 200
    assert said.json()["details"] | body["fields"] == said.json()["details"]
    found = http.get("/v1/documents", params={"where": ["tags=birds", "author~an"]}).json()["documents"]
    assert [d["id"] for d in found] == [first["id"]]
    hits = http.post("/v1/search", json={"query": "fish", "where": ["tags=birds or id=none"]}).json()["hits"]
    assert {hit["document_id"] for hit in hits} == {first["id"]}
    wrong = http.get("/v1/documents", params={"where": "date>"})
    assert (wrong.status_code, "expected a value" in wrong.json()["detail"]) == (400, True)
    assert http.patch("/v1/documents/none", json={}).status_code == 404
    assert client(Scope.READ).patch(f"/v1/documents/{first['id']}", json={}).status_code == 403
    assert http.get("/v1/doctor").status_code == 403
    looked = client(Scope.ADMIN).get("/v1/doctor").json()
    assert [f for f in looked["findings"] if not f["where"].startswith("disk")] == []
    hers = client(Scope.WRITE, "zoë")
    assert hers.get("/v1/collections").json() == {"collections": []}
    assert hers.get("/v1/documents", params={"collection": "harbour"}).status_code == 404
    assert hers.post("/v1/collections", json={"name": "harbour"}).status_code == 404
    assert hers.post("/v1/collections", json={"name": "hers"}).json()["owner"] == "zoë"
    assert [c["name"] for c in hers.get("/v1/collections").json()["collections"]] == ["hers"]
