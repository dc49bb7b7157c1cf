"""Benchmarks of attribution and hallucination in the files that their authors publish.

A row is known by its fields: LLM-AggreFact (also as CSV or Parquet), AttributionBench, ExpertQA, RAGTruth (its
`source_info.jsonl` lies beside `response.jsonl`), FaithBench, and the labelled answers of `supported`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from propcite.app.lab.citing.gold import GoldVerdict
from propcite.app.lab.citing.supported import Labelled, longbench_cite, trec_assessments, trec_nuggets, trec_support
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.text import Span

Row = Mapping[str, Any]
Read = Callable[[Row, str, Path], Iterator[Labelled]]

SOURCES = "source_info.jsonl"  # of RAGTruth: what its answers were written from
HARMLESS = "Benign"  # FaithBench: a span that its text does not state and that misleads nobody
_PASSAGE = re.compile(r"^passage \d+:", re.MULTILINE)
_REFERENCE = re.compile(r"^\[\d+\]\s*(?:https?://\S+)?\s*")


def reader_of(row: Row) -> Read | None:
    """Return what reads rows with these fields; None if they are of no benchmark that is known here."""
    return next((read for fields, read in _READERS if fields <= row.keys()), None)


def _aggrefact(row: Row, id_: str, _: Path) -> Iterator[GoldVerdict]:
    """Yield LLM-AggreFact's claim beside its document; its label is 1 where the document supports it."""
    label = str(row["label"])
    if label not in ("0", "1"):
        raise ValueError(f"the label {label!r} is neither 0 nor 1")
    yield GoldVerdict(str(row["dataset"]), "", row["claim"], (row["doc"],), label == "1", id_, label=label)


def _attributionbench(row: Row, id_: str, _: Path) -> Iterator[GoldVerdict]:
    label, evidence = row["attribution_label"], _filled(row["references"])
    if label not in ("attributable", "not attributable"):
        raise ValueError(f"the attribution_label {label!r} is neither 'attributable' nor 'not attributable'")
    if evidence:
        source, question = row["src_dataset"], row.get("question") or ""
        yield GoldVerdict(source, question, row["claim"], evidence, label == "attributable", id_, label=label)


def _expertqa(row: Row, id_: str, _: Path) -> Iterator[GoldVerdict]:
    """Yield an expert's verdicts on the claims of each answer that has evidence; complete support alone is support."""
    for model, answer in row["answers"].items():
        for number, claim in enumerate(answer.get("claims") or ()):
            evidence = _filled([_REFERENCE.sub("", text) for text in claim.get("evidence") or ()])
            label = claim.get("support")
            if evidence and isinstance(label, str):
                text, supported = claim["claim_string"], label == "Complete"
                own = f"{id_}.{model}.{number}"
                yield GoldVerdict("ExpertQA", row["question"], text, evidence, supported, own, model, label=label)


def _ragtruth(row: Row, id_: str, file: Path) -> Iterator[GoldVerdict]:
    """Yield the sentences of an answer of the test split; one with a marked span is not supported."""
    if row.get("split", "test") != "test" or row.get("quality", "good") != "good":
        return
    source = _sources(file.parent / SOURCES).get(str(row["source_id"]))
    if source is None:
        raise ValueError(f"{SOURCES} beside it has no source_id {row['source_id']!r}")
    info = source["source_info"]
    question = str(info.get("question", "")) if isinstance(info, dict) else ""
    marked = [(Span(mark["start"], mark["end"]), str(mark["label_type"])) for mark in row["labels"]]
    task = source["task_type"]
    yield from _sentences(f"RAGTruth {task}", question, row["response"], _evidence(info), marked, id_, task)


def _faithbench(row: Row, id_: str, _: Path) -> Iterator[GoldVerdict]:
    """Yield the sentences of a summary; one with a marked span is not supported, unless every mark is benign."""
    marked = [
        (Span(mark["summary_start"], mark["summary_end"]), "/".join(mark["label"]))
        for mark in row["annotations"]
        if set(mark["label"]) - {HARMLESS}
    ]
    model = str(row["metadata"]["summarizer"])
    yield from _sentences("FaithBench", "", row["summary"], (row["source"],), marked, id_, model)


def _sentences(
    source: str,
    question: str,
    text: str,
    evidence: tuple[str, ...],
    marked: Sequence[tuple[Span, str]],
    id_: str,
    of: str,
) -> Iterator[GoldVerdict]:
    """Yield each sentence of a text: of the kind of its first mark, or `of` if it has none."""
    for number, span in enumerate(split_sentences(text)):
        kinds = [kind for wrong, kind in marked if wrong.overlaps(span)]
        about = {"kind": kinds[0], "label": "marked"} if kinds else {"kind": of, "label": "unmarked"}
        claim, own = span.of(text).strip(), f"{id_}.{number}"
        yield GoldVerdict(source, question, claim, evidence, not kinds, own, answer=id_, **about)


@lru_cache(maxsize=2)
def _sources(path: Path) -> dict[str, dict[str, Any]]:
    return {str(row["source_id"]): row for _, line in numbered_lines(path) for row in [json.loads(line)]}


def _evidence(info: object) -> tuple[str, ...]:
    """Return RAGTruth's source as texts: an article, passages, or the fields and the reviews of a business."""
    if not isinstance(info, dict):
        return (str(info),)
    if "passages" in info:
        return _filled(_PASSAGE.split(info["passages"]))
    reviews = [str(review["review_text"]) for review in info.get("review_info") or ()]
    fields = {name: value for name, value in info.items() if name != "review_info"}
    return _filled(["\n".join(_lines(fields)), *reviews])


def _lines(fields: Row, before: str = "") -> Iterator[str]:
    """Yield a line per field, the names of those above it in front.

    >>> list(_lines({"city": "Tucson", "hours": {"Monday": "9:0-22:30"}}))
    ['city: Tucson', 'hours, Monday: 9:0-22:30']
    """
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _lines(value, f"{before}{name}, ")
        else:
            yield f"{before}{name}: {value}"


def _filled(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text.strip() for text in texts if text.strip())


_READERS: tuple[tuple[frozenset[str], Read], ...] = (
    (frozenset({"dataset", "doc", "claim", "label"}), _aggrefact),
    (frozenset({"claim", "references", "attribution_label", "src_dataset"}), _attributionbench),
    (frozenset({"question", "answers", "metadata"}), _expertqa),
    (frozenset({"source_id", "response", "labels"}), _ragtruth),
    (frozenset({"source", "summary", "annotations", "metadata"}), _faithbench),
    (frozenset({"dataset", "query", "prediction", "statements"}), longbench_cite),
    (frozenset({"references", "answer", "support_eval"}), trec_support),
    (frozenset({"run_id", "sentences"}), trec_assessments),
    (frozenset({"qid", "answer_text", "nuggets"}), trec_nuggets),
)
