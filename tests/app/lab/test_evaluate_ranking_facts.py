"""`propcite eval facts`: files as released, and measures against a reference implementation of the protocol."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commanded import Propcite, commanded
from hypothesis import given
from hypothesis import strategies as st

from propcite.app import parts as bootstrap
from propcite.app.lab.ranking.encoders import RankingConfig
from propcite.app.lab.ranking.fact_rows import QUERIES, TARGETS, Fact, Facts
from propcite.app.lab.ranking.facts import DEPTH, Targets, fact_item, score_tokens
from propcite.app.library.store import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.text import Span

GATES = "The barrier has steel gates and cost 410 million euros."
SAME = "Steel gates close the barrier, and terns breed on its roof."
OTHER = "The warehouse burned in May."


def fact(id_: str, sentence: str, words: str, *label: str, pairs: bool = False) -> dict[str, Any]:
    """Return a row as released, with spans as objects or pairs."""
    start = sentence.index(words)
    span = [start, start + len(words)] if pairs else {"start": start, "end": start + len(words)}
    return {"id": id_, "sentence_text": sentence, "spans": [span], "label": list(label)}


FACTS = [
    fact("0_0_0_0", GATES, "The barrier has steel gates", "0_1_4_0"),
    fact("0_0_0_1", GATES, "cost 410 million euros", "1_0_0_0", pairs=True),
    fact("0_1_4_0", SAME, "Steel gates close the barrier", "0_0_0_0"),
    fact("0_1_4_1", SAME, "terns breed on its roof"),
    fact("1_0_0_0", OTHER, "The warehouse burned in May"),
]


def write_facts(folder: Path, queries: Sequence[Any] = FACTS[:3], targets: Sequence[Any] = FACTS) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in ((QUERIES, queries), (TARGETS, targets)):
        text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    return folder


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], encoder: Encoder) -> Propcite:
    """Return the command in this process, with the encoder that all tests share."""
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: encoder)
    call = commanded(monkeypatch, capsys)
    return lambda *words: call("eval", "facts", *map(str, words))


def stored_items() -> dict[tuple[str, str], RunItem]:
    parts = Parts(load_settings())
    items = {(item.way, item.key): item for item in parts.runs.items(parts.runs.run("last").id)}
    parts.library.close()
    return items


def test_figures_of_facts_by_hand(propcite: Propcite, tmp_path: Path) -> None:
    result = propcite(write_facts(tmp_path / "facts"), "--way", "bm25")
    assert result.code == 0, result.err
    items = stored_items()
    gates, cost = items["bm25", "0_0_0_0"], items["bm25", "0_0_0_1"]
    assert gates.output["ranking"][0] == "0_1_4_0"  # the fact itself is left out
    assert gates.measures["Success@1, proposition"] == gates.measures["Success@1, cluster"] == 1.0
    # no target shares a word with the costs: the rest stays in its order, and the right one is last of four
    assert cost.output["ranking"] == ["0_0_0_0", "0_1_4_0", "0_1_4_1", "1_0_0_0"]
    assert cost.measures["Success@1, proposition"] == 0.0
    assert cost.measures["R@5, proposition"] == cost.measures["R@20, cluster"] == 1.0


def test_every_way_finds_the_fact_with_the_same_meaning(propcite: Propcite, tmp_path: Path) -> None:
    result = propcite(write_facts(tmp_path / "facts"))
    assert result.code == 0, result.err
    items = stored_items()
    for way in ("bm25", "single-vector", "m_q", "m'_q", "m''_q"):
        assert items[way, "0_0_0_0"].measures["Success@1, proposition"] == 1.0, way
        assert f"\n{way} " in result.out
    assert "R@20, document (n 3)" in result.out


def test_only_a_fact_s_own_tokens_count(encoder: Encoder) -> None:
    """Each score is the mean, over the query's own tokens, of the best similarity among the target's own."""
    targets = tuple(Fact(row["id"], row["sentence_text"], (_span(row["spans"][0]),)) for row in FACTS)
    facts = Facts((), targets, (Path(__file__), Path(__file__)))
    tokens = Targets.load(facts, encoder, load_settings())
    scores = score_tokens(tokens, encoder, RankingConfig("m_q"), targets[:2])
    for number, query in enumerate(targets[:2]):
        tokens_of_query = encoder.encode_queries([query.sentence])[0]
        tokens_of_query = tokens_of_query.only(tokens_of_query.within(query.spans))
        for at in range(len(targets)):
            own = tokens.tokens[tokens.starts[at] :][: _count(tokens, at)].astype(float)
            assert scores[number, at] == pytest.approx(
                sum(max(own @ vector) for vector in tokens_of_query.vectors) / len(tokens_of_query), abs=1e-3
            )


def _count(tokens: Targets, at: int) -> int:
    ends = [*tokens.starts[1:], len(tokens.tokens)]
    return int(ends[at] - tokens.starts[at])


def _span(value: Any) -> Span:
    return Span(*value) if isinstance(value, list) else Span(value["start"], value["end"])


ids = st.builds("{}_{}_{}_{}".format, *(st.integers(0, 2) for _ in range(4)))


@given(st.lists(ids, unique=True, min_size=1, max_size=60), st.data())
def test_measures_equal_the_protocol(targets: list[str], data: st.DataObject) -> None:
    ranked = data.draw(st.permutations(targets))
    labels = data.draw(st.lists(st.sampled_from(targets), unique=True, min_size=1, max_size=5))
    itself = data.draw(st.sampled_from([*targets, "9_9_9_9"]))
    item = fact_item(Fact(itself, "a", (Span(0, 1),), tuple(labels)), "way", ranked[: DEPTH + 1], {})
    rank = [name for name in ranked[: DEPTH + 1] if name != itself]
    for level, fields in (("proposition", 4), ("sentence", 3), ("document", 2), ("cluster", 1)):
        seen: list[str] = []
        for name in rank:
            prefix = "_".join(name.split("_")[:fields])
            if prefix not in seen:
                seen.append(prefix)
        expected = {"_".join(name.split("_")[:fields]) for name in labels}
        assert item.measures[f"Success@1, {level}"] == len(expected & set(seen[:1]))
        for k in (5, 10, 20):
            assert item.measures[f"R@{k}, {level}"] == pytest.approx(len(expected & set(seen[:k])) / len(expected))


BAD = [
    ({"targets": ["{"]}, "targets_all.jsonl, line 1: Invalid JSON"),
    ({"targets": [FACTS[0], FACTS[0]]}, "line 2: the id '0_0_0_0' is there twice"),
    ({"targets": FACTS[:1]}, "no target has the id '0_1_4_0'"),
    ({"queries": FACTS[3:]}, "queries_all.jsonl, line 1: the fact '0_1_4_1' has no label"),
    ({"queries": []}, "has no row"),
    ({"targets": [{"id": "0", "spans": []}]}, "sentence_text is missing"),
    ({"targets": [{"id": "0", "sentence_text": "a", "spans": [[0, 2]]}]}, "the span [0, 2] is not in the sentence"),
    ({"targets": [{"id": 0, "sentence_text": "a", "spans": []}]}, "id: Input should be a valid string"),
]


@pytest.mark.parametrize(("changed", "message"), BAD)
def test_errors_in_the_files_are_one_line(
    propcite: Propcite, tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    result = propcite(write_facts(tmp_path / "facts", **changed))
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result.err
    assert message in result.err
    assert "give the folder of" in propcite(tmp_path).err
