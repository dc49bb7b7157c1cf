"""Plain text: wrapped paragraphs become one line; all else keeps its lines; what printers needed is gone."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.text import Document

WRAPPED = (
    "The river rises in the hills and flows to the north for two hundred\n"
    "kilometres.  It meets the sea at Alder, where a mill has stood since\n"
    "the year 1820 on the left bank.\n"
)
JOINED = (
    "The river rises in the hills and flows to the north for two hundred kilometres. It meets the sea at Alder, where "
    "a mill has stood since the year 1820 on the left bank.\n"
)


def read(text: str, name: str = "x.txt") -> Document:
    return document_from_bytes(name, text.encode(), "")


def test_a_wrapped_paragraph_is_one_line() -> None:
    assert read(WRAPPED).text == JOINED


def test_the_places_of_joined_paragraphs_are_their_lines_in_the_file() -> None:
    document = read(f"Rivers\n\n{WRAPPED}\nOne.\nTwo.\n\n{WRAPPED}")
    assert document.text == f"Rivers\n\n{JOINED}\nOne.\nTwo.\n\n{JOINED}"
    assert [(place.name, place.span.of(document.text)) for place in document.places] == [
        ("line 1", "Rivers"),
        ("lines 3–5", JOINED.strip()),
        ("lines 7–8", "One.\nTwo."),
        ("lines 10–12", JOINED.strip()),
    ]


def test_a_line_that_begins_with_a_range_of_years_goes_on() -> None:
    words = "The records of the mill are kept in the town's library for the years 1820-1869 and are open to readers."
    assert read(words.replace("years 1820", "years\n1820")).text == words


@pytest.mark.parametrize(
    "kept",
    [
        "        my $hex = sprintf('%X', 3735928559); # letters in upper case\n"
        "        my $low = sprintf('%x', 3735928559); # letters in lower case\n",
        "The tide rises, the tide falls,\nThe twilight darkens, the curlew calls;\nAlong the sea-sands damp and brown\n"
        "The traveller hastens toward the town,\nAnd the tide rises, the tide falls.\n",
        "Ann Rossi\n12 Quay Street\nAlder\n",
        "Port            Visits of ships in the whole year        Year\n"
        "Alder                                           12       2023\n"
        "Sandwick                                        17       2024\n",
        "+----------------------------+-----------------------------+\n"
        "| the level of the water     | the width of the open gate  |\n"
        "| about three metres or more | fourteen metres or less     |\n"
        "+----------------------------+-----------------------------+\n",
        "    def level(gate, unit):\n        return measure(gate, unit, precision=0.01, calibrated=True)\n"
        '    print(level("north"), level("south"), level("east"), level("west"))\n',
        "- the northern gate, which is opened when the level is above three\n"
        "- the southern gate, which is opened when the level is above four\n",
        "From: Ann Rossi, keeper of the northern gate and of its old mill <ann@x.org>\n"
        "To: Bob Miller, keeper of the southern gate and of its new mill <bob@x.org>\n",
        "2024-03-05 10:12:01 the northern gate was opened by its keeper at low tide\n"
        "2024-03-05 10:14:55 the southern gate was opened by its keeper at low tide\n",
        "One sentence stands alone on each line of this text, as some write it.\n"
        "The next one does so as well, and its line happens to be as long as it.\n"
        "Nothing here was wrapped by an editor, so nothing must be joined by us.\n",
        "The rivers of the northern plain\n================================================================\n",
        "1. Rivers of the northern plain ........................................ 12\n"
        "2. Rivers of the southern plain ........................................ 19\n",
    ],
    ids="statements verse address columns table code list headers log sentences heading contents".split(),
)
def test_other_lines_are_kept(kept: str) -> None:
    assert read(f"{WRAPPED}\n{kept}\n{WRAPPED}").text == f"{JOINED}\n{kept}\n{JOINED}"


def test_definitions_are_joined_below_their_term_and_beside_it() -> None:
    below = (
        "  northern gate\n      The keeper opens the northern gate as soon as the level is\n"
        "      Three metres above low tide.\n"
    )
    beside = "  -n        The keeper opens the northern gate as soon as the tide\n            Comes in from the sea.\n"
    text = read(f"{WRAPPED}\n{below}\n{beside}\n{WRAPPED}").text
    assert "  northern gate\n      The keeper opens the northern gate as soon as the level is Three metres" in text
    assert "  -n The keeper opens the northern gate as soon as the tide Comes in from the sea." in text


def test_items_of_a_list_are_joined_each_for_itself() -> None:
    items = (
        "  1. the northern gate, which is opened by its keeper as soon as the\n"
        "     level is above three metres;\n"
        "  2. the southern gate, for which the same holds, but at a level of\n"
        "     four metres.\n"
    )
    assert read(items).text == (
        "  1. the northern gate, which is opened by its keeper as soon as the level is above three metres;\n"
        "  2. the southern gate, for which the same holds, but at a level of four metres.\n"
    )


def test_quoted_paragraphs_have_one_mark_each() -> None:
    quoted = "".join(f"> {line}\n" for line in WRAPPED.splitlines())
    deeper = "".join(f">> {line}\n" for line in WRAPPED.splitlines())
    assert read(f"{quoted}{deeper}\n{WRAPPED}").text == f"> {JOINED}>> {JOINED}\n{JOINED}"


def test_justified_lines_have_single_spaces() -> None:
    justified = (
        "The  river rises  in the hills  and flows to  the north for  hundreds\n"
        "of kilometres.   It meets   the sea  at Alder,  where a mill  and its\n"
        "wheel have  stood since  the year 1820  on the left bank, and nothing\n"
        "else has been built there.\n"
    )
    assert read(justified).text == " ".join(justified.split()) + "\n"


def test_a_word_that_was_split_at_the_end_of_a_line_is_whole() -> None:
    split = (
        "The river rises in the hills and flows to the north for two hun-\ndred kilometres, to a well-\nknown sea.\n"
    )
    assert "two hundred kilometres" in read(split).text


def test_overstrike_and_colours_of_manual_pages_are_gone() -> None:
    assert read("N\bNA\bAM\bME\bE\n  _\bl_\bs lists \x1b[1mfiles\x1b[0m\n").text == "NAME\n  ls lists files\n"


def test_pages_of_an_rfc_are_joined() -> None:
    def page(number: int, words: str) -> str:
        head = f"RFC 9999            River Transfer Protocol             July 2024\n\n\n{words}\n\n\n"
        return f"{head}Writer              Informational                  [Page {number}]\n\f\n"

    first, second = WRAPPED.splitlines()[:2], WRAPPED.splitlines()[2:]
    text = read(page(1, "\n".join(first)) + page(2, "\n".join(second)) + page(3, "Alder ends here.")).text
    assert text == f"{JOINED}\nAlder ends here."


def test_a_page_break_without_running_heads_loses_no_line() -> None:
    assert read("One page.\n\fAnother page.\n\fA third.\n").text == "One page.\n\nAnother page.\n\nA third."


@given(st.lists(st.sampled_from([*WRAPPED.splitlines(), "", "> quoted", "- item", "a  b", "a    b", "| x |", "==="])))
def test_no_word_is_lost_and_the_places_are_in_the_text(lines: list[str]) -> None:
    source = "Words.\n" + "\n".join(lines)
    document = read(source)
    unmarked = [word for word in document.text.split() if word != ">"]
    assert unmarked == [word for word in source.split() if word != ">"]
    for place in document.places:
        assert place.span.of(document.text).strip()


@pytest.mark.parametrize(
    "text", [WRAPPED * 10_000, "\n" * 200_000 + "x", ">" * 500_000, "x\b" * 300_000 + "x", "\f" * 200_000 + "x"]
)
def test_hostile_texts_take_a_few_seconds(text: str) -> None:
    start = process_time()
    read(text)
    assert process_time() - start < 10


def test_mail_is_joined_as_well_but_for_its_signature() -> None:
    mail = f"From: ann@x.org\nSubject: Rivers\nContent-Type: text/plain; format=flowed\n\n{WRAPPED}\n-- \nAnn\nAlder\n"
    assert read(mail, "x.eml").text == f"Rivers\n\nFrom: ann@x.org\n\n{JOINED}\n-- \nAnn\nAlder"


@pytest.mark.parametrize(
    ("author", "read_as"),
    [("author: Ann", "Ann"), ("author: [Ann, 'Bob']", "Ann, Bob"), ("authors:\n  - Ann\n  - Bob\nx: y", "Ann, Bob")],
)
def test_the_authors_of_front_matter(author: str, read_as: str) -> None:
    document = read(f"---\ntitle: >\n  The\n  rivers\n{author}\n---\nText.", "x.md")
    assert (document.text, document.title, document.metadata["author"]) == ("Text.", "The rivers", read_as)
