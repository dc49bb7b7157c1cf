"""A cited answer as ALCE scores it: one line, `[1][2]` in front of each sentence's last stop; and back.

ALCE reads `[` and a digit as a citation, so an invisible word joiner (U+2060) parts the two where the answer itself has
them; reading takes it out again.  It scores the first line only, so a line's end becomes a space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from typing_extensions import TypedDict

from propcite.attribution.citations import CitedAnswer, CitedSentence
from propcite.retrieval.text import Passage, Span

JOINER = "\u2060"

_LAST_STOP = re.compile(r"""(?:[.,;:!?…。！？،؟۔।]+[)\]}"'”’»]*)?(?P<cell>[ \t]*\|)?$""")
_LINE_END = re.compile(r"\s*[\r\n]\s*")
_LIKE_A_MARKER = re.compile(rf"\[(?={JOINER}*\d)")
_PARTED = re.compile(rf"\[{JOINER}(?={JOINER}*\d)")
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
    """A sentence as it was before it was marked, and the numbers it cites."""

    text: str
    numbers: tuple[int, ...]


def to_alce(answer: CitedAnswer, docs: Sequence[Passage] | None = None) -> str:
    """The marked answer.  Numbers count `docs` from 1, or the cited passages by first appearance.

    What a sentence cites beyond `docs` is left out: ALCE has no number for it.
    """
    return marked(answer, docs, _plain).strip()


def marked(
    answer: CitedAnswer, docs: Sequence[Passage] | None = None, written: Callable[[str], str] = lambda text: text
) -> str:
    """The answer's own text with its markers where ALCE wants them; line breaks stay unless `written` changes them."""
    listed = enumerate(answer.passages if docs is None else docs, start=1)
    numbers = {passage.id: n for n, passage in reversed(list(listed))}
    pieces, last = [], 0
    for sentence in answer.sentences:
        if markers := _markers(sentence, numbers):
            place = _place(sentence, answer.text)
            pieces.append(written(answer.text[last:place]) + markers)
            last = place
    return "".join(pieces) + written(answer.text[last:])


def to_alce_item(answer: CitedAnswer, docs: Sequence[Passage] | None = None) -> AlceItem:
    given = answer.passages if docs is None else docs
    return {
        "question": answer.question,
        "output": to_alce(answer, given),
        "docs": [{"id": passage.id, "title": passage.title, "text": passage.text} for passage in given],
    }


def from_alce(text: str, split: Callable[[str], Sequence[Span]] | None = None) -> list[AlceSentence]:
    """The sentences of a marked answer, as a sentence splitter finds them, and what each cites."""
    from propcite.retrieval.sentences import split_sentences  # loads nltk

    sentences = (span.of(text).strip() for span in (split or split_sentences)(text))
    return [AlceSentence(unmarked(s), tuple(int(n) for n in re.findall(r"\[(\d+)", s))) for s in sentences]


def unmarked(text: str) -> str:
    """The answer's own words, in one line."""
    return _PARTED.sub("[", _MARKERS.sub("", text))


def _place(sentence: CitedSentence, text: str) -> int:
    """In front of the stop that ends the sentence, and of what closes behind it: quotes, brackets, a table's cell."""
    words = sentence.span.trimmed(text)
    stop = _LAST_STOP.search(words.of(text))
    return words.start + stop.start() if stop and stop.start() else words.end


def _markers(sentence: CitedSentence, numbers: dict[str, int]) -> str:
    cited = [numbers[c.passage.id] for c in sentence.citations if c.passage.id in numbers]
    return " " + "".join(f"[{n}]" for n in sorted(cited)) if cited else ""


def _plain(text: str) -> str:
    return _LIKE_A_MARKER.sub(f"[{JOINER}", _LINE_END.sub(" ", text))
