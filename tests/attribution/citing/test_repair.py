"""An answer's own markers are checked one by one: right ones stay, wrong ones go, missing ones come, all is told."""

from __future__ import annotations

import json
from collections.abc import Sequence

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.citing.repaired import MarkerState, Repaired
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json.repairs import repair_json, repair_schema
from propcite.attribution.judges import NOT_JUDGED, Case
from propcite.attribution.propcite import PropCite
from propcite.attribution.prose.markers import extract_markers
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.splitter import passage_from_text

GATES = passage_from_text("gates", "The tidal barrier has fourteen steel gates. It was opened in 2004.", "The barrier")
COST = passage_from_text("cost", "The barrier cost 410 million euros.", "The barrier")
TERNS = passage_from_text("terns", "Terns breed on the gravel roof of the warehouse.")
PASSAGES = [GATES, COST, TERNS]


@pytest.fixture(scope="module")
def propcite(encoder: Encoder) -> PropCite:
    return PropCite(encoder)


def states(repaired: Repaired) -> list[tuple[int, str]]:
    return [(check.number, check.state.value) for check in repaired.checks]


@pytest.mark.parametrize(
    ("answer", "plain", "numbers"),
    [
        ("It cost 5 euros [1].", "It cost 5 euros.", [(1,)]),
        ("It cost 5 euros.[1] It is paid.", "It cost 5 euros. It is paid.", [(1,)]),
        ("It cost 5 euros. [1, 3][2] It is paid.", "It cost 5 euros. It is paid.", [(1, 3), (2,)]),
        ("It cost 5 euros [2-4; 7].", "It cost 5 euros.", [(2, 3, 4, 7)]),
        ("It cost 5 euros【3†source】.", "It cost 5 euros.", [(3,)]),
        ("[2] It cost 5 euros.", "It cost 5 euros.", [(2,)]),
        ("- [2] It cost 5 euros.", "- It cost 5 euros.", [(2,)]),
        ("It cost 5 euros [^1].", "It cost 5 euros.", [(1,)]),
        ("In [2019] it cost 5 euros.", "In [2019] it cost 5 euros.", []),
        ("It cost 5 euros [[1]](https://x.org/2).", "It cost 5 euros.", [(1,)]),
        ("It cost 5 euros (Source: 2).", "It cost 5 euros.", [(2,)]),
        ("It cost 5 euros [Sources: 2 and 4].", "It cost 5 euros.", [(2, 4)]),
        ("It cost 5 euros <|file-9|>.", "It cost 5 euros.", [()]),
        ("See [0, 1] and `x[1]`.", "See [0, 1] and `x[1]`.", []),
        ("It cost 5 euros [0].", "It cost 5 euros.", [(0,)]),
        ("It cost 5 euros [ 3 ][ 2, 4 ].", "It cost 5 euros.", [(3,), (2, 4)]),
        ("- [ ] It cost 5 euros.", "- [ ] It cost 5 euros.", []),
        ("Take this:\n```\nx[1]\n```\n", "Take this:\n```\nx[1]\n```\n", []),
        ("", "", []),
    ],
)
def test_markers_are_told_from_other_brackets(answer: str, plain: str, numbers: list[tuple[int, ...]]) -> None:
    found = extract_markers(answer)
    assert (found.text, [m.numbers for m in found.markers]) == (plain, numbers)


@given(st.text(alphabet="ab. \n[]123,-【】†^`#(:)", max_size=60))
def test_without_its_markers_an_answer_loses_nothing_else(answer: str) -> None:
    found = extract_markers(answer)
    left = list(answer)
    for marker in found.markers:
        left[marker.span.start : marker.span.end] = [""] * len(marker.span)
        assert 0 <= marker.place <= len(found.text)
        assert marker.span.of(answer)[0] in "[【(<"
    assert "".join(left).split() == found.text.split() or "".join("".join(left).split()) == "".join(found.text.split())


class AwayJudge:
    """Fails as a judge whose server is away does."""

    name = "away"

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        return [Verdict(Label.UNCHECKED, 0.0, f"{NOT_JUDGED}the server is away") for _ in cases]


def test_markers_that_no_judge_could_check_stay_as_they_are(encoder: Encoder) -> None:
    text = "The barrier has fourteen steel gates [1]. It cost 410 million euros [2][9]."
    repaired = PropCite(encoder, judge=AwayJudge()).repair(text, PASSAGES)
    assert states(repaired) == [(1, "not checked"), (2, "not checked"), (9, "no such passage")]
    assert repaired.text == "The barrier has fourteen steel gates [1]. It cost 410 million euros [2]."
    assert all("the server is away" in c.verdict.reason for c in repaired.checks if c.verdict)
    jsonschema.validate(json.loads(json.dumps(repair_json(repaired))), repair_schema())


def test_right_markers_stay_wrong_ones_go_missing_ones_come(propcite: PropCite) -> None:
    given_answer = (
        "The barrier has fourteen steel gates [1]. It cost 410 million euros [1]. Terns breed on the roof of the "
        "warehouse."
    )
    repaired = propcite.repair(given_answer, PASSAGES, question="What is known?")
    assert states(repaired) == [(1, "kept"), (1, "dropped"), (2, "added"), (3, "added")]
    assert repaired.text == (
        "The barrier has fourteen steel gates [1]. It cost 410 million euros [2]. Terns breed on the roof of the "
        "warehouse [3]."
    )
    assert repaired.changed
    assert repaired.numbers(MarkerState.ADDED) == (2, 3)
    assert repaired.answer.question == "What is known?"
    kept, dropped, *_ = repaired.checks
    assert kept.marker is not None
    assert kept.marker.of(given_answer) == "[1]"
    assert kept.evidence is not None
    assert kept.evidence.quote == "The tidal barrier has fourteen steel gates."
    assert dropped.verdict is not None
    assert dropped.verdict.label is not Label.SUPPORTED


def test_an_answer_that_cites_well_is_left_as_it_is(propcite: PropCite) -> None:
    answer = "The tidal barrier has fourteen steel gates [1]. The barrier cost 410 million euros [2]."
    repaired = propcite.repair(answer, PASSAGES)
    assert not repaired.changed
    assert repaired.text == answer
    assert propcite.repair(repaired.text, PASSAGES).text == answer


def test_of_two_passages_that_say_it_the_one_that_the_answer_names_stays(propcite: PropCite) -> None:
    twins = [passage_from_text("one", COST.text), passage_from_text("other", COST.text)]
    for number in (1, 2):
        repaired = propcite.repair(f"The barrier cost 410 million euros [{number}].", twins)
        assert states(repaired) == [(number, "kept")]


def test_a_passage_that_is_given_twice_has_two_numbers_and_both_are_right(propcite: PropCite) -> None:
    cost = {"id": "cost", "text": COST.text}
    given = [cost, "It rained.", cost, GATES]
    repaired = propcite.repair("The barrier cost 410 million euros [3]. It has fourteen steel gates [4].", given)
    assert states(repaired) == [(3, "kept"), (4, "kept")]
    assert repaired.text == "The barrier cost 410 million euros [1]. It has fourteen steel gates [4]."
    assert states(propcite.repair("The barrier cost 410 million euros.", given)) == [(1, "added")]
    with pytest.raises(AttributionError, match="same id 'cost'"):
        propcite.repair("It rained [1].", [cost, {"id": "cost", "text": "It rained."}])


def test_the_marker_of_a_table_s_row_stays_in_its_cell(propcite: PropCite) -> None:
    table = "| what | said |\n|---|---|\n| cost | The barrier cost 410 million euros{} |"
    repaired = propcite.repair(table.format(" [1]"), PASSAGES)
    assert repaired.text == table.format(" [2]")


def test_what_is_no_text_is_one_clear_line(propcite: PropCite) -> None:
    for cite in (propcite.repair, propcite.cite):
        with pytest.raises(AttributionError, match="the answer is a NoneType: give its text"):
            cite(None, PASSAGES)  # type: ignore[arg-type]


def test_all_passages_that_the_answer_names_stay_when_they_support_it(propcite: PropCite) -> None:
    said = "The barrier cost 410 million euros"
    reports = [passage_from_text(f"r{n}", f"{said}. This is report {n}.") for n in range(5)]
    repaired = propcite.repair(f"{said} [1][2][3][4][5].", reports)
    assert states(repaired) == [(number, "kept") for number in range(1, 6)]
    assert (repaired.text, repaired.changed) == (f"{said} [1][2][3][4][5].", False)
    assert propcite.repair(f"{said}.", reports).text.count("[") == 1


def test_a_wrong_number_is_told_with_what_the_source_says(propcite: PropCite) -> None:
    repaired = propcite.repair("The barrier cost 510 million euros [2].", PASSAGES)
    (check,) = repaired.checks
    assert check.state is MarkerState.DROPPED
    assert check.verdict is not None
    assert check.verdict.label is Label.CONTRADICTED
    assert "410 million euros" in check.verdict.reason
    assert repaired.text == "The barrier cost 510 million euros."


@pytest.mark.parametrize("marker", ["[4]", "[999]", "[4, 9]"])
def test_a_marker_to_no_passage_is_told(propcite: PropCite, marker: str) -> None:
    repaired = propcite.repair(f"The barrier cost 410 million euros {marker}.", PASSAGES)
    assert {check.state for check in repaired.checks} == {MarkerState.UNKNOWN, MarkerState.ADDED}
    assert repaired.text == "The barrier cost 410 million euros [2]."


@pytest.mark.parametrize(
    ("answer", "passages"),
    [
        ("", PASSAGES),
        ("[1]", PASSAGES),
        ("It is so [1].", []),
        ("Why? [1]", PASSAGES),
        ("<b>It</b> [1] " * 30, PASSAGES),
    ],
)
def test_any_answer_can_be_repaired(propcite: PropCite, answer: str, passages: list) -> None:
    repaired = propcite.repair(answer, passages)
    assert repaired.answer.text == extract_markers(answer).text
    assert all(check.state is not MarkerState.KEPT or 1 <= check.number <= len(passages) for check in repaired.checks)


def test_as_json_every_check_points_at_its_place(propcite: PropCite) -> None:
    answer = "Terns breed on the roof of the warehouse [1][7]."
    told = json.loads(json.dumps(repair_json(propcite.repair(answer, PASSAGES))))
    assert told["schema"] == "propcite/repair/1"
    jsonschema.validate(told, repair_schema())
    assert [(c["number"], c["state"]) for c in told["checks"]] == [
        (1, "dropped"), (7, "no such passage"), (3, "added"),
    ]  # fmt: skip
    places = [answer[slice(*c["marker"])] for c in told["checks"] if c["marker"]]
    assert places == ["[1]", "[7]"]
    assert told["answer"]["text"][slice(*told["checks"][0]["sentence"])] == told["answer"]["text"]
    assert told["checks"][2]["evidence"]["quote"] == TERNS.text
