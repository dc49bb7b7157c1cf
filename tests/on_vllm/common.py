"""What both ways to reach vLLM are asked, and how their answers are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from shown import shown_of

from propcite.app.answering.pipeline import Pipeline
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer, Label
from propcite.attribution.events import AnswerDone, SentenceCited, TextDelta
from propcite.attribution.llm.usage import Usage

QUESTIONS = ("What did the barrier cost?", "How high is it?", "When does the ferry leave?", "Who paid for the barrier?")
SHOWN = shown_of(title="Notes")
LONG = shown_of([f"{number}. " + "The barrier cost 410 million euros. " * 40 for number in range(12)])
TOKENS = 40
NOTES = "The barrier cost 410 million euros. The state paid two thirds of it.\n"


def is_left_out(notes: Sequence[str]) -> bool:
    return any("passages were left out: the context of the model is full" in note for note in notes)


def answered(pipeline: Pipeline, question: str) -> CitedAnswer:
    """A streamed answer, whose events say what it says."""
    events = list(pipeline.answer_stream(question))
    assert isinstance(events[-1], AnswerDone)
    answer = events[-1].answer
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == answer.text
    assert [e.sentence for e in events if isinstance(e, SentenceCited)] == list(answer.sentences)
    kinds = [type(event) for event in events]
    assert kinds[0] is TextDelta
    return answer


def pipeline_over_notes(parts: Parts, folder: Path) -> Pipeline:
    """A collection of one document, which says what the barrier cost."""
    (folder / "cost.txt").write_text(NOTES)
    collection = parts.library.create_collection("notes")
    list(parts.ingester(collection).ingest([folder / "cost.txt"]))
    return parts.pipeline(collection)


def check_words(answer: CitedAnswer, usage: Usage | None) -> None:
    """A model that knows English: words, each fact of them cited or shown as unsupported, its tokens counted."""
    assert re.search(r"\b[a-z]{2,} [a-z]{2,} ", answer.text)
    assert "barrier" in answer.text or "410" in answer.text
    assert answer.facts
    for fact in answer.facts:
        assert fact.verdict is not None
        assert fact.citations or fact.verdict.label is not Label.SUPPORTED
        assert all(citation.quote in NOTES for citation in fact.citations)
    assert usage is not None
    assert usage.prompt_tokens > 50
    assert 0 < usage.completion_tokens <= TOKENS
