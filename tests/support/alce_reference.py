"""ALCE's citation measures and STR-EM again, written from their definitions alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any


def reference_score(
    output: list[str], docs: Sequence[Any], phi: Callable[[tuple[Any, ...], str], bool]
) -> tuple[float, float] | None:
    """Return recall and precision, sentence by sentence; None for an output without sentences."""
    recalls: list[int] = []
    precisions: list[int] = []
    for sentence in output:
        numbers = [int(digits) for digits in re.findall(r"\[(\d+)", sentence)]
        hypothesis = re.sub(r" ?\[\d+", "", sentence).replace(" |", "").replace("]", "").strip()
        if not numbers or any(number > len(docs) for number in numbers):
            recalls.append(0)
            continue
        shown = [docs[number - 1] for number in numbers][:3]
        whole = phi(tuple(shown), hypothesis)
        recalls.append(int(whole))
        for one in shown:
            first = shown.index(one)
            rest = shown[:first] + shown[first + 1 :]
            if not whole:
                precisions.append(0)
            elif len(shown) == 1 or phi((one,), hypothesis):
                precisions.append(1)
            else:
                precisions.append(0 if phi(tuple(rest), hypothesis) else 1)
    if not recalls:
        return None
    return sum(recalls) / len(recalls), sum(precisions) / len(precisions) if precisions else 0.0


def reference_str_em(output: str, short_answers: Sequence[Sequence[str]]) -> float:
    """Return the share of sub-questions with one of their short answers in the output."""
    plain = _plain(re.sub(r" ?\[\d+\]", "", output))
    return sum(any(_plain(one) in plain for one in names) for names in short_answers) / len(short_answers)


def _plain(text: str) -> str:
    kept = "".join(letter for letter in text.lower() if letter.isalnum() or letter.isspace())
    return " ".join(word for word in kept.split() if word not in ("a", "an", "the"))
