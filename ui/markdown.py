"""Write texts of people, documents and models as Markdown, with nothing in them that it would format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    """Escape a text as Markdown, for Streamlit's labels and messages."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def growing(events: Iterable[Event]) -> Iterator[str]:
    """Yield an answer while it is written, as Markdown with the markers so far.

    >>> list(growing([TextDelta("It *rained"), TextDelta(" here.")]))
    ['It \\\\*rained', 'It \\\\*rained here\\\\.']
    """
    text, markers = "", {0: ""}
    for event in events:
        match event:
            case TextDelta(more):
                text += more
            case SentenceCited(sentence):
                markers[sentence.span.end] = "".join(f"**\\[{c.number}\\]**" for c in sentence.citations)
            case AnswerDone():
                continue
        yield "".join(
            _lines(text[start:end]) + markers.get(end, "") for start, end in pairwise(sorted({*markers, len(text)}))
        )


def _lines(text: str) -> str:
    """Escape a text as Markdown and keep its line breaks."""
    return "\n\n".join(_PUNCTUATION.sub(r"\\\1", line) for line in text.split("\n"))
