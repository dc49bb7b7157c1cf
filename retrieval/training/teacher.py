"""Teachers of sentence ranking: networks that read query and passage together, which is too slow for searching.

A `marked` teacher (AGRaME's CE') reads the passage once for each sentence, which stands between two `$`; a `joint` one
scores all sentences in one pass.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from propcite.retrieval.encoding.bundled import fingerprint
from propcite.retrieval.encoding.precision import dtype_of
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.saving import atomic_write
from propcite.retrieval.training.batches import batches_by_length
from propcite.retrieval.training.rows import Row, as_passage

Kind = Literal["marked", "joint"]

KINDS: tuple[Kind, ...] = get_args(Kind)
MARK = "$"
MAX_TOKENS = 512
INFO_FILE, WEIGHTS_FILE = "teacher.json", "teacher.safetensors"


def mark_sentence(sentences: Sequence[str], number: int) -> str:
    """Join the sentences, with one of them between two marks.

    >>> mark_sentence(["It rained.", "Gates shut.", "All slept."], 1)
    'It rained. $Gates shut.$ All slept.'
    """
    return " ".join(f"{MARK}{s}{MARK}" if i == number else s for i, s in enumerate(sentences))


class Teacher(nn.Module):
    """A transformer with a scoring head: for the marked sentence, or for each sentence."""

    def __init__(self, kind: Kind, base: str, precision: str = "float32") -> None:
        from propcite.retrieval.encoding.trained_networks import load_with_markers

        super().__init__()
        transformer = load_with_markers(base)
        self.kind, self.base, self.precision, self.tokenizer = kind, base, precision, transformer.tokenizer
        self.name = ""  # the fingerprint of loaded weights
        self.network: Any = transformer.auto_model
        self._max_tokens = min(MAX_TOKENS, int(transformer.max_seq_length or MAX_TOKENS))
        width = int(self.network.config.hidden_size)
        self.head = nn.Linear(width if kind == "marked" else 2 * width, 1)

    @property
    def device(self) -> torch.device:
        return self.head.weight.device

    def forward(self, sentences: Sequence[tuple[Row, int]]) -> Tensor:
        """Score sentences, each given by its row and number; a joint teacher reads each row once.  -> logits (n,)"""
        vectors = self._marked_vectors(sentences) if self.kind == "marked" else self._joint_vectors(sentences)
        scores: Tensor = self.head(torch.stack(vectors)).squeeze(-1)
        return scores

    def _marked_vectors(self, sentences: Sequence[tuple[Row, int]]) -> list[Tensor]:
        texts = [_with_title(row, mark_sentence(row.sentences, number)) for row, number in sentences]
        return [self._text_vector(states) for states, _ in self._encode([row.query for row, _ in sentences], texts)]

    def _joint_vectors(self, sentences: Sequence[tuple[Row, int]]) -> list[Tensor]:
        rows = list(dict.fromkeys(row for row, _ in sentences))
        places = {row: i for i, row in enumerate(rows)}
        passages = [as_passage(*row.passage) for row in rows]
        heads = [_with_title(row, "") for row in rows]
        texts = [head + passage.text for head, passage in zip(heads, passages, strict=True)]
        encoded = self._encode([row.query for row in rows], texts)
        vectors = []
        for row, number in sentences:
            place = places[row]
            span, start = passages[place].sentences[number].span, len(heads[place])
            states, offsets = encoded[place]
            inside = (offsets[:, 0] < start + span.end) & (offsets[:, 1] > start + span.start)
            vectors.append(_pooled(states, torch.from_numpy(inside).to(self.device)))
        return vectors

    def _encode(self, queries: Sequence[str], texts: Sequence[str]) -> list[tuple[Tensor, Any]]:
        """Return each pair's states (n, d) and the tokens' offsets in the text (n, 2), -1 for other tokens."""
        encoded: dict[int, tuple[Tensor, Any]] = {}
        for batch in batches_by_length(texts):
            encoding = self.tokenizer(
                [queries[i] for i in batch], [texts[i] for i in batch], truncation="only_second",
                max_length=self._max_tokens, padding=True, return_offsets_mapping=True, return_tensors="pt",
            )  # fmt: skip
            offsets = encoding.pop("offset_mapping").numpy()
            inputs = {name: t.to(self.device) for name, t in encoding.items()}
            with torch.autocast(self.device.type, self._dtype, enabled=self._dtype != torch.float32):
                states = self.network(**inputs).last_hidden_state
            for place, i in enumerate(batch):
                offsets[place, np.array([part != 1 for part in encoding.sequence_ids(place)])] = -1
                present = inputs["attention_mask"][place].bool()
                encoded[i] = states[place, present].float(), offsets[place, present.cpu().numpy()]
        return [encoded[i] for i in range(len(texts))]

    @property
    def _dtype(self) -> torch.dtype:
        return dtype_of(self.precision, self.device.type)

    def train(self, mode: bool = True) -> Teacher:
        """Train without dropout: dropout of attention takes longer than the rest of a step on a processor."""
        super().train(mode)
        self.network.eval()
        return self

    def _text_vector(self, states: Tensor) -> Tensor:
        """Return the vector of the [CLS] token, or the mean of all tokens if the tokenizer has no such token."""
        return states[0] if self.tokenizer.cls_token_id is not None else states.mean(0)

    @torch.no_grad()
    def scores(self, row: Row) -> list[float]:
        """Return the logits of all sentences of a row's passage."""
        was_training = self.training
        self.eval()
        scores: list[float] = self([(row, i) for i in range(len(row.sentences))]).float().tolist()
        self.train(was_training)
        return scores

    def save(self, folder: Path, info: dict[str, Any]) -> None:
        from safetensors.torch import save_file

        tensors = {name: t.detach().cpu().contiguous().clone() for name, t in self.state_dict().items()}
        with atomic_write(folder / WEIGHTS_FILE) as new:
            save_file(tensors, str(new))
        with atomic_write(folder / INFO_FILE) as new:
            content = {"kind": self.kind, "base": self.base, **info}
            new.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", "utf-8")

    @classmethod
    def open(cls, folder: Path, device: str = "", precision: str = "float32") -> Teacher:
        from safetensors.torch import load_file

        try:
            info = json.loads((folder / INFO_FILE).read_text("utf-8"))
            teacher = cls(info["kind"], info["base"], precision)
            teacher.load_state_dict(load_file(str(folder / WEIGHTS_FILE)))
            teacher.name = fingerprint(str(folder / WEIGHTS_FILE))
        except Exception as error:  # each file has its own kinds
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise RetrievalError(
                f"cannot read a teacher from {folder} ({reason}): make one with propcite train teacher"
            ) from error
        return teacher.to(device or "cpu").eval()


def _with_title(row: Row, text: str) -> str:
    return f"{row.title}. {text}" if row.title.strip() else text


def _pooled(states: Tensor, inside: Tensor) -> Tensor:
    """Join the mean and the maximum of a sentence's tokens; zeros if it was truncated away.  (n, d), (n,) -> (2d,)"""
    if not inside.any():
        return states.new_zeros(2 * states.shape[1])
    own = states[inside]
    return torch.cat([own.mean(0), own.max(0).values])
