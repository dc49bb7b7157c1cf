"""python queue_takers.py DATABASE JOURNAL: take jobs and end them until none is left, and write both to the journal."""

from __future__ import annotations

import os
import sys
import time

from propcite.app.library.jobs import News
from propcite.app.library.store import Library
from propcite.app.library.store.jobs import Jobs

if __name__ == "__main__":
    library = Library(sys.argv[1])
    jobs, name = Jobs(library), f"worker {os.getpid()}"
    journal = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND)
    os.write(1, b"ready\n")
    sys.stdin.readline()
    while jobs.unfinished():
        if job := jobs.take(name):
            os.write(journal, f"begin {job.collection} {job.id}\n".encode())
            time.sleep(0.002)
            os.write(journal, f"end {job.collection} {job.id}\n".encode())
            assert jobs.end(name, job.id, "", News())
    library.close()
