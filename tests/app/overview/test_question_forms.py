"""Questions formed of statements: only where the grammar is plain, and with the words of the statement."""

from __future__ import annotations

import pytest

from propcite.app.overview.question_forms import forms_of
from propcite.app.overview.statements import is_statement
from propcite.app.overview.subjects import Spelling


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("The Halden footbridge was opened on 3 April 2019.", "When was the Halden footbridge opened?"),
        ("The Halden footbridge cost 2.1 million euros.", "How much did the Halden footbridge cost?"),
        ("The Halden footbridge is 96 metres long.", "How long is the Halden footbridge?"),
        ("A tide gauge at Lantern Point is a float in a pipe.", ""),  # of which gauge?
        ("The gauge in the Custom House is a float in a pipe.", "What is the gauge in the Custom House?"),
        ("The ferry service carries 90 people across the bay.", "How many people does the ferry service carry"),
        ("The duty manager decides on every closing.", "Who decides on every closing?"),
        ("The Halden footbridge was designed by Ada Ree.", "Who designed the Halden footbridge?"),
        ("The Halden footbridge was closed because its deck had rotted.", "Why was the Halden footbridge closed?"),
        ("It was opened on 3 April 2019.", ""),
        ("This bridge was opened on 3 April 2019.", ""),
        ("The Halden footbridge was not opened in 2019.", ""),
        ("Ada Ree, who left the town in 1990, came back.", ""),
        ("Divers inspected the old quay in 2021.", ""),  # a name, or the first word of a sentence?
    ],
)
def test_a_statement_is_turned_or_left_alone(statement: str, question: str) -> None:
    formed = [form.question for form in forms_of(statement)]
    assert formed[0].startswith(question) if question else formed == []


def test_how_a_text_spells_a_word_tells_whether_it_is_a_name() -> None:
    statement = "Tern Holm was sold in 2018."
    assert [form.question for form in forms_of(statement)] == ["When was Tern Holm sold?"]
    one_word = "Vennmouth was flooded in 2017."
    assert forms_of(one_word) == []
    as_name = forms_of(one_word, Spelling.of("The flood came to Vennmouth."))
    assert [form.question for form in as_name] == ["When was Vennmouth flooded?"]
    of_two = forms_of("Heavy gates were fitted in 2017.", Spelling.of("Two heavy gates came."))
    assert [form.question for form in of_two] == ["When were heavy gates fitted?"]


@pytest.mark.parametrize(
    "text",
    [
        "However, the bridge was closed in 2021 again.",
        "| Bridge | Length | Opened | Cost | Builder | Town |",
        "the deck of the old bridge near the mill",
        "Bridge = Halden; Opened = 2019; Cost = 2.1 million.",
        "He said that “the bridge was closed in 2021.",
        "",
    ],
)
def test_what_needs_its_neighbours_is_no_statement(text: str) -> None:
    assert not is_statement(text)
