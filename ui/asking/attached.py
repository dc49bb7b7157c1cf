"""Files sent with a question: they are read first, and the question is answered over all that is there then."""

from __future__ import annotations

import time
from dataclasses import replace

from propcite.app.errors import ReadError
from propcite.app.ingest.uploads import Uploads
from propcite.app.library.store import CollectionInfo
from propcite.ui import session
from propcite.ui.asking.question_box import Asked
from propcite.ui.asking.running import Question, RunningAnswer
from propcite.ui.asking.words import READ
from propcite.ui.library import jobs

GONE = "the files sent with it are gone: send them again"
LOOK_S = 0.2  # between two looks at the job


def read(collection: CollectionInfo | None, asked: Asked) -> tuple[CollectionInfo, Question | None]:
    """Begin to read the files; return their collection, which may be new, and the question that waits for them."""
    name = collection.name if collection else session.parts().settings.collection
    job_id = jobs.begin(name, asked.files)
    question = replace(asked.question, reading=job_id) if asked.question else None
    return session.parts().library.collection(name), question


def wait(one: RunningAnswer, uploads: Uploads) -> list[str]:
    """Wait until the files of a question are read; return their documents' ids, ReadError if none could be read."""
    id_, begun = one.order.question.reading, time.monotonic()
    one.report(READ, None)
    while not one.is_stopped and (job := uploads.job(id_)) and not job.has_ended:
        time.sleep(LOOK_S)
    one.report(READ, 1000 * (time.monotonic() - begun))
    outcomes = uploads.outcomes(id_)
    ids = [outcome.document_id for outcome in outcomes if outcome.document_id]
    if not ids and not one.is_stopped:
        raise ReadError(next((outcome.reason for outcome in outcomes), job.reason if job else "") or GONE)
    return ids
