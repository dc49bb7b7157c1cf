"""CSV: a row per citation and per unsupported fact, and no formula."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from sample_answers import ANSWER, TEXT, answers

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.csv import COLUMNS, to_csv
from propcite.attribution.formats.text import printable


def rows_of(answer: CitedAnswer) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(answer).removeprefix("\ufeff"), newline="")))


@given(answers())
def test_the_table_has_a_row_per_citation_and_per_unsupported_fact(answer: CitedAnswer) -> None:
    assert to_csv(answer).startswith("\ufeff" + COLUMNS[0])
    rows = rows_of(answer)
    assert [row["kind"] for row in rows].count("citation") == len(answer.citations)
    assert [row["fact"] for row in rows if row["kind"] == "without support"] == [
        f"'{text}" if text.lstrip()[:1] in tuple("=+-@＝＋－＠") or text[:1] in tuple("\t\r\n") else text
        for text in (printable(cited.proposition.text) for cited in answer.uncited)
    ]
    numbers = {"probability", "marker", "start", "end", "document_start", "document_end", "score"}
    assert not [c for row in rows for name, c in row.items() if name not in numbers and c[:1] in tuple("=+-@\t\r\n")]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1", "\n=1", "＝1", "\xa0=1"])
def test_formulas_are_made_text(text: str) -> None:
    [row] = rows_of(CitedAnswer(ANSWER.text, ANSWER.sentences[3:], question=text))
    assert row["question"] == f"'{text}"


def test_rows_locate_their_quotes() -> None:
    rows = rows_of(ANSWER)
    assert [(row["kind"], row["marker"], row["quote"]) for row in rows] == [
        ("citation", "1", "Each gate weighs 300 tonnes 😀."),
        ("citation", "2", "It cost 5 million"),
        ("citation", "1", "They close."),
        ("without support", "", "'=2+2 is 4."),
        ("citation", "3", "Ana opened the café"),
        ("without support", "", ""),
    ]
    assert (rows[0]["pages"], rows[0]["document_start"], rows[0]["title"]) == ("3 4", "106", "The “barrier” › Gates")
    assert (rows[3]["title"], rows[3]["elsewhere"], rows[3]["verdict"]) == ("'=Cost|", "yes", "contradicted")
    assert rows[0]["sentence"] in TEXT
