"""Events of a streamed answer, as JSON and as server-sent events.

| `event` | `data` |
|---|---|
| `text` | `{"text"}`: the next characters of the answer |
| `sentence` | `{"text", "start", "end", "most", "citations", "propositions"}`: a sentence, as in the whole answer |
| `done` | the whole cited answer, as `propcite schema` describes it |

The texts joined are the answer.  A `sentence` comes after all of its text, and later events never change it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from propcite.attribution.citations import Citation, CitedAnswer, CitedSentence
from propcite.attribution.formats.json import to_dict
from propcite.attribution.formats.text import without_surrogates


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next characters of the answer.

    >>> TextDelta("It is ").text
    'It is '
    """

    text: str


@dataclass(frozen=True, slots=True)
class SentenceCited:
    """A sentence of the answer with its citations.  `text` is the sentence; its spans lie in the answer.

    >>> from propcite import PropCite
    >>> events = PropCite.default().stream(["It rained all day."], ["It rained all day."])
    >>> [event.text for event in events if isinstance(event, SentenceCited)]
    ['It rained all day.']
    """

    sentence: CitedSentence
    text: str

    @property
    def citations(self) -> tuple[Citation, ...]:
        return self.sentence.citations


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """The whole answer, the same as `cite` returns.

    >>> from propcite import PropCite
    >>> *_, done = PropCite.default().stream(["It rained all day."], ["It rained all day."])
    >>> done.answer.text
    'It rained all day.'
    """

    answer: CitedAnswer


Event = TextDelta | SentenceCited | AnswerDone


def event_dict(event: Event) -> dict[str, Any]:
    """Return an event as plain values.

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
    """Return an event as one line of JSON; a lone surrogate, which JSON cannot hold, becomes �.

    >>> event_json(TextDelta("It is "))
    '{"event": "text", "data": {"text": "It is "}}'
    """
    return _json(event_dict(event))


def server_sent(event: Event) -> str:
    """Return an event as a server-sent event, which EventSource in a browser reads.

    >>> server_sent(TextDelta("It is "))
    'event: text\\ndata: {"text": "It is "}\\n\\n'
    """
    fields = event_dict(event)
    return f"event: {fields['event']}\ndata: {_json(fields['data'])}\n\n"


def _json(data: Mapping[str, Any]) -> str:
    return without_surrogates(json.dumps(data, ensure_ascii=False))


def _sentence(event: SentenceCited) -> Mapping[str, Any]:
    """Return the sentence as in the whole answer; the text before it is padded with blanks to keep its place."""
    text = " " * event.sentence.span.start + event.text
    return to_dict(CitedAnswer(text, (event.sentence,)))["sentences"][0]
