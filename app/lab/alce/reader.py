"""A question-answering reader: any extractive model that answers questions with words of a text.

Reads as in ALCE's evaluator: windows of 384 tokens that overlap by 128, answers of at most 15 tokens and of whole
words, and no answer if that is more probable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propcite.attribution.checkpoints import load_question_answering

QA_MODEL = "gaotianyu1350/roberta-large-squad"  # as in ALCE
WINDOW, OVERLAP = 384, 128
MAX_ANSWER = 15  # tokens
BATCH_SIZE = 16
NEVER = -10_000.0  # the logit of a token that is not a word of the text

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Window:
    """A part of a text beside a question; an answer may begin and end with the tokens of `allowed`."""

    pair: int
    encoding: Any
    allowed: NDArray[np.bool_]


class QaReader:
    """`model` is a folder or a hub name of transformers' AutoModelForQuestionAnswering with a fast tokenizer."""

    def __init__(self, model: str = QA_MODEL, *, device: str = "") -> None:
        self._network, self._tokenizer = load_question_answering(model, device)
        self.name = Path(model).name if Path(model).is_dir() else model
        self._window = min(self._tokenizer.model_max_length, WINDOW)

    def answers(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Return the answer to each question in its text; empty if the text has none."""
        windows = [window for place, pair in enumerate(pairs) for window in self._windows(place, *pair)]
        best: dict[int, tuple[float, str]] = {}
        no_answer: dict[int, float] = {}
        for first in range(0, len(windows), BATCH_SIZE):
            batch = windows[first : first + BATCH_SIZE]
            for window, starts, ends in zip(batch, *self._logits(batch), strict=True):
                score, text, none = _best(window, starts, ends, pairs[window.pair][1])
                best[window.pair] = max(best.get(window.pair, (0.0, "")), (score, text), key=lambda pair: pair[0])
                no_answer[window.pair] = min(no_answer.get(window.pair, np.inf), none)
        return [best[n][1] if n in best and best[n][0] > no_answer[n] else "" for n in range(len(pairs))]

    def _windows(self, place: int, question: str, text: str) -> list[_Window]:
        encoded = self._tokenizer(
            question,
            text or " ",
            truncation="only_second",
            max_length=self._window,
            stride=min(self._window // 2, OVERLAP),
            return_overflowing_tokens=True,
        )
        return [_Window(place, one, np.array([part == 1 for part in one.sequence_ids])) for one in encoded.encodings]

    def _logits(self, windows: Sequence[_Window]) -> tuple[list[Floats], list[Floats]]:
        import torch

        ids = [{"input_ids": w.encoding.ids, "token_type_ids": w.encoding.type_ids} for w in windows]
        inputs = self._tokenizer.model_input_names
        rows = [{name: row[name] for name in ("input_ids", "token_type_ids") if name in inputs} for row in ids]
        batch = self._tokenizer.pad(rows, padding_side="right", return_tensors="pt").to(self._network.device)
        with torch.inference_mode():
            output = self._network(**batch)
        lengths = [len(window.encoding.ids) for window in windows]
        both = (logits.double().cpu().numpy() for logits in (output.start_logits, output.end_logits))
        starts, ends = ([row[:n] for row, n in zip(logits, lengths, strict=True)] for logits in both)
        return starts, ends


def _best(window: _Window, starts: Floats, ends: Floats, text: str) -> tuple[float, str, float]:
    """Return the most probable answer with its score, and the score of no answer, which is the first token's."""
    allowed = window.allowed.copy()
    allowed[0] = True
    start, end = _softmax(starts, allowed), _softmax(ends, allowed)
    no_answer = float(start[0] * end[0])
    start[0] = end[0] = 0.0
    spans = np.tril(np.triu(np.outer(start, end)), MAX_ANSWER - 1)
    first, last = np.unravel_index(int(spans.argmax()), spans.shape)
    if not (window.allowed[first] and window.allowed[last]):
        return 0.0, "", no_answer
    begin, stop = _word_span(window.encoding, int(first), int(last))
    return float(spans[first, last]), text[begin:stop], no_answer


def _softmax(logits: Floats, allowed: NDArray[np.bool_]) -> Floats:
    logits = np.where(allowed, logits, NEVER)
    powers: Floats = np.exp(logits - logits.max())
    shares: Floats = powers / powers.sum()
    return shares


def _word_span(encoding: Any, first: int, last: int) -> tuple[int, int]:
    """Return the offsets of the whole words that two tokens belong to."""
    begin, end = encoding.token_to_word(first), encoding.token_to_word(last)
    if begin is None or end is None:
        return encoding.offsets[first][0], encoding.offsets[last][1]
    return encoding.word_to_chars(begin, 1)[0], encoding.word_to_chars(end, 1)[1]
