"""What a stream of a cited answer tells, and its form as JSON and as server-sent events.

| `event` | `data` |
|---|---|
| `text` | `{"text"}`: the next characters of the answer, as they came |
| `sentence` | `{"text", "start", "end", "most", "citations", "propositions"}`: a sentence, as in the whole answer |
| `done` | the whole cited answer, as `propcite schema` describes it |

Texts joined are the answer; a `sentence` comes after all of its text, and never changes what was told before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from propcite.attribution.citations import Citation, CitedAnswer, CitedSentence
from propcite.attribution.formats.json import to_dict

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next characters of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class SentenceCited:
    """A sentence of the answer with its citations; `text` is its words, its spans lie in the answer."""

    sentence: CitedSentence
    text: str

    @property
    def citations(self) -> tuple[Citation, ...]:
        return self.sentence.citations


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """The whole answer, as citing it at once gives it."""

    answer: CitedAnswer


Event = TextDelta | SentenceCited | AnswerDone


def event_dict(event: Event) -> dict[str, Any]:
    """An event as plain values.

    >>> event_dict(TextDelta("It is "))
    {'event': 'text', 'data': {'text': 'It is '}}
    """
    match event:
        case TextDelta(text):
            return {"event": "text", "data": {"text": text}}
        case SentenceCited():
            return {"event": "sentence", "data": _sentence(event)}
        case AnswerDone(answer):
            return {"event": "done", "data": to_dict(answer)}


def event_json(event: Event) -> str:
    """An event as one line of JSON; half a character, which JSON cannot hold, is written as �."""
    return _json(event_dict(event))


def server_sent(event: Event) -> str:
    """An event as a web page's EventSource reads it.

    >>> server_sent(TextDelta("It is "))
    'event: text\\ndata: {"text": "It is "}\\n\\n'
    """
    told = event_dict(event)
    return f"event: {told['event']}\ndata: {_json(told['data'])}\n\n"


def _json(data: Mapping[str, Any]) -> str:
    return _SURROGATE.sub("\ufffd", json.dumps(data, ensure_ascii=False))


def _sentence(event: SentenceCited) -> Mapping[str, Any]:
    """As the whole answer tells it; what stands before is left blank, so that places are right."""
    text = " " * event.sentence.span.start + event.text
    return to_dict(CitedAnswer(text, (event.sentence,)))["sentences"][0]
