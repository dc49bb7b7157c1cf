"""Labelled rows: claims with evidence, and answers with the passages they were written from.

A row's id is its file's name and its place in the file.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from propcite.app.errors import AppError
from propcite.app.lab.citing.gold import Gold, GoldAnswer, GoldEvidence, GoldVerdict
from propcite.app.lab.citing.published import reader_of
from propcite.app.lab.citing.supported import Labelled
from propcite.app.lab.runs.inputs import row_error
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.splitter import passage_from_sentences, passage_from_text
from propcite.retrieval.text import Passage

FORM = '{"claim": "…", "docs": [{"text": "…"}], "label": "supported"}, or with "evidence" or "passage" for "docs"'
SUPPORTED, CONTRADICTED = "supported", "contradicted"
LABELS = (SUPPORTED, "partially", "not_supported", "unsupported", CONTRADICTED)


def read_gold(path: Path) -> list[Gold]:
    """Read a file of claims with evidence, of ALCE's answers, or of a published benchmark."""
    name = path.name.removesuffix(".gz")
    if name.endswith((".csv", ".parquet")):
        return _read_rows(path, enumerate(_table_rows(path), start=1))
    if name.endswith(".jsonl"):
        return _read_rows(path, numbered_lines(path))
    return _read_list(path)


def _table_rows(path: Path) -> list[dict[str, Any]]:
    import pandas as pd

    try:
        table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, keep_default_na=False)
    except (OSError, ValueError, ImportError) as error:
        raise AppError(f"{path} is no table that can be read ({str(error).splitlines()[0]})") from error
    rows: list[dict[str, Any]] = table.to_dict("records")
    return rows


def _read_list(path: Path) -> list[Gold]:
    """Read a JSON list: ALCE's questions, or FaithBench's samples."""
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        items = json.loads(data)
        if isinstance(items, dict) and "samples" in items:
            return _read_rows(path, enumerate(items["samples"], start=1))
        items = items["data"] if isinstance(items, dict) else items
        if items and isinstance(items[0], dict) and reader_of(items[0]):
            rows = [item for item in items if "scores" not in item]  # LongBench-Cite's means come last
            return _read_rows(path, enumerate(rows, start=1))
        return [gold for number, item in enumerate(items) for gold in _answers(item, path.name, number)]
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise AppError(
            f"cannot read {path} ({_reason(error)}): give ALCE's list of questions, answers and docs"
        ) from error


def _answers(item: dict[str, Any], file: str, at: int) -> Iterable[GoldAnswer]:
    passages: dict[str, Passage] = {}
    for number, doc in enumerate(item["docs"], start=1):
        passage = passage_from_text(str(doc.get("id", number)), _text(doc["text"]), _text(doc.get("title") or ""))
        if passages.setdefault(passage.id, passage) != passage:
            raise ValueError(f"two docs of {item['question']!r} have the id {passage.id}")
    for number, annotation in enumerate(item.get("annotations", [])):
        written_from = frozenset(map(str, annotation.get("knowledge_doc_ids", [])))
        if written_from:
            source, id_ = file.split(".")[0], f"{file}:{at}.{number}"
            question, text = _text(item["question"]), _text(annotation["long_answer"])
            yield GoldAnswer(source, question, text, tuple(passages.values()), written_from, id_)


def _read_rows(path: Path, numbered: Iterable[tuple[int, Any]]) -> list[Gold]:
    """Read rows, each a line of JSON or an object, with their numbers."""
    rows: list[Gold] = []
    for number, row in numbered:
        try:
            rows += _golds(json.loads(row) if isinstance(row, str) else row, f"{path.name}:{number}", path)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise row_error(path, number, _reason(error), FORM) from error
    return rows


def _golds(row: dict[str, Any], id_: str, path: Path) -> Iterable[Gold]:
    if published := reader_of(row):
        return [_checked(gold) for gold in published(row, id_, path)]
    return filter(None, [_claim(row, id_)])


def _checked(gold: Labelled) -> Gold:
    """Return what a benchmark's row gave; a value that is no text raises TypeError."""
    if isinstance(gold, GoldVerdict):
        for value in (gold.claim, gold.source, gold.question, *gold.evidence):
            _text(value)
    return gold


def _claim(row: dict[str, Any], id_: str) -> Gold | None:
    """Return a row; None for a claim without evidence."""
    if "docs" not in row and ("evidence" in row or "passage" in row):
        return _pair(row, id_)
    source, docs = str(row.get("source", "")), row["docs"]
    if row.get("level") == "sentence":
        documents = tuple(
            passage_from_sentences(str(i), list(map(_text, d["sentences"])), _text(d.get("title") or ""))
            for i, d in enumerate(docs)
        )
        supporting = frozenset((d, s) for d, s in row["supporting"])
        if missing := supporting - {(d, s) for d, p in enumerate(documents) for s in range(len(p.sentences))}:
            raise ValueError(f"docs without the sentence {sorted(missing)[0]} that supports the claim")
        return GoldEvidence(source, _text(row["claim"]), documents, supporting, id_)
    supported = _is_supported(row["label"])
    evidence = tuple(text for d in docs if (text := d.get("text") or " ".join(d.get("sentences") or [])).strip())
    if not evidence:
        return None
    label = str(row["label"])
    return GoldVerdict(source, row.get("question", ""), _text(row["claim"]), evidence, supported, id_, label=label)


def _pair(row: dict[str, Any], id_: str) -> GoldVerdict | None:
    """Return a claim beside a whole passage, or beside its evidence; None if that is empty."""
    given = row.get("passage") or row["evidence"]
    evidence = tuple(_text(text) for text in ([given] if isinstance(given, str) else given) if text.strip())
    if not evidence:
        return None
    source, kind, title = (str(row.get(name) or "") for name in ("source", "kind", "title"))
    supported = _is_supported(row["label"])
    label = str(row["label"])
    return GoldVerdict(source, "", _text(row["claim"]), evidence, supported, id_, context=title, kind=kind, label=label)


def _is_supported(label: object) -> bool:
    if label not in LABELS:
        raise ValueError(f"the label {label!r} is none of {', '.join(LABELS)}")
    return label == SUPPORTED


def _reason(error: Exception) -> str:
    """
    >>> _reason(KeyError("docs"))
    'docs is missing'
    """
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
