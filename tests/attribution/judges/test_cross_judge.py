"""The trained judge distinguishes roles, obeys the word checks, and judges each case independently."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from claim_pairs import ROWS
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import Case
from propcite.attribution.judges.cross import CrossJudge, batches
from propcite.attribution.judges.excerpts import excerpt
from propcite.attribution.judges.weights import JUDGE_WEIGHTS, load
from propcite.retrieval.encoding.encoder import Encoder

GATES = "The tidal barrier has fourteen steel gates."
COST = "The barrier cost 410 million euros."
TOLERANCE = 0.002  # of a probability, as the order of sums differs between batches
MIN_ORDERED, MIN_CORRECT, MIN_ROLES = 0.75, 0.7, 0.9  # below the results of the shipped weights


@pytest.fixture(scope="module")
def judge(encoder: Encoder) -> CrossJudge:
    return CrossJudge(encoder)


@pytest.fixture(scope="module")
def verdict_pairs(judge: CrossJudge) -> list[tuple[str, Verdict, Verdict]]:
    cases = [Case(claim, (evidence,)) for _, evidence, yes, no in ROWS for claim in (yes, no)]
    verdicts = judge.judge(cases)
    return [(row[0], *pair) for row, pair in zip(ROWS, zip(verdicts[::2], verdicts[1::2], strict=True), strict=True)]


def one(judge: CrossJudge, claim: str, *evidence: str, context: str = "") -> Verdict:
    return judge.judge([Case(claim, evidence, context)])[0]


def test_the_supported_one_of_two_claims_is_likelier(verdict_pairs: list[tuple[str, Verdict, Verdict]]) -> None:
    ordered = [yes.probability > no.probability for _, yes, no in verdict_pairs]
    assert sum(ordered) / len(ordered) >= MIN_ORDERED


def test_most_labels_are_correct(verdict_pairs: list[tuple[str, Verdict, Verdict]]) -> None:
    correct = [(yes.label is Label.SUPPORTED) + (no.label is not Label.SUPPORTED) for _, yes, no in verdict_pairs]
    assert sum(correct) / (2 * len(correct)) >= MIN_CORRECT


def test_exchanged_roles_are_distinguished(verdict_pairs: list[tuple[str, Verdict, Verdict]]) -> None:
    ordered = [yes.probability > no.probability for kind, yes, no in verdict_pairs if kind == "roles"]
    assert sum(ordered) / len(ordered) >= MIN_ROLES


@pytest.mark.parametrize("sentence", [GATES, COST, "Terns breed on the gravel roof of the warehouse."])
def test_a_sentence_supports_itself(judge: CrossJudge, sentence: str) -> None:
    assert one(judge, sentence, sentence).label is Label.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (GATES, "Rye bread needs a sourdough that is at least two days old."),
        ("Herring spawn in the bay.", GATES),
        ("The chess club meets in the library.", COST),
    ],
)
def test_other_topics_are_not_supported(judge: CrossJudge, claim: str, evidence: str) -> None:
    assert one(judge, claim, evidence).label in (Label.UNSUPPORTED, Label.PARTLY)


@pytest.mark.parametrize(
    ("claim", "evidence", "reason"),
    [
        ("The barrier cost 510 million euros.", COST, "source says 410 million euros; answer says 510 million euros"),
        ("Sales rose in the spring.", "Sales fell in the spring.", "source says “fell”; answer says “rose”"),
        ("The gates were closed.", "The gates were not closed.", "one of the two is negated, the other is not"),
    ],
)
def test_word_checks_overrule_the_network(judge: CrossJudge, claim: str, evidence: str, reason: str) -> None:
    verdict = one(judge, claim, evidence)
    assert (verdict.label, verdict.reason) == (Label.CONTRADICTED, reason)


@pytest.mark.parametrize("evidence", [(), ("",), (" ", "\n")])
def test_no_evidence_supports_nothing(judge: CrossJudge, evidence: tuple[str, ...]) -> None:
    assert [one(judge, claim, *evidence).label for claim in (GATES, COST, "")] == [Label.UNSUPPORTED] * 3


@pytest.mark.parametrize("odd", ["", " ", "\ud800", "\x00", "🙂 " * 400, "a" * 3000, "[SEP] [CLS] [unused3]"])
def test_any_text_can_be_judged(judge: CrossJudge, odd: str) -> None:
    for verdict in judge.judge([Case(odd, (GATES,)), Case(GATES, (odd,)), Case(GATES, (GATES,), odd)]):
        assert 0 <= verdict.probability <= 1


def test_no_cases_give_no_verdicts(judge: CrossJudge) -> None:
    assert judge.judge([]) == []


def test_a_verdict_does_not_depend_on_the_other_cases(judge: CrossJudge) -> None:
    cases = [Case(claim, (evidence,)) for _, evidence, yes, no in ROWS[:4] for claim in (yes, no)]
    long = Case("The barrier has gates.", (f"{COST} " * 10 + GATES,))
    together = [v.probability for v in judge.judge([long, *cases, long])][1:-1]
    alone = [judge.judge([case])[0].probability for case in cases]
    assert together == pytest.approx(alone, abs=TOLERANCE)


def test_threads_share_one_judge(judge: CrossJudge) -> None:
    cases = [[Case(yes, (evidence,))] for _, evidence, yes, _ in ROWS[:6]]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(judge.judge, cases)) == [judge.judge(case) for case in cases]


def test_the_threshold_decides_the_label(encoder: Encoder, judge: CrossJudge) -> None:
    probability = one(judge, GATES, GATES).probability
    strict = CrossJudge(encoder, supported_from=min(1.0, probability + 0.001))
    assert one(strict, GATES, GATES).label is not Label.SUPPORTED


def test_the_relevant_sentence_is_found_in_long_evidence(judge: CrossJudge) -> None:
    filler = "The council discussed the parking of bicycles near the market at great length that evening. " * 30
    assert one(judge, GATES, filler + GATES + " " + filler).label is Label.SUPPORTED
    assert one(judge, GATES, filler).label is not Label.SUPPORTED


@given(st.lists(st.sampled_from(["The gates rose.", "Rain fell all day long.", "It cost 3 euros."]), max_size=40))
def test_an_excerpt_keeps_the_order_of_sentences(sentences: list[str]) -> None:
    text = " ".join(f"{s[:-1]} {i}." for i, s in enumerate(sentences))
    shortened = excerpt(Case("Rain fell.", (text,)), 30)
    positions = [text.index(piece) for piece in shortened.split(". ") if piece]
    assert positions == sorted(positions)
    assert len(shortened.split()) <= 30


def test_an_excerpt_prefers_the_first_of_equally_good_sentences() -> None:
    dice, words = random.Random(3), "river bridge mill stone water tower garden winter harvest market clock".split()
    for _ in range(20):
        same = [f"{' '.join(dice.sample(words, len(words)))}." for _ in range(30)]
        text = " ".join(f"{sentence} {' '.join(dice.sample(words, 6))}." for sentence in same)
        assert excerpt(Case(" ".join(words), (text.title(),)), 60) == " ".join(same[:5]).title()


@given(st.lists(st.integers(1, 256), max_size=60), st.integers(1, 3000))
def test_batches_have_each_text_once_and_a_limited_size(lengths: list[int], limit: int) -> None:
    groups = batches(lengths, limit)
    assert sorted(i for batch in groups for i in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= limit for batch in groups)


def test_the_shipped_file_is_small_and_describes_its_training() -> None:
    assert JUDGE_WEIGHTS.stat().st_size <= 12_000_000
    about = load().about
    assert {"recipe", "sources", "pairs", "made"} <= set(about)


def test_the_name_identifies_the_weights(judge: CrossJudge) -> None:
    assert judge.name == f"cross/{load().name}+words3"
    assert load().name.startswith("judge@")


@pytest.mark.parametrize("content", [None, b"", b"no weights", "cut"])
def test_unreadable_weights_raise_an_error_of_one_line(tmp_path: Path, content: bytes | str | None) -> None:
    path = tmp_path / "judge.safetensors"
    if content is not None:
        path.write_bytes(JUDGE_WEIGHTS.read_bytes()[:5000] if isinstance(content, str) else content)
    with pytest.raises(AttributionError, match="cannot read the judge's weights") as error:
        load(path)
    assert "\n" not in str(error.value)


def test_weights_without_a_description_or_of_another_base_raise(tmp_path: Path) -> None:
    path, tensors = tmp_path / "judge.safetensors", load_file(str(JUDGE_WEIGHTS))
    save_file(tensors, str(path))
    with pytest.raises(AttributionError, match="lacks 'about'"):
        load(path)
    name = next(name for name in tensors if name.endswith("/scale")).removesuffix("/scale")
    about = '{"made": "today"}'
    save_file({**tensors, name: tensors[name][:, :3].contiguous()}, str(path), metadata={"about": about})
    with pytest.raises(AttributionError, match="do not fit"):
        load(path)
