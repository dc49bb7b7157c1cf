"""Write a cited answer as ALCE scores it, `[1][2]` in front of each sentence's last stop, and read such a text.

ALCE reads `[` and a digit as a citation.  Where the answer itself has them, an invisible word joiner (U+2060) is put
between the two; reading removes it again.  ALCE scores the first line only, so a line break becomes a space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from typing_extensions import TypedDict

from propcite.attribution.citations import CitedAnswer, CitedSentence
from propcite.retrieval.text import Passage, Span

JOINER = "\u2060"

_LAST_STOP = re.compile(r"""(?:[.,;:!?…。！？،؟۔।]+[)\]}"'”’»]*)?(?P<cell>[ \t]*\|)?$""")
_LINE_END = re.compile(r"\s*[\r\n]\s*")
_LOOKS_LIKE_MARKER = re.compile(rf"\[(?={JOINER}*\d)")
_JOINED = re.compile(rf"\[{JOINER}(?={JOINER}*\d)")
_MARKERS = re.compile(r" (?:\[\d+\])+")


class AlceDocument(TypedDict):
    id: str
    title: str
    text: str


class AlceItem(TypedDict):
    """One entry of the `data` of an ALCE result file."""

    question: str
    output: str
    docs: list[AlceDocument]


class AlceSentence(NamedTuple):
    """A sentence without its markers, and the numbers that it cites."""

    text: str
    numbers: tuple[int, ...]


def to_alce(answer: CitedAnswer, docs: Sequence[Passage] | None = None) -> str:
    """Return the answer with markers, on one line.

    Numbers count `docs` from 1, or the cited passages by first appearance.  Citations of passages outside `docs` are
    left out: ALCE has no number for them.
    """
    return with_markers(answer, docs, _as_one_line).strip()


def with_markers(
    answer: CitedAnswer,
    docs: Sequence[Passage] | None = None,
    convert: Callable[[str], str] = lambda text: text,
    *,
    typed: Mapping[Span, Sequence[int]] = MappingProxyType({}),
) -> str:
    """Return the answer's own text, passed through `convert`, with markers where ALCE expects them.

    `typed` has further numbers by the span of their sentence.
    """
    listed = enumerate(answer.passages if docs is None else docs, start=1)
    numbers = {passage.id: n for n, passage in reversed(list(listed))}
    pieces, last = [], 0
    for sentence in answer.sentences:
        if markers := _markers(sentence, numbers, typed.get(sentence.span, ())):
            place = _place(sentence, answer.text)
            pieces.append(convert(answer.text[last:place]) + markers)
            last = place
    return "".join(pieces) + convert(answer.text[last:])


def to_alce_item(answer: CitedAnswer, docs: Sequence[Passage] | None = None) -> AlceItem:
    passages = answer.passages if docs is None else docs
    return {
        "question": answer.question,
        "output": to_alce(answer, passages),
        "docs": [{"id": passage.id, "title": passage.title, "text": passage.text} for passage in passages],
    }


def from_alce(text: str, split: Callable[[str], Sequence[Span]] | None = None) -> list[AlceSentence]:
    """Split a text with markers into sentences, each with the numbers that it cites."""
    from propcite.retrieval.sentences import split_sentences  # loads nltk

    sentences = (span.of(text).strip() for span in (split or split_sentences)(text))
    return [AlceSentence(without_markers(s), tuple(int(n) for n in re.findall(r"\[(\d+)", s))) for s in sentences]


def without_markers(text: str) -> str:
    """Undo `to_alce`: return the answer's own words, on one line."""
    return _JOINED.sub("[", _MARKERS.sub("", text))


def _place(sentence: CitedSentence, text: str) -> int:
    """Return the place in front of the sentence's last stop and of quotes, brackets or a table's bar behind it."""
    words = sentence.span.trimmed(text)
    stop = _LAST_STOP.search(words.of(text))
    return words.start + stop.start() if stop and stop.start() else words.end


def _markers(sentence: CitedSentence, numbers: dict[str, int], typed: Sequence[int]) -> str:
    cited = {*typed, *(numbers[c.passage.id] for c in sentence.citations if c.passage.id in numbers)}
    return " " + "".join(f"[{n}]" for n in sorted(cited)) if cited else ""


def _as_one_line(text: str) -> str:
    return _LOOKS_LIKE_MARKER.sub(f"[{JOINER}", _LINE_END.sub(" ", text))
