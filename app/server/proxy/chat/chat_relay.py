"""Pass a streamed chat completion on, with citations in between.

The model server's chunks are passed on unchanged and at once.  A sentence's citations follow in a chunk of their own,
with `delta.annotations`, once they are known.  The chunk that ends a choice is held until all of the choice is cited,
and a chunk with `delta.propcite`, the cited answer, precedes it.  So `finish_reason` is the last of a choice, and the
usage the last of all, as clients expect.  A chunk with both text and the end of a choice is split into two.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from propcite.app.server.problems import openai_error
from propcite.app.server.proxy.chat.chunks import (
    choices_of,
    common_fields,
    delta,
    index_of,
    split_end,
    text_of_delta,
)
from propcite.app.server.proxy.citing import Citer, is_text
from propcite.app.server.proxy.events import DONE, Event, encode_chunk
from propcite.app.server.proxy.proxy_request import EXTENSION
from propcite.app.server.proxy.relay import StreamRelay
from propcite.app.server.proxy.streamed_text import StreamedText
from propcite.attribution.events import SentenceCited
from propcite.attribution.formats.openai import chat_annotations

Choice = Mapping[str, Any]


class ChatRelay(StreamRelay):
    """Relays the chunks of one or several choices."""

    def __init__(self, citer: Citer) -> None:
        super().__init__(citer)
        self._fields: Mapping[str, Any] = {}
        self._choices: dict[int, StreamedText] = {}
        self._annotations: dict[int, list[dict[str, Any]]] = {}
        self._begun: set[int] = set()
        self._ended: set[int] = set()
        self._ending: list[asyncio.Task[None]] = []

    @property
    def is_unfinished(self) -> bool:
        """Return whether no choice has begun, or one has not ended."""
        return not self._begun or bool(self._begun - self._ended)

    def out_of_time_event(self) -> Event:
        return Event(encode_chunk(openai_error(504, self.error)))

    async def finish(self, error_event: Event | None) -> None:
        await self._await_ending()
        open_choices = [index for index in self._choices if index not in self._ended]
        for index in open_choices:
            await self._end_choice(index, self.why_broken)
        if error_event:
            await self.send(error_event.raw)
        elif self.error and not open_choices and self.is_unfinished:
            await self.send(encode_chunk(openai_error(502, self.error)))
        await self.send(DONE)

    async def take(self, event: Event) -> None:
        chunk = event.content
        if chunk is None:  # a comment
            return await self.send(event.raw)
        choices = choices_of(chunk)
        self._fields = common_fields(chunk) or self._fields
        indexes = {index_of(choice) for choice in choices}
        if not choices or indexes & self._ended:
            await self._await_ending()  # the usage comes last
        self._begun |= indexes
        if any(map(text_of_delta, choices)) and any(choice.get("finish_reason") for choice in choices):
            text, end = split_end(chunk)
            await self._pass(text, None)
            return await self._pass(end, None)
        return await self._pass(chunk, event.raw)

    async def _pass(self, chunk: Mapping[str, Any], raw: bytes | None) -> None:
        """Pass a chunk on, unchanged unless its text changes, and cite its text only after that."""
        choices, taken_texts = choices_of(chunk), []
        for choice in choices:
            if text := text_of_delta(choice):
                streamed = self._choice(index_of(choice))
                taken, sent = streamed.take(text)
                if sent != text:
                    choice["delta"]["content"], raw = sent, None
                streamed.num_annotations += len(choice["delta"].get("annotations") or ())
                taken_texts.append((streamed, taken))
        ended = [choice for choice in choices if choice.get("finish_reason")]
        if ended:
            self._hold(ended, raw or encode_chunk(chunk))
        else:
            await self.send(raw or encode_chunk(chunk))
        for streamed, taken in taken_texts:
            streamed.add(taken)

    def _hold(self, ended: Sequence[Choice], raw: bytes) -> None:
        """Hold the chunk that ends choices until these are cited, without holding the text of other choices."""
        newly_ended = [choice for choice in ended if index_of(choice) not in self._ended]  # some servers end one twice
        self._ended |= {index_of(choice) for choice in ended}
        self._ending.append(self.start(self._end(newly_ended, raw)))

    async def _end(self, ended: Sequence[Choice], raw: bytes) -> None:
        for choice in ended:
            if index_of(choice) in self._choices:
                await self._end_choice(index_of(choice), choice.get("finish_reason"))
        await self.send(raw)

    async def _end_choice(self, index: int, reason: str | None) -> None:
        """Send what is left: text that was held back, the last sentences' annotations, and the cited answer."""
        streamed = self._choices[index]
        await self._add(index, content=streamed.rest())
        answer = await streamed.end(reason)
        await self._add(index, content=streamed.sources())
        if is_text(answer.text):
            again = self._annotations.get(index, []) if self.client.keeps_last_list else []
            await self._add(index, annotations=again, **{EXTENSION: self.citer.as_json(answer)})

    async def _await_ending(self) -> None:
        ending, self._ending = self._ending, []
        await asyncio.gather(*ending)

    def _choice(self, index: int) -> StreamedText:
        if index not in self._choices:
            self._choices[index] = self.open_text(partial(self._cited, index))
        return self._choices[index]

    async def _cited(self, index: int, event: SentenceCited | None) -> None:
        streamed = self._choices[index]
        added: dict[str, Any] = {"content": streamed.released(event)}
        if event and not self.client.sources_as_text:
            annotations = chat_annotations(streamed.answer_with(event), self.client.unit)
            # Clients join the lists of a stream by the index.
            numbered = [{"index": n, **one} for n, one in enumerate(annotations, start=streamed.num_annotations)]
            streamed.num_annotations += len(numbered)
            self._annotations.setdefault(index, []).extend(numbered)
            added["annotations"] = numbered
        await self._add(index, **added)

    async def _add(self, index: int, **added: Any) -> None:
        """Send a chunk that adds those fields that have a value."""
        if added := {name: value for name, value in added.items() if value}:
            await self.send(delta(self._fields, index, added))
