"""Try settings on the demo question, in a data directory that is removed afterwards."""

from __future__ import annotations

import json
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from propcite.app.demo import DOCUMENTS, QUESTIONS

if TYPE_CHECKING:
    from propcite.attribution.citations import CitedAnswer


def demo_question() -> str:
    question: str = json.loads(QUESTIONS.read_text("utf-8").splitlines()[0])["question"]
    return question


def demo_answer(**settings: object) -> CitedAnswer:
    """Return the answer to the demo question by propcite.toml, with these settings on top of it."""
    from propcite.app.ingest.sources import gather
    from propcite.app.parts import Parts
    from propcite.app.settings import load_settings

    with TemporaryDirectory(prefix="propcite-setup-", ignore_cleanup_errors=True) as folder:
        parts = Parts(load_settings(**settings, data_dir=folder, database="", collection="demo"))
        try:
            collection = parts.library.create_collection("demo")
            for _ in parts.ingester(collection).ingest(gather([str(DOCUMENTS)])[0]):
                pass
            return parts.pipeline(collection).answer(demo_question())
        finally:
            parts.library.close()
