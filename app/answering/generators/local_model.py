"""Run a small language model in this process by transformers, without a server; one question is written at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from propcite.app.answering.generators.chat_tokens import chat_tokens, opened_reasoning
from propcite.app.errors import AppError
from propcite.attribution.llm.endpoint import Message
from propcite.attribution.llm.failures import NoAnswerError, TooLongError, one_line
from propcite.attribution.llm.server_events import StreamEnd
from propcite.attribution.llm.usage import Usage, record_usage

if TYPE_CHECKING:
    from propcite.app.answering.generators.local_network import LocalNetwork, Writing

NOT_HERE = ("frequency_penalty", "presence_penalty")  # of sampling: transformers has none of them


class LocalModel:
    """Loads the model at the first request.  `find` returns its folder or hub name, and may take its time.

    `sampling` holds max_tokens, temperature and seed, and what else transformers knows by its name; `stop` are texts
    at which an answer ends.
    """

    def __init__(
        self, find: Callable[[], str], sampling: Mapping[str, Any], *, device: str = "", precision: str = "auto"
    ) -> None:
        if refused := [name for name in NOT_HERE if name in sampling]:
            raise AppError(
                f"the generator local has no {refused[0]}: give PROPCITE_REPETITION_PENALTY in place of "
                f"PROPCITE_{refused[0].upper()}"
            )
        self._find, self._device, self._precision = find, device, precision
        self._sampling = {name: value for name, value in sampling.items() if name != "stop"}
        self._stops = list(sampling.get("stop", ()))
        self.loaded: LocalNetwork | None = None
        self._turn = asyncio.Lock()

    async def stream(self, messages: list[Message]) -> AsyncGenerator[str | StreamEnd, None]:
        """Yield the text as it is written, then why it ended; closing it ends the writing after the next word."""
        async with self._turn:
            model = await asyncio.to_thread(self._load)
            tokens = chat_tokens(model.tokenizer, messages, model.name)
            room = model.context - self._sampling["max_tokens"]
            if len(tokens) > room:
                raise TooLongError(f"{len(tokens):,} tokens where {max(0, room):,} fit beside the answer")
            if opening := opened_reasoning(model.tokenizer, tokens):
                yield opening
            async with aclosing(self._written(model, tokens)) as pieces:
                async for piece in pieces:
                    yield piece

    async def _written(self, model: LocalNetwork, tokens: list[int]) -> AsyncGenerator[str | StreamEnd, None]:
        """Raise an error before the first word; after it, report the error as the end of the stream."""
        loop, begun = asyncio.get_running_loop(), False
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        writing: Writing = model.begin(lambda text: _put(loop, pieces, text), self._stops)
        job = loop.run_in_executor(None, model.write, tokens, writing, self._sampling["seed"])
        job.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            while (text := await pieces.get()) is not None:
                begun = True
                yield text
            reason = job.result()
        except Exception as error:  # what transformers and PyTorch raise differs between releases
            if not begun:
                raise NoAnswerError("the model stopped", one_line(str(error))) from error
            yield StreamEnd(
                error="the model stopped in the middle of the answer", usage=Usage(len(tokens), writing.num_tokens)
            )
        else:
            yield StreamEnd(reason, usage=Usage(len(tokens), writing.num_tokens))
        finally:
            writing.ended.set()
            await asyncio.wait([job])  # the next question must find the network at rest
            record_usage(Usage(len(tokens), writing.num_tokens))

    def _load(self) -> LocalNetwork:
        """Return the network, which is loaded at the first call."""
        from propcite.app.answering.generators.local_network import load

        self.loaded = self.loaded or load(self._find(), self._sampling, self._device, self._precision)
        return self.loaded


def _put(loop: asyncio.AbstractEventLoop, pieces: asyncio.Queue[str | None], text: str) -> None:
    loop.call_soon_threadsafe(pieces.put_nowait, text)
