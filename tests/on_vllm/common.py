"""What both ways to reach vLLM are asked, and how their answers are read."""

from __future__ import annotations

from collections.abc import Sequence

from shown import shown_of

from propcite.app.answering.pipeline import Pipeline
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import AnswerDone, SentenceCited, TextDelta

QUESTIONS = ("What did the barrier cost?", "How high is it?", "When does the ferry leave?", "Who paid for the barrier?")
SHOWN = shown_of(title="Notes")
LONG = shown_of([f"{number}. " + "The barrier cost 410 million euros. " * 40 for number in range(12)])
TOKENS = 40


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
