"""Encode texts into token vectors with character offsets, with `sentence_transformers.MultiVectorEncoder`.

A text longer than the model's window is encoded in several windows, never cut silently.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ids, Mask, TokenVectors
from propcite.retrieval.encoding.checkpoints import load_checkpoint
from propcite.retrieval.encoding.layouts import read_queries_whole, routes
from propcite.retrieval.encoding.precision import dtype_of, max_batch_tokens, resolve_precision
from propcite.retrieval.encoding.windows import TitledText, Window, WindowSplitter
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.garbage import no_garbage_collection
from propcite.retrieval.interrupting import check_interrupt
from propcite.retrieval.text import Granularity, Passage

if TYPE_CHECKING:
    from propcite.retrieval.encoding.int8 import Int8Reader

_Output = tuple[Ids, Mask, Floats]  # of one window: token ids (n,), a mask of those to keep (n,), vectors (n, d)
Weigh = Callable[[Ids, Floats], Floats]  # token ids (n,) and vectors (n, d) to salience (n,)


class Encoder:
    """A late-interaction encoder: one unit vector per token.

    `model` is a folder or a hub name, which may end in `@` and a commit, tag or branch: a multi-vector checkpoint
    (sentence-transformers, PyLate, Stanford ColBERT, XTR) is used as it is, of a single-vector one the token vectors
    before pooling.  The default is the bundled model, which needs no download.  `batch_size` texts are encoded in one
    pass; 0: as many as the device reads fastest.

    >>> encoder = Encoder()
    >>> encoder.encode_queries(["How long is the bridge?"])[0].vectors.shape[1] == encoder.dimension
    True
    """

    def __init__(self, model: str = "", *, device: str = "", batch_size: int = 0, precision: str = "auto") -> None:
        if batch_size < 0:
            raise ValueError(f"batch_size must be at least 0, got {batch_size}")
        with no_garbage_collection():
            checkpoint = load_checkpoint(model, device)
        self.name, self.query_name = checkpoint.name, checkpoint.query_name
        self._model = checkpoint.model
        self._salience = checkpoint.salience
        self._batch_size = batch_size
        self._lock = threading.Lock()  # a fast tokenizer cannot be shared by two threads at once
        self._splitter = WindowSplitter(self._model.tokenizer, self.name, self._lock)
        read_queries_whole(self._model)
        self._device = self._model.device
        self._model.to(dtype_of(precision, self._device.type)).eval()
        self._precision = resolve_precision(precision, self._device.type)
        self._int8 = self._int8_reader(required=precision == "int8")
        self.max_tokens = int(min(self._model.max_seq_length or 512, 8192))
        self.dimension = int(self._model.get_embedding_dimension() or 0)

    def _int8_reader(self, *, required: bool) -> Int8Reader | None:
        if self._precision != "int8":
            return None
        from propcite.retrieval.encoding.int8 import Int8Reader

        return Int8Reader(self._model, required=required)

    @property
    def precision(self) -> str:
        """Return the precision in which passages are read; for `auto` the one it chose here."""
        return self._int8.precision if self._int8 else self._precision

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        """Return each passage's token vectors, read with its title; offsets of its words lie in `passage.text`."""
        weigh = self._salience.of_passage if self._salience else None
        return self._encode(self._windows_of(passages), len(passages), "document", "document", weigh)

    def encode_queries(
        self, texts: Sequence[str], granularity: Granularity = Granularity.PASSAGE
    ) -> list[TokenVectors]:
        """Return each text's token vectors as a query for units of this granularity."""
        own = granularity != Granularity.PASSAGE and self.knows(granularity)
        prompt = f"query_{granularity}" if own else "query"
        task = str(granularity) if own and str(granularity) in routes(self._model) else "query"
        windows = self._splitter.split(
            list(map(TitledText, texts)), self._prompt_text(prompt), self._max_tokens(prompt)
        )
        weigh = self._salience.of_query if own and self._salience else None
        return self._encode(windows, len(texts), prompt, task, weigh)

    def input_texts(self, passage: Passage) -> list[str]:
        """Return the texts that the network reads for a passage; several if it is longer than the window."""
        return [window.whole for window in self._windows_of([passage])]

    def _windows_of(self, passages: Sequence[Passage]) -> list[Window]:
        texts = [TitledText(p.text, p.title, [s.span.start for s in p.sentences]) for p in passages]
        return self._splitter.split(texts, self._prompt_text("document"), self._max_tokens("document"))

    def salience_of(self, passage: TokenVectors) -> Floats | None:
        """Return the salience of a passage's tokens, computed again: an older encoder may have had none.  -> (n,)"""
        if self._salience is None or passage.ids is None:
            return passage.salience
        return self._salience.of_passage(passage.ids, passage.vectors)

    def worths(self, query: TokenVectors) -> Floats | None:
        """Return the values by which the query tokens that look for candidates are chosen; None if unknown.  -> (n,)"""
        if query.salience is not None or self._salience is None or query.ids is None:
            return query.salience
        return self._salience.of_query(query.ids, query.vectors)

    def knows(self, granularity: Granularity) -> bool:
        """Return whether the model has its own query marker for this granularity."""
        return granularity == Granularity.PASSAGE or bool(self._model.prompts.get(f"query_{granularity}"))

    def missing_marker_note(self, granularity: Granularity) -> str:
        """Return a note to users that the model has no marker for these units; empty if it has one."""
        if self.knows(granularity):
            return ""
        return f"{self.query_name} has no marker for {granularity}s: queries for them use the passage marker (m_q)"

    def _max_tokens(self, prompt: str) -> int:
        """Return the tokens of one forward pass: a checkpoint may limit documents more than its model does."""
        cut = getattr(self._model[0], "document_length", None) if prompt == "document" else None
        return min(self.max_tokens, int(cut or self.max_tokens))

    def _prompt_text(self, prompt: str) -> str:
        return str(self._model.prompts.get(prompt) or "")

    def _encode(
        self, windows: Sequence[Window], num_texts: int, prompt: str, task: str, weigh: Weigh | None
    ) -> list[TokenVectors]:
        encoded: dict[int, TokenVectors] = {}
        for batch, output in self._forward(windows, prompt, task):
            encoded |= {i: self._token_vectors(windows[i], output.row(row), weigh) for row, i in enumerate(batch)}
        pieces: list[list[TokenVectors]] = [[] for _ in range(num_texts)]
        for i, window in enumerate(windows):
            tokens = encoded[i]
            if window.start:  # title and special tokens are taken from the first window only
                tokens = tokens.only(tokens.offsets[:, 0] >= 0)
            pieces[window.number].append(tokens)
        return [p[0] if len(p) == 1 else TokenVectors.joined(p) for p in pieces]

    def _forward(self, windows: Sequence[Window], prompt: str, task: str) -> list[tuple[list[int], _BatchOutput]]:
        """Run the network on each batch; return the positions of its windows and its output, still on the device."""
        import torch
        from sentence_transformers.util import batch_to_device

        lead = self._prompt_text(prompt)
        outputs = []
        for batch in self._batches([len(window.tokens.ids) for window in windows]):
            check_interrupt()
            with self._lock, self._int8_active(task), torch.inference_mode():
                texts = [windows[i].whole.removeprefix(lead) for i in batch]
                features = self._model.preprocess(texts, prompt=lead, task=task)
                output = self._model(batch_to_device(features, self._device), task=task)
            outputs.append(
                (batch, _BatchOutput(output["input_ids"], output["attention_mask"], output["token_embeddings"]))
            )
        return outputs

    def _int8_active(self, task: str) -> AbstractContextManager[None]:
        return self._int8.active() if self._int8 and task == "document" else nullcontext()

    def _batches(self, sizes: Sequence[int]) -> Iterator[list[int]]:
        """Group windows of similar length, the longest first: memory runs out in the first batch or never."""
        room = 0 if self._batch_size else max_batch_tokens(self._model)
        order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
        while order:
            count = self._batch_size or max(1, room // sizes[order[0]])
            yield order[:count]
            order = order[count:]

    def _token_vectors(self, window: Window, output: _Output, weigh: Weigh | None) -> TokenVectors:
        ids, mask, vectors = output
        if not np.array_equal(ids[: len(window.tokens.ids)], window.tokens.ids):
            raise EncoderError(f"{self.name} changes its input before it reads it, so token offsets are unknown")
        offsets, ids, vectors = window.offsets(len(ids))[mask], ids[mask], vectors[mask]
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)  # not exactly 1 in half precision
        vectors /= np.maximum(norms, np.finfo(np.float32).tiny)
        return TokenVectors(vectors, offsets, weigh(ids, vectors) if weigh else None, ids)


@dataclass(slots=True)
class _BatchOutput:
    """A network's output for a batch; it stays on the device until the first row is read."""

    ids: Any  # (b, n)
    mask: Any
    vectors: Any  # (b, n, d)

    def row(self, number: int) -> _Output:
        if not isinstance(self.vectors, np.ndarray):
            self.ids, self.mask = self.ids.numpy(force=True), self.mask.bool().numpy(force=True)
            self.vectors = self.vectors.float().numpy(force=True)
        return self.ids[number], self.mask[number], self.vectors[number]
