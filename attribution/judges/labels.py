"""What the labels of a classifier mean, whatever they are called and in whatever order they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from propcite.attribution.errors import AttributionError

_SUPPORT = set("entailment entail entails entailed support supports supported consistent attributable".split())
_AGAINST = set("contradiction contradict contradicts contradicted contradictory refute refutes refuted".split())
_OPEN = set("neutral unrelated irrelevant not_enough_info not_enough_information nei".split())
_OPEN |= set("unsupported inconsistent hallucinated not_attributable".split())
_OPEN |= {f"{no}{entails}" for no in ("not_", "non_", "no_") for entails in _SUPPORT}


@dataclass(frozen=True, slots=True)
class Meaning:
    """The places of the labels that count; one logit alone is the support."""

    support: int
    against: int | None = None


def meaning_of(id2label: Mapping[int, str], given: Sequence[str] = (), model: str = "") -> Meaning:
    """The labels' meaning: as they are named, or as `given` names them in their order.

    >>> meaning_of({0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"})
    Meaning(support=2, against=0)
    """
    names = [id2label[place] for place in sorted(id2label)]
    if given and len(given) != len(names):
        raise AttributionError(f"{model} has the {len(names)} labels {_list(names)}: name as many in judge_labels")
    if len(names) == 1:
        return Meaning(0)
    kinds = [_kind(name) for name in given or names]
    if kinds.count("support") != 1 or kinds.count("against") > 1 or "" in kinds:
        said = _list(given or names)
        advice = "set judge_labels to their meaning in that order, such as contradiction,entailment,neutral"
        raise AttributionError(f"the labels of {model} do not say what they mean ({said}): {advice}")
    return Meaning(kinds.index("support"), kinds.index("against") if "against" in kinds else None)


def _kind(name: str) -> str:
    plain = re.sub(r"[\W_]+", "_", name.strip().lower()).strip("_")
    return "support" if plain in _SUPPORT else "against" if plain in _AGAINST else "open" if plain in _OPEN else ""


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
