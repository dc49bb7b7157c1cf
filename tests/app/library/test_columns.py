"""Conditions over columns of all documents hold for the same documents as one by one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_conditions import FAILS, HOLDS, REPORT, lines

from propcite.app.library.conditions import parse_condition
from propcite.app.library.conditions.columns import DocumentColumns

VALUES = st.sampled_from(
    ["pdf", "PDF", "2024-05-17", "3", 3, 3.0, True, None, "", ["a", "b"], [], {"b": 7}, {"b": None}]
)
DOCUMENTS = st.lists(st.dictionaries(st.sampled_from(["kind", "a", "a.b", "date", "title"]), VALUES), max_size=6)
CONDITIONS = st.sampled_from(
    ["kind=pdf", "kind!=pdf", "a=b", "a.b=7", "a.b is missing", "a is set", "date>2023", "date in (3, x)", "title~pd"]
)


@pytest.mark.parametrize(
    ("line", "holds"), [*((line, True) for line in lines(HOLDS)), *((line, False) for line in lines(FAILS))]
)
def test_columns_hold_what_a_document_holds(line: str, holds: bool) -> None:
    columns = DocumentColumns()
    columns.put("other", {"kind": "csv"})
    columns.put("report", REPORT)
    condition = parse_condition(line)
    assert columns.holds(condition).tolist() == [condition.holds({"kind": "csv"}), holds]


@settings(deadline=None)
@given(DOCUMENTS, DOCUMENTS, st.lists(CONDITIONS, min_size=1, max_size=3), st.data())
def test_after_any_changes_columns_equal_each_document_by_itself(
    first: list[dict[str, object]], second: list[dict[str, object]], conditions: list[str], data: st.DataObject
) -> None:
    columns, expected = DocumentColumns(), {}
    for documents in (first, second):
        for fields in documents:
            name = data.draw(st.sampled_from("pqrs"))
            columns.put(name, fields)
            expected[name] = fields
        for name in data.draw(st.sets(st.sampled_from("pqrs"))):
            columns.remove(name)
            expected.pop(name, None)
        for line in [*conditions, " and not ".join(conditions), " or ".join(conditions)]:
            condition = parse_condition(line)
            chosen = columns.holds(condition) & columns.alive
            assert set(columns.ids(chosen)) == {name for name, fields in expected.items() if condition.holds(fields)}
        names = {key for fields in expected.values() for key in fields}
        assert set(columns.names()) == names
