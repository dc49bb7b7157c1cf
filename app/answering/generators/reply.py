"""Turn a language model's reply into an answer: without its reasoning and without its own markers."""

from __future__ import annotations

from propcite.app.answering.generators import Draft
from propcite.app.answering.prompts import is_abstention
from propcite.app.errors import GeneratorError
from propcite.attribution.llm.reasoning import ReasoningFilter
from propcite.attribution.llm.server_events import StreamEnd
from propcite.attribution.prose.marker_stripper import MarkerStripper

REASONING_NOTE = "the answer begins with the model's reasoning: start its server with a reasoning parser"
ENDINGS = {  # what to tell a reader, by the reason that the server gives
    "stop": "",
    "length": "the answer was cut off at its token limit: raise PROPCITE_MAX_TOKENS",
    "content_filter": "the server's content filter cut the answer off",
}


class Reply:
    """Takes a reply in as it comes, and returns what may be shown.

    `live` means that each piece is shown at once; otherwise reasoning without a start tag is left out too.
    """

    def __init__(self, *, live: bool) -> None:
        self._live = live
        self._reasoning, self._unmarking = ReasoningFilter(), MarkerStripper()
        self._given: list[str] = []
        self._shown: list[str] = []

    def feed(self, piece: str) -> str:
        text = self._reasoning.feed(piece)
        if self._reasoning.missed_start and not self._live:
            self._given, self._shown, self._unmarking = [], [], MarkerStripper()
            self._reasoning.missed_start = False
        return self._shown_part(text)

    def finish(self) -> str:
        """Return what is left at the end of the reply."""
        return self._shown_part(self._reasoning.finish(), whole=True)

    def draft(self, end: StreamEnd, notes: tuple[str, ...], *, marks: bool) -> Draft:
        """Return the finished answer; an answer without a word raises an error that says why."""
        text = "".join(self._shown)
        problem = end.error or ENDINGS.get(end.reason, f"the server ended the answer with {end.reason!r}")
        if not any(map(str.isalnum, text)):
            raise GeneratorError(f"the language model gave no answer: {self._why_empty(problem)}")
        all_notes = [*notes, REASONING_NOTE if self._reasoning.missed_start else "", problem]
        return Draft(
            text,
            abstained=is_abstention(text),
            incomplete=bool(problem),
            notes=tuple(filter(None, all_notes)),
            given="".join(self._given) if marks and not is_abstention(text) else "",
            usage=end.usage,
        )

    def _why_empty(self, problem: str) -> str:
        if self._reasoning.is_reasoning:
            return "its reasoning did not end: raise PROPCITE_MAX_TOKENS"
        return problem or "its reply is empty, ask again or choose another model"

    def _shown_part(self, text: str, *, whole: bool = False) -> str:
        shown = self._unmarking.feed(text) + (self._unmarking.finish() if whole else "")
        self._given.append(text)
        self._shown.append(shown)
        return shown
