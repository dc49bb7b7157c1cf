"""A library with two collections, of which a person of the tests may see one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from attacking import QUICK
from serving import parts_with
from word_encoder import WordEncoder

from propcite.app.library.store import Scope
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer

ADA, BEN, EVE = "ada@propcite.example", "ben@propcite.example", "eve@propcite.example"
SECRET = "zebra"  # in every name and text of the collection that is not shared
OURS, THEIRS = "ours", f"{SECRET}-theirs"
GATE = "The gate of the harbour is shut at night."


@dataclass(frozen=True)
class SharedLibrary:
    """Parts over the library, and the ids of a document and an answer of each collection."""

    parts: Parts
    documents: dict[str, str]
    answers: dict[str, str]


@contextmanager
def shared_library(data_dir: Path, **settings: object) -> Iterator[SharedLibrary]:
    """Open a library in which Ada may read `ours` and Ben is an admin of everything; Eve has no role."""
    texts = {OURS: {"gate.txt": GATE}, THEIRS: {f"{SECRET}.txt": f"The {SECRET} crosses the road."}}
    parts = parts_with({"encoder": WordEncoder()}, texts, data_dir=data_dir, collection=OURS, **QUICK, **settings)
    documents, answers = {}, {}
    for name in texts:
        collection = parts.library.collection(name)
        documents[name] = parts.library.documents(collection)[0].id
        answer = CitedAnswer(f"About {name}.", question=f"What of {name}?", collection=name)
        parts.library.save_answer(collection, answer)
        answers[name] = answer.id
    parts.people.grant(ADA, Scope.READ, parts.library.collection(OURS))
    parts.people.grant(BEN, Scope.ADMIN)
    yield SharedLibrary(parts, documents, answers)
    parts.library.close()
