"""Questions with passages that may hold no answer: does the generator abstain there, and only there?"""

from __future__ import annotations

import gzip
import json
import random
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.answers.questions import holds
from tests.benchmarks.answers.report import percent

from propcite.app.answering.generators import Draft, GenerationContext
from propcite.app.errors import AppError
from propcite.app.lab.alce.scores import f1
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.app.terminal_progress import counting
from propcite.retrieval.encoding.cache import CachedEncoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Document, Passage

SOURCES = ("mediqa2019_qa", "musique", "squad2")
SQUAD = "squad2"
# Held out of the last training; the one before had read them.
TITLES = ("Economic inequality", "Force", "1973 oil crisis")
HEAD = (
    "source", "questions", "unanswerable", "abstained", "precision", "recall", "F1", "answered answerable",
    "of them with an answer string", "hold it",
)  # fmt: skip
FORM = 'a row is {"source", "question", "passages": [{"title", "text" or "sentences"}], "answerable", "answer"}'


@dataclass(frozen=True, slots=True)
class Judged:
    """A row of a file with the generator's draft."""

    source: str
    row: Mapping[str, Any]
    draft: Draft

    @property
    def answerable(self) -> bool:
        return bool(self.row["answerable"])

    @property
    def holds(self) -> bool | None:
        """Return whether the text holds the answer's words; None where the row gives none."""
        answer = self.row["answer"]
        return holds(self.draft.text, answer) if answer else None


def measure(paths: Iterable[Path], sources: Sequence[str], titles: Sequence[str], limit: int) -> list[Judged]:
    """Answer a sample of each source's rows, all of them if `limit` is 0; SQuAD's only of these titles, if any."""
    rows = [row for path in paths for row in _rows(path) if _is_wanted(row, sources, titles)]
    chosen = [row for source in sources for row in _sample([one for one in rows if one["source"] == source], limit)]
    if not chosen:
        raise AppError(f"no row of the sources {', '.join(sources)}: name others with --source; {FORM}")
    judged: list[Judged] = []
    with tempfile.TemporaryDirectory(prefix="propcite-answers-") as folder:
        parts = Parts(load_settings(data_dir=Path(folder), generator="extractive"))
        encoder = CachedEncoder(parts.encoder)
        with counting(len(chosen), "answering") as advance:
            for row in chosen:
                judged.append(Judged(row["source"], row, _draft(row, parts, encoder)))
                advance("answering")
    return judged


def figures(judged: Sequence[Judged]) -> Iterator[list[object]]:
    """Yield a line per source in the order of HEAD."""
    for source in dict.fromkeys(one.source for one in judged):
        yield _figures(source, [one for one in judged if one.source == source])


def answers(judged: Iterable[Judged]) -> list[dict[str, object]]:
    """Return every answer for JSON."""
    return [
        {
            "source": one.source,
            "question": one.row["question"],
            "answerable": one.answerable,
            "answer": one.row["answer"],
            "text": one.draft.text,
            "abstained": one.draft.abstained,
            "holds": one.holds,
        }
        for one in judged
    ]


def _figures(source: str, judged: Sequence[Judged]) -> list[object]:
    unanswerable = sum(not one.answerable for one in judged)
    abstained = [one for one in judged if one.draft.abstained]
    hits = sum(not one.answerable for one in abstained)
    precision = hits / len(abstained) if abstained else 0.0
    recall = hits / unanswerable if unanswerable else 0.0
    answered = [one for one in judged if one.answerable and not one.draft.abstained]
    held = [one.holds for one in answered if one.holds is not None]
    return [
        source,
        len(judged),
        unanswerable,
        len(abstained),
        percent(hits, len(abstained)),
        percent(hits, unanswerable),
        f"{100 * f1(precision, recall):.1f}" if unanswerable else "-",
        len(answered),
        len(held),
        percent(sum(held), len(held)),
    ]


def _sample(rows: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """Return so many rows, the same in each run; all of them if the number is 0 or there are no more."""
    return random.Random(0).sample(rows, number) if 0 < number < len(rows) else rows


def _draft(row: Mapping[str, Any], parts: Parts, encoder: CachedEncoder) -> Draft:
    """Answer from the row's passages nearest to the question, as many as the pipeline gives a generator."""
    passages = _passages(row, parts.settings.passage_words)
    if not passages:
        raise AppError(f"{row['question'][:80]!r} has no passage with words: leave it out; {FORM}")
    retriever = Retriever.over(encoder, passages)
    nearest = tuple(hit.passage for hit in retriever.search(row["question"], k=parts.settings.num_passages))
    context = GenerationContext(nearest, retriever.only(passage.id for passage in nearest))
    (draft,) = parts.generator.generate_many([(row["question"], context)])
    if not isinstance(draft, Draft):
        raise draft
    return draft


def _passages(row: Mapping[str, Any], num_words: int) -> list[Passage]:
    """Split the row's texts as documents are split."""
    splitter = PassageSplitter(num_words)
    texts = [
        (one.get("text") or " ".join(one.get("sentences") or ()), one.get("title") or "") for one in row["passages"]
    ]
    return [p for n, (text, title) in enumerate(texts) for p in splitter.split(Document(str(n), text, title))]


def _is_wanted(row: Mapping[str, Any], sources: Sequence[str], titles: Sequence[str]) -> bool:
    if row["source"] not in sources:
        return False
    return row["source"] != SQUAD or not titles or row["passages"][0]["title"] in titles


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                if missing := {"source", "question", "passages", "answerable", "answer"} - row.keys():
                    raise AppError(f"{path} has a row without {', '.join(sorted(missing))}: {FORM}")
                yield row
    except (OSError, ValueError, EOFError, zlib.error, AttributeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AppError(f"cannot read {path} ({reason}): {FORM}") from error
