"""What the attacks share: how many examples they try, and a data directory with a small library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from serving import parts_with
from word_encoder import WordEncoder

from propcite.app.parts import Parts
from propcite.app.settings import load_settings

EXAMPLES = int(os.environ.get("PROPCITE_ATTACK_EXAMPLES", "12"))  # of each kind of malformed input; more: make attack
TEXTS = {
    "gates.txt": "The tidal barrier has fourteen steel gates. Each of them weighs 300 tonnes.",
    "cost.txt": "The barrier cost 410 million euros. The state paid two thirds of it.",
}
QUICK = {"splitter": "rules", "judge": "none", "min_score": 0.8}


def small_library(data_dir: Path, texts: Mapping[str, str] = TEXTS, **settings: object) -> Parts:
    """Build parts without a model, with a collection `harbour` of uploaded texts."""
    loaded = {"encoder": WordEncoder()}
    return parts_with(loaded, {"harbour": texts}, data_dir=data_dir, collection="harbour", **QUICK, **settings)


def opened_again(parts: Parts) -> Parts:
    """Open the library as another process does."""
    parts.library.close()
    again = Parts(load_settings(**parts.settings.model_dump(exclude_defaults=True)))
    again.__dict__["encoder"] = WordEncoder()
    return again
