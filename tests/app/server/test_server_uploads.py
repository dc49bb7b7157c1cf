"""Documents over HTTP: uploaded, read in the background, listed, removed; no accepted document is lost."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from paths import SUPPORT
from reportlab.pdfgen.canvas import Canvas
from scanned import Scanner, printed, saved
from serving import running_server, wait_until

from propcite.app.ingest.names import safe_name, safe_path
from propcite.app.ingest.uploads import Uploads
from propcite.app.parts import Parts

QUICK = {"judge": "none", "splitter": "rules", "collection": "harbour"}


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/ferry" else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><title>Ferry</title><body><p>The ferry leaves at seven.</p></body></html>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    return open_parts(**QUICK, max_file_mb=1)


@pytest.fixture
def http(parts: Parts) -> Iterator[httpx.Client]:
    with running_server(parts) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def check_leftovers(parts: Parts) -> None:
    """No file is left; those of a job are removed as soon as its end is noted."""
    uploads = parts.settings.data_dir / "uploads"
    wait_until(lambda: not any(path.is_file() for path in uploads.rglob("*")), "a file is left")


def ended(http: httpx.Client, place: str) -> dict[str, Any]:
    for _ in range(600):
        job: dict[str, Any] = http.get(place).json()
        if job["state"] in ("done", "failed"):
            return job
        time.sleep(0.05)
    pytest.fail("the job does not end")


def pdf(path: Path, text: str) -> bytes:
    canvas = Canvas(str(path))
    canvas.drawString(72, 700, text)
    canvas.save()
    return path.read_bytes()


def test_documents_are_read_in_the_background(http: httpx.Client, parts: Parts, tmp_path: Path) -> None:
    files = [
        ("files", ("note.md", b"# Gates\n\nThe barrier has fourteen steel gates.\n")),
        ("files", ("page.html", b"<html><body><p>The museum opened in 1987.</p></body></html>")),
        ("files", ("sheet.pdf", pdf(tmp_path / "x.pdf", "The ferry leaves at seven."))),
        ("files", ("empty.txt", b"")),
    ]
    sent = http.post("/v1/documents", files=files)
    assert sent.status_code == 202
    assert sent.json()["total"] == 4
    job = ended(http, sent.headers["location"])
    assert [(o["source"], o["state"]) for o in job["outcomes"]] == [
        ("note.md", "added"), ("page.html", "added"), ("sheet.pdf", "added"), ("empty.txt", "failed"),
    ]  # fmt: skip
    assert "empty" in job["outcomes"][-1]["reason"]
    for query, title in (("steel gates", "note.md"), ("museum opened", "page.html"), ("ferry leaves", "sheet.pdf")):
        hit = http.post("/v1/search", json={"query": query}).json()["hits"][0]
        sources = {d["id"]: d["source"] for d in http.get("/v1/documents").json()["documents"]}
        assert sources[hit["document_id"]] == title
    check_leftovers(parts)


def test_a_picture_is_recognised_cited_and_shown(http: httpx.Client) -> None:
    picture = saved(Scanner(dpi=150).scan(printed(["The harbour was rebuilt in 1897."])), kind="PNG")
    sent = http.post("/v1/documents?wait=true", files={"files": ("scan.png", picture)})
    (outcome,) = sent.json()["outcomes"]
    assert (outcome["state"], outcome["fidelity"]["ocr_pages"]) == ("added", 1)
    place = f"/v1/documents/{outcome['document_id']}"
    assert http.get(f"{place}/file").content == picture
    page = http.get(f"{place}/pages/1?width=400")
    assert (page.headers["content-type"], page.content[:3]) == ("image/jpeg", b"\xff\xd8\xff")
    assert "rebuilt in 1897" in http.get(f"{place}/reading").text
    answer = http.post("/v1/cite", json={"answer": "The harbour was rebuilt in 1897."}).json()
    (citation,) = answer["sentences"][0]["citations"]
    assert citation["boxes"][0]["page"] == 1


def test_an_unchanged_document_is_skipped_and_a_changed_one_replaced(http: httpx.Client) -> None:
    def send(data: bytes) -> dict[str, Any]:
        sent = http.post("/v1/documents?wait=true", files={"files": ("a.txt", data)})
        assert sent.status_code == 200
        outcome: dict[str, Any] = sent.json()["outcomes"][0]
        return outcome

    assert send(b"It rained.")["state"] == "added"
    assert send(b"It rained.")["state"] == "unchanged"
    assert send(b"It snowed.")["state"] == "changed"
    assert [hit["text"] for hit in http.post("/v1/search", json={"query": "rained snowed"}).json()["hits"]] == [
        "It snowed."
    ]


def test_addresses_are_fetched_with_files(open_parts: Callable[..., Parts], site: str) -> None:
    with running_server(open_parts(**QUICK, fetch_inside=True)) as address, httpx.Client(base_url=address) as http:
        form = {"addresses": [f"{site}/ferry", f"{site}/gone"]}
        sent = http.post("/v1/documents", data=form, files={"files": ("a.txt", b"It rained.")})
        assert (sent.status_code, sent.json()["total"]) == (202, 3)
        job = ended(http, sent.headers["location"])
        assert [(o["source"], o["state"]) for o in job["outcomes"]] == [
            ("a.txt", "added"), (f"{site}/ferry", "added"), (f"{site}/gone", "failed"),
        ]  # fmt: skip
        hit = http.post("/v1/search", json={"query": "ferry leaves"}).json()["hits"][0]
        assert (hit["title"], hit["text"]) == ("Ferry", "The ferry leaves at seven.")
        alone = http.post("/v1/documents?wait=true", data={"addresses": f"{site}/ferry"})
        assert [o["state"] for o in alone.json()["outcomes"]] == ["unchanged"]


def test_addresses_cannot_reach_files_or_the_network_of_the_server(http: httpx.Client, site: str) -> None:
    for wrong in ("/etc/hostname", "file:///etc/hostname", "ftp://example.org/a", " ", "https://a\nb"):
        refused = http.post("/v1/documents", data={"addresses": ["https://example.org", wrong]})
        assert (refused.status_code, "is not a web address" in refused.json()["detail"]) == (422, True)
    nothing = http.post("/v1/documents")
    assert (nothing.status_code, nothing.json()["detail"].startswith("no document: send files")) == (422, True)
    many = http.post("/v1/documents", data={"addresses": [f"{site}/{number}" for number in range(101)]})
    assert many.status_code == 413
    (inside,) = http.post("/v1/documents?wait=true", data={"addresses": f"{site}/ferry"}).json()["outcomes"]
    assert inside["state"] == "failed"
    assert inside["reason"].endswith("set PROPCITE_FETCH_INSIDE=true")


def test_uploads_can_be_viewed(http: httpx.Client, tmp_path: Path) -> None:
    sheet = pdf(tmp_path / "x.pdf", "The ferry leaves at seven.")
    files = [("files", ("sheet.pdf", sheet)), ("files", ("note.md", b"The barrier has *fourteen* gates."))]
    http.post("/v1/documents?wait=true", files=files)
    ids = {d["source"]: d["id"] for d in http.get("/v1/documents").json()["documents"]}

    file = http.get(f"/v1/documents/{ids['sheet.pdf']}/file")
    assert (file.content, file.headers["content-type"]) == (sheet, "application/pdf")
    page = http.get(f"/v1/documents/{ids['sheet.pdf']}/pages/1", params={"width": 300})
    assert page.headers["content-type"] == "image/jpeg"
    assert page.content[:2] == b"\xff\xd8"
    missing = http.get(f"/v1/documents/{ids['sheet.pdf']}/pages/2")
    assert (missing.status_code, "has 1 pages, no page 2" in missing.json()["detail"]) == (404, True)
    reading = http.get(f"/v1/documents/{ids['note.md']}/reading", params={"cited": "16-24"})
    assert '<em><mark class="cited" id="cited">fourteen</mark></em>' in reading.text
    assert reading.headers["content-security-policy"].startswith("default-src 'none'")
    assert http.get(f"/v1/documents/{ids['note.md']}/reading", params={"cited": "<b>"}).status_code == 422
    assert http.get(f"/v1/documents/{ids['note.md']}/pages/1").json()["detail"].startswith("note.md is not a PDF")
    assert http.get("/v1/documents/nobody/file").status_code == 404

    answer = http.post("/v1/cite", json={"answer": "The ferry leaves at seven.", "collection": "harbour", "keep": True})
    near = http.get(f"/v1/answers/{answer.json()['id']}/evidence", params={"granularity": "passage", "k": 1}).json()
    assert [(one["text"], one["citation"]) for one in near["evidence"]] == [("The ferry leaves at seven.", 1)]


def test_a_removed_document_is_no_longer_found(http: httpx.Client) -> None:
    http.post("/v1/documents?wait=true", files=[("files", ("a.txt", b"It rained.")), ("files", ("b.txt", b"Cats."))])
    http.post("/v1/cite", json={"answer": "It rained.", "collection": "harbour", "keep": True})
    id_ = next(d["id"] for d in http.get("/v1/documents").json()["documents"] if d["source"] == "a.txt")
    assert http.delete(f"/v1/documents/{id_}").json()["id"] == id_
    assert http.delete(f"/v1/documents/{id_}").status_code == 404
    assert [hit["text"] for hit in http.post("/v1/search", json={"query": "rained"}).json()["hits"]] == ["Cats."]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("../../../etc/cron.d/x.txt", "x.txt"),
        ("/etc/passwd.md", "passwd.md"),
        ("C:\\Windows\\..\\boot.txt", "boot.txt"),
        ("a\x00b\n.txt", "ab.txt"),
        ("x" * 400 + ".txt", "x" * 196 + ".txt"),
        ("..%2f..%2fx.txt", "..%2f..%2fx.txt"),
    ],
)
def test_a_file_name_never_leads_out_of_the_data_directory(path: str, name: str) -> None:
    assert safe_name(path) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("town/2024/a.md", "town/2024/a.md"),
        ("town\\2024\\a.md", "town/2024/a.md"),
        ("./town//a.md", "town/a.md"),
        ("to\nwn/ .. /a.md", "a.md"),
        ("../town/a.md", "a.md"),
        ("/town/a.md", "a.md"),
        ("//host/town/a.md", "a.md"),
        ("C:/town/a.md", "a.md"),
        ("https://example.org/a.md", "a.md"),
        ("t\x1b[31mown\u202e/a.md", "t[31mown/a.md"),
        (f"{'o' * 300}/{'p' * 150}/{'q' * 150}/a.md", f"{'p' * 150}/{'q' * 150}/a.md"),
        (f"{'o' * 300}/a.md", f"{'o' * 200}/a.md"),
    ],
)
def test_the_folders_of_a_file_stay_in_its_name_unless_they_lead_out(path: str, name: str) -> None:
    assert safe_path(path) == name


def test_files_of_the_same_name_in_two_folders_are_two_documents(http: httpx.Client, parts: Parts) -> None:
    def send(**texts: bytes) -> list[tuple[str, str]]:
        files = [("files", (f"{folder}/notes.md", text)) for folder, text in texts.items()]
        job = http.post("/v1/documents?wait=true", files=files).json()
        return [(outcome["source"], outcome["state"]) for outcome in job["outcomes"]]

    assert send(a=b"It rained.", b=b"It snowed.") == [("a/notes.md", "added"), ("b/notes.md", "added")]
    assert send(a=b"It rained.", b=b"It froze.") == [("a/notes.md", "unchanged"), ("b/notes.md", "changed")]
    texts = {hit["text"] for hit in http.post("/v1/search", json={"query": "rained froze snowed"}).json()["hits"]}
    assert texts == {"It rained.", "It froze."}
    check_leftovers(parts)


def test_a_path_is_reduced_to_its_last_part(http: httpx.Client, tmp_path: Path, parts: Parts) -> None:
    before = {path for path in tmp_path.rglob("*") if "data" not in path.parts}
    sent = http.post("/v1/documents?wait=true", files={"files": ("../../../up.txt", b"It rained.")})
    assert sent.json()["outcomes"][0]["source"] == "up.txt"
    assert {path for path in tmp_path.rglob("*") if "data" not in path.parts} == before
    check_leftovers(parts)


def test_files_that_are_not_documents_are_refused(http: httpx.Client, parts: Parts) -> None:
    wrong = http.post("/v1/documents", files={"files": ("a.exe", b"MZ")})
    assert wrong.status_code == 415
    assert ".pdf" in wrong.json()["detail"]
    assert http.post("/v1/documents", files={"files": ("..", b"x")}).status_code == 422
    assert http.post("/v1/documents", files=[("files", (f"{n}.txt", b"x")) for n in range(101)]).status_code == 413
    large = http.post("/v1/documents", files={"files": ("a.txt", b"x" * (3 * 2**20))})
    assert large.status_code == 413
    assert "PROPCITE_MAX_FILE_MB" in large.json()["detail"]
    assert http.post("/v1/documents", json={}).status_code == 422
    assert http.post("/v1/documents", files={"other": ("a.txt", b"x")}).status_code == 422
    liar = http.post("/v1/documents?wait=true", files={"files": ("a.pdf", b"PK\x03\x04" + b"\0" * 1000)})
    assert liar.json()["outcomes"][0]["state"] == "failed"
    check_leftovers(parts)
    assert http.get("/v1/jobs/nothing").status_code == 404


def test_an_aborted_upload_leaves_nothing(http: httpx.Client, parts: Parts) -> None:
    port = http.base_url.port
    assert port
    head = (
        "POST /v1/documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        "Content-Length: 100000\r\n\r\n--x\r\nContent-Disposition: form-data; name=files; filename=a.txt\r\n\r\nabc"
    )
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(head.encode())
    assert http.get("/healthz").status_code == 200
    check_leftovers(parts)


def test_a_job_waits_for_another_writer(http: httpx.Client, parts: Parts) -> None:
    collection = parts.library.create_collection("harbour")
    with parts.workspace(collection).write_lock():
        place = http.post("/v1/documents", files={"files": ("a.txt", b"It rained.")}).headers["location"]
        time.sleep(0.5)
        assert http.get(place).json()["state"] == "reading"
    assert ended(http, place)["state"] == "done"


def test_accepted_documents_are_read_after_a_kill(open_parts: Callable[..., Parts], tmp_path: Path) -> None:
    """A server is killed with a waiting job; the next one reads it, and leaves what is being uploaded."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {f"PROPCITE_{name.upper()}": value for name, value in QUICK.items()}
    command = [sys.executable, "-m", "propcite", "serve", "--port", str(port)]
    env = {**os.environ, **settings}
    with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL) as server:
        try:
            address = f"http://127.0.0.1:{port}"
            until_ready(address)
            with open_parts(**QUICK).workspace(open_parts(**QUICK).library.create_collection("harbour")).write_lock():
                sent = httpx.post(f"{address}/v1/documents", files={"files": ("a.txt", b"The ferry leaves at seven.")})
                assert sent.status_code == 202
                server.send_signal(signal.SIGKILL)
                server.wait()
        finally:
            server.kill()
    Uploads(open_parts(**QUICK)).write("1-own", 0, BytesIO(b"It is not accepted yet."))
    path = tmp_path / "data" / "uploads" / "1-own" / "0.bin"
    with running_server(open_parts(**QUICK)) as address:
        for _ in range(600):
            listed = httpx.get(f"{address}/v1/documents").json()
            if listed.get("documents"):
                break
            time.sleep(0.05)
        assert [d["source"] for d in listed["documents"]] == ["a.txt"]
        assert path.exists()


def until_ready(address: str) -> None:
    for _ in range(1200):
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{address}/readyz").status_code == 200:
                return
        time.sleep(0.1)
    pytest.fail("the server does not start")


ENDING = """
import sys
from io import BytesIO
from threading import Event

from propcite.app.parts import Parts
from propcite.app.ingest.uploads import Uploads
from propcite.app.settings import load_settings
from word_encoder import WordEncoder

begun = Event()


class Signalling(WordEncoder):
    def encode_passages(self, passages):
        begun.set()
        return super().encode_passages(passages)


parts = Parts(load_settings(data_dir=sys.argv[1], judge="none", splitter="rules"))
parts.__dict__["encoder"] = Signalling()
uploads = Uploads(parts)
for number in range(700):
    uploads.write("1-a", number, BytesIO(f"Crane {number} lifts {number + 2} tonnes.".encode()))
uploads.start()
uploads.accept("1-a", "harbour", [f"{number}.txt" for number in range(700)])
begun.wait()
"""


def test_a_process_ends_without_reading_all_waiting_documents(open_parts: Callable[..., Parts], tmp_path: Path) -> None:
    """The process ends after the current document, and the next process reads the rest."""
    ended = subprocess.run([sys.executable, "-c", ENDING, str(tmp_path / "data")], cwd=SUPPORT, timeout=120, check=True)
    assert ended.returncode == 0
    parts = open_parts(**QUICK)
    harbour = parts.library.collection("harbour")
    assert 0 < harbour.num_documents < 700
    later = Uploads(parts)
    later.start()
    wait_until(lambda: not later.jobs("harbour"), "it is not read")
    assert [outcome.state for outcome in later.outcomes("1-a")] == ["added"] * 700
    assert parts.library.collection("harbour").num_documents == 700
    later.close()
