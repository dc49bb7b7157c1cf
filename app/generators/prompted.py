"""A language model that answers from passages: asked with a prompt, read while it writes, told when it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol

from app.errors import GeneratorError
from app.generators import Draft, Shown, Writing
from app.generators.beside import Beside
from app.generators.reading import Reading
from app.prompts import ABSTENTION, Prompt
from attribution.endpoint import Message
from attribution.streamed import Ended
from attribution.troubles import NoAnswerError, TooLongError
from retrieval.errors import PropCiteError


class Model(Protocol):
    """A language model that is asked with the turns of a chat."""

    def stream(self, messages: list[Message]) -> AsyncGenerator[str | Ended, None]:
        """The text as it is written, in the end why it ended.  TooLongError: it cannot hold so much."""
        ...


class PromptedGenerator:
    """Any language model as a generator.  Safe to share among threads; `num_parallel` questions of a batch are in work.

    Passages that the model cannot hold are left out from the last, and a note says so.
    """

    def __init__(self, name: str, model: Model, prompt: Prompt, *, num_parallel: int = 8) -> None:
        self.name, self.prompt = name, prompt.id
        self._model, self._asks = model, prompt
        self._num_parallel = num_parallel
        self._beside = Beside(f"propcite-{name}")

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
        """Asked with ever fewer passages until the model can hold them."""
        if not shown.passages:
            yield ABSTENTION
            yield Draft(ABSTENTION, abstained=True)
            return
        for count in range(len(shown.passages), 0, -1):
            messages = self._asks.messages(question, shown.passages[:count])
            notes = _left_out(len(shown.passages) - count, len(shown.passages))
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


def _left_out(number: int, of: int) -> tuple[str, ...]:
    """
    >>> _left_out(2, 8)
    ('2 of 8 passages were left out: the context of the model is full',)
    """
    were = "was" if number == 1 else "were"
    return (f"{number} of {of} passages {were} left out: the context of the model is full",) if number else ()
