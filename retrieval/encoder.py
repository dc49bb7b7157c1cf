"""Texts to token vectors that know their characters, on `sentence_transformers.MultiVectorEncoder`.

A passage is encoded once.  A text longer than the model's window is encoded in several windows, never cut silently.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from retrieval import checkpoints, layouts
from retrieval.errors import EncoderError
from retrieval.precision import set_precision
from retrieval.text import Granularity, Passage, Span

TITLE_SHARE = 4  # a title takes at most a quarter of the window: it is a hint, the text is what is cited
SPECIAL_TOKENS = 4  # room for those that a tokenizer adds by itself
NO_CHARACTER = -1  # the offset of a token that stands for no character of the text: special tokens and the title's

_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: no tokenizer reads it
_SPACE = re.compile(r"\s+")

Floats = npt.NDArray[np.float32]
Offsets = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
Weigh = Callable[[npt.NDArray[np.int64], Floats], Floats]  # tokens' ids (n,) and vectors (n, d) to salience (n,)


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """One text's tokens: unit vectors, and the characters that each stands for.  (n, d) and (n, 2).

    `salience` says how much each token counts, (n,); without it all count alike.  `ids` are the vocabulary's, (n,).
    """

    vectors: Floats
    offsets: Offsets
    salience: Floats | None = None
    ids: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.vectors)

    def weights(self, mask: Mask | None = None) -> Floats:
        """Weights that make a sum over these tokens their mean by salience, so scores do not grow with length.  (n,)

        >>> tokens = TokenVectors(np.eye(3), np.zeros((3, 2)), np.array([3.0, 9.0, 1.0]))
        >>> tokens.weights(np.array([True, False, True])).tolist()
        [0.75, 0.0, 0.25]
        """
        chosen = np.ones(len(self), np.float32) if mask is None else mask.astype(np.float32)
        salient = chosen if self.salience is None else chosen * self.salience
        total = float(salient.sum())
        if total <= 0:  # tokens of no weight are all that there is
            salient, total = chosen, max(float(chosen.sum()), 1.0)
        return (salient / total).astype(np.float32)

    def only(self, chosen: Mask | npt.NDArray[np.int64]) -> TokenVectors:
        """These tokens alone, in the order in which they are named."""
        salience = None if self.salience is None else self.salience[chosen]
        ids = None if self.ids is None else self.ids[chosen]
        return TokenVectors(self.vectors[chosen], self.offsets[chosen], salience, ids)

    @staticmethod
    def joined(parts: Sequence[TokenVectors]) -> TokenVectors:
        """The tokens of several texts, or of several pieces of one; what not all of them know is left out."""
        return TokenVectors(
            np.concatenate([p.vectors for p in parts]),
            np.concatenate([p.offsets for p in parts]),
            joined_if_all([p.salience for p in parts]),
            joined_if_all([p.ids for p in parts]),
        )

    def within(self, spans: Iterable[Span]) -> Mask:
        """Which tokens share a character with one of the spans.  -> (n,)"""
        mask = np.zeros(len(self), dtype=bool)
        for span in spans:
            mask |= (self.offsets[:, 0] < span.end) & (self.offsets[:, 1] > span.start)
        return mask


@dataclass(frozen=True, slots=True)
class _Window:
    """What one forward pass sees: a piece of text `number` from `start` on, with a head that belongs to no unit."""

    number: int
    head: str
    text: str
    start: int

    @property
    def whole(self) -> str:
        return self.head + self.text


class Encoder:
    """A late-interaction encoder: one unit vector a token.

    `model` is a folder or a hub name: a multi-vector checkpoint (its own, PyLate, Stanford ColBERT) is used as it is,
    a single-vector one token by token.  Without it the bundled MiniLM weights serve and nothing is downloaded.
    """

    def __init__(self, model: str = "", *, device: str = "", batch_size: int = 16, precision: str = "auto") -> None:
        checkpoint = checkpoints.load(model, device)
        self.name, self.query_name = checkpoint.name, checkpoint.query_name
        self._model = checkpoint.model
        self._salience = checkpoint.salience
        self._batch_size = batch_size
        self._lock = threading.Lock()  # a fast tokenizer cannot be shared by two threads at once
        self._tokenizer: Any = self._model.tokenizer
        if not getattr(self._tokenizer, "is_fast", False):
            raise EncoderError(
                f"{self.name} has no fast tokenizer, so token offsets are unknown: save it with tokenizer.json"
            )
        layouts.read_queries_whole(self._model)
        set_precision(self._model, precision)
        self.max_tokens = int(min(self._model.max_seq_length or 512, 8192))
        self.dimension = int(self._model.get_embedding_dimension() or 0)

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        """Each passage's token vectors; its title is read with it, its words' offsets lie in `passage.text`."""
        windows = [window for number, passage in enumerate(passages) for window in self._windows_of(number, passage)]
        weigh = self._salience.of_passage if self._salience is not None else None
        return self._encode(windows, len(passages), "document", "document", weigh)

    def encode_queries(
        self, texts: Sequence[str], granularity: Granularity = Granularity.PASSAGE
    ) -> list[TokenVectors]:
        """Each text's token vectors as a query for units of this granularity."""
        own = granularity != Granularity.PASSAGE and self.knows(granularity)
        prompt = f"query_{granularity}" if own else "query"
        task = str(granularity) if own and str(granularity) in layouts.routes(self._model) else "query"
        windows = [w for number, text in enumerate(texts) for w in self._windows(number, text, prompt)]
        return self._encode(windows, len(texts), prompt, task, self._salience if own else None)

    def texts_read(self, passage: Passage) -> list[str]:
        """What the network reads for a passage: several texts where it is longer than the window."""
        return [self._prompt_text("document") + window.whole for window in self._windows_of(0, passage)]

    def _windows_of(self, number: int, passage: Passage) -> Iterator[_Window]:
        starts = [s.span.start for s in passage.sentences]
        return self._windows(number, passage.text, "document", passage.title, starts)

    def salience_of(self, passage: TokenVectors) -> Floats | None:
        """How much each token of a passage counts; an index may have been made when the encoder knew less.  -> (n,)"""
        if self._salience is None or passage.ids is None:
            return passage.salience
        return self._salience.of_passage(passage.ids, passage.vectors)

    def worths(self, query: TokenVectors) -> Floats | None:
        """What a query's tokens are worth where only some may look for candidates, weighed or not.  -> (n,)"""
        if query.salience is not None or self._salience is None or query.ids is None:
            return query.salience
        return self._salience(query.ids, query.vectors)

    def knows(self, granularity: Granularity) -> bool:
        """Whether the model has a query marker of its own for this granularity; otherwise its one marker serves."""
        return granularity == Granularity.PASSAGE or bool(self._model.prompts.get(f"query_{granularity}"))

    def _windows(
        self, number: int, text: str, prompt: str, title: str = "", breaks: Sequence[int] = ()
    ) -> Iterator[_Window]:
        """The text in pieces that fit the model, cut at sentence starts (`breaks`) where that is possible."""
        text = _readable(text)
        most = self._most_tokens(prompt)
        head = self._head(_readable(title), most // TITLE_SHARE)
        room = most - self._size(self._prompt_text(prompt) + head) - SPECIAL_TOKENS
        if room < 1:
            raise EncoderError(f"{self.name} reads {most} tokens at once, which its prompt fills: choose another model")
        begin = 0
        while True:
            starts = [begin + start for start, _ in self._offsets(text[begin:])]
            end = len(text) if len(starts) <= room else self._cut(text, begin, starts[: room + 1], breaks)
            yield _Window(number, head, text[begin:end], begin)
            if end == len(text):
                return
            begin = end

    def _cut(self, text: str, begin: int, starts: Sequence[int], breaks: Sequence[int]) -> int:
        """Where a window that begins here must end: before the last of these token starts, best at a sentence start."""
        last = starts[-1]
        sentence = max((b for b in breaks if begin < b <= last), default=begin)
        word = next((s for s in reversed(starts) if s > begin and text[s - 1].isspace()), begin)
        end = sentence if sentence > begin else word if word > begin else last
        while end > begin + 1 and self._size(text[begin:end]) >= len(
            starts
        ):  # a piece of a word may read as more tokens
            end = begin + max(1, (end - begin) * 3 // 4)
        return max(end, begin + 1)

    def _most_tokens(self, prompt: str) -> int:
        """What one forward pass reads: a checkpoint may cut documents earlier than its model would."""
        cut = layouts.document_length(self._model) if prompt == "document" else None
        return min(self.max_tokens, int(cut or self.max_tokens))

    def _head(self, title: str, most: int) -> str:
        if not title.strip():
            return ""
        offsets = self._offsets(title)
        return (title if len(offsets) <= most else title[: offsets[most][0]]).strip() + ". "

    def _prompt_text(self, prompt: str) -> str:
        return str(self._model.prompts.get(prompt) or "")

    def _size(self, text: str) -> int:
        return len(self._offsets(text))

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        with self._lock:
            return list(
                self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)[
                    "offset_mapping"
                ]
            )

    def _encode(
        self, windows: Sequence[_Window], num_texts: int, prompt: str, task: str, weigh: Weigh | None
    ) -> list[TokenVectors]:
        pieces: list[list[TokenVectors]] = [[] for _ in range(num_texts)]
        for window, item in zip(windows, self._forward(windows, prompt, task), strict=True):
            tokens = self._tokens(window, item, self._prompt_text(prompt), weigh)
            if window.start:  # the head and the special tokens are kept once, from the first window
                tokens = tokens.only(tokens.offsets[:, 0] >= 0)
            pieces[window.number].append(tokens)
        return [p[0] if len(p) == 1 else TokenVectors.joined(p) for p in pieces]

    def _forward(self, windows: Sequence[_Window], prompt: str, task: str) -> list[dict[str, Any]]:
        if not windows:
            return []
        with self._lock:
            items: Any = self._model.encode(
                [w.whole for w in windows],
                task=task,
                prompt=self._prompt_text(prompt),
                batch_size=self._batch_size,
                output_value=None,
                show_progress_bar=False,
            )
        return list(items)

    def _tokens(self, window: _Window, item: dict[str, Any], prompt: str, weigh: Weigh | None) -> TokenVectors:
        with self._lock:
            read = self._tokenizer(prompt + window.whole, return_offsets_mapping=True, verbose=False)
        size = len(read["input_ids"])
        ids = item["input_ids"].tolist()
        if ids[:size] != read["input_ids"]:
            raise EncoderError(f"{self.name} changes its input before it reads it, so token offsets are unknown")
        offsets = np.full((len(ids), 2), NO_CHARACTER, dtype=np.int32)
        offsets[:size] = np.asarray(read["offset_mapping"], dtype=np.int32) - len(prompt) - len(window.head)
        offsets = _trimmed(offsets, window.text)
        no_word = (offsets[:, 0] < 0) | (offsets[:, 0] >= offsets[:, 1])
        offsets += window.start
        offsets[no_word] = NO_CHARACTER
        scored = item["attention_mask"].bool().numpy(force=True)
        vectors = item["token_embeddings"].float().numpy(force=True)[scored]
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)  # half precision leaves them a little off 1
        vectors /= np.maximum(norms, np.finfo(np.float32).tiny)
        numbers = item["input_ids"].numpy(force=True)[scored]
        return TokenVectors(vectors, offsets[scored], weigh(numbers, vectors) if weigh else None, numbers)


def joined_if_all(arrays: Sequence[npt.NDArray[Any] | None]) -> npt.NDArray[Any] | None:
    """The arrays one after the other; none where one is not known."""
    known = [array for array in arrays if array is not None]
    return np.concatenate(known) if known and len(known) == len(arrays) else None


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
