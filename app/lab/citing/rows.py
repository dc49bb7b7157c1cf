"""Labelled rows: claims with evidence, and answers with the passages they were written from.

A row's id is its file's name and its place in the file.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from propcite.app.errors import AppError
from propcite.app.lab.runs.inputs import row_error
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.splitter import passage_from_sentences, passage_from_text
from propcite.retrieval.text import Passage

FORM = '{"claim": "…", "docs": [{"text": "…"}], "label": "supported"}, or with "evidence" or "passage" for "docs"'
SUPPORTED, CONTRADICTED = "supported", "contradicted"
LABELS = (SUPPORTED, "partially", "not_supported", "unsupported", CONTRADICTED)


@dataclass(frozen=True, slots=True)
class GoldEvidence:
    """A claim, documents in sentences, and the sentences that support it: (document, sentence)."""

    source: str
    claim: str
    documents: tuple[Passage, ...]
    supporting: frozenset[tuple[int, int]]
    id: str = ""


@dataclass(frozen=True, slots=True)
class GoldVerdict:
    """A claim, the evidence cited for it, and whether that fully supports it; `label` is the row's own word for it."""

    source: str
    question: str
    claim: str
    evidence: tuple[str, ...]
    supported: bool
    id: str = ""
    context: str = ""
    kind: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """An answer and passages, among them those that it was written from."""

    source: str
    question: str
    text: str
    passages: tuple[Passage, ...]
    written_from: frozenset[str]
    id: str = ""


Gold = GoldEvidence | GoldVerdict | GoldAnswer
GoldRow = TypeVar("GoldRow", GoldEvidence, GoldVerdict, GoldAnswer)


def read_gold(path: Path) -> list[Gold]:
    """Read a file: ALCE's JSON list of answers, or JSON lines of claims with documents."""
    return _read_claims(path) if ".jsonl" in path.name else _read_answers(path)


def spread_over_sources(rows: Sequence[GoldRow], per_source: int) -> list[GoldRow]:
    """Return at most so many rows of each source, spread evenly over them."""
    by_source: dict[str, list[GoldRow]] = defaultdict(list)
    for row in rows:
        by_source[row.source].append(row)
    return [row for group in by_source.values() for row in group[:: max(1, -(-len(group) // per_source))]]


def _read_answers(path: Path) -> list[Gold]:
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        items = json.loads(data)
        items = items["data"] if isinstance(items, dict) else items
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


def _read_claims(path: Path) -> list[Gold]:
    rows: list[Gold] = []
    for number, line in numbered_lines(path):
        try:
            gold = _claim(json.loads(line), f"{path.name}:{number}")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise row_error(path, number, _reason(error), FORM) from error
        rows += [gold] if gold else []
    return rows


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
