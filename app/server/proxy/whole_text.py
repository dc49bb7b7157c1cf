"""A whole cited text as the client wants it."""

from __future__ import annotations

from propcite.app.server.proxy.client import Client
from propcite.app.server.proxy.source_list import SourceList
from propcite.attribution.citations import CitedAnswer, CitedSentence


def with_sources(answer: CitedAnswer, client: Client) -> str:
    """Return the text of an answer; with markers and its list of sources if the client wants them in the text."""
    if not client.sources_as_text:
        return answer.text
    sources, pieces = SourceList(), []
    for sentence, (start, end) in zip(answer.sentences, _places(answer), strict=True):
        pieces += [answer.text[start:end], sources.markers(sentence.citations)]
    return "".join((*pieces, answer.text[sentence_end(answer.sentences, answer.text) :], sources.text()))


def sentence_end(sentences: tuple[CitedSentence, ...], text: str) -> int:
    """Return where the last sentence ends, without the blanks behind it; 0 without sentences."""
    return sentences[-1].span.trimmed(text).end if sentences else 0


def sentence_pieces(answer: CitedAnswer) -> list[tuple[str, CitedSentence | None]]:
    """Return the whole text in pieces that end where sentences end, each with its sentence.

    Words behind the last sentence are a piece without one; blanks there belong to the last piece.
    """
    pieces: list[tuple[str, CitedSentence | None]] = [
        (answer.text[start:end], sentence)
        for sentence, (start, end) in zip(answer.sentences, _places(answer), strict=True)
    ]
    rest = answer.text[sentence_end(answer.sentences, answer.text) :]
    if pieces and not rest.strip():
        text, sentence = pieces.pop()
        return [*pieces, (text + rest, sentence)]
    return [*pieces, (rest, None)]


def _places(answer: CitedAnswer) -> list[tuple[int, int]]:
    """Return where each sentence's piece begins and ends: what stands before a sentence belongs to it."""
    ends = [sentence.span.trimmed(answer.text).end for sentence in answer.sentences]
    return list(zip([0, *ends], ends, strict=False))
