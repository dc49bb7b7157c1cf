"""MAUVE between answers and what people wrote, with any causal language model's features."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from propcite.app.errors import AppError
from propcite.attribution.checkpoints import load_causal

MODEL = "gpt2-large"  # ALCE's own
MOST_WORDS, MOST_TOKENS = 100, 512
FEWEST = 4  # texts of a side: with fewer there is nothing to group


class Mauve:
    """`model` is a folder or a hub name; the last token's last hidden state stands for a text."""

    def __init__(self, model: str = MODEL, *, device: str = "") -> None:
        try:
            import mauve
        except ImportError as error:
            raise AppError("MAUVE needs a package more: pip install 'propcite[mauve]', or leave out --mauve") from error
        self._compute = mauve.compute_mauve
        self._network, self._tokenizer = load_causal(model, device)
        self.name = Path(model).name if Path(model).is_dir() else model

    def score(self, written: Sequence[str], by_people: Sequence[str]) -> float | None:
        """0 to 1; None for too few texts."""
        if min(len(written), len(by_people)) < FEWEST:
            return None
        both = self._features(by_people), self._features(written)
        return min(1.0, float(self._compute(p_features=both[0], q_features=both[1]).mauve))

    def _features(self, texts: Sequence[str]) -> Any:
        import torch

        rows = []
        for text in texts:
            read = self._tokenizer(text or " ", truncation=True, max_length=MOST_TOKENS, return_tensors="pt")
            ids = read["input_ids"].to(self._network.device)
            with torch.inference_mode():
                told = self._network(input_ids=ids, output_hidden_states=True)
            rows.append(told.hidden_states[-1][0, -1].float().cpu())
        return torch.stack(rows).numpy()


def as_compared(question: str, answer: str) -> str:
    """Question and answer as one text, cut and without a stop at its end.

    >>> as_compared("Which river?", " The Po. ")
    'Which river? The Po'
    """
    return " ".join(f"{question} {answer.strip()}".split()[:MOST_WORDS]).rstrip(string.punctuation)
