"""Texts to token vectors that know their characters, on `sentence_transformers.MultiVectorEncoder`.

A passage is encoded once.  A text longer than the model's window is encoded in several windows, never cut silently.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from propcite.retrieval.encoding import checkpoints, layouts
from propcite.retrieval.encoding.base import Floats, Ids, Mask, TokenVectors
from propcite.retrieval.encoding.precision import chosen, dtype_of, tokens_at_once
from propcite.retrieval.encoding.windows import Text, Window, Windows
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.text import Granularity, Passage

if TYPE_CHECKING:
    from propcite.retrieval.encoding.int8 import EightBits

_Row = tuple[Ids, Mask, Floats]  # a text's ids (n,), which of them count (n,), vectors (n, d)
Weigh = Callable[[Ids, Floats], Floats]  # tokens' ids (n,) and vectors (n, d) to salience (n,)


class Encoder:
    """A late-interaction encoder: one unit vector a token.

    `model` is a folder or a hub name: a multi-vector checkpoint (its own, PyLate, Stanford ColBERT) is used as it is,
    a single-vector one token by token.  Without it the bundled MiniLM weights serve and nothing is downloaded.
    `batch_size` texts are read at once; 0: as many as the device reads fastest, by their tokens.
    """

    def __init__(self, model: str = "", *, device: str = "", batch_size: int = 0, precision: str = "auto") -> None:
        if batch_size < 0:
            raise ValueError(f"wanted batch_size >= 0, got {batch_size}")
        checkpoint = checkpoints.load(model, device)
        self.name, self.query_name = checkpoint.name, checkpoint.query_name
        self._model = checkpoint.model
        self._salience = checkpoint.salience
        self._batch_size = batch_size
        self._lock = threading.Lock()  # a fast tokenizer cannot be shared by two threads at once
        self._windows = Windows(self._model.tokenizer, self.name, self._lock)
        layouts.read_queries_whole(self._model)
        self._device = self._model.device
        self._model.to(dtype_of(precision, self._device.type)).eval()
        self._precision = chosen(precision, self._device.type)
        self._eight_bits = self._in_eight_bits(wanted=precision == "int8")
        self.max_tokens = int(min(self._model.max_seq_length or 512, 8192))
        self.dimension = int(self._model.get_embedding_dimension() or 0)

    def _in_eight_bits(self, *, wanted: bool) -> EightBits | None:
        if self._precision != "int8":
            return None
        from propcite.retrieval.encoding.int8 import EightBits

        return EightBits(self._model, wanted=wanted)

    @property
    def precision(self) -> str:
        """What passages are read in: of `auto` what it chose here."""
        return self._eight_bits.precision if self._eight_bits else self._precision

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        """Each passage's token vectors; its title is read with it, its words' offsets lie in `passage.text`."""
        weigh = self._salience.of_passage if self._salience is not None else None
        return self._encode(self._windows_of(passages), len(passages), "document", "document", weigh)

    def encode_queries(
        self, texts: Sequence[str], granularity: Granularity = Granularity.PASSAGE
    ) -> list[TokenVectors]:
        """Each text's token vectors as a query for units of this granularity."""
        own = granularity != Granularity.PASSAGE and self.knows(granularity)
        prompt = f"query_{granularity}" if own else "query"
        task = str(granularity) if own and str(granularity) in layouts.routes(self._model) else "query"
        windows = self._windows.of(list(map(Text, texts)), self._prompt_text(prompt), self._most_tokens(prompt))
        return self._encode(windows, len(texts), prompt, task, self._salience if own else None)

    def texts_read(self, passage: Passage) -> list[str]:
        """What the network reads for a passage: several texts where it is longer than the window."""
        return [window.whole for window in self._windows_of([passage])]

    def _windows_of(self, passages: Sequence[Passage]) -> list[Window]:
        texts = [Text(p.text, p.title, [s.span.start for s in p.sentences]) for p in passages]
        return self._windows.of(texts, self._prompt_text("document"), self._most_tokens("document"))

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

    def lacking(self, granularity: Granularity) -> str:
        """What a person must know who asks for these units; nothing where the model has a marker for them."""
        if self.knows(granularity):
            return ""
        return f"{self.query_name} has no marker for {granularity}s: they are asked for as passages are (m_q)"

    def _most_tokens(self, prompt: str) -> int:
        """What one forward pass reads: a checkpoint may cut documents earlier than its model would."""
        cut = layouts.document_length(self._model) if prompt == "document" else None
        return min(self.max_tokens, int(cut or self.max_tokens))

    def _prompt_text(self, prompt: str) -> str:
        return str(self._model.prompts.get(prompt) or "")

    def _encode(
        self, windows: Sequence[Window], num_texts: int, prompt: str, task: str, weigh: Weigh | None
    ) -> list[TokenVectors]:
        read: dict[int, TokenVectors] = {}
        for batch, states in self._forward(windows, prompt, task):
            read |= {place: self._tokens(windows[place], states.row(row), weigh) for row, place in enumerate(batch)}
        pieces: list[list[TokenVectors]] = [[] for _ in range(num_texts)]
        for place, window in enumerate(windows):
            tokens = read[place]
            if window.start:  # the head and the special tokens are kept once, from the first window
                tokens = tokens.only(tokens.offsets[:, 0] >= 0)
            pieces[window.number].append(tokens)
        return [p[0] if len(p) == 1 else TokenVectors.joined(p) for p in pieces]

    def _forward(self, windows: Sequence[Window], prompt: str, task: str) -> list[tuple[list[int], _States]]:
        """What the network makes of each batch, which is named by its windows' places; nothing waits for a device."""
        import torch
        from sentence_transformers.util import batch_to_device

        lead = self._prompt_text(prompt)
        made = []
        for batch in self._batches([len(window.read.ids) for window in windows]):
            with self._lock, self._reading(task), torch.inference_mode():
                texts = [windows[i].whole.removeprefix(lead) for i in batch]
                given = self._model.preprocess(texts, prompt=lead, task=task)
                found = self._model(batch_to_device(given, self._device), task=task)
            made.append((batch, _States(found["input_ids"], found["attention_mask"], found["token_embeddings"])))
        return made

    def _reading(self, task: str) -> AbstractContextManager[None]:
        return self._eight_bits.reading() if self._eight_bits and task == "document" else nullcontext()

    def _batches(self, sizes: Sequence[int]) -> Iterator[list[int]]:
        """Texts of like length together, the longest first, so that memory runs out at once or never."""
        room = 0 if self._batch_size else tokens_at_once(self._model)
        order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
        while order:
            some = self._batch_size or max(1, room // sizes[order[0]])
            yield order[:some]
            order = order[some:]

    def _tokens(self, window: Window, states: _Row, weigh: Weigh | None) -> TokenVectors:
        ids, scored, vectors = states
        if not np.array_equal(ids[: len(window.read.ids)], window.read.ids):
            raise EncoderError(f"{self.name} changes its input before it reads it, so token offsets are unknown")
        vectors = vectors[scored]
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)  # half precision leaves them a little off 1
        vectors /= np.maximum(norms, np.finfo(np.float32).tiny)
        numbers = ids[scored]
        return TokenVectors(
            vectors, window.places(len(ids))[scored], weigh(numbers, vectors) if weigh else None, numbers
        )


@dataclass(slots=True)
class _States:
    """What a network made of a batch, on its device until the first row is asked for."""

    ids: Any  # (b, n)
    mask: Any
    vectors: Any  # (b, n, d)

    def row(self, number: int) -> _Row:
        if not isinstance(self.vectors, np.ndarray):
            self.ids, self.mask = self.ids.numpy(force=True), self.mask.bool().numpy(force=True)
            self.vectors = self.vectors.float().numpy(force=True)
        return self.ids[number], self.mask[number], self.vectors[number]
