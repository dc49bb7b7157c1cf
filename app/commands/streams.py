"""`propcite cite --stream` and `ask --stream`: cite a text while it is being written."""

from __future__ import annotations

import codecs
import os
import select
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import document_names, find_collection, open_input
from propcite.app.commands.given import read_passages
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:  # the events load numpy
    from propcite.app.parts import Parts
    from propcite.attribution.citations import CitedAnswer
    from propcite.attribution.events import Event

MAX_BYTES = 1 << 16  # bytes read at once
WAIT = 0.03  # seconds

Streamed = Annotated[bool, typer.Option("--stream", help="Cite the text while it arrives; events as JSON lines.")]
Stripped = Annotated[bool, typer.Option("--strip-markers", help="With --stream: remove the text's own markers.")]


def cite_stream(
    parts: Parts,
    file: str,
    passages: Path | None,
    collection: str,
    *,
    question: str,
    as_json: bool,
    strip_markers: bool,
) -> CitedAnswer:
    """Print every event as it arrives and return the whole answer."""
    names: dict[str, str] = {}
    given = read_passages(passages) if passages else ()
    if given and not collection:
        events: Iterable[Event] = parts.propcite.stream(
            pieces(file), given, question=question, strip_markers=strip_markers
        )
    else:
        chosen = find_collection(parts, collection)
        names = document_names(parts, chosen)
        events = parts.pipeline(chosen).cite_stream(pieces(file), given, question=question, strip_markers=strip_markers)
    answer = print_events(events, names, parts, as_json=as_json)
    if not answer.text.strip():
        raise PropCiteError("there was nothing to read")
    return answer


def print_events(events: Iterable[Event], names: dict[str, str], parts: Parts, *, as_json: bool) -> CitedAnswer:
    """Print events as JSON lines, or as text on a terminal, and return the whole answer."""
    events = _with_documents(events, parts)
    return _written(events) if as_json or not sys.stdout.isatty() else _shown(events, names)


def _with_documents(events: Iterable[Event], parts: Parts) -> Iterator[Event]:
    """Yield the events; the whole answer says why the words of its quotes may differ from their sources."""
    from propcite.attribution.events import AnswerDone
    from propcite.attribution.formats.cited_documents import with_documents

    for event in events:
        if isinstance(event, AnswerDone):
            event = AnswerDone(with_documents(event.answer, parts.library.cited_documents(event.answer)))
        yield event


def pieces(file: str) -> Iterator[str]:
    """Yield a file or standard input as UTF-8 pieces as they arrive; empty ones while none arrives."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
    with open_input(file) as stream:
        while True:
            while not select.select([stream], [], [], WAIT)[0]:
                yield ""  # lets finished citations be printed meanwhile
            data = os.read(stream.fileno(), MAX_BYTES)
            if not data:
                break
            yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


def _written(events: Iterable[Event]) -> CitedAnswer:
    from propcite.attribution.events import AnswerDone, event_json

    answer = None
    for event in events:
        sys.stdout.write(event_json(event) + "\n")
        sys.stdout.flush()
        answer = event.answer if isinstance(event, AnswerDone) else answer
    assert answer is not None, "a stream ends with its answer"
    return answer


def _shown(events: Iterable[Event], names: dict[str, str]) -> CitedAnswer:
    """Print the text sentence by sentence as it is cited, then the facts."""
    from propcite.app.terminal import show_facts, show_piece, show_understood
    from propcite.attribution.events import AnswerDone, SentenceCited, TextDelta

    coming, at = "", 0  # text not shown yet, and its offset in the answer
    for event in events:
        match event:
            case TextDelta(text):
                coming += text
            case SentenceCited(sentence):
                size = sentence.span.end - at
                show_piece(coming[:size], sentence)
                coming, at = coming[size:], sentence.span.end
            case AnswerDone(answer):
                show_piece(coming + "\n")
                show_understood(answer)
                show_facts(answer, names)
    return answer
