"""The command that works on the queue of uploads, beside servers or on machines of its own."""

from __future__ import annotations

import signal
from threading import Event

from propcite.app.commands import Panel, cli, note, open_parts


@cli.command(rich_help_panel=Panel.SERVING)
def worker() -> None:
    """Read the documents that servers and pages accepted, beside them or on another machine."""
    from propcite.app.ingest.worker import COLLECTIONS, Worker
    from propcite.app.server.logs import set_up_logs

    parts = open_parts()
    set_up_logs(parts.settings.log_format)
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    parts.library.collections()  # what is missing is reported at once
    parts.encoder.encode_queries(["a first text"])
    working = Worker(parts)
    working.start()
    note(f"reading what is uploaded, {COLLECTIONS} collections at once  ·  Ctrl-C stops it")
    ended.wait()
    note("ending after the documents in work; others go on with the rest")
    working.close()
    parts.library.close()
