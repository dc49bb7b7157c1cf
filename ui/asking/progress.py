"""Show an answer while it is written: its steps with their times, and its text."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from propcite.app.answering.steps import Step, steps_line, steps_of
from propcite.attribution.citations import CitedAnswer
from propcite.ui.asking.words import NOW, step_line, step_lines
from propcite.ui.markdown import plain


class Steps:
    """A box that shows each step when it begins and when it ends."""

    def __init__(self, *, follows: bool) -> None:
        self._follows = follows
        self._box = st.status("Getting ready…", expanded=True)
        self._lines = self._box.empty()

    def show(self, begun: Sequence[Step]) -> None:
        self._lines.markdown("  \n".join(plain(line) for line in step_lines(begun, follows=self._follows)))
        running = [step for step in begun if not step.done]
        if running:
            self._box.update(label=f"{NOW[running[-1].name]}…", expanded=True)


def show_steps(answer: CitedAnswer) -> None:
    """Show a stored answer's steps in one line that unfolds."""
    if line := steps_line(answer):
        with st.expander(line, icon=":material/timeline:", key=f"steps-{answer.id}"):
            st.markdown("  \n".join(plain(step_line(step)) for step in steps_of(answer)))
