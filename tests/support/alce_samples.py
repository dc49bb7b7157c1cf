"""Small invented files in the form of ALCE's."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RIVERS = [
    {
        "id": "po",
        "title": "Po",
        "text": "The Po is 652 kilometres long. It ends in the Adriatic.[3]",
        "score": "0.9",
    },
    {"id": "adige", "title": "Adige", "text": "The Adige is 410 kilometres long and ends in the Adriatic."},
    {"id": "rhine", "title": "Rhine", "text": "The Rhine ends in the North Sea near Rotterdam."},
]
BRIDGES = [
    {"id": "heron", "title": "Heron Bridge", "text": "Heron Bridge opened on 21 May 2025. It is 96 metres long."},
    {"id": "ferry", "title": "Ferry", "text": "A ferry crossed the river until 1974."},
]
MUSEUMS = [
    {"id": "museum", "title": "River museum", "text": "The river museum in Ferrara opens at nine."},
    {"id": "ticket", "title": "Tickets", "text": "A ticket for the castle costs 8 euros."},
]
ASQA: list[dict[str, Any]] = [
    {
        "sample_id": "river",
        "question": "How long is the river Po and where does it end?",
        "qa_pairs": [
            {"question": "How long is the Po?", "short_answers": ["652 kilometres", "652 km"]},
            {"question": "Where does the Po end?", "short_answers": ["the Adriatic"]},
        ],
        "annotations": [
            {"long_answer": "The Po is 652 kilometres long and ends in the Adriatic.", "knowledge": []},
            {"long_answer": "The Po ends in the Adriatic.\nIt is 652 kilometres long."},
        ],
        "answer": "The Po is 652 kilometres long and ends in the Adriatic.",
        "docs": RIVERS,
    },
    {
        "sample_id": "bridge",
        "question": "When did Heron Bridge open?",
        "qa_pairs": [{"question": "When did it open?", "short_answers": ["21 May 2025"]}],
        "annotations": [{"long_answer": "Heron Bridge opened on 21 May 2025."}],
        "answer": "Heron Bridge opened on 21 May 2025.",
        "docs": BRIDGES,
    },
    {
        "sample_id": "museum",
        "question": "When does the river museum open?",
        "qa_pairs": [{"question": "When does it open?", "short_answers": ["nine"]}],
        "annotations": [{"long_answer": "The river museum opens at nine."}],
        "answer": "The river museum opens at nine.",
        "docs": MUSEUMS,
    },
]
ELI5: list[dict[str, Any]] = [
    {
        "question": "Where do terns breed?",
        "answer": "Terns breed on flat roofs of gravel.",
        "claims": ["Terns breed on the gravel roof.", "The barrier cost 410 million euros."],
        "docs": [
            {"title": "Birds", "text": "Terns breed on the gravel roof of the warehouse."},
            {"title": "Barrier", "text": "The barrier cost 410 million euros."},
        ],
    }
]
QAMPARI: list[dict[str, Any]] = [
    {
        "id": "12__wikidata__dev",
        "question": "Which rivers end in the Adriatic?",
        "answers": [["Po", "Eridanus"], ["Adige"], ["Piave"]],
        "answer": "Po, Adige, Piave",
        "docs": RIVERS,
    }
]


def results(items: Sequence[dict[str, Any]], outputs: Sequence[str]) -> dict[str, Any]:
    """Return a result file's content as ALCE's programs write it."""
    pairs = zip(items, outputs, strict=True)
    return {"args": {"ndoc": 5, "shot": 2}, "data": [{**item, "output": output} for item, output in pairs]}


def save(path: Path, content: Any) -> Path:
    """Write JSON, gzipped if the name says so, and return the path."""
    data = json.dumps(content).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path
