"""What a language model writes, as a reader gets it: without its thoughts and without markers of its own."""

from __future__ import annotations

from propcite.app.answering.generators import Draft
from propcite.app.answering.prompts import is_abstention
from propcite.app.errors import GeneratorError
from propcite.attribution.llm.server_events import Ended
from propcite.attribution.llm.thoughts import Thoughts
from propcite.attribution.prose.unmarking import Unmarking

THOUGHT = "thoughts of the model stand in front of its answer: start its server with a parser of reasoning"
TROUBLES = {
    "stop": "",
    "length": "the answer was cut off after the tokens that it may have: raise PROPCITE_MAX_TOKENS",
    "content_filter": "the server's filter of contents cut the answer off",
}


class Reading:
    """Takes a text in as it comes, and gives what may be shown.

    `live` when each piece is shown at once; else thoughts that are known by their end alone are left out too.
    """

    def __init__(self, *, live: bool) -> None:
        self._live = live
        self._thoughts, self._unmarking = Thoughts(), Unmarking()
        self._given: list[str] = []
        self._shown: list[str] = []

    def feed(self, piece: str) -> str:
        text = self._thoughts.feed(piece)
        if self._thoughts.late and not self._live:
            self._given, self._shown, self._unmarking = [], [], Unmarking()
            self._thoughts.late = False
        return self._kept(text)

    def finish(self) -> str:
        """The rest, at the end of the text."""
        return self._kept(self._thoughts.finish(), whole=True)

    def draft(self, ended: Ended, notes: tuple[str, ...], *, marks: bool) -> Draft:
        """The whole, once it is finished; an answer without a word is an error that says why."""
        text = "".join(self._shown)
        trouble = ended.trouble or TROUBLES.get(ended.reason, f"the server ended the answer with {ended.reason!r}")
        if not any(map(str.isalnum, text)):
            raise GeneratorError(f"the language model gave no answer: {self._why_none(trouble)}")
        told = [*notes, THOUGHT if self._thoughts.late else "", trouble]
        return Draft(
            text,
            abstained=is_abstention(text),
            incomplete=bool(trouble),
            notes=tuple(filter(None, told)),
            given="".join(self._given) if marks and not is_abstention(text) else "",
            usage=ended.usage,
        )

    def _why_none(self, trouble: str) -> str:
        if self._thoughts.inside:
            return "it did not come to an end of its thoughts: raise PROPCITE_MAX_TOKENS"
        return trouble or "what it wrote is empty, ask again or choose another model"

    def _kept(self, text: str, *, whole: bool = False) -> str:
        shown = self._unmarking.feed(text) + (self._unmarking.finish() if whole else "")
        self._given.append(text)
        self._shown.append(shown)
        return shown
