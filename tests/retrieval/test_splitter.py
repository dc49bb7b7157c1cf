"""Sentences cover their text exactly, passages cover their document, and texts split by hand are split the same."""

from __future__ import annotations

import re
import textwrap
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from propcite.retrieval.punkt import ends_sentence
from propcite.retrieval.sentences import MAX_CHARACTERS, split_sentences
from propcite.retrieval.splitter import (
    MAX_OVERFILL,
    PassageSplitter,
    open_headings,
    passage_from_sentences,
    passage_from_text,
)
from propcite.retrieval.text import Document, Heading, Page, Passage, Span

# ¦ marks where a sentence begins; everything else is the text.
ENGLISH = """
It rained. ¦Then he left.
Dr. Smith met Mrs. Jones and Prof. Xavier. ¦They talked.
He works for the U.S. Army in the U.K. and likes it.
He lives in the U.S. ¦The army is large.
She was born in Washington, D.C. ¦In 1990 she moved.
See Fig. 3, Eq. (2), No. 5 and pp. 12–14 of Vol. IV. ¦It is clear.
Is it true? ¦No. ¦Then he left.
Smith et al. (2010) found it. ¦Jones et al. Nature did not.
It costs approx. $1.5 million, i.e. Paris pays 3.14 times more than, e.g., The Hague.
Roe v. Wade and Ali vs. Frazier were decided.
J. R. R. Tolkien wrote it. ¦George W. Bush read it, as did J. K. Rowling and R. De Niro.
Apple Inc. was founded on Jan. 5, 1976. ¦Google is owned by Alphabet Inc. ¦The firm is large.
They sell apples, pears, etc. ¦He bought some, etc. and left.
He came at 5 p.m. ¦He left at 6 p.m. Eastern Time on Sat. Nov. 3.
Martin Luther King Jr. was born in Atlanta. ¦He died in Memphis.
He said "No." ¦Then he left.
He said “No.” ¦Then he left.
“Stop!” he said. ¦She asked "Why?" and left.
(He left early.) ¦Then she did. ¦[He slept.] ¦Then he woke.
It rained. [3] ¦Then he left.
It rained.[1][2] ¦Then he left.
It rained [1]. ¦Then he left.[citation needed] ¦She stayed.[note 6] ¦They sat.
It rained.[1, 2] ¦Then he left.[3–5]¦Then she left.¹² ¦All slept.
It rained.1 ¦Then he left.12 ¦See Fig.3 There.
It rained [1](a). [2] [3] ¦Then.
Wait... ¦Then he left. ¦He waited… and waited... ¦Nobody came.
The album "Open Up and Say... Ahh!" sold well.
Really?! ¦Yes! ¦What?? ¦Oh.
Open pyproject.toml and setup.py. ¦Use version 1.2.3 or v2.0. ¦See https://a.b/c?d=e.f! ¦It works.
Visit www.example.com. ¦Write to me@example.org. ¦Thanks.
Use Node.js or ASP.Net on Yahoo! Mail.
It was 30 °C. ¦The V&A. ¦He scored 10. ¦She scored 12.
He studied at Oxford (Ph.D. 1990). ¦He has a Ph. D. in physics.
World War I. ¦Historians disagree. ¦World War II. ¦The end.
Take vitamin D. ¦Cells need it. ¦This is plan B. ¦It works.
She has MS. ¦The test took 5 ms. ¦Ms. Jones ran it.
It rained.¦Then he left. ¦Use java.util.List then.
There are two reasons: 1. It rains. ¦2. It snows.
1. Introduction. ¦The cat sat. ¦I. It slept.
A. The first answer. ¦It is right.
I like my iPhone. ¦iPhones are good. ¦eBay too.
The dog barked. ¦he also sat. ¦Call approx. it did.
i like it. ¦so do you. ¦we both do.
Great! 😀 ¦Yes! ¦See you 😀
The value is 5 % . ¦Tokenised text ( like this . ) works too . ¦Really ?
`` He left . '' ¦Then she did .
**Note.** ¦Then it rained. ¦*Yes.* ¦_No._ ¦The end.
Call `run()`. ¦`stop()` ends it, e.g. `now`.
St. Louis and Mt. Everest are far from Ft. Worth.
Gen. Lee met Gov. Wise, Rev. Hill and Sen. Ames on Main St. ¦They talked.
It was made by Warner Bros. & Co. and sold.
The factorial (p − 1)! + 1 is divisible by p. ¦Moreover, n is odd.
He sat. ¦John stood. ¦The sun. ¦Mary sang. ¦In May. ¦Peter came.
Vitamin C helps, cf. Pauling; see ibid. ¦However, others differ.
"""

OTHER_LANGUAGES = """
Am 3. Oktober kam Dr. Müller. ¦Der 2. Weltkrieg begann 1939. ¦Es war der 1. September.
Das ist z. B. Berlin, d. h. die Stadt. ¦Er kam usw. ¦Dann ging er.
Siehe Abb. 3 und Nr. 5 auf S. 12 bzw. Kap. 4. ¦Die GmbH hat 3 Mio. Euro.
»Er kam.« ¦Dann ging er. ¦„Ja.“ ¦Er blieb.
M. Dupont est là. ¦Mme Curie aussi. ¦« Il pleut. » ¦Puis il partit.
Voir p. 5, art. 3, av. J.-C. ¦Il dort. ¦« Quoi ? » dit-il. ¦Est-ce vrai ? ¦Oui !
El Sr. García llegó. ¦¿Qué pasa? ¦¡Nada! ¦Los EE.UU. son grandes.
今天下雨。¦他走了！¦真的？¦是的。
「你好。」¦他说。¦（很好。）¦终わり。
「行く。」と言った。¦そうだ。¦円周率は３．１４だ。
ﾊﾝｶｸ｡¦おわり。¦好的!¦真的吗?¦他走了.¦好……他说。
यह एक है। ¦वह दो है।¦तीन॥ ¦चार।
هل هذا صحيح؟ ¦نعم. ¦هذا جيد۔ ¦شكرا.
Он пришёл. ¦Потом ушёл. ¦А. С. Пушкин писал.
זה טוב. ¦זה לא.
"""

BLOCKS = [
    "Introduction\n¦The cat sat on the mat and then\nit left the big white house in New\nYork. ¦It rained.\n",
    "# Title\n¦## A heading. ¦With two\n¦Text here.\n",
    "Title\n=====\n\n¦Text here\n---\n¦More.",
    "We need:\n¦- milk\n¦- eggs and\n  bread\n¦* tea. ¦Or coffee\n¦+ salt\n\n¦Then go.",
    "Steps:\n¦1. Open the box\n¦2. Close the box\n¦10) Sleep",
    "Steps:\n¦(a) open\n¦(b) close\n\n¦i. one\n¦ii. two",
    "2.1 Methods\n¦We measured the rain in the garden of the house.\n¦2.2 Results\n¦It rained there.",
    "| a. B | c |\n¦|---|---|\n¦| It rained. Then | d |\nText after.".replace("\nText", "\n¦Text"),
    "Name\tAge\n¦Ann. Lee\t12\n¦Bob\t13",
    "Name    Age    Town\n¦Ann     12     Rome",
    "One paragraph\n\n¦another one\n \n¦and a third",
    "He was with Dr.\nSmith in the\nU.S. Army. ¦Then\nhe left.",
    "It rained.\r\n¦Then he left\r\nthe house.\r\n\r\n¦Third.",
    "[1] Smith, J. Rain. ¦Wet, 2001.\n¦[2] Jones, A. Snow. ¦Cold, 2002.",
    "It rained all day long in the town.\n[3] ¦Then he left the town and never came back again.",
    "  \n It rained. \u2003 ¦Then. \n\n ",
    "Sign In\n¦Search the site\n¦Contact us",
    "* * *\n\n¦Text. ¦More. ...",
    "— Oui.\n¦— Non. ¦Jamais.",
]

GOLDEN = [line for table in (ENGLISH, OTHER_LANGUAGES) for line in table.strip().split("\n")] + BLOCKS

MARKS = ". ! ? … 。 ！ ؟ । [1] [2] ( ) \" ' “ ” « » - * # | \0 \x85 \u2028 \ud800 e\u0301 👩‍👩‍👧 🇩🇪".split(" ")
SPACES = [" ", "  ", "\t", "\n", "\n\n", "\r", "\r\n"]
WORDS = ["word", "Then ", "Dr. ", "No. 5", "U.S. ", "1. ", "a. ", "... ", ". ", "x" * 700]
ODD = st.sampled_from(MARKS + SPACES + WORDS)
TEXTS = st.one_of(
    st.text(),
    st.text(st.characters(exclude_categories=[])),
    st.lists(ODD, max_size=30).map("".join),
)


def pieces(text: str) -> list[str]:
    return [span.of(text) for span in split_sentences(text)]


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize("golden", GOLDEN)
def test_texts_are_split_as_by_hand(golden: str) -> None:
    assert pieces(golden.replace("¦", "")) == golden.split("¦")


@pytest.mark.parametrize("width", range(48, 100, 4))
def test_line_wrapping_changes_no_sentence(width: int) -> None:
    lines = [line.replace("¦", "") for line in ENGLISH.strip().split("\n")]
    # Left out: lines that could begin a list, and lines in lower case, which are split otherwise beside capitals.
    text = " ".join(line for line in lines if not re.search(r"\b[1A]\. |i like|[\u2019`*]", line))
    wrapped = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    assert [piece.split() for piece in pieces(wrapped)] == [piece.split() for piece in pieces(text)]


@settings(deadline=None)
@given(TEXTS)
def test_sentences_cover_their_text_exactly(text: str) -> None:
    spans = split_sentences(text)
    assert "".join(span.of(text) for span in spans) == text
    assert all(spans)
    assert all(before.end == after.start for before, after in pairwise(spans))


@settings(deadline=None)
@given(TEXTS)
def test_only_the_first_sentence_begins_with_white_space(text: str) -> None:
    assert not any(piece[0].isspace() for piece in pieces(text)[1:])


@settings(deadline=None)
@given(TEXTS)
def test_no_sentence_exceeds_the_limit(text: str) -> None:
    assert all(len(piece.strip()) <= MAX_CHARACTERS for piece in pieces(text))


def test_a_long_sentence_is_split_after_a_clause_or_a_word_or_anywhere() -> None:
    clauses = pieces("the rain fell and fell, " * 200)
    assert len(clauses) > 3
    assert all(piece.endswith("fell, ") for piece in clauses)
    assert all(piece.endswith("rain ") for piece in pieces("rain " * 800))
    assert [len(piece) for piece in pieces("a" * (2 * MAX_CHARACTERS + 5))] == [MAX_CHARACTERS, MAX_CHARACTERS, 5]


RUNS = '. [ a " .[1] .) 。」 .a !a x.[ *** 1.1. \ud800 \n \r\n a\n a.\n -\u2003a\n =\n \t ..........a (.'.split(" ")
SPACED_RUNS = [
    " ",
    ". ",
    "! ",
    "A. ",
    '. "',
    "... ",
    "1. ",
    "- a\n",
    "? »",
    "[1] ",
    "Dr. ",
    ". .",
    ".1 ",
    " " * 50 + "a",
]


@pytest.mark.parametrize("unit", RUNS + SPACED_RUNS)
def test_long_runs_are_split_in_linear_time(unit: str) -> None:
    text = (unit * 300_000)[:300_000]
    spans = split_sentences(text)
    assert (spans[0].start, spans[-1].end) == (0, len(text))
    assert all(before.end == after.start for before, after in pairwise(spans))


def test_sentence_ends_depend_on_the_neighbouring_words() -> None:
    assert not ends_sentence("met", "Dr", ".", "Smith")
    assert not ends_sentence("", "No", ".", "5")
    assert ends_sentence("", "No", ".", "Then")
    assert not ends_sentence("the", "end", ".", "then")
    assert ends_sentence("the", "end", ".", "then", has_case=False)


# Passages


@st.composite
def documents(draw: st.DrawFn) -> Document:
    sentence = st.integers(1, 40).map(lambda n: "word " * (n - 1) + "end. ")
    text = "".join(draw(st.lists(st.one_of(sentence, sentence, TEXTS), max_size=12)))
    place = st.integers(0, len(text) + 3)
    spans = st.tuples(place, place).map(lambda ends: Span(min(ends), max(ends)))
    headings = draw(st.lists(st.builds(Heading, spans, st.integers(1, 4)), max_size=4))
    pages = [
        Page(number, Span(*ends)) for number, ends in enumerate(pairwise(sorted(draw(st.sets(place, max_size=4)))), 1)
    ]
    return Document("d", text, draw(st.sampled_from(["", "Rain"])), "", tuple(headings), tuple(pages))


@settings(deadline=None)
@given(documents(), st.integers(1, 120))
def test_passages_cover_the_document_in_order(document: Document, num_words: int) -> None:
    passages = PassageSplitter(num_words).split(document)
    assert "".join(passage.text for passage in passages) == document.text
    assert [passage.id for passage in passages] == [f"d:{ordinal}" for ordinal in range(len(passages))]
    for passage in passages:
        assert passage.text
        assert document.text[passage.start : passage.start + len(passage.text)] == passage.text
        assert passage.document_id == "d"


@settings(deadline=None)
@given(documents(), st.integers(1, 120))
def test_sentences_cover_their_passage(document: Document, num_words: int) -> None:
    for passage in PassageSplitter(num_words).split(document):
        assert "".join(sentence.span.of(passage.text) for sentence in passage.sentences) == passage.text
        assert all(sentence.span for sentence in passage.sentences)


@settings(deadline=None)
@given(documents(), st.integers(1, 120))
def test_a_passage_has_the_pages_of_its_characters(document: Document, num_words: int) -> None:
    for passage in PassageSplitter(num_words).split(document):
        for at in range(0, len(passage.text), 7):
            here, there = Span(at, at + 1), Span(at + passage.start, at + passage.start + 1)
            assert passage.pages_of(here) == tuple(p.number for p in document.pages if p.span.overlaps(there))
        assert all(page.span.end <= len(passage.text) for page in passage.pages)


@settings(deadline=None)
@given(st.lists(st.integers(1, 130), min_size=1, max_size=30), st.integers(5, 100))
def test_a_passage_of_several_sentences_keeps_the_size_limit(lengths: list[int], num_words: int) -> None:
    text = " ".join("word " * (length - 1) + "End." for length in lengths)
    passages = PassageSplitter(num_words).split(Document("d", text))
    whole = {(span.start, span.end) for span in split_sentences(text)}
    for passage in passages:
        spans = [passage.in_document(sentence.span) for sentence in passage.sentences]
        assert {(span.start, span.end) for span in spans} <= whole
        assert len(spans) == 1 or words(passage.text) <= MAX_OVERFILL * num_words


def ten_words(count: int) -> str:
    return "One two three four five six seven eight nine ten. " * count


@pytest.mark.parametrize(
    ("sentences", "sizes"),
    [(3, [30]), (10, [100]), (14, [140]), (15, [80, 70]), (20, [100, 100]), (22, [110, 110]), (30, [100, 100, 100])],
)
def test_sizes_are_balanced(sentences: int, sizes: list[int]) -> None:
    passages = PassageSplitter().split(Document("d", ten_words(sentences)))
    assert sorted(words(passage.text) for passage in passages) == sorted(sizes)


def with_headings(text: str, title: str) -> Document:
    """Build a document whose headings are the lines that begin with `#`."""
    matches = re.finditer(r"^(#+) .*$", text, re.MULTILINE)
    return Document("d", text, title, headings=tuple(Heading(Span(*m.span()), len(m[1])) for m in matches))


WHERE = f"# Rain\n\n## Where\n{ten_words(3)}\n\n### Towns\n\n{ten_words(12)}\n"
WHEN = f"# Snow\nLittle here.\n## When\n{ten_words(2)}"
RAIN = with_headings(WHERE + WHEN, title="rain")


def headings_of(passage: Passage) -> list[str]:
    return [sentence.span.of(passage.text).strip() for sentence in passage.sentences if sentence.is_heading]


def test_headings_begin_passages_and_are_their_titles() -> None:
    passages = PassageSplitter().split(RAIN)
    assert [(passage.title, headings_of(passage)) for passage in passages] == [
        ("rain › Where", ["# Rain", "## Where"]),
        ("rain › Where › Towns", ["### Towns"]),
        ("rain › Snow", ["# Snow", "## When"]),
    ]
    assert all(passage.sentences[0].is_heading for passage in passages)


def test_no_passage_ends_with_a_heading() -> None:
    for num_words in range(1, 60):
        for passage in PassageSplitter(num_words).split(RAIN):
            assert not passage.sentences[-1].is_heading


def test_a_heading_at_the_end_joins_the_section_before_it() -> None:
    (passage,) = PassageSplitter().split(with_headings(f"# Rain\n{ten_words(2)}\n# End", title="Weather"))
    assert headings_of(passage) == ["# Rain", "# End"]
    assert passage.title == "Weather › Rain"


@settings(deadline=None)
@given(documents())
def test_a_heading_is_a_sentence_of_its_own(document: Document) -> None:
    passages = PassageSplitter().split(document)
    spans = [
        passage.in_document(sentence.span)
        for passage in passages
        for sentence in passage.sentences
        if sentence.is_heading
    ]
    expected = [
        heading.span for heading in document.headings if document.text[heading.span.start : heading.span.end].strip()
    ]
    assert len(spans) <= len(expected)
    assert bool(spans) == bool(expected)
    for span in spans:
        trimmed = span.trimmed(document.text)
        assert any(heading.start <= trimmed.start and trimmed.end <= heading.end for heading in expected)


def test_text_without_spaces_is_split_into_passages() -> None:
    passages = PassageSplitter().split(Document("d", "今天下雨。他走了。" * 100))
    assert len(passages) > 2


def test_an_empty_document_has_no_passage() -> None:
    assert PassageSplitter().split(Document("d", "")) == []
    assert [passage.text for passage in PassageSplitter().split(Document("d", " \n"))] == [" \n"]


def test_num_words_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="at least 1, got 0"):
        PassageSplitter(0)


@settings(deadline=None)
@given(TEXTS)
def test_passage_from_text_keeps_the_text(text: str) -> None:
    passage = passage_from_text("p", text, "Rain", "d")
    assert (passage.id, passage.text, passage.title, passage.document_id) == ("p", text, "Rain", "d")
    assert [sentence.span for sentence in passage.sentences] == split_sentences(text)


@settings(deadline=None)
@given(st.lists(st.text()))
def test_passage_from_sentences_keeps_each_sentence(sentences: list[str]) -> None:
    passage = passage_from_sentences("p", sentences)
    assert passage.text == " ".join(filter(None, sentences))
    assert len(passage.sentences) == len(sentences)
    assert "".join(sentence.span.of(passage.text) for sentence in passage.sentences) == passage.text
    for sentence, original in zip(passage.sentences, sentences, strict=True):
        assert sentence.span.of(passage.text).removesuffix("" if original.endswith(" ") else " ") in (
            original,
            original + " ",
        )
        assert bool(sentence.span) == bool(original)


def test_a_term_is_no_heading_of_what_follows_its_definition() -> None:
    text = "Sizes\n\ndepth\n\nIt is how far a search goes."
    document = Document("d", text, headings=(Heading(Span(0, 5), 1), Heading(Span(7, 12), 7, until=len(text))))
    assert open_headings(document) == [(1, "Sizes")]
