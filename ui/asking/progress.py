"""Show an answer while it is written: its steps with their times, and its text."""

from __future__ import annotations

import streamlit as st

from propcite.app.answering.pipeline import Pipeline
from propcite.app.answering.steps import Step, steps_line, steps_of
from propcite.attribution.citations import CitedAnswer
from propcite.ui.asking.words import NOW, step_line, step_lines
from propcite.ui.render import growing, plain


class Steps:
    """A box that shows each step when it begins and when it ends."""

    def __init__(self, *, follows: bool) -> None:
        self._follows = follows
        self._box = st.status("Asking…", expanded=True)
        self._lines = self._box.empty()
        self._before: dict[str, Step] = {}

    def report(self, name: str, ms: float | None) -> None:
        """Show a step before the writing: `ms` is None when it begins."""
        self._before[name] = Step(name, ms or 0.0, done=ms is not None)
        self.show([])

    def show(self, later: list[Step]) -> None:
        begun = [*self._before.values(), *later]
        self._lines.markdown("  \n".join(plain(line) for line in step_lines(begun, follows=self._follows)))
        running = [step for step in begun if not step.done]
        if running:
            self._box.update(label=f"{NOW[running[-1].name]}…", expanded=True)

    def end(self, answer: CitedAnswer) -> None:
        self._box.update(label=steps_line(answer), state="complete", expanded=False)


def show_while_written(pipeline: Pipeline, question: str, after: str) -> str:
    """Ask, show the answer while it is written, and return its id; empty if nothing was written."""
    steps, written = Steps(follows=bool(after)), st.empty()
    with pipeline.answer_stream(question, after, steps.report) as coming:
        for so_far in growing(coming):
            written.markdown(so_far)
            steps.show(coming.steps)
    if coming.stored is None:
        return ""
    steps.end(coming.stored)
    return coming.stored.id


def show_steps(answer: CitedAnswer) -> None:
    """Show a stored answer's steps in one line that unfolds."""
    if line := steps_line(answer):
        with st.expander(line, icon=":material/timeline:", key=f"steps-{answer.id}"):
            st.markdown("  \n".join(plain(step_line(step)) for step in steps_of(answer)))
