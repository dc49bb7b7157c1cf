"""A source that takes too long, or too much, or ends its reader, takes no other along."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import Future

from propcite.app.ingest.reader_pool import Limits, Readers
from propcite.app.ingest.reading import Job, Read
from propcite.retrieval.splitter import PassageSplitter

ROWS = "\n".join(f"{n},{n * 7},name {n}" for n in range(60_000)).encode()
SPLITTER = PassageSplitter(100)


def ended(found: Read | Future[Read]) -> Read:
    return found.result(timeout=60) if isinstance(found, Future) else found


def job(name: str, data: bytes) -> Job:
    return Job(f"/there/{name}", name, data, "digest", name)


def test_what_is_read_elsewhere_is_what_is_read_here() -> None:
    page = b"<html><body><h1>Tides</h1><p>The gates close at two metres.</p></body></html>"
    with Readers(SPLITTER, Limits(2)) as readers:
        found = [ended(readers.begin(job(f"{n}.html", page))) for n in range(3)]
    assert [read.passages[0].id for read in found] == ["0.html:0", "1.html:0", "2.html:0"]
    assert "gates close" in found[0].passages[0].text
    assert [read.document.source for read in found] == ["/there/0.html", "/there/1.html", "/there/2.html"]
    assert all(read.reason == "" for read in found)


def test_what_cannot_be_read_says_why_and_the_next_is_read() -> None:
    with Readers(SPLITTER, Limits(1)) as readers:
        bad = readers.begin(job("bad.pdf", b"no pdf at all"))
        good = readers.begin(job("good.csv", b"name,year\nAda,1815\n"))
        assert "bad.pdf is damaged or no PDF" in ended(bad).reason
        assert "Ada" in ended(good).passages[0].text


def test_what_takes_too_long_is_given_up_and_the_next_is_read() -> None:
    with Readers(SPLITTER, Limits(1, seconds=1.0)) as readers:
        late = ended(readers.begin(job("endless.csv", b"a,b,c\n" + ROWS * 4)))
        assert late.reason == "endless.csv was not read within 1 seconds: split it, or raise PROPCITE_READ_SECONDS"
    with Readers(SPLITTER, Limits(1)) as readers:
        assert ended(readers.begin(job("good.csv", b"name,year\nAda,1815\n"))).reason == ""


def test_what_needs_too_much_memory_is_told_and_the_next_is_read() -> None:
    with Readers(SPLITTER, Limits(1, megabytes=280)) as readers:
        large = ended(readers.begin(job("large.csv", b"a,b,c\n" + ROWS * 2)))
        assert large.reason
        assert "\n" not in large.reason
        assert "PROPCITE_READ_MEMORY_MB" in large.reason or "ended its reader" in large.reason
        assert ended(readers.begin(job("good.csv", b"name,year\nAda,1815\n"))).reason == ""


def test_a_reader_that_is_killed_is_begun_anew() -> None:
    with Readers(SPLITTER, Limits(1)) as readers:
        assert ended(readers.begin(job("one.csv", b"name,year\nAda,1815\n"))).reason == ""
        pid = _reader()
        waiting = readers.begin(job("large.csv", b"a,b,c\n" + ROWS))
        os.kill(pid, signal.SIGKILL)
        assert "large.csv ended its reader" in ended(waiting).reason
        assert ended(readers.begin(job("two.csv", b"name,year\nAda,1815\n"))).reason == ""
        assert _reader() != pid


def test_no_reader_stays_when_its_work_is_done() -> None:
    with Readers(SPLITTER, Limits(2)) as readers:
        ended(readers.begin(job("one.csv", b"name,year\nAda,1815\n")))
        pid = _reader()
    assert not os.path.exists(f"/proc/{pid}") or _is_dead(pid)


def _reader() -> int:
    found = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "-f", "propcite.app.ingest.process"],
        capture_output=True,
        text=True,
        check=False,
    )
    return int(found.stdout.split()[0])


def _is_dead(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "Z"
