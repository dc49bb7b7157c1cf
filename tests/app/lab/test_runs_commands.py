"""`propcite runs`: list, show, compare, export, import, remove, and one-line errors."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import browsing
import pytest
from commanded import Propcite, Said, commanded
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html
from sample_runs import WAYS, any_item, run_info, sample_items, sample_run

from propcite.app.lab.runs.exports import EXPORTS, read_json, to_csv, to_html, to_json, to_latex
from propcite.app.library.store import RunInfo, RunItem, Runs


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propcite:
    return commanded(monkeypatch, capsys)


def error_line(result: Said) -> str:
    assert (result.code, result.out) == (2, ""), result
    assert result.err.count("\n") == 1, result.err
    return result.err


def test_runs_are_listed_newest_first(propcite: Propcite, runs: Runs) -> None:
    assert "no runs yet: propcite eval --help" in propcite("runs", "list").err
    first, last = sample_run(runs), sample_run(runs, judge="true")
    listed = propcite("runs", "list", "--json").json
    assert [run["id"] for run in listed] == [last.id, first.id]
    assert (listed[0]["kind"], listed[0]["judge"], listed[0]["num_items"]) == ("asqa", "true", 80)
    out = propcite("runs", "list", "--limit", "1").out
    assert last.id in out
    assert first.id not in out


def test_a_run_is_shown_with_intervals_and_costs(propcite: Propcite, runs: Runs) -> None:
    run = sample_run(runs)
    fields = propcite("runs", "show", run.id[:8], "--json").json
    figures = {(f["way"], f["measure"]): f for f in fields["figures"]}
    f1 = figures[WAYS[0], "citation_f1"]
    assert f1["low"] < f1["value"] < f1["high"]
    assert (f1["items"], f1["percent"], f1["judged"]) == (40, True, True)
    assert fields["costs"][WAYS[0]]["items"] == 40
    result = propcite("runs", "show")  # the newest
    assert result.out.startswith("asqa on asqa_dev.json, 40 items, 2 ways, judged by embedded/minilm\nrun " + run.id)
    value, low, high = (f"{100 * f1[name]:.1f}" for name in ("value", "low", "high"))
    assert f"{value} [{low}, {high}]" in result.out
    assert WAYS[1] in result.out  # unchanged, though it looks like markup
    assert all(len(line) <= 120 for line in result.out.splitlines())
    assert "thresholds judge: 0.5" in result.err


def test_a_run_without_items_says_so(propcite: Propcite, runs: Runs) -> None:
    empty = runs.start("beir", "cranfield", {}, {})
    shown = propcite("runs", "show", empty.id)
    assert shown.code == 0
    assert "it has no items yet" in shown.err
    for shape in ("latex", "html"):
        assert "has no figures: continue it with the command that began it" in error_line(
            propcite("runs", "export", empty.id, "-f", shape)
        )
    assert propcite("runs", "export", empty.id, "-f", "json").json["items"] == []


def test_a_comparison_shows_figures_and_changed_items(propcite: Propcite, runs: Runs) -> None:
    a, b = sample_run(runs), sample_run(runs, better=0.2, seed=3)
    (fields, _) = propcite("runs", "compare", a.id, b.id, "--items", "3", "--measure", "citation_f1", "--json").json
    assert fields["moved"]["measure"] == "citation_f1"
    changes = [abs(one["difference"]) for one in fields["moved"]["items"]]
    assert len(changes) == 3
    assert changes == sorted(changes, reverse=True)
    figure = next(f for f in fields["figures"] if f["measure"] == "citation_recall")
    assert figure["difference"] == pytest.approx(figure["b"] - figure["a"])
    by_recall = propcite("runs", "compare", a.id, b.id, "--measure", "citation_recall")
    assert "10 items that changed most in citation recall" in by_recall.out
    unchanged = propcite("runs", "compare", a.id, b.id, "--measure", "str_em")
    assert "no item changed in STR-EM" in unchanged.err
    assert "changed most" not in unchanged.out
    result = propcite("runs", "compare", f"{a.id}:{WAYS[0]}", f"{b.id}:{WAYS[0]}", "--items", "2")
    assert result.out.count(f"run {b.id}") == 1
    assert "2 items that changed most in citation recall" in result.out


def test_figures_of_different_judges_are_left_out_with_a_note(propcite: Propcite, runs: Runs) -> None:
    a, b = sample_run(runs, judge="one"), sample_run(runs, judge="other")
    result = propcite("runs", "compare", a.id, b.id)
    assert result.code == 0
    assert "different judges (one and other) cannot be compared: citation recall" in result.err
    assert "citation recall" not in result.out
    only_judged = [runs.start("eli5", "x", {}, {}, judge).id for judge in ("one", "other")]
    for id_ in only_judged:
        runs.add(id_, [RunItem("q", "w", {"claim_recall": 0.5})])
    assert "different judges (one and other) cannot be compared: claim recall; no other" in error_line(
        propcite("runs", "compare", *only_judged, "--json")
    )


def test_different_settings_are_listed(propcite: Propcite, runs: Runs) -> None:
    ids = [runs.start("asqa", "x", {"context": context}, {}).id for context in (5, 10)]
    for id_ in ids:
        runs.add(id_, [RunItem("q", "w", {"str_em": 0.5})])
    assert "other settings: context 5 -> 10" in propcite("runs", "compare", *ids).err


@pytest.mark.parametrize("shape", EXPORTS)
def test_every_format_goes_to_standard_output_and_into_a_file(
    propcite: Propcite, runs: Runs, tmp_path: Path, shape: str
) -> None:
    run = sample_run(runs, num=6)
    result = propcite("runs", "export", run.id, "--format", shape, "--out", "told.txt")
    assert (result.code, result.out) == (0, "")
    with (tmp_path / "told.txt").open(encoding="utf-8", newline="") as file:
        assert propcite("runs", "export", "last", "-f", shape).out == file.read()


def test_a_run_is_unchanged_by_export_and_import(propcite: Propcite, runs: Runs) -> None:
    run = sample_run(runs, num=5)
    items = list(runs.items(run.id))
    propcite("runs", "export", run.id, "-f", "json", "-o", "run.json")
    assert f"run {run.id} exists already: propcite runs remove" in error_line(propcite("runs", "import", "run.json"))
    assert f"removed run {run.id} with 10 items" in propcite("runs", "remove", run.id).err
    assert "no run" in error_line(propcite("runs", "show", run.id))
    assert propcite("runs", "import", "run.json", "--json").json["id"] == run.id
    assert runs.run(run.id) == run
    assert list(runs.items(run.id)) == items


@given(st.lists(any_item, max_size=4, unique_by=lambda item: (item.way, item.key)), st.text())
def test_any_run_is_unchanged_by_json(items: list[RunItem], name: str) -> None:
    run = replace(run_info(name), num_items=len(items))
    assert read_json(to_json(run, items), "x") == (run, items)


@given(st.lists(any_item, min_size=1, max_size=4))
def test_csv_of_any_run_has_no_formulas(items: list[RunItem]) -> None:
    header, *rows = csv.reader(io.StringIO(to_csv(run_info(), items).removeprefix("\ufeff"), newline=""))
    assert len(rows) == len(items)
    assert {len(row) for row in rows} == {len(header)}
    texts = [row[at] for row in rows for at, name in enumerate(header) if name in ("item", "way", "question", "text")]
    assert not any(text.lstrip().startswith(("=", "+", "-", "@")) for text in texts)


def page_of(run: RunInfo, items: list[RunItem]) -> Any:
    return html.document_fromstring(to_html(run, items).encode())


def test_the_page_is_complete_and_loads_nothing() -> None:
    page = page_of(run_info(command="propcite eval asqa <x>"), sample_items(40))
    assert [section.get("id") for section in page.xpath("//section")] == [
        "figures",
        "costs",
        "curves",
        "parts",
        "worst",
    ]
    assert len(page.xpath("//figure//*[local-name()='svg']")) == 2
    assert len(page.xpath("//*[@class='three']//*[local-name()='svg']")) == 9  # three measures by three kinds of parts
    assert not page.xpath("//script | //link | //img | //iframe | //*[@src] | //*[local-name()='image']")
    assert all(href.startswith("#") for href in page.xpath("//@href | //@*[local-name()='href']"))
    assert "default-src 'none'" in page.xpath("//meta[@http-equiv]/@content")[0]
    assert [row.text_content() for row in page.xpath("//section[@id='figures']//tbody//th")] == [*WAYS, *WAYS]
    assert page.xpath("//section[@id='figures']/p[@class='told']")[1].text.startswith("Plain mean over 2 sources (news")
    assert page.xpath("//footer//code")[0].text == "propcite eval asqa <x>"
    assert len(page.xpath("//ul[@class='worst']/li")) == 20
    assert not page.xpath("//b")  # what a way is called is no markup


def test_notes_are_shown_with_the_figures(propcite: Propcite, runs: Runs) -> None:
    run = runs.start("asqa", "x", {}, {"notes": ["x cites by <the> judge\nthat scores"]})
    runs.add(run.id, [RunItem("q", "x", {"str_em": 0.5})])
    assert "x cites by <the> judge" in propcite("runs", "show").err
    assert "% x cites by <the> judge that scores" in propcite("runs", "export", "last", "-f", "latex").out
    page = page_of(runs.run(run.id), list(runs.items(run.id)))
    assert page.xpath("//section[@id='figures']//p[contains(@class, 'below')]")[0].text.startswith("x cites by <the>")


def test_incomparable_ways_have_separate_tables_and_plots() -> None:
    items = [
        RunItem(f"q{n}", way, {measure: n / 9}, {"text": "word " * n})
        for n in range(1, 10)
        for way, measure in (("ranks", "P@1"), ("cites", "recall"))
    ]
    page = page_of(run_info(), items)
    tables = page.xpath("//section[@id='figures']//table")
    assert [[th.text_content() for th in table.xpath(".//th")] for table in tables] == [
        ["way", "P@1, %", "ranks"],
        ["way", "recall, %", "cites"],
    ]
    assert len(page.xpath("//*[@class='three']//*[local-name()='svg']")) == 2
    assert [s.text.strip() for s in page.xpath("//section[@id='worst']//summary")] == ["ranks", "cites"]
    assert to_latex(run_info(), items).count(r"\begin{table}") == 2


def test_judgements_are_plotted_without_other_figures() -> None:
    items = [
        RunItem("q1", "cites", {"recall": 0.5}),
        RunItem("q2", "judge", {}, {"judged": [{"probability": 0.7, "right": True}]}),
    ]
    page = page_of(run_info(), items)
    assert len(page.xpath("//section[@id='curves']//figure")) == 2


def test_the_worst_items_are_in_order() -> None:
    items = [RunItem(f"q{n}", "w", {"str_em": n / 20}, {"question": f"Question {n}?"}) for n in range(20)]
    keys = [p.text for p in page_of(run_info(), items).xpath("//p[@class='key']")]
    assert keys == [f"q{n} · STR-EM {5 * n:.1f}" for n in range(10)]


evil = st.text("<>&\"'/\\ scriptimgonerror=\x00\x01\r\n🌊", max_size=25)


@settings(max_examples=12)  # each draws two pictures
@given(evil, evil, evil)
def test_texts_of_a_run_are_escaped(way: str, question: str, name: str) -> None:
    measures: dict[str, float | None] = {"str_em": 0.5, f"own {name}": 1.0}
    output = {"question": question, "text": name, "source": name, "judged": [{"probability": 0.3, "right": True}]}
    items = [
        RunItem("1", f"w{way}", measures, output),
        RunItem(f"2{question}", f"w{way}", measures, {**output, "source": f"{question}."}),
    ]
    page = page_of(replace(run_info(name, command=way), settings={name: way}, judge=question), items)
    assert not page.xpath("//script | //img | //link | //*[@onerror]")
    assert {element.tag for element in page.xpath("//main/*")} <= {"header", "section", "footer"}


def test_the_page_says_that_a_run_is_unfinished() -> None:
    assert "This run is unfinished" in to_html(replace(run_info(), state="unfinished"), sample_items(4))


@pytest.mark.browser
@pytest.mark.skipif(not browsing.there(), reason=browsing.MISSING)
def test_a_browser_shows_the_page_in_light_and_dark_without_errors(tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    file.write_text(to_html(run_info(), sample_items(30)), "utf-8")
    colours = []
    for dark in (False, True):
        with browsing.browsing(390, 800, dark=dark) as driver:
            driver.get(file.as_uri())
            assert driver.get_log("browser") == []
            assert driver.execute_script("return document.documentElement.scrollWidth") == 390
            shown = "[...document.querySelectorAll('.plot')].every(e => e.getBoundingClientRect().width > 20)"
            assert driver.execute_script(f"return {shown}")
            text = "return getComputedStyle(document.querySelector('.plot text')).fill"
            colours.append(driver.execute_script(text))
    assert len(set(colours)) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no run"),
        ("{}", "propcite_run: Field required"),
        ('{"propcite_run": 2, "run": {}, "items": []}', "propcite_run: Input should be 1"),
        ("[" * 100_000, "holds no run"),
        ('{"propcite_run": 1, "run": {"id": "../x"}, "items": []}', "run.id"),
    ],
)
def test_a_file_without_a_run_is_a_one_line_error(propcite: Propcite, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.json").write_text(text)
    message = error_line(propcite("runs", "import", "x.json"))
    assert words in message
    assert "propcite runs export RUN --format json" in message


def test_a_duplicate_item_is_an_error(propcite: Propcite, runs: Runs, tmp_path: Path) -> None:
    content = json.loads(to_json(sample_run(runs, num=1), sample_items(1)))
    content["items"].append(content["items"][0])
    (tmp_path / "x.json").write_text(json.dumps(content))
    assert f"the item 'q0' by '{WAYS[0]}' is there 2 times" in error_line(propcite("runs", "import", "x.json"))


def test_an_invalid_item_is_an_error_with_its_place(propcite: Propcite, runs: Runs, tmp_path: Path) -> None:
    content = json.loads(to_json(sample_run(runs, num=2), sample_items(2)))
    content["items"][3]["measures"]["str_em"] = "high"
    (tmp_path / "x.json").write_text(json.dumps(content))
    assert "items.3.measures.str_em" in error_line(propcite("runs", "import", "x.json"))


def test_errors_are_one_line_with_the_next_step(propcite: Propcite, runs: Runs, tmp_path: Path) -> None:
    assert "there is no run yet: propcite eval --help" in error_line(propcite("runs", "show"))
    run = sample_run(runs, num=3)
    other = runs.start("asqa", "y.json", {}, {})
    runs.add(other.id, [RunItem("elsewhere", WAYS[0], {"str_em": 1.0})])
    missing = str(tmp_path / "nowhere" / "x.csv")
    for arguments, message in (
        (("show", "zzz"), "nearest: "),
        (("remove", "zzz"), "propcite runs list shows all"),
        (("export", run.id, "-o", missing), "--out names a file in a folder that exists"),
        (("export", run.id, "-o", str(tmp_path)), "--out names a file"),
        (("compare", run.id, other.id), "share no item"),
        (("compare", run.id, run.id), "name two runs, or two ways as RUN:way RUN:way2"),
        (("compare", f"{run.id}:postcite", other.id), "has no way 'postcite'"),
        (("import", "nowhere.json"), "cannot be read"),
    ):
        assert message in error_line(propcite("runs", *arguments)), arguments
    pair = (f"{run.id}:{WAYS[0]}", f"{run.id}:{WAYS[1]}")
    assert "no figure 'beauty' to compare: give one of citation_recall" in error_line(
        propcite("runs", "compare", *pair, "--items", "2", "--measure", "beauty")
    )
