"""Turn a language model's reply into an answer: without reasoning, wrapping, markers of its own, and repetitions."""

from __future__ import annotations

import re

from propcite.app.answering.generators import Draft
from propcite.app.answering.generators.repetition import Repetition, without_repetition
from propcite.app.answering.generators.unwrapping import AGAIN, Unwrapping, what_it_is
from propcite.app.answering.prompts import is_abstention
from propcite.app.errors import GeneratorError
from propcite.attribution.llm.reasoning import ReasoningFilter
from propcite.attribution.llm.server_events import StreamEnd
from propcite.attribution.prose.marker_stripper import MarkerStripper

REASONING_NOTE = "the answer begins with the model's reasoning: start its server with a reasoning parser"
LOOP_NOTE = (
    "the model repeated itself, so its writing ends there and the repetition is left out: set "
    "PROPCITE_REPETITION_PENALTY=1.1, or choose another model"
)
ENDINGS = {  # what to tell a reader, by the reason that the server gives
    "stop": "",
    "length": "the answer was cut off at its token limit: raise PROPCITE_MAX_TOKENS",
    "content_filter": "the server's content filter cut the answer off",
}
_ENDED = re.compile(r"[.!?…。！？।॥؟۔|`][\W_]*\Z")


class Reply:
    """Takes a reply in as it comes, and returns what may be shown.

    `live` means that each piece is shown at once; otherwise reasoning without a start tag is left out too.
    """

    def __init__(self, *, live: bool) -> None:
        self._live = live
        self._reasoning = ReasoningFilter()
        self._begin()

    def _begin(self) -> None:
        """Begin the answer, again where what has come so far was reasoning."""
        self._unwrapping, self._unmarking, self._repetition = Unwrapping(), MarkerStripper(), Repetition()
        self._wrapped = Repetition(spares_code=False)  # watches what is held back
        self._given: list[str] = []
        self._shown: list[str] = []

    @property
    def loops(self) -> bool:
        """Return whether the model repeats itself: nothing more will be shown, so the writing can be stopped."""
        return self._repetition.loops or self._wrapped.loops

    def feed(self, piece: str) -> str:
        text = self._reasoning.feed(piece)
        if self._reasoning.missed_start and not self._live:
            self._begin()
            self._reasoning.missed_start = False
        unwrapped = self._unwrapping.feed(text)
        if not unwrapped:
            self._wrapped.feed(text.replace("`", ""))
        return self._shown_part(unwrapped)

    def finish(self, end: StreamEnd | None = None) -> str:
        """Return what is left at the end of the reply."""
        text = self._unwrapping.feed(self._reasoning.finish()) + self._unwrapping.finish()
        rest = self._shown_part(text)
        last = self._repetition.feed(self._unmarking.finish())
        last += self._repetition.finish(is_cut=end is not None and end.reason == "length")
        self._shown.append(last)
        return rest + last

    def draft(self, end: StreamEnd, notes: tuple[str, ...], *, marks: bool) -> Draft:
        """Return the finished answer; an answer without a word raises an error that says why."""
        text = "".join(self._shown)
        problem = LOOP_NOTE if self.loops else self._problem(end, text)
        if not any(map(str.isalnum, text)):
            raise GeneratorError(f"the language model gave no answer: {self._why_empty(problem)}")
        reasoning = REASONING_NOTE if self._reasoning.missed_start else ""
        all_notes = [*notes, reasoning, self._unwrapping.note, what_it_is(text), problem]
        return Draft(
            text,
            abstained=is_abstention(text),
            incomplete=bool(problem),
            notes=tuple(filter(None, all_notes)),
            given=without_repetition("".join(self._given)) if marks and not is_abstention(text) else "",
            usage=end.usage,
        )

    def _problem(self, end: StreamEnd, text: str) -> str:
        """Return why the writing ended too soon; empty where it did not."""
        ending = ENDINGS.get(end.reason, f"the server ended the answer with {end.reason!r}")
        is_cut = end.reason in ENDINGS and bool(ending) and not _ENDED.search(text)
        return end.error or (f"{ending} (its last sentence is not whole)" if is_cut else ending)

    def _why_empty(self, problem: str) -> str:
        if self._reasoning.is_reasoning:
            return "its reasoning did not end: raise PROPCITE_MAX_TOKENS"
        if problem:
            return problem
        given = "".join(self._given)
        is_marked = any(map(str.isalnum, given))
        what = "only citation markers" if is_marked else "without a word" if given.strip() else "empty"
        return f"its reply is {what}: {AGAIN}"

    def _shown_part(self, text: str) -> str:
        shown = self._repetition.feed(self._unmarking.feed(text))
        self._given.append(text)
        self._shown.append(shown)
        return shown
