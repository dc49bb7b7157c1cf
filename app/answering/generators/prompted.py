"""Answer by a language model: fill a prompt with passages, and read the reply while it is written."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Protocol

from propcite.app.answering.generators import Draft, GenerationContext, Writing
from propcite.app.answering.generators.reply import Reply
from propcite.app.answering.prompts import ABSTENTION, STANDALONE, Prompt, is_abstention, load_prompt
from propcite.app.errors import GeneratorError
from propcite.app.library.store import Turn
from propcite.attribution.english import Exchange, standalone_question
from propcite.attribution.llm.background_loop import BackgroundLoop
from propcite.attribution.llm.endpoint import Message
from propcite.attribution.llm.failures import NoAnswerError, TooLongError
from propcite.attribution.llm.server_events import StreamEnd
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.text import Passage

MAX_QUESTION = 1000  # characters; a longer reply is no question
_WORD = re.compile(r"\w\w")  # a reply without one, such as "x x x", is no question
_AROUND = re.compile(r"^<question>|</question>$|^[\w -]{0,30}question[\w -]{0,10}:", re.IGNORECASE)


class Model(Protocol):
    """A language model that continues a chat."""

    def stream(self, messages: list[Message]) -> AsyncGenerator[str | StreamEnd, None]:
        """Yield the text as it is written, then why it ended; raise TooLongError if the messages do not fit."""
        ...


class PromptedGenerator:
    """Makes a generator of any language model.  Threads may share it; `num_parallel` questions run at the same time.

    If a prompt does not fit the model, earlier turns of the conversation are left out first, oldest first, then
    passages from the last; a note says so.
    """

    def __init__(
        self, name: str, model: Model, prompt: Prompt, standalone: Prompt | None = None, *, num_parallel: int = 8
    ) -> None:
        alone = standalone or load_prompt("standalone", STANDALONE)
        self.name, self.prompt, self.understanding = name, prompt.id, alone.id
        self._model, self._prompt, self._standalone = model, prompt, alone
        self._num_parallel = num_parallel
        self._loop = BackgroundLoop(f"propcite-{name}")

    def understand(self, question: str, turns: Sequence[Turn]) -> str:
        return self._loop.run(self._understood(question, turns))

    def reply(self, messages: list[Message]) -> str:
        """Return the model's reply to any chat, without its reasoning and its markers."""
        try:
            return self._loop.run(reply_of(self._model, messages))
        except (NoAnswerError, TooLongError) as error:
            raise GeneratorError(f"the language model gave no answer: {error}") from error

    async def _understood(self, question: str, turns: Sequence[Turn]) -> str:
        """Ask with fewer and fewer turns until they fit the model; fall back to rules where it returns no question."""
        for first in range(len(turns)):
            try:
                text = await reply_of(self._model, self._standalone.standalone_messages(question, turns[first:]))
            except TooLongError:
                continue
            except NoAnswerError as error:
                raise GeneratorError(f"the language model gave no answer: {error}") from error
            if standalone := question_in(text):
                return standalone
            break
        return standalone_question(question, [Exchange(turn.understood, turn.text) for turn in turns])

    def stream(self, question: str, context: GenerationContext) -> Writing:
        for item in self._loop.items(self._written(question, context, live=True)):
            if isinstance(item, Draft):
                return item
            yield item or ""
        raise AssertionError("a reply ends with its draft")

    def generate_many(self, requests: Sequence[tuple[str, GenerationContext]]) -> list[Draft | PropCiteError]:
        return self._loop.run(self._all(requests))

    async def _all(self, requests: Sequence[tuple[str, GenerationContext]]) -> list[Draft | PropCiteError]:
        """Put an error in the place of its question; an error that concerns all questions ends the batch."""
        slots = asyncio.Semaphore(self._num_parallel)

        async def draft(question: str, context: GenerationContext) -> Draft | PropCiteError:
            async with slots:
                try:
                    return await self._draft(question, context)
                except GeneratorError as error:
                    return error

        tasks = [asyncio.ensure_future(draft(*request)) for request in requests]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _draft(self, question: str, context: GenerationContext) -> Draft:
        async with aclosing(self._written(question, context, live=False)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Draft):
                    return piece
        raise AssertionError("a reply ends with its draft")

    async def _written(
        self, question: str, context: GenerationContext, *, live: bool
    ) -> AsyncGenerator[str | Draft, None]:
        """Ask with fewer and fewer turns of the conversation, then fewer passages, until the prompt fits the model."""
        if not context.passages:
            yield ABSTENTION
            yield Draft(ABSTENTION, abstained=True)
            return
        for turns, passages in _shorter_contexts(context):
            messages = self._prompt.messages(question, passages, turns)
            notes = _left_out(len(context.turns) - len(turns), len(context.turns), "earlier question")
            notes += _left_out(len(context.passages) - len(passages), len(context.passages), "passage")
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
            f"not even one passage fits the language model beside the prompt ({refused}): give it a longer context, "
            "or lower PROPCITE_MAX_TOKENS"
        )

    async def _read(
        self, messages: list[Message], notes: tuple[str, ...], *, live: bool
    ) -> AsyncGenerator[str | Draft, None]:
        reply = Reply(live=live)
        end = StreamEnd("stop")
        async with aclosing(self._model.stream(messages)) as pieces:
            async for piece in pieces:
                if isinstance(piece, StreamEnd):
                    end = piece
                elif text := reply.feed(piece):
                    yield text
                if reply.loops:
                    break
        yield reply.finish(end)
        yield reply.draft(end, notes, marks=self._prompt.marks)


async def reply_of(model: Model, messages: list[Message]) -> str:
    """Return a model's reply to any chat, without its reasoning and its markers."""
    reply = Reply(live=False)
    text = ""
    async with aclosing(model.stream(messages)) as pieces:
        async for piece in pieces:
            text += reply.feed(piece) if isinstance(piece, str) else ""
            if reply.loops:
                break
    return text + reply.finish()


def question_in(text: str) -> str:
    """Return the question in a reply, without what models write around it; empty where there is none.

    >>> question_in('Standalone question: "What did it cost?"'), question_in("")
    ('What did it cost?', '')
    """
    line = next((line.strip() for line in text.split("\n") if any(map(str.isalnum, line))), "")
    line = _AROUND.sub("", line).strip(" \"'“”*`")
    return line if _WORD.search(line) and len(line) <= MAX_QUESTION and not is_abstention(line) else ""


def _shorter_contexts(context: GenerationContext) -> Iterator[tuple[tuple[Turn, ...], tuple[Passage, ...]]]:
    """Yield turns and passages, fewer each time: all turns go before the first passage does."""
    for first in range(len(context.turns)):
        yield context.turns[first:], context.passages
    for count in range(len(context.passages), 0, -1):
        yield (), context.passages[:count]


def _left_out(number: int, of: int, what: str) -> tuple[str, ...]:
    """Return a note on what was left out; nothing if all was kept.

    >>> _left_out(2, 8, "passage")
    ('2 of 8 passages were left out: the context of the model is full',)
    """
    were = "was" if number == 1 else "were"
    return (f"{number} of {of} {what}s {were} left out: the context of the model is full",) if number else ()
