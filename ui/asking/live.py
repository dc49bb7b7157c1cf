"""An answer while it is made: its steps with their times, and its text as it grows."""

from __future__ import annotations

import streamlit as st

from propcite.app.answering.pipeline import Pipeline
from propcite.app.answering.steps import Step, steps_line, steps_of
from propcite.attribution.citations import CitedAnswer
from propcite.ui.asking.words import NOW, step_line, step_lines
from propcite.ui.render import growing, plain


class Steps:
    """A box that shows each step as it begins and as it ends."""

    def __init__(self, *, follows: bool) -> None:
        self._follows = follows
        self._box = st.status("Asking…", expanded=True)
        self._lines = self._box.empty()
        self._first: dict[str, Step] = {}

    def hear(self, name: str, ms: float | None) -> None:
        """Of the steps before the writing."""
        self._first[name] = Step(name, ms or 0.0, done=ms is not None)
        self.show([])

    def show(self, later: list[Step]) -> None:
        begun = [*self._first.values(), *later]
        self._lines.markdown("  \n".join(plain(line) for line in step_lines(begun, follows=self._follows)))
        going_on = [step for step in begun if not step.done]
        if going_on:
            self._box.update(label=f"{NOW[going_on[-1].name]}…", expanded=True)

    def end(self, answer: CitedAnswer) -> None:
        self._box.update(label=steps_line(answer), state="complete", expanded=False)


def answer_shown(pipeline: Pipeline, question: str, after: str) -> str:
    """Asks, and shows what comes as it comes.  -> the kept answer's id, empty where nothing was written"""
    steps, written = Steps(follows=bool(after)), st.empty()
    with pipeline.answer_stream(question, after, steps.hear) as coming:
        for so_far in growing(coming):
            written.markdown(so_far)
            steps.show(coming.steps)
    if coming.stored is None:
        return ""
    steps.end(coming.stored)
    return coming.stored.id


def show_steps(answer: CitedAnswer) -> None:
    """Of an answer that is kept: one line, and behind it each step."""
    if line := steps_line(answer):
        with st.expander(line, icon=":material/timeline:", key=f"steps-{answer.id}"):
            st.markdown("  \n".join(plain(step_line(step)) for step in steps_of(answer)))
