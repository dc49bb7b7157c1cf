"""The texts of the measurement: a data folder's documents cut in passages, and queries of documents left out."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path

from rich.console import Console
from rich.progress import track

from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Document, Passage, Sentence, Span

FORMAT = 1
HELD_OUT = 400  # documents that only give queries
FEWEST_WORDS = 6
PASSAGES = "passages.jsonl"
QUERIES = "queries.json"


@dataclass(slots=True)
class _Text:
    title: str
    text: str
    questions: list[str] = field(default_factory=list)


def files_of(data: Path) -> list[Path]:
    """The files that are read, in order: of two documents with the same words the first one is kept."""
    ranked = [data / f"{name}.jsonl.gz" for name in ("rank_dev", "rank_train", "retrieval_train")]
    found = [path for path in [*ranked, *sorted(data.glob("beir/*/corpus.jsonl.gz"))] if path.exists()]
    if not found:
        raise SystemExit(f"{data} holds none of rank_*.jsonl.gz, retrieval_train.jsonl.gz and beir/*/corpus.jsonl.gz")
    return found


def name_of(data: Path) -> str:
    """Names what the folder holds: other files, other texts."""
    parts = [f"{path.relative_to(data)} {path.stat().st_size}" for path in files_of(data)]
    return "texts-" + hashlib.sha256("\n".join([str(FORMAT), *parts]).encode()).hexdigest()[:12]


def gather(data: Path, folder: Path, console: Console) -> None:
    """Write the corpus's passages in a fixed shuffled order, and the queries, unless they are there."""
    if (folder / QUERIES).exists():
        return
    documents = list(_documents(data).values())
    random.Random(0).shuffle(documents)
    folder.mkdir(parents=True, exist_ok=True)
    splitter, seen = PassageSplitter(), set[str]()
    with (folder / PASSAGES).open("w", encoding="utf-8") as file:
        for number, one in enumerate(track(documents[HELD_OUT:], "cutting texts", console=console, transient=True)):
            for passage in splitter.split(Document(str(number), one.text, one.title)):
                words = _words(passage.text)
                if words in seen or words.count(" ") < FEWEST_WORDS - 1:
                    continue
                seen.add(words)
                ends = [s.span.end for s in passage.sentences]
                file.write(json.dumps({"title": passage.title, "text": passage.text, "ends": ends}) + "\n")
    # Last of all: its presence says that the passages are complete.
    (folder / QUERIES).write_text(json.dumps(_queries(documents[:HELD_OUT])), "utf-8")


def read_passages(folder: Path, first: int = 0, last: int | None = None) -> Iterator[Passage]:
    """Passages by number, in the order in which they were written."""
    with (folder / PASSAGES).open(encoding="utf-8") as file:
        for number, line in enumerate(islice(file, first, last), start=first):
            kept = json.loads(line)
            sentences = tuple(Sentence(Span(*ends)) for ends in pairwise([0, *kept["ends"]]))
            yield Passage(str(number), kept["text"], kept["title"], sentences=sentences)


def read_queries(folder: Path) -> list[str]:
    queries: list[str] = json.loads((folder / QUERIES).read_text("utf-8"))
    return queries


def _documents(data: Path) -> dict[str, _Text]:
    """Documents by their words, with the questions that were asked of each."""
    documents: dict[str, _Text] = {}
    for path in files_of(data):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for row in map(json.loads, file):
                text = row.get("text") or " ".join(row.get("sentences", ()))
                title = (row.get("title") or "").replace("_", " ")
                one = documents.setdefault(_words(text), _Text(title, text))
                if row.get("query"):
                    one.questions.append(row["query"])
    documents.pop("", None)
    return documents


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _queries(documents: Sequence[_Text]) -> list[str]:
    """By turns a question asked of a held-out document and one of its sentences, so that any number mixes both."""
    chosen: list[str] = []
    for turn, one in enumerate(documents):
        passages = PassageSplitter().split(Document("", one.text))
        sentences = [s.span.of(p.text).strip() for p in passages for s in p.sentences]
        sentences = [s for s in sentences if FEWEST_WORDS <= len(s.split()) <= 40]
        asked = one.questions if turn % 2 else []
        query = next(iter([*asked, *sentences[len(sentences) // 2 :], *one.questions]), "")
        if query and query not in chosen:
            chosen.append(query)
    return chosen
