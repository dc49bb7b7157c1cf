"""Questions formed of statements: only where the grammar is plain, and with the words of the statement."""

from __future__ import annotations

import pytest

from propcite.app.overview.heading_forms import heading_forms
from propcite.app.overview.question_forms import forms_of
from propcite.app.overview.row_forms import row_form
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
        ("A tide gate is a door that the flood shuts.", "What is a tide gate?"),
        ("Ada Ree was a young and well known member of the crew.", "Who was Ada Ree?"),
        ("1.4. “Spring tide” means the tide after a full moon.", "What does “Spring tide” mean?"),
        ("The upper basin is used to store timber.", "What is the upper basin used for?"),
        ("The flood levy may be used for repairs of the dike.", "What may the flood levy be used for?"),
        ("The harbour staff are required to wear a vest.", "What are the harbour staff required to do?"),
        (
            "The town charter allows every boatman to moor for free.",
            "What does the town charter allow every boatman to do?",
        ),
        ("The harbour log contains the hour of every arrival.", "What does the harbour log contain?"),
        ("By default, the tide calendar covers one month.", "What does the tide calendar cover by default?"),
        ("The mooring fee is 12 euros.", "What is the mooring fee?"),
        ("The fee for guest boats is 12 euros.", "What is the fee for guest boats?"),
        ("The daily allowance for meals is £32.", "What is the daily allowance for meals?"),
        ("The lock gates can be opened by turning both wheels.", "How can the lock gates be opened?"),
        ("The night buoys are lit when the fog bell rings.", "When are the night buoys lit?"),
        ("The --quiet option hides all warnings.", "What does the --quiet option do?"),
        ("If the tide gate is stuck, the bridge is closed.", "What happens if the tide gate is stuck?"),
        ("If the tide gate is stuck, you must call the warden.", "What must you do if the tide gate is stuck?"),
        ("If a mooring line breaks, call the warden.", "What should you do if a mooring line breaks?"),
        ("When the old mole was built, the beach vanished.", "What happened when the old mole was built?"),
        ("To open the lock gates, turn both wheels.", "How do you open the lock gates?"),
        ("In May 1931, Ada Ree and Tom Vale crossed the bay.", "When did Ada Ree and Tom Vale cross the bay?"),
        ("The Halden lease ran from 1990 until 2004.", "Until when did the Halden lease run?"),
        ("If this gate is stuck, call the warden.", ""),  # which gate?
        ("If the lock gates are shut instead, the basin fills.", ""),  # instead of what?
        ("When the corresponding lock gate is shut, the basin fills.", ""),
        ("If the gate is stuck, see chapter 4.", ""),
        ("When moored or loaded, boats are lit.", ""),  # a condition without a subject
        ("The default value is 12.", ""),  # of what?
        ("The same basin is used to store timber.", ""),
        ("Tide rules introduces lights for boats.", ""),  # its verb does not fit
        ("The upper basin is a lot deeper than the lower one.", ""),
        ("While the upper basin is a dock, boats may stay.", ""),
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


def test_a_word_that_a_text_writes_both_ways_is_what_it_is_more_often() -> None:
    text = Spelling.of("Two gauges fell. A gauge rose, and a gauge at the Gauge House. See /ree/log, said Ree.")
    assert "gauge" in text.small
    assert "Gauge" not in text.names
    assert "ree" not in text.small  # a path
    formed = forms_of("Gauge upkeep is a duty of the town.", text)
    assert [form.question for form in formed] == ["What is gauge upkeep?"]


def test_a_word_of_the_title_names_what_a_sentence_is_about() -> None:
    statement = "Moorings require a permit of the town."
    assert forms_of(statement, Spelling.of("two moorings")) == []
    titled = forms_of(statement, Spelling.of("two moorings", title="Moorings and fees"))
    assert [form.question for form in titled] == ["What do moorings require?"]


@pytest.mark.parametrize(
    ("heading", "questions"),
    [
        ("How to moor a boat", ["How do you moor a boat?"]),
        ("Remove a wreck", ["How do you remove a wreck?"]),
        ("Mooring Rules in Winter", []),  # rules of mooring: no task
        ("tide_log", ["What does tide_log do?"]),
        ("NIGHT LIGHTS", ["What does Harbour rules 2024 say about night lights?"]),
        ("The Ree Quay", ["What does Harbour rules 2024 say about the Ree quay?"]),
        ("Cranes", ["What does Harbour rules 2024 say about cranes?"]),  # it writes of a crane
        ("Ree", ["What does Harbour rules 2024 say about Ree?"]),
        ("MMSI code in fog", ["What does Harbour rules 2024 say about MMSI code in fog?"]),
        ("Harbour Rules", []),  # as the document
        ("Version 2.1", []),
        ("Why is it closed?", []),  # what is?
        ("When a boat sinks. What now?", []),
        ("See also", []),
    ],
)
def test_a_heading_is_turned_into_what_its_section_answers(heading: str, questions: list[str]) -> None:
    spelling = Spelling.of("At night lights burn. The quay of Ree is long. A crane lifts, by mmsi and radio.")
    formed = [form.question for form in heading_forms(heading, "Harbour rules 2024", spelling)]
    assert formed == questions or (not questions and not any(q.startswith("How do") for q in formed))


def test_a_row_is_asked_for_by_the_words_of_its_columns() -> None:
    form = row_form("Basin = upper basin; Depth in Metres = 4.5; Built = 1931.")
    assert form is not None
    assert form.question == "What depth in metres is listed for upper basin?"
    assert row_form("12 = 14; 13 = 15.") is None
    coded = row_form("Article = F-100; Price (£) = 1.35; Unit = piece.")
    assert coded is not None
    assert coded.question == "What price is listed for F-100?"
    row = "Product = Desk lamp; Supplier = Lumo; Stock = 75; Spare bulbs = 2"
    formed = [form.question for number in range(4) if (form := row_form(row, number))]
    assert formed == [
        "Which supplier is listed for Desk lamp?",
        "What stock is listed for Desk lamp?",
        "How many spare bulbs are listed for Desk lamp?",
        "Which supplier is listed for Desk lamp?",
    ]


@pytest.mark.parametrize(
    ("title", "heading", "question"),
    [
        (
            "Minutes of the choir, 3 May 2024",
            "Spring concert",
            "What do the minutes of the choir say about spring concert?",
        ),
        ("Harbour rules 2024", "Next meeting", ""),  # where it stands
        ("Rye bread with seeds", "Oven heat", "What does the document Rye bread with seeds say about oven heat?"),
        ("Harbour rules 2024", "Closing time", "What does Harbour rules 2024 say about closing time?"),  # no task
        ("The sea came like a tram”", "Oven heat", ""),  # cut
        ("Rye bread with seeds", "Rye bread", ""),  # as the document
    ],
)
def test_a_section_is_asked_for_where_its_document_says_something(title: str, heading: str, question: str) -> None:
    spelling = Spelling.of("The spring concert needs oven heat at closing time.")
    formed = [form.question for form in heading_forms(heading, title, spelling)]
    assert formed == ([question] if question else [])


def test_what_tells_of_an_object_is_not_asked_of_its_subject() -> None:
    formed = forms_of("The youth choir has 23 singers between nine and fifteen.")
    assert [form.question for form in formed] == ["How many singers does the youth choir have?"]
    assert forms_of("The treasurer named a helper who can be reached at night.") == []


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
