"""Answers whose citations or facts were labelled: LongBench-Cite, and TREC's RAG track with its nuggets.

LongBench-Cite's files are what `pred_*.py` and `eval_cite.py` write.  TREC's are NIST's assessments of citations, the
answers that `support_evaluation_gpt4o.py` of its organisers labels, both with the segments in the row or in
`segments.jsonl[.gz]` beside it, and what `nuggetizer assign` writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from propcite.app.lab.citing.gold import CitedSentence, GoldNuggets, GoldSupport, GoldVerdict, Nugget
from propcite.retrieval.jsonl import numbered_lines

Row = Mapping[str, Any]
Labelled = GoldVerdict | GoldSupport | GoldNuggets

SEGMENTS = ("segments.jsonl", "segments.jsonl.gz")
SUPPORT = {"FS": 1.0, "PS": 0.5, "NS": 0.0}
ASSESSED = {"2": 1.0, "1": 0.5, "0": 0.0}
NOT_ASSESSED = "-1"
ASSIGNED = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
NAMES = {1.0: "full", 0.5: "partial", 0.0: "none"}


def longbench_cite(row: Row, id_: str, _: Path) -> Iterator[Labelled]:
    """Yield the statements with the text they cite, as the authors' judge labelled them."""
    source, question = f"LongBench-Cite {row['dataset']}", row["query"]
    sentences = []
    for number, statement in enumerate(row["statements"]):
        cited = tuple(_text(one["cite"]) for one in statement["citation"])
        relevant = tuple(_score(one, "relevant_score", (0.0, 1.0)) for one in statement["citation"])
        support, own = _score(statement, "support_score", tuple(NAMES)), f"{id_}.{number}"
        if cited:
            yield _verdict(source, question, statement["statement"], cited, support, own)
        sentences.append(CitedSentence((own,) if cited else (), relevant, support))
    yield GoldSupport(source, tuple(sentences), id_)


def trec_support(row: Row, id_: str, file: Path) -> Iterator[Labelled]:
    """Yield each citation of an answer that was labelled, with its segment; `citations` are numbers or ids."""
    about = row.get("metadata") or row
    source, question = f"TREC RAG {about['run_id']}", str(about.get("topic") or about.get("narrative") or "")
    texts, labels = _segments(row, file), row["support_eval"]
    if len(labels) != len(row["answer"]):
        raise ValueError(f"support_eval has {len(labels)} entries for {len(row['answer'])} sentences of the answer")
    sentences = []
    for number, (sentence, label) in enumerate(zip(row["answer"], labels, strict=True)):
        claims, weights = [], []
        for place, (citation, value) in enumerate(zip(sentence["citations"], label["eval_scores"], strict=False)):
            cited = (_text_of(_segment_id(citation, row["references"]), texts),)
            if value is None:
                continue
            claims.append(f"{id_}.{number}.{place}")
            weights.append(_weight(value, SUPPORT))
            yield _verdict(source, question, sentence["text"], cited, weights[-1], claims[-1])
        sentences.append(CitedSentence(tuple(claims), tuple(weights)))
    yield GoldSupport(source, tuple(sentences), id_)


def trec_assessments(row: Row, id_: str, file: Path) -> Iterator[Labelled]:
    """Yield each citation that NIST's people assessed; the answer is scored by the first of each sentence, as TREC's.

    A sentence whose first citation was not assessed is left out of the answer's score.
    """
    source, texts, sentences = f"TREC RAG {row['run_id']}", _segments(row, file), []
    for number, sentence in enumerate(row["sentences"]):
        assessed = {}
        for place, citation in enumerate(sentence["citations"]):
            if str(citation["support"]) == NOT_ASSESSED:
                continue
            own, weight = f"{id_}.{number}.{place}", _weight(citation["support"], ASSESSED)
            assessed[place] = CitedSentence((own,), (weight,))
            yield _verdict(source, "", sentence["text"], (_text_of(citation["reference"], texts),), weight, own)
        if not sentence["citations"]:
            sentences.append(CitedSentence((), ()))
        elif 0 in assessed:
            sentences.append(assessed[0])
    yield GoldSupport(source, tuple(sentences), id_)


def trec_nuggets(row: Row, id_: str, _: Path) -> Iterator[Labelled]:
    """Yield the facts that an answer should hold, with the answer as their evidence."""
    source, answer = f"TREC RAG {row['run_id']}, nuggets", _text(row["answer_text"])
    nuggets = []
    for number, nugget in enumerate(row["nuggets"]):
        if nugget["assignment"] not in ASSIGNED:
            raise ValueError(f"the assignment {nugget['assignment']!r} is none of {', '.join(ASSIGNED)}")
        if nugget["importance"] not in ("vital", "okay"):
            raise ValueError(f"the importance {nugget['importance']!r} is neither 'vital' nor 'okay'")
        weight, own = ASSIGNED[nugget["assignment"]], f"{id_}.{number}"
        if answer.strip():
            yield _verdict(source, row["query"], nugget["text"], (answer,), weight, own)
        nuggets.append(Nugget(own if answer.strip() else "", nugget["importance"] == "vital", weight))
    yield GoldNuggets(source, tuple(nuggets), id_)


def _verdict(source: str, question: str, claim: str, evidence: tuple[str, ...], weight: float, id_: str) -> GoldVerdict:
    name = NAMES[weight]
    return GoldVerdict(source, question, claim.strip(), evidence, weight == 1, id_, kind=name, label=name)


def _score(row: Row, name: str, known: tuple[float, ...]) -> float:
    if name not in row:
        raise ValueError(f"{name} is missing: label the answers by the authors' eval_cite.py first")
    if row[name] not in known:
        raise ValueError(f"the {name} {row[name]!r} is none of {', '.join(f'{one:g}' for one in known)}")
    return float(row[name])


def _weight(label: object, known: Mapping[str, float]) -> float:
    if str(label) not in known:
        raise ValueError(f"the label {label!r} is none of {', '.join(known)}")
    return known[str(label)]


def _text_of(segment: str, texts: Mapping[str, str]) -> str:
    if segment not in texts:
        raise ValueError(f"no text of {segment!r} in its segments, nor in {SEGMENTS[0]} beside the file")
    return texts[segment]


def _segments(row: Row, file: Path) -> Mapping[str, str]:
    if "segments" in row:
        return {str(id_): _text(text) for id_, text in row["segments"].items()}
    path = next((path for name in SEGMENTS if (path := file.parent / name).is_file()), None)
    if path is None:
        raise ValueError(f"it has no segments, and there is no {SEGMENTS[0]} beside the file")
    return _segments_of(path)


@lru_cache(maxsize=2)
def _segments_of(path: Path) -> Mapping[str, str]:
    """Return the texts of MS MARCO V2.1's segments by id, as the organisers show them."""
    rows = (json.loads(line) for _, line in numbered_lines(path))
    return {row["docid"]: f"{row['title']}: {row['segment']}" for row in rows}


def _segment_id(citation: object, references: list[str]) -> str:
    if not isinstance(citation, int):
        return str(citation)
    if not 0 <= citation < len(references):
        raise ValueError(f"the citation {citation} is none of the {len(references)} references, counted from 0")
    return references[citation]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
