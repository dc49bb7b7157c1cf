"""A language model that answers from passages: asked with a prompt, read while it writes, told when it fails."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Protocol

from propcite.app.answering.generators import Draft, Shown, Writing
from propcite.app.answering.generators.beside import Beside
from propcite.app.answering.generators.reading import Reading
from propcite.app.answering.prompts import ABSTENTION, ALONE, Prompt, is_abstention, load_prompt
from propcite.app.errors import GeneratorError
from propcite.app.library.store import Turn
from propcite.attribution.english.questions import Exchange, standing_alone
from propcite.attribution.llm.endpoint import Message
from propcite.attribution.llm.failures import NoAnswerError, TooLongError
from propcite.attribution.llm.server_events import Ended
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.text import Passage

LONGEST_QUESTION = 1000  # characters; a longer text is an answer
_AROUND = re.compile(r"^<question>|</question>$|^[\w -]{0,30}question[\w -]{0,10}:", re.IGNORECASE)


class Model(Protocol):
    """A language model that is asked with the turns of a chat."""

    def stream(self, messages: list[Message]) -> AsyncGenerator[str | Ended, None]:
        """The text as it is written, in the end why it ended.  TooLongError: it cannot hold so much."""
        ...


class PromptedGenerator:
    """Any language model as a generator.  Safe to share among threads; `num_parallel` questions of a batch are in work.

    What was said before in a conversation is left out, the oldest first, where the model cannot hold it, then passages
    from the last; a note says so.
    """

    def __init__(
        self, name: str, model: Model, prompt: Prompt, standalone: Prompt | None = None, *, num_parallel: int = 8
    ) -> None:
        alone = standalone or load_prompt("standalone", ALONE)
        self.name, self.prompt, self.understanding = name, prompt.id, alone.id
        self._model, self._asks, self._alone = model, prompt, alone
        self._num_parallel = num_parallel
        self._beside = Beside(f"propcite-{name}")

    def understand(self, question: str, before: Sequence[Turn]) -> str:
        return self._beside.run(self._understood(question, before))

    async def _understood(self, question: str, before: Sequence[Turn]) -> str:
        """Asked with ever fewer turns until the model can hold them; rules have the word where it says nothing."""
        for first in range(len(before)):
            try:
                text = await self._said(self._alone.alone(question, before[first:]))
            except TooLongError:
                continue
            except NoAnswerError as error:
                raise GeneratorError(f"the language model gave no answer: {error}") from error
            if found := question_in(text):
                return found
            break
        return standing_alone(question, [Exchange(turn.understood, turn.text) for turn in before])

    async def _said(self, messages: list[Message]) -> str:
        reading = Reading(live=False)
        async with aclosing(self._model.stream(messages)) as pieces:
            text = "".join([reading.feed(piece) async for piece in pieces if isinstance(piece, str)])
        return text + reading.finish()

    def stream(self, question: str, shown: Shown) -> Writing:
        for item in self._beside.items(self._written(question, shown, live=True)):
            if isinstance(item, Draft):
                return item
            yield item or ""
        raise AssertionError("a text that ends has told its draft")

    def generate_many(self, asked: Sequence[tuple[str, Shown]]) -> list[Draft | PropCiteError]:
        return self._beside.run(self._all(asked))

    async def _all(self, asked: Sequence[tuple[str, Shown]]) -> list[Draft | PropCiteError]:
        """What fails for one question stands in its place; where none can be written, the batch ends with that."""
        places = asyncio.Semaphore(self._num_parallel)

        async def whole(question: str, shown: Shown) -> Draft | PropCiteError:
            async with places:
                try:
                    return await self._draft(question, shown)
                except GeneratorError as error:
                    return error

        tasks = [asyncio.ensure_future(whole(*one)) for one in asked]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _draft(self, question: str, shown: Shown) -> Draft:
        async with aclosing(self._written(question, shown, live=False)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Draft):
                    return piece
        raise AssertionError("a text that ends has told its draft")

    async def _written(self, question: str, shown: Shown, *, live: bool) -> AsyncGenerator[str | Draft, None]:
        """Asked with ever fewer turns of the conversation, then ever fewer passages, until the model can hold them."""
        if not shown.passages:
            yield ABSTENTION
            yield Draft(ABSTENTION, abstained=True)
            return
        for before, passages in _ever_less(shown):
            messages = self._asks.messages(question, passages, before)
            notes = _left_out(len(shown.before) - len(before), len(shown.before), "earlier question")
            notes += _left_out(len(shown.passages) - len(passages), len(shown.passages), "passage")
            try:
                async with aclosing(self._read(messages, notes, live=live)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except TooLongError as error:
                refused = error
            except NoAnswerError as error:
                raise GeneratorError(f"the language model gave no answer: {error}") from error
        raise GeneratorError(
            f"the language model cannot hold one passage beside the prompt ({refused}): give it a longer context, "
            "or lower PROPCITE_MAX_TOKENS"
        )

    async def _read(
        self, messages: list[Message], notes: tuple[str, ...], *, live: bool
    ) -> AsyncGenerator[str | Draft, None]:
        reading = Reading(live=live)
        ended = Ended("stop")
        async with aclosing(self._model.stream(messages)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Ended):
                    ended = piece
                elif text := reading.feed(piece):
                    yield text
        yield reading.finish()
        yield reading.draft(ended, notes, marks=self._asks.marks)


def question_in(text: str) -> str:
    """The question that a model wrote, without what models put around one; empty where it is none.

    >>> question_in('Standalone question: "What did it cost?"'), question_in("")
    ('What did it cost?', '')
    """
    line = next((line.strip() for line in text.split("\n") if any(map(str.isalnum, line))), "")
    line = _AROUND.sub("", line).strip(" \"'“”*`")
    return line if len(line) <= LONGEST_QUESTION and not is_abstention(line) else ""


def _ever_less(shown: Shown) -> Iterator[tuple[tuple[Turn, ...], tuple[Passage, ...]]]:
    for first in range(len(shown.before)):
        yield shown.before[first:], shown.passages
    for count in range(len(shown.passages), 0, -1):
        yield (), shown.passages[:count]


def _left_out(number: int, of: int, what: str) -> tuple[str, ...]:
    """
    >>> _left_out(2, 8, "passage")
    ('2 of 8 passages were left out: the context of the model is full',)
    """
    were = "was" if number == 1 else "were"
    return (f"{number} of {of} {what}s {were} left out: the context of the model is full",) if number else ()
