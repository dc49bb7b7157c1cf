"""Conditions on documents: which hold, and one line of error for those that cannot be parsed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.app.errors import AppError
from propcite.app.library.conditions import MAX_DEPTH, parse_condition
from propcite.app.library.conditions.dates import compare_dates, parse_date

REPORT = {
    "title": "Tides and currents (2nd)",
    "kind": "pdf",
    "author": ["Ana Rossi", "Zoë SS"],
    "date": "2024-05-17",
    "tags": ["budget", "to do"],
    "pages": "12",
    "weight": 3,
    "draft": False,
    "journal": {"volume": 7, "name": "Harbour"},
    "note": "",
    "nothing": None,
}

HOLDS = """
kind=pdf
kind=PDF
kind==pdf
kind=p?f
title=tides*
title="Tides and currents (2nd)"
title = Tides and currents (2nd) and kind=pdf | title = "Tides and currents (2nd)" and kind=pdf
(title=*(2nd)) and (kind=pdf)
author=ana rossi
author~ROSSI
author~'zoë ss'
author!=Somebody
tags=budget
tags="to do"
tags in (x, to do)
tags in ("budget")
not tags=draft
pages>9
pages>=12.0 and pages<=12 and pages<100
pages=012
weight=3.0
weight in (1, 2, 3)
draft=false
journal.volume>6
journal.name~harb
date=2024
date=2024-05
date=2024/5/17
date>=2024-05 and date<=2024-05
date>2024-05-16 and date<2024-06
date="17 May 2024"
date>2023 or date=nonsense
author is set
isbn is missing and note is missing and nothing is missing
kind=txt or kind=html or kind=pdf
kind=txt and kind=html or kind=pdf
kind=pdf or kind=txt and kind=html
not (kind=txt or kind=html)
not not kind=pdf
NOT kind=txt AND kind=pdf
title<u
isbn!=3
'kind'=pdf
"""

FAILS = """
kind=pd
kind!=pdf
title=and
author=Rossi
author!=Ana Rossi
tags=bud
tags!=budget
pages>12
pages<9
weight>text
date>2024
date<2024-05
date=2023
date>=nonsense-but-later-by-letters and date is missing
isbn>3
isbn=3
journal=7
journal.none=7
author is missing
note is set
(kind=pdf or kind=txt) and kind=html
"""


def lines(text: str) -> list[str]:
    return [line.split(" | ")[-1] for line in text.strip().splitlines()]


@pytest.mark.parametrize("line", lines(HOLDS))
def test_conditions_that_hold(line: str) -> None:
    assert parse_condition(line).holds(REPORT)
    assert not parse_condition(f"not ({line})").holds(REPORT)


@pytest.mark.parametrize("line", lines(FAILS))
def test_conditions_that_do_not_hold(line: str) -> None:
    assert not parse_condition(line).holds(REPORT)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "at the end: expected a field name"),
        ("author", "at the end: expected author=VALUE"),
        ("date>", "at the end: expected a value"),
        ("kind=pdf and", "at the end: expected a field name"),
        ("kind=pdf or and", "at the end: expected and=VALUE"),
        ("(kind=pdf", "at the end: expected a closing bracket"),
        ("kind=pdf)", "at ')': expected `and`, `or` or the end of the line"),
        ('title="a" b', "at 'b': expected `and`"),
        ("tags in budget", "at 'budget': expected a list in brackets after `in`"),
        ("tags in (a, ", "at the end: expected a value"),
        ("tags in (a", "at the end: expected a bracket that closes the list"),
        ("author is here", "at 'here': expected `set` or `missing`"),
        ("=pdf", "at '=pdf': expected a field name"),
        ("(" * 99 + "kind=pdf" + ")" * 99, f"nested more than {MAX_DEPTH} levels deep"),
        ("not " * 99 + "kind=pdf", f"nested more than {MAX_DEPTH} levels deep"),
    ],
)
def test_an_error_is_one_line_with_its_place_and_an_example(line: str, message: str) -> None:
    with pytest.raises(AppError) as caught:
        parse_condition(line)
    assert message in str(caught.value)
    assert str(caught.value).endswith("as in kind=pdf and date>=2024-05")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@given(st.text(alphabet=" ()\"'\\,=!<>~.abANDornotinis12-", max_size=40))
def test_any_input_is_parsed_or_refused(line: str) -> None:
    try:
        condition = parse_condition(line)
    except AppError:
        return
    assert condition.holds(REPORT) in (True, False)
    assert list(condition.field_names())


@given(st.text(max_size=30))
def test_any_value_can_be_quoted(value: str) -> None:
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    assert parse_condition(f'title~"{quoted}"').holds({"title": f"a {value} b"})


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024", "2024"),
        ("2024-5", "2024-05"),
        ("2024/12/31", "2024-12-31"),
        ("2024-05-01 09:30", "2024-05-01T09:30:00"),
        ("2024-05-01T23:30:00-02:00", "2024-05-02T01:30:00"),
        ("2024-05-01 10:00:00.123456+00", "2024-05-01T10:00:00"),
        ("D:20240501093000+02'00'", "2024-05-01T09:30:00"),
        ("D:2024", "2024"),
        ("18 October 2024", "2024-10-18"),
        ("Oct. 18, 2024", "2024-10-18"),
        ("October 2024", "2024-10"),
        ("Fri, 18 Oct 2024 10:00:00 +0200", "2024-10-18T08:00:00"),
        ("2024-13-01", None),
        ("31 February 2024", None),
        ("soon", None),
        ("", None),
        ("12", None),
    ],
)
def test_dates_are_parsed_as_documents_write_them(text: str, date: str | None) -> None:
    assert parse_date(text) == date


def test_a_date_equals_the_month_or_year_that_contains_it() -> None:
    assert [compare_dates("2024-05-17", w) for w in ("2023", "2024", "2025", "2024-05", "2024-05-18")] == [
        1,
        0,
        -1,
        0,
        -1,
    ]
    assert [compare_dates("2024", w) for w in ("2024", "2024-01", "2024-02")] == [0, 0, -1]
