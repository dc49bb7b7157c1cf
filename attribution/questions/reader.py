"""Read a question beside texts: which sentences answer it, in which words, and whether any text does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from propcite.attribution.judges.embedded import probability
from propcite.attribution.questions.files import QUESTIONS, LoadedReader, load
from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.interrupting import check_interrupt
from propcite.retrieval.text import Span

if TYPE_CHECKING:
    from propcite.attribution.reading.pairs import Pair

BATCH_ROWS, DEVICE_BATCH_ROWS = 8, 64  # pairs of one forward pass, on a processor and on a GPU
MAX_WORDS = 75  # of a part of a long text: the network was trained on about as many
MAX_QUESTION = 400  # characters that are read of a question
MAX_DIRECT = 24  # word pieces of the words that answer
_LOADING = Lock()
UNREAD = -12.0  # logit of a sentence without a word that was read


@dataclass(frozen=True, slots=True)
class Text:
    """A text that may answer a question: its title, and the places of its sentences.

    >>> Text("It rained. It stopped.", sentences=(Span(0, 11), Span(11, 22))).title
    ''
    """

    text: str
    title: str = ""
    sentences: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """Logits that a sentence answers, and that `words` of it, which lie in the text, are the answer.

    `words` is None where no word was read.
    """

    answers: float
    words: Span | None = None
    words_answer: float = UNREAD


@dataclass(frozen=True, slots=True)
class Calibration:
    """Turns logits into the probabilities that a sentence, or words of it, answer; fitted on questions held out.

    Each holds weights and an intercept.  `found` weighs the logits of a passage and of its sentence and the sentence's
    similarity to the question, `answer` both logits where the text is an answer, `words` the logit of words of a
    sentence and the sentence's probability.
    """

    found: tuple[float, float, float, float] = (0.5, 0.5, 0.0, 0.0)
    answer: tuple[float, float, float] = (0.5, 0.5, 0.0)
    words: tuple[float, float, float] = (0.5, 0.5, 0.0)

    def of_found(self, reading: Reading, sentence: SentenceReading, similarity: float) -> float:
        """Return the probability that this sentence of a passage that was found answers."""
        return _weighted(self.found, reading.answers, sentence.answers, similarity)

    def of_answer(self, reading: Reading, sentence: SentenceReading) -> float:
        """Return the probability that this sentence of an answer answers."""
        return _weighted(self.answer, reading.answers, sentence.answers)

    def of_words(self, sentence: SentenceReading, answers: float) -> float:
        """Return the probability that the words of a sentence are the answer, given that of the sentence."""
        return _weighted(self.words, sentence.words_answer, answers)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the network says of one text: a logit that it answers, and a reading per sentence."""

    answers: float
    sentences: tuple[SentenceReading, ...] = ()


class QuestionReader:
    """Reads pairs of a question and a text.  It loads its network when it first reads; threads may share it.

    >>> text = "The barrier is 6.4 metres high."
    >>> (reading,) = QuestionReader().read([("How high is the barrier?", Text(text, sentences=(Span(0, 31),)))])
    >>> reading.sentences[0].words.of(text)
    '6.4 metres'
    """

    def __init__(self, file: Path | None = None, *, device: str = "", precision: str = "auto") -> None:
        """Read with the network of a file that `propcite train questions` wrote, by default with the shipped one."""
        self._given = file or QUESTIONS, device, precision

    @property
    def name(self) -> str:
        return self._loaded.name

    @cached_property
    def calibration(self) -> Calibration:
        return Calibration(**self._loaded.about.get("calibration", {}))

    @cached_property
    def _loaded(self) -> LoadedReader:
        with _LOADING:
            return load(*self._given)

    def read(self, pairs: Sequence[tuple[str, Text]]) -> list[Reading]:
        """Return a reading per (question, text)."""
        pieces = [list(_pieces(text)) for _, text in pairs]
        shown = [(question[:MAX_QUESTION], p) for (question, _), own in zip(pairs, pieces, strict=True) for p in own]
        readings = iter(self._read(shown))
        return [_joined([next(readings) for _ in own]) for own in pieces]

    def _read(self, pairs: Sequence[tuple[str, _Piece]]) -> list[Reading]:
        import torch

        loaded = self._loaded
        rows = BATCH_ROWS if loaded.network.piece.weight.device.type == "cpu" else DEVICE_BATCH_ROWS
        with loaded.lock:
            encoded = loaded.tokenizer.encode([(question, piece.shown) for question, piece in pairs])
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i].pieces))
        readings: list[Reading] = [Reading(UNREAD)] * len(pairs)
        with torch.inference_mode():
            for first in range(0, len(order), rows):
                check_interrupt()
                batch = order[first : first + rows]
                logits = loaded.network([encoded[i] for i in batch])
                for row, i in enumerate(batch):
                    starts, ends, own = (part[row].numpy(force=True) for part in logits[:3])
                    sentences = _sentences(encoded[i], pairs[i][1], starts, ends, own)
                    readings[i] = Reading(float(logits.answered[row]), tuple(sentences))
        return readings


def _weighted(weights: Sequence[float], *values: float) -> float:
    *factors, intercept = weights
    return probability(sum(f * v for f, v in zip(factors, values, strict=True)) + intercept)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a text: what is shown to the network, and where its sentences are in the text.

    `lead` is the length of the title in front of it, `start` its place in the text.
    """

    shown: str
    lead: int
    start: int
    sentences: tuple[Span, ...]


def _pieces(text: Text) -> Iterator[_Piece]:
    """Divide a text between sentences into parts that the network can read."""
    lead = f"{text.title}: " if text.title else ""
    for group in grouped(text.text, text.sentences):
        start = group[0].start
        yield _Piece(lead + text.text[start : group[-1].end], len(lead), start, tuple(group))


def grouped(text: str, sentences: Sequence[Span], max_words: int = MAX_WORDS) -> list[list[Span]]:
    """Group consecutive sentences into parts of at most so many words; a longer sentence is a part of its own."""
    groups: list[list[Span]] = []
    words = 0
    for span in sentences:
        own = len(span.of(text).split())
        if not groups or words + own > max_words:
            groups.append([])
            words = 0
        groups[-1].append(span)
        words += own
    return groups


def _joined(readings: Sequence[Reading]) -> Reading:
    """Return the reading of a text, given those of its parts."""
    sentences = tuple(sentence for reading in readings for sentence in reading.sentences)
    return Reading(max((reading.answers for reading in readings), default=UNREAD), sentences)


def _sentences(pair: Pair, piece: _Piece, starts: Floats, ends: Floats, own: Floats) -> Iterator[SentenceReading]:
    """Yield the reading of each sentence of a part of a text, given the logits of all pieces of its pair."""
    places = np.array([span.start for span in pair.second_spans]) - piece.lead + piece.start
    none = float(starts[0] + ends[0])
    for span in piece.sentences:
        first, last = (int(at) + pair.second for at in np.searchsorted(places, (span.start, span.end)))
        if last <= first:
            yield SentenceReading(UNREAD)
            continue
        answers = float(np.logaddexp.reduce(own[first:last]))
        start, end, words_answer = _best_words(starts[first:last], ends[first:last])
        place = slice(first + start - pair.second, first + end - pair.second + 1)
        found = pair.second_spans[place]
        shift = piece.start - piece.lead
        words = Span(found[0].start + shift, found[-1].end + shift)
        yield SentenceReading(answers, words, words_answer - none)


def _best_words(starts: Floats, ends: Floats) -> tuple[int, int, float]:
    """Return the first and last piece of the likeliest answer, of limited length, and its logit."""
    sums = starts[:, None] + ends[None, :]
    allowed = np.triu(np.ones_like(sums, dtype=bool)) & ~np.triu(np.ones_like(sums, dtype=bool), MAX_DIRECT)
    best = int(np.where(allowed, sums, -np.inf).argmax())
    start, end = divmod(best, len(ends))
    return start, end, float(sums[start, end])
