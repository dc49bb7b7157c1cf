"""Find out which labels of a classifier mean support and contradiction, whatever their names and order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from propcite.attribution.errors import AttributionError

_SUPPORT = set("entailment entail entails entailed support supports supported consistent attributable".split())
_CONTRADICTION = set("contradiction contradict contradicts contradicted contradictory refute refutes refuted".split())
_NEUTRAL = set("neutral unrelated irrelevant not_enough_info not_enough_information nei".split())
_NEUTRAL |= set("unsupported inconsistent hallucinated not_attributable".split())
_NEUTRAL |= {f"{negation}{word}" for negation in ("not_", "non_", "no_") for word in _SUPPORT}


@dataclass(frozen=True, slots=True)
class LabelPositions:
    """Positions of the labels that count; a single logit is the support."""

    support: int
    contradiction: int | None = None


def label_positions(id2label: Mapping[int, str], names: Sequence[str] = (), model: str = "") -> LabelPositions:
    """Return the positions by the checkpoint's label names, or by `names` in the checkpoint's order.

    >>> label_positions({0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"})
    LabelPositions(support=2, contradiction=0)
    """
    own = [id2label[position] for position in sorted(id2label)]
    if names and len(names) != len(own):
        raise AttributionError(f"{model} has the {len(own)} labels {_listed(own)}: name as many in judge_labels")
    if len(own) == 1:
        return LabelPositions(0)
    kinds = [_kind(name) for name in names or own]
    if kinds.count("support") != 1 or kinds.count("contradiction") > 1 or "" in kinds:
        advice = "set judge_labels to their meaning in that order, such as contradiction,entailment,neutral"
        raise AttributionError(f"the labels of {model} do not say what they mean ({_listed(names or own)}): {advice}")
    return LabelPositions(kinds.index("support"), kinds.index("contradiction") if "contradiction" in kinds else None)


def _kind(name: str) -> str:
    """Return support, contradiction or neutral; empty for a name of unknown meaning."""
    word = re.sub(r"[\W_]+", "_", name.strip().lower()).strip("_")
    kinds = {"support": _SUPPORT, "contradiction": _CONTRADICTION, "neutral": _NEUTRAL}
    return next((kind for kind, words in kinds.items() if word in words), "")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
