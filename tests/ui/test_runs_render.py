"""Runs in words and as HTML: every text as it was, nothing that it could start, the right items in the right order."""

from __future__ import annotations

import doctest
import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st
from sample_runs import any_item, run_info, sample_items

from propcite.app.lab.runs.aggregates import measure_of
from propcite.app.library.store import RunItem
from propcite.ui.evaluating import render, words
from propcite.ui.evaluating.render import items_html

TAG = re.compile(r"<[^>]*>")
OURS = {"section", "h2", "h3", "ul", "li", "b", "p", "span", "dl", "div", "dt", "dd", "blockquote"}
HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>'


def plain(html: str) -> str:
    return unescape(TAG.sub("", html))


def tags(html: str) -> set[str]:
    return {name.lower() for name in re.findall(r"</?\s*([A-Za-z][A-Za-z0-9]*)", html)}


def test_the_examples_are_true() -> None:
    assert [doctest.testmod(told).failed for told in (render, words)] == [0, 0]


@given(any_item)
def test_whatever_an_item_tells_is_shown_and_starts_nothing(item: RunItem) -> None:
    html = items_html({item.way: item})
    assert tags(html) <= OURS
    assert item.way.strip() in plain(html) or not item.way.isprintable()


def test_all_that_an_item_says_can_be_read() -> None:
    told = {
        "text": f"It is high [1]. {HOSTILE}",
        "given": "It is high.",
        "claim": f"It is high {HOSTILE}",
        "evidence": ["Six metres."],
        "judgements": [
            {"text": "It is high.", "docs": [1, 2], "holds": True},
            {"text": "It is high.", "docs": [2], "holds": False},
        ],
        "cited": ["a", "b"],
        "wanted": ["a", "c"],
        "ranking": ["0.3", "0.1"],
        "found": {"0.1": 2},
        "propositions": [["It", "is high"]],
        "judged": [{"probability": 0.93, "right": False}],
        "method": "paper",
    }
    html = items_html({"way <b>": RunItem("q1", "w", {"citation_recall": 0.5, "mauve": None}, told, {"seconds": 0.25})})
    assert tags(html) <= OURS
    said = plain(html)
    figures = ("way <b>", HOSTILE, "citation recall 50.0", "It cost 0.25 seconds.", "Six metres.", "method", "paper")
    judged = (
        "✓ supported by [1][2] together",
        "✗ not supported by [2]",
        "✗ 93% likely, but it is not so",
        "It … is high",
    )
    units = ("✓ a: right", "✗ b: wrong", "✗ c: not cited", "✓ 2. 0.1", "Correct at rank 2.")
    for wanted in (*figures, *judged, *units, "As its writer cited it"):
        assert wanted in said, wanted
    assert "mauve" not in said


def test_the_worst_items_come_first_and_those_without_a_figure_last() -> None:
    items = [RunItem(f"q{n}", "w", {"recall": r}, {"question": f"Q {n}"}) for n, r in enumerate((0.5, None, 0.0, 1.0))]
    recall = measure_of("recall")
    assert [one.key for one in words.ordered(items, "w", recall)] == ["q2", "q0", "q3", "q1"]
    assert [one.key for one in words.ordered(items, "w", recall, "q 3")] == ["q3"]
    assert words.ordered(items, "other", recall) == []
    assert words.item_line(items[1], recall) == "– · Q 1"
    assert len(words.item_line(RunItem("q", "w", {}, {"question": "x" * 500}), recall)) == words.NUM_IN_A_LINE
    assert words.ways_in(sample_items(1)) == ["propcite+judge", "sentence_top1 <b>&$_%"]


def test_runs_are_matched_by_every_word_in_whatever_they_tell() -> None:
    run = run_info("towers.json")
    assert words.matching([run], "asqa", "TOWERS 2026-11-22") == [run]
    assert words.matching([run], None, "") == [run]
    assert words.matching([run], "cite", "") == []
    assert words.matching([run], None, "towers absent") == []


@given(st.text(max_size=400))
def test_a_line_is_short(text: str) -> None:
    assert len(words.short(text)) <= words.NUM_IN_A_LINE
