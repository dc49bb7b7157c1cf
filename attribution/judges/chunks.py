"""Evidence in pieces that a judge can read whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from propcite.retrieval.sentences import split_sentences


def chunks(text: str, fits: Callable[[str], bool]) -> list[str]:
    """The text in pieces that fit, each of as many whole sentences as possible; joined they are the text.

    A sentence that does not fit by itself is cut between words, a word between characters.

    >>> chunks("It rained. It was cold. We left.", lambda piece: len(piece.split()) <= 5)
    ['It rained. It was cold. ', 'We left.']
    """
    if fits(text):
        return [text] if text else []
    found: list[str] = []
    for piece in (piece for span in split_sentences(text) for piece in _cut(span.of(text), fits)):
        if found and fits(found[-1] + piece):
            found[-1] += piece
        else:
            found.append(piece)
    return found


def _cut(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """The text, or its halves until they fit."""
    if len(text) < 2 or fits(text):
        yield text
        return
    middle = len(text) // 2
    at = text.rfind(" ", 0, middle) + 1 or text.find(" ", middle, -1) + 1 or middle
    yield from _cut(text[:at], fits)
    yield from _cut(text[at:], fits)
