"""BibTeX of cited documents: valid entries, stable keys, and no unescaped LaTeX."""

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


def test_an_article() -> None:
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


def test_the_entry_type_follows_the_fields_and_a_note_has_the_status() -> None:
    book = bibtex_entries(
        [CitedDocument("b1", "The sea", details={"isbn": "1", "year": 1999}, status="source removed")]
    )
    assert book.startswith("@book{1999-sea-b1,")
    assert "note  = {source removed}" in book
    assert bibtex_entries([CitedDocument("x", "")]) == "@misc{x-x,\n  title = {{x}},\n}\n"
    assert "url   = {https://example.org/x}" in bibtex_entries([CitedDocument("w", "Web", "https://example.org/x")])
    assert "year  = {2003}" in bibtex_entries([CitedDocument("w", "Web", details={"date": "spring of 2003"})])


def test_keys_are_stable_and_unique() -> None:
    same = [CitedDocument(f"{n}00000000000", "The sea", details={"author": "Ana Rossi"}) for n in range(9)]
    keys = re.findall(r"@misc\{(.*),", bibtex_entries(same))
    assert len(set(keys)) == 9
    assert bibtex_entries(reversed(same)) == bibtex_entries(same)
    assert bibtex_entries([*same, *same]) == bibtex_entries(same)


def test_each_cited_document_has_one_entry_with_or_without_details() -> None:
    bibtex = FORMATS["bibtex"].write(ANSWER).decode()
    documents = {p.document_id or p.id for p in ANSWER.passages}
    assert bibtex.count("@") == len(documents) > 1
    documents_by_id = {id_: CitedDocument(id_, "A title of its own") for id_ in documents}
    assert to_bibtex(ANSWER, documents_by_id).count("A title of its own") == len(documents)


@given(st.text(), st.text(), st.text())
def test_no_text_can_close_its_field(title: str, author: str, date: str) -> None:
    bibtex = bibtex_entries([CitedDocument("abc", title, details={"author": author, "date": date, "tags": [title]})])
    unescaped = re.sub(r"\\[{}\\#$%&_]|\\text\w+\{\}", "", bibtex)
    depth = 0
    for sign in unescaped:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert bibtex.count("\n@") == 0


@given(st.text(alphabet="\\{}#$%&_~^ab é"))
def test_escaped_text_is_read_back(text: str) -> None:
    from pylatexenc.latex2text import LatexNodes2Text

    plain = LatexNodes2Text(math_mode="verbatim", keep_comments=False).latex_to_text(escape_latex(text))
    assert plain.replace(" ", "").replace("ˆ", "^") == text.replace(" ", "")
