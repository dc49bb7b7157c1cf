"""Examples from made-up scenes: what few real sentences teach, such as to calculate and to keep a limit."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from propcite.attribution.judges.reader import MAX_WORDS
from propcite.attribution.judges.training.making.example import SCENES, Example
from propcite.attribution.judges.training.making.scenarios.calculating.calculations import CALCULATIONS
from propcite.attribution.judges.training.making.scenarios.claims_too_strong import TOO_STRONG
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.pairings import PAIRINGS

_AROUND = (0, 0, 1, 2, 4)  # at most this many real sentences before and behind a scene


def scene_examples(per_scenario: int, around: Sequence[Sequence[str]], rng: random.Random) -> Iterator[Example]:
    """Yield the claims of so many scenes of each kind, each scene among a few sentences of one of the real texts."""
    names = Names(rng)
    for scenario in (*CALCULATIONS, *PAIRINGS, *TOO_STRONG):
        for number in range(per_scenario):
            names.restart()
            for scene in scenario(names, rng):
                evidence = _among(scene.sentences, around, rng)
                for draft in scene.drafts:
                    group = f"{draft.kind} {number}"
                    yield Example(draft.claim, evidence, draft.label, draft.kind, SCENES, "", group, draft.wrong)


def _among(sentences: Sequence[str], around: Sequence[Sequence[str]], rng: random.Random) -> str:
    """Return the sentences of a scene between neighbours from a text; all is short enough to be read."""
    if not around:
        return " ".join(sentences)
    others, most = rng.choice(around), rng.choice(_AROUND)
    cut, before, behind = rng.randint(0, len(others)), rng.randint(0, most), rng.randint(0, most)
    first, last = max(0, cut - before), min(len(others), cut + behind)
    while True:
        text = " ".join((*others[first:cut], *sentences, *others[cut:last]))
        if first == cut == last or len(text.split()) <= MAX_WORDS:
            return text
        first, last = (first + 1, last) if cut - first >= last - cut else (first, last - 1)
