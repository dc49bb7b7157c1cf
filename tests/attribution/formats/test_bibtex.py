"""BibTeX of cited documents: entries that LaTeX reads, keys that stay, nothing that speaks to LaTeX."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from sample_answers import ANSWER

from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.bibtex import bibtex_entries, escape_latex, to_bibtex
from propcite.attribution.formats.cited_documents import CitedDocument

TIDES = CitedDocument(
    "abcdef123456",
    "Tides & currents: 50% of {all}",
    "/srv/tides.pdf",
    details={
        "author": ["Rossi, Ana", "Zoë Müller", "Ministry of Ports and Tides"],
        "date": "2024-05-17",
        "journal": {"name": "Harbour_Review"},
        "volume": 7,
        "pages": "1--9",
        "url": "https://example.org/a_b?c={d}#e",
        "tags": ["sea", "budget"],
    },
)


def test_an_article_by_hand() -> None:
    assert (
        bibtex_entries([TIDES])
        == r"""@article{rossi-2024-tides-abcdef,
  title    = {{Tides \& currents: 50\% of \{all\}}},
  author   = {Rossi, Ana and Zoë Müller and {Ministry of Ports and Tides}},
  year     = {2024},
  month    = {5},
  date     = {2024-05-17},
  journal  = {Harbour\_Review},
  volume   = {7},
  pages    = {1--9},
  url      = {https://example.org/a_b?c=%7Bd%7D#e},
  keywords = {sea, budget},
}
"""
    )


def test_a_document_is_what_its_fields_make_it_and_says_when_it_is_gone() -> None:
    book = bibtex_entries(
        [CitedDocument("b1", "The sea", details={"isbn": "1", "year": 1999}, status="source removed")]
    )
    assert book.startswith("@book{1999-sea-b1,")
    assert "note  = {source removed}" in book
    assert bibtex_entries([CitedDocument("x", "")]) == "@misc{x-x,\n  title = {{x}},\n}\n"
    assert "url   = {https://example.org/x}" in bibtex_entries([CitedDocument("w", "Web", "https://example.org/x")])
    assert "year  = {2003}" in bibtex_entries([CitedDocument("w", "Web", details={"date": "spring of 2003"})])


def test_keys_stay_and_two_documents_never_share_one() -> None:
    same = [CitedDocument(f"{n}00000000000", "The sea", details={"author": "Ana Rossi"}) for n in range(9)]
    keys = re.findall(r"@misc\{(.*),", bibtex_entries(same))
    assert len(set(keys)) == 9
    assert bibtex_entries(reversed(same)) == bibtex_entries(same)
    assert bibtex_entries([*same, *same]) == bibtex_entries(same)


def test_an_answer_cites_each_document_once_known_or_not() -> None:
    written = FORMATS["bibtex"].write(ANSWER).decode()
    documents = {p.document_id or p.id for p in ANSWER.passages}
    assert written.count("@") == len(documents) > 1
    known = {id_: CitedDocument(id_, "A title of its own") for id_ in documents}
    assert to_bibtex(ANSWER, known).count("A title of its own") == len(documents)


@given(st.text(), st.text(), st.text())
def test_no_text_ends_its_field(title: str, author: str, date: str) -> None:
    written = bibtex_entries([CitedDocument("abc", title, details={"author": author, "date": date, "tags": [title]})])
    bare = re.sub(r"\\[{}\\#$%&_]|\\text\w+\{\}", "", written)
    depth = 0
    for sign in bare:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert written.count("\n@") == 0


@given(st.text(alphabet="\\{}#$%&_~^ab é"))
def test_what_is_escaped_reads_back(text: str) -> None:
    from pylatexenc.latex2text import LatexNodes2Text

    read = LatexNodes2Text(math_mode="verbatim", keep_comments=False).latex_to_text(escape_latex(text))
    assert read.replace(" ", "").replace("ˆ", "^") == text.replace(" ", "")
