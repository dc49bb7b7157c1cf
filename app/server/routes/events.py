"""An answer as server-sent events, while it is written or cited.

| `event` | `data` |
|---|---|
| `answer.delta` | `{"text"}`: the next characters of the answer |
| `sentence` | a sentence with its facts, once it is cited; `passages` are those that no earlier sentence cites |
| `citation.added` | one citation; `answer_start` and `answer_end` say which words of the answer it supports |
| `result` | the whole cited answer |
| `error` | problem details; nothing follows |
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field

from fastapi import Request

from propcite.app.errors import without_commands
from propcite.app.server.problems import INTERNAL_ERROR, one_line, problem, status_of
from propcite.app.server.routes.shared import count_facts
from propcite.app.server.streaming import COMMENT, Stream, sse_event
from propcite.app.server.writing import Writing
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta, event_dict
from propcite.attribution.formats import FORMATS, Unit
from propcite.attribution.formats.json.native import to_native
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.server")


async def answer_events(
    request: Request,
    writing: Writing,
    make: Callable[[], Stream[Event]],
    finish: Callable[[CitedAnswer], Awaitable[CitedAnswer]],
    format_name: str,
    unit: Unit,
) -> AsyncIterator[str]:
    """Yield the events of the stream that `make` opens; `finish` records the whole answer and returns what is sent."""
    sending = _Sending(format_name, unit)
    try:
        async with aclosing(writing.items(make)) as events:
            async for event in events:
                if isinstance(event, AnswerDone):
                    event = AnswerDone(await finish(event.answer))
                    count_facts(request.app.state.service, event.answer)
                for sent in [COMMENT] if event is None else sending.sse(event):
                    yield sent
    except PropCiteError as error:
        yield sse_event("error", problem(status_of(error), one_line(without_commands(error))))
    except Exception as error:
        log.error("%s failed in its stream", request.url.path, exc_info=error)
        yield sse_event("error", problem(500, INTERNAL_ERROR))


@dataclass(slots=True)
class _Sending:
    """What was sent of an answer so far."""

    format_name: str
    unit: Unit
    text: str = ""
    passages: set[str] = field(default_factory=set)

    def sse(self, event: Event) -> Iterator[str]:
        match event:
            case TextDelta(text):
                self.text += text
                yield sse_event("answer.delta", event_dict(event)["data"])
            case SentenceCited():
                yield from self._sentence(event)
            case AnswerDone(answer):
                form = FORMATS[self.format_name]
                written = form.write(answer, self.unit)
                as_text = {"format": form.name, "text": written.decode(errors="replace")}
                yield sse_event("result", json.loads(written) if "json" in form.media_type else as_text)

    def _sentence(self, event: SentenceCited) -> Iterator[str]:
        sentence = event.sentence
        cited = CitedAnswer(self.text[: sentence.span.start] + event.text, (sentence,))
        data = to_native(cited, self.unit)
        first, passages = data["sentences"][0], [p for p in data["passages"] if p["id"] not in self.passages]
        self.passages.update(p["id"] for p in passages)
        yield sse_event("sentence", {**first, "passages": passages})
        for citation in first["citations"]:
            place = {"answer_start": first["start"], "answer_end": first["end"]}
            yield sse_event("citation.added", {**citation, **place})
