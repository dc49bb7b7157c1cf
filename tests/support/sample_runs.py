"""Invented runs: two ways of citing over answers of several lengths, with every field that an item can have."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from hypothesis import strategies as st

from propcite.app.library.store import RunInfo, RunItem, Runs

WAYS = ("propcite+judge", "sentence_top1 <b>&$_%")  # the second has every character that a format must escape


def sample_items(num: int = 40, seed: int = 0, better: float = 0.0) -> list[RunItem]:
    rng = np.random.default_rng(seed)
    return [_item(rng, number, way, better + 0.15 * (way == WAYS[0])) for number in range(num) for way in WAYS]


def _item(rng: np.random.Generator, number: int, way: str, better: float) -> RunItem:
    words, cited = 20 + 7 * (number % 13), int(rng.integers(0, 5))
    recall, precision = (float(np.clip(rng.beta(3, 2) + better, 0, 1).round(2)) for _ in range(2))
    probabilities = rng.random(6).round(3)
    judged = [{"probability": float(p), "right": bool(rng.random() < p)} for p in probabilities]
    return RunItem(
        f"q{number}",
        way,
        {"citation_recall": recall, "citation_precision": precision, "str_em": float(number % 2), "length": words},
        {
            "question": f"How high is barrier <{number}> & who paid?",
            "text": "=It is 6 metres high. " * (words // 5),
            "citations": [{"passage": f"p{n}"} for n in range(cited)],
            "judged": judged,
            "source": ["wiki", "news"][number % 2],
        },
        {"seconds": 0.05 * words, "cpu_seconds": 0.1},
    )


def sample_run(
    runs: Runs, judge: str = "embedded/minilm", better: float = 0.0, num: int = 40, seed: int = 0
) -> RunInfo:
    """Store a finished run over `num` questions."""
    settings = {"sha256": "ab" * 32, "context": 5, "methods": list(WAYS), "thresholds": {"judge": 0.5}}
    about = {
        "models": {"judge": {"name": judge, "sha256": "cd" * 32}},
        "revision": "0123456789ab",
        "command": "propcite eval asqa '<x>.json'",
        "processors": 2,
    }
    run = runs.start("asqa", "asqa_dev.json", settings, about, judge)
    runs.add(run.id, sample_items(num, seed, better))
    return runs.finish(run.id)


values = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
outputs = st.dictionaries(st.text(max_size=5), st.recursive(values | st.text(), lambda v: st.lists(v, max_size=3)))
any_item = st.builds(
    RunItem,
    key=st.text(min_size=1, max_size=9),
    way=st.text(min_size=1, max_size=9),
    measures=st.dictionaries(st.text(max_size=9), st.none() | st.floats(-5, 5), max_size=4),
    output=outputs,
    cost=st.dictionaries(st.sampled_from(["seconds", "prompt_tokens"]), st.floats(0, 1e6)),
)
STARTED_AT = datetime(2026, 11, 22, 1, 2, 3, tzinfo=UTC)


def run_info(name: str = "x.json", **about: object) -> RunInfo:
    return RunInfo("0123456789ab", "asqa", name, "done", {"a": {"b": [1, "é"]}}, about, "j", STARTED_AT, STARTED_AT, 0)
