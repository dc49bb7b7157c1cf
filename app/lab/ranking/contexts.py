"""Write what a way retrieved as DPR and Contriever do: a question, its answers, and its passages as `ctxs`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from propcite.app.errors import AppError
from propcite.app.lab.ranking.beir import BeirCollection
from propcite.app.lab.ranking.encoders import RankingConfig
from propcite.app.library.store.runs import RunItem
from propcite.retrieval.saving import atomic_write


def check_contexts(collections: Mapping[str, BeirCollection], configs: Sequence[RankingConfig]) -> None:
    """Raise unless one way ranks one collection of questions with answers."""
    if len(collections) != 1 or len(configs) != 1:
        raise AppError("--contexts writes what one way retrieves from one folder: name one --way and one folder")
    if not all(query.answers for one in collections.values() for query in one.queries):
        raise AppError("--contexts is for questions with answers, such as DPR's: this folder has judged passages")


def write_contexts(path: Path, collection: BeirCollection, items: Iterable[RunItem]) -> None:
    """Write a line per question, as `propcite eval sentences` reads it."""
    passages = {passage.id: passage for passage in collection.passages}
    answers = {query.id: query.answers for query in collection.queries}
    with atomic_write(path, AppError) as new, new.open("w", encoding="utf-8") as file:
        for item in items:
            found = [passages[id_] for id_ in item.output["ranking"]]
            contexts = [{"id": one.id, "title": one.title, "text": one.text} for one in found]
            row = {"question": item.output["question"], "answers": answers[item.key], "ctxs": contexts}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
