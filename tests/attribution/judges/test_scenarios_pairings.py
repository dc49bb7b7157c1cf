"""Made-up scenes about wrong pairs and too strong claims: both labels, and the wrong words marked."""

from __future__ import annotations

import random

import pytest

from propcite.attribution.judges.training.making.scenarios.claims_too_strong import TOO_STRONG
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.pairings import PAIRINGS
from propcite.attribution.judges.training.making.scenarios.scene import SUPPORTED, Scenario


@pytest.mark.parametrize("scenario", [*PAIRINGS, *TOO_STRONG], ids=lambda scenario: scenario.args[0])
def test_every_scene_has_right_and_wrong_claims(scenario: Scenario) -> None:
    claims = set()
    for seed in range(200):
        rng = random.Random(seed)
        for scene in scenario(Names(rng), rng):
            assert scene.sentences
            assert all(sentence[-1] in ".!?”" for sentence in scene.sentences)
            assert {draft.label == SUPPORTED for draft in scene.drafts} == {True, False}
            for draft in scene.drafts:
                assert draft.wrong is not None
                assert bool(draft.wrong) == (draft.label != SUPPORTED), draft
                assert all(0 <= start < end <= len(draft.claim) for start, end in draft.wrong)
                assert not set("{}<>[]") & set(draft.claim), draft.claim
                claims.add(draft.claim)
            assert not any(set("{}<>[]") & set(sentence) for sentence in scene.sentences)
    assert len(claims) > 200
