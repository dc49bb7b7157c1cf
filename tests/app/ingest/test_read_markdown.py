"""Markdown as a reader sees it: no markup, with headings, lists, tables and code as lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import document_from_bytes
from propcite.app.ingest.readers.draft import Draft
from propcite.app.ingest.readers.markdown import front_matter, write_markdown
from propcite.retrieval.text import Document


def read(text: str, name: str = "notes.md") -> Document:
    return document_from_bytes(name, text.encode(), "")


def headings_of(document: Document) -> list[tuple[int, str]]:
    return [(heading.level, heading.span.of(document.text)) for heading in document.headings]


def test_headings_have_levels() -> None:
    document = read("# The *Po* `river`\n\nText.\n\n### Deep ###\n\nTwo\nlines\n===\n\n#\n\nEnd.")
    assert headings_of(document) == [(1, "The Po river"), (3, "Deep"), (1, "Two lines")]
    assert document.text == "The Po river\n\nText.\n\nDeep\n\nTwo lines\n\nEnd."
    assert document.title == "The Po river"


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("one\ntwo\n\nthree", "one two\n\nthree"),
        ("hard  \nbreak<br>again", "hard\nbreak\nagain"),
        ("**bold** _it_ ~~old~~ `co  de` \\*star\\* &amp; &copy;", "bold it co de *star* & ©"),
        ("a [link](http://x.org 't') [ref][r] <http://y.org>\n\n[r]: http://z", "a link ref http://y.org"),
        ("see ![a *map*](map.png)", "see a map"),
        ("> quoted\n> words\n\nafter", "quoted words\n\nafter"),
        ("above\n\n***\n\nbelow", "above\n\nbelow"),
        ("```py\nx = 1\n\n  y*2*\n```\n\n    indented  twice", "x = 1\n\n  y*2*\n\nindented  twice"),
        ("a<script>evil()</script>b <b>bold</b><!-- c --> <style>p {}</style>d", "ab bold d"),
        ("a snake_case_name and 2 * 3 * 4", "a snake_case_name and 2 * 3 * 4"),
        ("a &#13;b&#0;c&#xD800;", "a\nb\ufffdc\ufffd"),
    ],
)
def test_a_block_reads_without_its_markup(markdown: str, words: str) -> None:
    assert read(markdown).text == words


def test_lists_are_lines_and_nested_lists_are_indented() -> None:
    markdown = """\
- one
- two
  wrapped
  - nested
    1. first
    2. second

       its second paragraph
  - last
-
- [ ] open

3. three
4. four

After."""
    assert read(markdown).text == (
        "- one\n- two wrapped\n  - nested\n    1. first\n    2. second\n       its second paragraph\n"
        "  - last\n- [ ] open\n\n3. three\n4. four\n\nAfter."
    )


def test_loose_items_are_as_close_as_others() -> None:
    assert read("text\n\n- a\n\n- b\n\n  - c\n\nend").text == "text\n\n- a\n- b\n  - c\n\nend"


def test_a_list_in_a_list_in_a_list_keeps_all_its_markers() -> None:
    assert read("- - 1. deep\n  - next").text == "- - 1. deep\n  - next"


def test_the_span_of_a_heading_in_a_list_has_no_marker() -> None:
    document = read("- # Title\n- item")
    assert (document.text, headings_of(document)) == ("- Title\n- item", [(1, "Title")])


def test_tables_are_rows_with_their_header() -> None:
    markdown = "Text\n\n| Year | Level |\n|---|:-:|\n| 1820 | **3** m |\n| 1850 | a\\|b |\n\nAfter"
    assert read(markdown).text == "Text\n\nYear = 1820; Level = 3 m.\n\nYear = 1850; Level = a|b.\n\nAfter"


def test_html_blocks_are_read_without_their_tags() -> None:
    markdown = (
        '<h1 align="center">Rivers</h1>\n\n<div>\n<p>A <i>long</i>\nriver.</p>\n<script>x()</script>\n'
        "<ul><li>one</li></ul>\n</div>\n\n<!-- hidden -->\n\n"
        "<details>\n<summary>More</summary>\n\n**inner**\n\n</details>"
    )
    document = read(markdown)
    assert document.text == "Rivers\n\nA long river.\n\n- one\n\nMore\n\ninner"
    assert headings_of(document) == [(1, "Rivers")]


def test_front_matter_becomes_metadata_and_is_not_in_the_text() -> None:
    fields = 'title: "Rivers: a guide"\nAuthor: Ann Lee  # me\ndate: 2024-05-01\ntags:\n  - x'
    document = read(f"---\n{fields}\n---\n# One\n\nTwo.")
    assert document.text == "One\n\nTwo."
    assert document.title == "Rivers: a guide"
    assert document.metadata == {"kind": "markdown", "author": "Ann Lee", "date": "2024-05-01"}


@pytest.mark.parametrize(
    "text",
    [
        "---\nA rule opens this text, and this is prose.\n\n---\nmore",
        "---\ntitle: never closed\n\ntext",
        "text\n---\ntitle: later\n---\n",
        "----\ntitle: four dashes\n----\n",
    ],
)
def test_a_rule_is_not_front_matter(text: str) -> None:
    assert front_matter(text) == ({}, text)


def test_front_matter_in_toml_and_names_of_headings() -> None:
    fields = "title = 'Rivers = water'\nauthors = ['Ann Lee', 'Bo Hart']\n[extra]\nx = 1"
    document = read(f"+++\n{fields}\n+++\n# One {{#one .wide}}\n\nA {{#b}}.")
    assert document.text == "One\n\nA {#b}."
    assert (document.title, document.metadata["author"]) == ("Rivers = water", "Ann Lee, Bo Hart")
    text = "+++\nplain words of a text\n+++\n"
    assert front_matter(text) == ({}, text)


def test_front_matter_may_come_with_windows_line_ends_and_be_empty() -> None:
    document = read("\ufeff---\r\ntitle: T\r\n---\r\nWords.\r\n")
    assert (document.title, document.text) == ("T", "Words.")
    assert front_matter("---\n---\nx") == ({}, "x")


def test_the_title_is_the_first_highest_heading_or_the_file_name() -> None:
    assert read("## Two\n\n# One\n\n# Other").title == "One"
    assert read("Just words.", "my rivers.md").title == "my rivers"


@pytest.mark.parametrize("text", ["---\ntitle: T\n---\n", "<!-- c -->", "***", "![](x.png)", "[r]: http://x", "-\n-"])
def test_markup_without_words_is_empty(text: str) -> None:
    with pytest.raises(ReadError, match=r"^notes.md is empty: nothing to add$"):
        read(text)


@pytest.mark.parametrize("text", ["[" * 2000, "![[" * 400, "> " * 2000 + "x", "- " * 900 + "x", "*" * 3000, "<" * 3000])
def test_deep_markup_does_not_break_the_reader(text: str) -> None:
    write_markdown(Draft(), text)


MARKS = st.sampled_from(
    ["# ", "## ", "- ", "1. ", "> ", "```\n", "---\n", "| a | b |\n|---|---|\n", "<div>", "</p>", "<script>", "<br>",
     "*", "**", "`", "[x](y)", "![", "&amp;", "&#13;", "\n", "\n\n", "    ", "\t", "  \n", "word", "été", "\0", "\r"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(st.one_of(MARKS, st.text(max_size=5))).map("".join)))
def test_the_headings_of_any_text_are_in_it(text: str) -> None:
    draft = Draft()
    write_markdown(draft, text)
    document = draft.document("x.md", "", {})
    assert not set(document.text) & set("\r\0")
    document.text.encode()
    for heading in document.headings:
        words = heading.span.of(document.text)
        assert words.strip() == words != ""
        assert "\n" not in words
        assert 1 <= heading.level <= 6
    assert document.title
