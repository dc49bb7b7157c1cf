"""Teachers of sentence ranking: a network that reads query and passage together, too slow to search with.

`marked` (AGRaME's CE') reads the passage once for each sentence, which stands between two `$`; `joint` scores all
sentences of one reading.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from propcite.retrieval.encoding.checkpoints import fingerprint
from propcite.retrieval.encoding.precision import dtype_of
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.saving import written
from propcite.retrieval.training.batches import alike
from propcite.retrieval.training.rows import Row, as_passage

Kind = Literal["marked", "joint"]

KINDS: tuple[Kind, ...] = get_args(Kind)
MARK = "$"
MOST_TOKENS = 512
ABOUT, WEIGHTS = "teacher.json", "teacher.safetensors"


def marked(sentences: Sequence[str], number: int) -> str:
    """The passage with one sentence between two marks.

    >>> marked(["It rained.", "Gates shut.", "All slept."], 1)
    'It rained. $Gates shut.$ All slept.'
    """
    return " ".join(f"{MARK}{s}{MARK}" if i == number else s for i, s in enumerate(sentences))


class Teacher(nn.Module):
    """A transformer with one score: of the sentence that is marked, or of each."""

    def __init__(self, kind: Kind, base: str, precision: str = "float32") -> None:
        from propcite.retrieval.encoding.trained_networks import with_markers

        super().__init__()
        transformer = with_markers(base)
        self.kind, self.base, self.precision, self.tokenizer = kind, base, precision, transformer.tokenizer
        self.name = ""  # of weights that were read: it changes with them
        self.network: Any = transformer.auto_model
        self._most = min(MOST_TOKENS, int(transformer.max_seq_length or MOST_TOKENS))
        width = int(self.network.config.hidden_size)
        self.head = nn.Linear(width if kind == "marked" else 2 * width, 1)

    @property
    def device(self) -> torch.device:
        return self.head.weight.device

    def forward(self, asked: Sequence[tuple[Row, int]]) -> Tensor:
        """The score of a row's sentence, as a logit; a joint teacher reads each row once.  -> (n,)"""
        if self.kind == "marked":
            texts = [_titled(row, marked(row.sentences, number)) for row, number in asked]
            read = self._read([row.query for row, _ in asked], texts)
            return self._scored(torch.stack([self._whole(states) for states, _ in read]))
        rows = list(dict.fromkeys(row for row, _ in asked))
        places = {row: i for i, row in enumerate(rows)}
        passages = [as_passage(*row.passage) for row in rows]
        heads = [_titled(row, "") for row in rows]
        texts = [head + passage.text for head, passage in zip(heads, passages, strict=True)]
        read = self._read([row.query for row in rows], texts)
        found = []
        for row, number in asked:
            place = places[row]
            span, start = passages[place].sentences[number].span, len(heads[place])
            states, offsets = read[place]
            inside = (offsets[:, 0] < start + span.end) & (offsets[:, 1] > start + span.start)
            found.append(_gathered(states, torch.from_numpy(inside).to(self.device)))
        return self._scored(torch.stack(found))

    def _read(self, queries: Sequence[str], texts: Sequence[str]) -> list[tuple[Tensor, Any]]:
        """Each pair's states (n, d) and its text's characters (n, 2), none for what is not of it."""
        found: dict[int, tuple[Tensor, Any]] = {}
        for held in alike(texts):
            read = self.tokenizer(
                [queries[i] for i in held], [texts[i] for i in held], truncation="only_second", max_length=self._most,
                padding=True, return_offsets_mapping=True, return_tensors="pt",
            )  # fmt: skip
            offsets = read.pop("offset_mapping").numpy()
            told = {name: t.to(self.device) for name, t in read.items()}
            with torch.autocast(self.device.type, self._dtype, enabled=self._dtype != torch.float32):
                states = self.network(**told).last_hidden_state
            for place, i in enumerate(held):
                offsets[place, np.array([part != 1 for part in read.sequence_ids(place)])] = -1
                there = told["attention_mask"][place].bool()
                found[i] = states[place, there].float(), offsets[place, there.cpu().numpy()]
        return [found[i] for i in range(len(texts))]

    @property
    def _dtype(self) -> torch.dtype:
        return dtype_of(self.precision, self.device.type)

    def train(self, mode: bool = True) -> Teacher:
        """No dropout: that of attention alone takes longer than all the rest of a step on a processor."""
        super().train(mode)
        self.network.eval()
        return self

    def _whole(self, states: Tensor) -> Tensor:
        """One vector a text: of its first token where that stands for the text, else the mean of all."""
        return states[0] if self.tokenizer.cls_token_id is not None else states.mean(0)

    def _scored(self, vectors: Tensor) -> Tensor:
        scores: Tensor = self.head(vectors).squeeze(-1)
        return scores

    @torch.no_grad()
    def scores(self, row: Row) -> list[float]:
        """Of all sentences of a row's passage."""
        was = self.training
        self.eval()
        told: list[float] = self([(row, i) for i in range(len(row.sentences))]).float().tolist()
        self.train(was)
        return told

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        from safetensors.torch import save_file

        tensors = {name: t.detach().cpu().contiguous().clone() for name, t in self.state_dict().items()}
        said = {"kind": self.kind, "base": self.base, **about}
        with written(folder / WEIGHTS) as new:
            save_file(tensors, str(new))
        with written(folder / ABOUT) as new:
            new.write_text(json.dumps(said, indent=1, sort_keys=True) + "\n", "utf-8")

    @classmethod
    def open(cls, folder: Path, device: str = "", precision: str = "float32") -> Teacher:
        from safetensors.torch import load_file

        try:
            about = json.loads((folder / ABOUT).read_text("utf-8"))
            teacher = cls(about["kind"], about["base"], precision)
            teacher.load_state_dict(load_file(str(folder / WEIGHTS)))
            teacher.name = fingerprint(str(folder / WEIGHTS))
        except Exception as error:  # each file has its own kinds
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise RetrievalError(
                f"{folder} holds no teacher that can be read ({reason}): make one with propcite train teacher"
            ) from error
        return teacher.to(device or "cpu").eval()


def _titled(row: Row, text: str) -> str:
    return f"{row.title}. {text}" if row.title.strip() else text


def _gathered(states: Tensor, inside: Tensor) -> Tensor:
    """The mean and the maximum of a sentence's tokens; nought where it was cut off.  (n, d), (n,) -> (2d,)"""
    if not inside.any():
        return states.new_zeros(2 * states.shape[1])
    held = states[inside]
    return torch.cat([held.mean(0), held.max(0).values])
