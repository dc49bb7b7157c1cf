"""Split evidence into pieces that a judge can read whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from propcite.retrieval.sentences import split_sentences


def chunks(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Split a text into pieces that fit, each with as many whole sentences as possible; joined they are the text.

    A sentence that does not fit is split between words, a word that does not fit between characters.

    >>> chunks("It rained. It was cold. We left.", lambda piece: len(piece.split()) <= 5)
    ['It rained. It was cold. ', 'We left.']
    """
    if fits(text):
        return [text] if text else []
    pieces: list[str] = []
    for piece in (piece for span in split_sentences(text) for piece in _halves(span.of(text), fits)):
        if pieces and fits(pieces[-1] + piece):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return pieces


def _halves(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Yield the text if it fits, else its halves, split again as often as needed."""
    if len(text) < 2 or fits(text):
        yield text
        return
    middle = len(text) // 2
    at = text.rfind(" ", 0, middle) + 1 or text.find(" ", middle, -1) + 1 or middle
    yield from _halves(text[:at], fits)
    yield from _halves(text[at:], fits)
