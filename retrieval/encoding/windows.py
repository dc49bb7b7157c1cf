"""Split texts into windows that a network reads in one pass, and tokenize them: ids and character offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np

from propcite.retrieval.encoding.base import Ids, Offsets
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.text import Span

TITLE_SHARE = 4  # a title takes at most a quarter of the window: it is a hint, the text is what is cited
SPECIAL_TOKENS = 4  # room for those that a tokenizer adds by itself
NO_CHARACTER = -1  # the offset of special tokens and of the title's tokens, which are no characters of the text

_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: tokenizers refuse it
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class TitledText:
    """A text with its title, and the characters (`breaks`) before which it is best split if it is too long."""

    text: str
    title: str = ""
    breaks: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Tokens:
    """A tokenized text with its special tokens: ids (n,) and characters (n, 2)."""

    ids: Ids
    offsets: Offsets


@dataclass(frozen=True, slots=True)
class Window:
    """The input of one forward pass: a piece of text `number` from character `start` on, after prompt and title."""

    number: int
    before: str
    text: str
    start: int
    tokens: Tokens

    @property
    def whole(self) -> str:
        return self.before + self.text

    def offsets(self, size: int) -> Offsets:
        """Return the characters of the text per token, for `size` tokens: a model may append some.  -> (size, 2)"""
        offsets = np.full((size, 2), NO_CHARACTER, dtype=np.int32)
        offsets[: len(self.tokens.offsets)] = self.tokens.offsets - len(self.before)
        offsets = _trim_offsets(offsets, self.text)
        outside = (offsets[:, 0] < 0) | (offsets[:, 0] >= offsets[:, 1])
        offsets += self.start
        offsets[outside] = NO_CHARACTER
        return offsets


class WindowSplitter:
    """Splits texts for the model of this name; holds `lock` while its tokenizer works, which one thread may use."""

    def __init__(self, tokenizer: Any, name: str, lock: AbstractContextManager[object]) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise EncoderError(
                f"{name} has no fast tokenizer, so token offsets are unknown: save it with tokenizer.json"
            )
        self._tokenizer, self._name, self._lock = tokenizer, name, lock

    def split(self, texts: Sequence[TitledText], prompt: str, max_tokens: int) -> list[Window]:
        """Return the windows of all texts, with the prompt before each; nearly every text is a single window."""
        befores = [prompt + self._head(_without_surrogates(t.title), max_tokens // TITLE_SHARE) for t in texts]
        contents = [_without_surrogates(text.text) for text in texts]
        tokenized = self._tokenize(list(map(add, befores, contents)))
        windows = []
        for number, (before, content, tokens) in enumerate(zip(befores, contents, tokenized, strict=True)):
            if len(tokens.ids) <= max_tokens:
                windows.append(Window(number, before, content, 0, tokens))
                continue
            room = max_tokens - self._size(before) - SPECIAL_TOKENS
            if room < 1:
                raise EncoderError(
                    f"{self._name} reads {max_tokens} tokens at once, which its prompt fills: choose another model"
                )
            spans = list(self._pieces(content, texts[number].breaks, room))
            pieces = [span.of(content) for span in spans]
            again = self._tokenize([before + piece for piece in pieces])
            windows += [Window(number, before, p, s.start, t) for s, p, t in zip(spans, pieces, again, strict=True)]
        return windows

    def _pieces(self, text: str, breaks: Sequence[int], room: int) -> Iterator[Span]:
        """Split the text into pieces of at most `room` tokens, at sentence starts (`breaks`) if possible."""
        begin, size = 0, len(text)
        while begin < size:
            starts = [begin + start for start, _ in self._offsets(text[begin:])]
            end = size if len(starts) <= room else self._cut(text, begin, starts[: room + 1], breaks)
            yield Span(begin, end)
            begin = end

    def _cut(self, text: str, begin: int, starts: Sequence[int], breaks: Sequence[int]) -> int:
        """Return where a piece from `begin` ends: at most at the last token start, preferably at a sentence start."""
        last = starts[-1]
        sentence = max((b for b in breaks if begin < b <= last), default=begin)
        word = next((s for s in reversed(starts) if s > begin and text[s - 1].isspace()), begin)
        end = sentence if sentence > begin else word if word > begin else last
        # A piece of a word may be tokenized into more tokens than within its word.
        while end > begin + 1 and self._size(text[begin:end]) >= len(starts):
            end = begin + max(1, (end - begin) * 3 // 4)
        return max(end, begin + 1)

    def _head(self, title: str, max_tokens: int) -> str:
        title = title.strip()
        if len(title.encode()) >= max_tokens:  # no token is shorter than a byte
            offsets = self._offsets(title)
            title = (title if len(offsets) <= max_tokens else title[: offsets[max_tokens][0]]).strip()
        return title and title + ". "

    def _size(self, text: str) -> int:
        return len(self._offsets(text))

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        with self._lock:
            output = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return list(output["offset_mapping"])

    def _tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        if not texts:
            return []
        with self._lock:
            output = self._tokenizer(
                list(texts),
                return_offsets_mapping=True,
                return_attention_mask=False,
                return_token_type_ids=False,
                verbose=False,
            )
        return [
            Tokens(np.asarray(ids, dtype=np.int64), np.asarray(offsets, dtype=np.int32).reshape(-1, 2))
            for ids, offsets in zip(output["input_ids"], output["offset_mapping"], strict=True)
        ]


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates one by one, so that offsets stay valid."""
    return _SURROGATE.sub("\ufffd", text)


def _trim_offsets(offsets: Offsets, text: str) -> Offsets:
    """Exclude the white space that byte-level tokenizers count to the token after it.  (n, 2) -> (n, 2)"""
    first = np.arange(len(text) + 1, dtype=np.int32)  # per character the first one from it on that is no white space
    for space in _SPACE.finditer(text):
        first[space.start() : space.end()] = space.end()
    trimmed = offsets.copy()
    inside = (offsets[:, 1] > 0) & (offsets[:, 0] < len(text))
    trimmed[inside, 0] = first[np.maximum(offsets[inside, 0], 0)]
    return trimmed
