"""A document that takes too long, needs too much memory or crashes its reader does not harm the others."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import Future

from propcite.app.ingest.reader_pool import ParsedDocument, RawDocument, ReaderLimits, ReaderPool
from propcite.retrieval.splitter import PassageSplitter

ROWS = "\n".join(f"{n},{n * 7},name {n}" for n in range(60_000)).encode()
SPLITTER = PassageSplitter(100)


def finish(result: ParsedDocument | Future[ParsedDocument]) -> ParsedDocument:
    return result.result(timeout=60) if isinstance(result, Future) else result


def raw(name: str, data: bytes) -> RawDocument:
    return RawDocument(f"/there/{name}", name, data, "digest", name)


def test_a_document_parsed_in_another_process_is_complete() -> None:
    page = b"<html><body><h1>Tides</h1><p>The gates close at two metres.</p></body></html>"
    with ReaderPool(SPLITTER, ReaderLimits(2)) as pool:
        parsed = [finish(pool.submit(raw(f"{n}.html", page))) for n in range(3)]
    assert [document.passages[0].id for document in parsed] == ["0.html:0", "1.html:0", "2.html:0"]
    assert "gates close" in parsed[0].passages[0].text
    assert [document.document.source for document in parsed] == ["/there/0.html", "/there/1.html", "/there/2.html"]
    assert all(document.reason == "" for document in parsed)


def test_a_file_that_cannot_be_read_gives_a_reason_and_the_next_is_read() -> None:
    with ReaderPool(SPLITTER, ReaderLimits(1)) as pool:
        bad = pool.submit(raw("bad.pdf", b"no pdf at all"))
        good = pool.submit(raw("good.csv", b"name,year\nAda,1815\n"))
        assert "bad.pdf is damaged or not a PDF" in finish(bad).reason
        assert "Ada" in finish(good).passages[0].text


def test_a_file_that_takes_too_long_is_abandoned_and_the_next_is_read() -> None:
    with ReaderPool(SPLITTER, ReaderLimits(1, seconds=0.01)) as pool:
        late = finish(pool.submit(raw("endless.csv", b"a,b,c\n" + ROWS * 4)))
        assert late.reason == "endless.csv was not read within 0.01 seconds: split it, or raise PROPCITE_READ_SECONDS"
    with ReaderPool(SPLITTER, ReaderLimits(1)) as pool:
        assert finish(pool.submit(raw("good.csv", b"name,year\nAda,1815\n"))).reason == ""


def test_a_file_that_needs_too_much_memory_fails_and_the_next_is_read() -> None:
    with ReaderPool(SPLITTER, ReaderLimits(1, megabytes=280)) as pool:
        large = finish(pool.submit(raw("large.json", b'{"all": [' + b"[]," * 8_000_000 + b"0]}")))
        assert large.reason
        assert "\n" not in large.reason
        assert "PROPCITE_READ_MEMORY_MB" in large.reason or "crashed its reader" in large.reason
        assert finish(pool.submit(raw("good.csv", b"name,year\nAda,1815\n"))).reason == ""


def test_a_reader_that_was_killed_is_started_again() -> None:
    with ReaderPool(SPLITTER, ReaderLimits(1)) as pool:
        assert finish(pool.submit(raw("one.csv", b"name,year\nAda,1815\n"))).reason == ""
        pid = _reader_pid()
        pending = pool.submit(raw("large.csv", b"a,b,c\n" + ROWS))
        os.kill(pid, signal.SIGKILL)
        assert "large.csv crashed its reader" in finish(pending).reason
        assert finish(pool.submit(raw("two.csv", b"name,year\nAda,1815\n"))).reason == ""
        assert _reader_pid() != pid


def test_readers_end_with_their_pool() -> None:
    with ReaderPool(SPLITTER, ReaderLimits(2)) as pool:
        finish(pool.submit(raw("one.csv", b"name,year\nAda,1815\n")))
        pid = _reader_pid()
    assert not os.path.exists(f"/proc/{pid}") or _is_dead(pid)


def _reader_pid() -> int:
    pgrep = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "-f", "propcite.app.ingest.reader_pool"],
        capture_output=True,
        text=True,
        check=False,
    )
    return int(pgrep.stdout.split()[0])


def _is_dead(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "Z"
