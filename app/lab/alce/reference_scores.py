"""ROUGE-Lsum and MAUVE: how near generated answers are to those that people wrote."""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from propcite.app.errors import AppError
from propcite.app.lab.alce.sentences import sentences_of
from propcite.attribution.checkpoints import load_causal
from propcite.retrieval.extras import install_command

MAUVE_MODEL = "gpt2-large"  # as in ALCE
MAX_WORDS, MAX_TOKENS = 100, 512
MIN_TEXTS = 4  # of each side: fewer cannot be clustered


class Rouge:
    """ROUGE-Lsum as in ALCE: by sentence, stemmed, against the best reference.

    ALCE reports the median of a thousand resampled means; here the mean over the answers takes its place.
    """

    def __init__(self) -> None:
        try:
            from rouge_score.rouge_scorer import RougeScorer
        except ImportError as error:
            raise AppError(
                f"ROUGE needs rouge-score: {install_command('eval')}, or leave it out with --no-rouge"
            ) from error
        self._make = RougeScorer

    @cached_property
    def _scorer(self) -> Any:
        return self._make(["rougeLsum"], use_stemmer=True)

    def score(self, output: str, references: Sequence[str]) -> float | None:
        """Return F1 of the longest common subsequences; None without references."""
        lines = _lines(output)
        scores = [self._scorer.score(_lines(one), lines)["rougeLsum"].fmeasure for one in references]
        return max(scores, default=None)


def _lines(text: str) -> str:
    return "\n".join(sentences_of(text.lower()))


class Mauve:
    """MAUVE with the features of any causal language model: the last token's last hidden state.

    `model` is a folder or a hub name.
    """

    def __init__(self, model: str = MAUVE_MODEL, *, device: str = "") -> None:
        try:
            import mauve
        except ImportError as error:
            raise AppError(f"MAUVE needs mauve-text: {install_command('mauve')}, or leave out --mauve") from error
        self._compute = mauve.compute_mauve
        self._network, self._tokenizer = load_causal(model, device)
        self.name = Path(model).name if Path(model).is_dir() else model

    def score(self, answers: Sequence[str], references: Sequence[str]) -> float | None:
        """Return a score from 0 to 1; None for too few texts."""
        if min(len(answers), len(references)) < MIN_TEXTS:
            return None
        features = self._features(references), self._features(answers)
        return min(1.0, float(self._compute(p_features=features[0], q_features=features[1]).mauve))

    def _features(self, texts: Sequence[str]) -> Any:
        import torch

        rows = []
        for text in texts:
            tokens = self._tokenizer(text or " ", truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
            ids = tokens["input_ids"].to(self._network.device)
            with torch.inference_mode():
                output = self._network(input_ids=ids, output_hidden_states=True)
            rows.append(output.hidden_states[-1][0, -1].float().cpu())
        return torch.stack(rows).numpy()


def mauve_text(question: str, answer: str) -> str:
    """Return question and answer as one text, truncated and without punctuation at its end.

    >>> mauve_text("Which river?", " The Po. ")
    'Which river? The Po'
    """
    return " ".join(f"{question} {answer.strip()}".split()[:MAX_WORDS]).rstrip(string.punctuation)
