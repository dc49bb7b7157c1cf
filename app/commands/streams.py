"""`propcite cite --stream` and `ask --stream`: a text cited while it is still being written."""

from __future__ import annotations

import codecs
import os
import select
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import document_names, find_collection, opened
from propcite.app.commands.given import read_passages
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:  # the events load numpy
    from propcite.app.parts import Parts
    from propcite.attribution.citations import CitedAnswer
    from propcite.attribution.events import Event

AT_MOST = 1 << 16  # bytes read at once
WAIT = 0.03  # seconds

Streamed = Annotated[bool, typer.Option("--stream", help="Cite while the text comes; events as JSON lines.")]
Stripped = Annotated[bool, typer.Option("--strip-markers", help="With --stream: leave out the text's own [1].")]


def cite_as_it_comes(
    parts: Parts, file: str, passages: Path | None, collection: str, *, as_json: bool, strip_markers: bool
) -> CitedAnswer:
    """Tell every event as it comes.  -> the whole answer"""

    names: dict[str, str] = {}
    given = read_passages(passages) if passages else ()
    if given and not collection:
        events: Iterable[Event] = parts.propcite.stream(pieces(file), given, strip_markers=strip_markers)
    else:
        chosen = find_collection(parts, collection)
        names = document_names(parts, chosen)
        events = parts.pipeline(chosen).cite_stream(pieces(file), given, strip_markers=strip_markers)
    answer = tell(events, names, as_json=as_json)
    if not answer.text.strip():
        raise PropCiteError("there was nothing to read")
    return answer


def tell(events: Iterable[Event], names: dict[str, str], *, as_json: bool) -> CitedAnswer:
    """Events as JSON lines, on a terminal as text.  -> the whole answer"""
    return _written(events) if as_json or not sys.stdout.isatty() else _shown(events, names)


def pieces(file: str) -> Iterator[str]:
    """A file or standard input as UTF-8, each piece as soon as it is there; empty ones while nothing comes."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
    with opened(file) as stream:
        while True:
            while not select.select([stream], [], [], WAIT)[0]:
                yield ""  # citations that are ready meanwhile come out
            data = os.read(stream.fileno(), AT_MOST)
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
    assert answer is not None, "a stream that ends has told its answer"
    return answer


def _shown(events: Iterable[Event], names: dict[str, str]) -> CitedAnswer:
    """The text up to the last sentence that is cited, then the next; in the end the facts."""
    from propcite.app.terminal import show_facts, show_piece, show_understood
    from propcite.attribution.events import AnswerDone, SentenceCited, TextDelta

    coming, at = "", 0  # text that is not shown yet, and where it stands in the answer
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
