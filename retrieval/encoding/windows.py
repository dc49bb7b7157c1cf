"""Texts in pieces that a network reads in one pass, and what its tokenizer makes of each: ids and characters."""

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
NO_CHARACTER = -1  # the offset of a token that stands for no character of the text: special tokens and the title's

_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: no tokenizer reads it
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Text:
    """What is to be read: behind its title, and cut before the `breaks` where it is too long for one pass."""

    text: str
    title: str = ""
    breaks: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """What the tokenizer makes of a text, with the tokens that it adds by itself.  (n,) and (n, 2)."""

    ids: Ids
    offsets: Offsets


@dataclass(frozen=True, slots=True)
class Window:
    """What one forward pass sees: a piece of text `number` from `start` on, behind what belongs to no unit."""

    number: int
    before: str
    text: str
    start: int
    read: Read

    @property
    def whole(self) -> str:
        return self.before + self.text

    def places(self, size: int) -> Offsets:
        """The characters of the text that each of so many tokens stands for; a model may add some.  -> (size, 2)"""
        places = np.full((size, 2), NO_CHARACTER, dtype=np.int32)
        places[: len(self.read.offsets)] = self.read.offsets - len(self.before)
        places = _trimmed(places, self.text)
        no_word = (places[:, 0] < 0) | (places[:, 0] >= places[:, 1])
        places += self.start
        places[no_word] = NO_CHARACTER
        return places


class Windows:
    """Cuts texts for the model of this name; `lock` is held while its tokenizer works, which takes one at a time."""

    def __init__(self, tokenizer: Any, name: str, lock: AbstractContextManager[object]) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise EncoderError(
                f"{name} has no fast tokenizer, so token offsets are unknown: save it with tokenizer.json"
            )
        self._tokenizer, self._name, self._lock = tokenizer, name, lock

    def of(self, texts: Sequence[Text], prompt: str, most: int) -> list[Window]:
        """The texts behind their prompt, in pieces of so many tokens; nearly all are one."""
        befores = [prompt + self._head(_readable(text.title), most // TITLE_SHARE) for text in texts]
        contents = [_readable(text.text) for text in texts]
        reads = self._reads(list(map(add, befores, contents)))
        windows = []
        for number, (before, content, read) in enumerate(zip(befores, contents, reads, strict=True)):
            if len(read.ids) <= most:
                windows.append(Window(number, before, content, 0, read))
                continue
            room = most - self._size(before) - SPECIAL_TOKENS
            if room < 1:
                raise EncoderError(
                    f"{self._name} reads {most} tokens at once, which its prompt fills: choose another model"
                )
            spans = list(self._pieces(content, texts[number].breaks, room))
            pieces = [span.of(content) for span in spans]
            again = self._reads([before + piece for piece in pieces])
            windows += [Window(number, before, p, s.start, r) for s, p, r in zip(spans, pieces, again, strict=True)]
        return windows

    def _pieces(self, text: str, breaks: Sequence[int], room: int) -> Iterator[Span]:
        """The text in pieces of so many tokens, cut at sentence starts (`breaks`) where that is possible."""
        begin, size = 0, len(text)
        while begin < size:
            starts = [begin + start for start, _ in self._offsets(text[begin:])]
            end = size if len(starts) <= room else self._cut(text, begin, starts[: room + 1], breaks)
            yield Span(begin, end)
            begin = end

    def _cut(self, text: str, begin: int, starts: Sequence[int], breaks: Sequence[int]) -> int:
        """Where a window that begins here must end: before the last of these token starts, best at a sentence start."""
        last = starts[-1]
        sentence = max((b for b in breaks if begin < b <= last), default=begin)
        word = next((s for s in reversed(starts) if s > begin and text[s - 1].isspace()), begin)
        end = sentence if sentence > begin else word if word > begin else last
        # A piece of a word may read as more tokens.
        while end > begin + 1 and self._size(text[begin:end]) >= len(starts):
            end = begin + max(1, (end - begin) * 3 // 4)
        return max(end, begin + 1)

    def _head(self, title: str, most: int) -> str:
        title = title.strip()
        if len(title.encode()) >= most:  # no token is less than a byte
            offsets = self._offsets(title)
            title = (title if len(offsets) <= most else title[: offsets[most][0]]).strip()
        return title and title + ". "

    def _size(self, text: str) -> int:
        return len(self._offsets(text))

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        with self._lock:
            read = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return list(read["offset_mapping"])

    def _reads(self, texts: Sequence[str]) -> list[Read]:
        if not texts:
            return []
        with self._lock:
            read = self._tokenizer(
                list(texts),
                return_offsets_mapping=True,
                return_attention_mask=False,
                return_token_type_ids=False,
                verbose=False,
            )
        return [
            Read(np.asarray(ids, dtype=np.int64), np.asarray(offsets, dtype=np.int32).reshape(-1, 2))
            for ids, offsets in zip(read["input_ids"], read["offset_mapping"], strict=True)
        ]


def _readable(text: str) -> str:
    """The text as a tokenizer can take it, character for character."""
    return _SURROGATE.sub("\ufffd", text)


def _trimmed(offsets: Offsets, text: str) -> Offsets:
    """Offsets without the white space that byte-level tokenizers count to the token after it.  (n, 2) -> (n, 2)"""
    first = np.arange(len(text) + 1, dtype=np.int32)  # for each place the first that is no white space
    for space in _SPACE.finditer(text):
        first[space.start() : space.end()] = space.end()
    trimmed = offsets.copy()
    inside = (offsets[:, 1] > 0) & (offsets[:, 0] < len(text))
    trimmed[inside, 0] = first[np.maximum(offsets[inside, 0], 0)]
    return trimmed
