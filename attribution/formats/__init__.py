"""Write a cited answer in any of the formats that people, spreadsheets and other programs read.

| module | format |
|---|---|
| `json.native` | PropCite's own JSON, with offsets in code points, UTF-16 units or bytes |
| `markdown`, `html`, `docx`, `pdf`, `csv` | for people: footnotes, a report, Word, the printed report, a table |
| `bibtex` | the cited documents |
| `alce` | `[1][2]` text and an item of a result file, as ALCE scores them |
| `openai`, `anthropic`, `cohere`, `w3c` | messages of these APIs, Web Annotations |
| `offsets` | conversion of offsets to other units and back |
| `explanations` | why a passage supports a fact, as text and as HTML |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.alce import to_alce, to_alce_item
from propcite.attribution.formats.anthropic import to_anthropic
from propcite.attribution.formats.bibtex import to_bibtex
from propcite.attribution.formats.cited_documents import Documents, with_documents
from propcite.attribution.formats.cohere import to_cohere
from propcite.attribution.formats.csv import to_csv
from propcite.attribution.formats.html import to_html
from propcite.attribution.formats.json.native import to_native
from propcite.attribution.formats.markdown import to_markdown
from propcite.attribution.formats.offsets import Unit
from propcite.attribution.formats.openai import to_openai, to_openai_chat, to_openai_files
from propcite.attribution.formats.pdf import find_browser, print_pdf
from propcite.attribution.formats.text import json_text, utf8
from propcite.attribution.formats.w3c import to_w3c

__all__ = ["FORMATS", "Format", "Unit", "Write", "write"]

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


class Write(Protocol):
    """Return an answer as the bytes of a file; text is UTF-8.  `documents` describe the cited documents, by id."""

    def __call__(
        self, answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS, documents: Documents | None = None
    ) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Format:
    """A file format of cited answers.

    `has_units`: its offsets can be written in other units.  `is_text`: a terminal can show it.  `missing_program`
    returns the name of a program that the format needs and that is not installed, else "".
    """

    name: str
    media_type: str
    suffix: str
    write: Write
    description: str = ""
    has_units: bool = False
    is_text: bool = True
    missing_program: Callable[[], str] = str

    @property
    def shows_document_status(self) -> bool:
        """Whether it says that a document was replaced or removed; only formats for people do."""
        return not self.has_units


def write(answer: CitedAnswer, format: str = "html", unit: Unit = Unit.CODE_POINTS) -> bytes:  # noqa: A002
    """Return an answer as the bytes of a file in one of the FORMATS; text is UTF-8.

    `unit` is what the offsets of JSON formats count.

    >>> write(CitedAnswer("It rained."), "markdown").decode()
    'It rained.\\n\\n*Nothing here needs support*\\n'
    """
    if format not in FORMATS:
        raise AttributionError(f"no format named {format!r}: use one of {', '.join(FORMATS)}")
    return FORMATS[format].write(answer, unit)


def _text(to_text: Callable[[CitedAnswer], str]) -> Write:
    return _bytes(lambda answer: utf8(to_text(answer)))


def _bytes(to_bytes: Callable[[CitedAnswer], bytes]) -> Write:
    """Write a format for people, which says what happened to the documents."""

    def write_bytes(
        answer: CitedAnswer,
        unit: Unit = Unit.CODE_POINTS,  # noqa: ARG001 - the format has no offsets
        documents: Documents | None = None,
    ) -> bytes:
        return to_bytes(with_documents(answer, documents or {}))

    return write_bytes


def _json_bytes(to_values: Callable[[CitedAnswer, Unit], Mapping[str, Any]], indented: bool = True) -> Write:
    def write_json(
        answer: CitedAnswer,
        unit: Unit = Unit.CODE_POINTS,
        documents: Documents | None = None,  # noqa: ARG001 - the format has no place for them
    ) -> bytes:
        return utf8(json_text(to_values(answer, unit), indented=indented))

    return write_json


def _bibtex(
    answer: CitedAnswer,
    unit: Unit = Unit.CODE_POINTS,  # noqa: ARG001 - the format has no offsets
    documents: Documents | None = None,
) -> bytes:
    return utf8(to_bibtex(answer, documents))


def _docx(answer: CitedAnswer) -> bytes:
    from propcite.attribution.formats.docx import to_docx  # the only format that needs a library of its own

    return to_docx(answer)


def _json(
    name: str, write: Write, description: str, *, has_units: bool = True, media_type: str = "application/json"
) -> Format:
    suffix = ".json" if name == "json" else f".{name}.json"
    return Format(name, media_type, suffix, write, description, has_units)


FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        Format("html", "text/html", ".html", _text(to_html), "a report in one file, for reading and printing"),
        Format("markdown", "text/markdown", ".md", _text(to_markdown), "text with footnotes"),
        Format("docx", WORD, ".docx", _bytes(_docx), "a Word document", is_text=False),
        Format(
            "pdf",
            "application/pdf",
            ".pdf",
            _bytes(lambda a: print_pdf(to_html(a))),
            "the report, printed by Chromium or Chrome",
            is_text=False,
            missing_program=lambda: "" if find_browser() else "Chromium or Chrome",
        ),
        Format("csv", "text/csv", ".csv", _text(to_csv), "a row for each citation and each fact without one"),
        _json("json", _json_bytes(to_native), "everything (propcite schema)"),
        Format(
            "jsonl",
            "application/x-ndjson",
            ".jsonl",
            _json_bytes(to_native, indented=False),
            "everything in one line, for files of many answers",
            has_units=True,
        ),
        Format("bibtex", "application/x-bibtex", ".bib", _bibtex, "the cited documents, for LaTeX"),
        Format("alce", "text/plain", ".txt", _text(lambda a: to_alce(a) + "\n"), "[1][2] text as ALCE scores it"),
        _json(
            "alce-item", _json_bytes(lambda a, _: to_alce_item(a)), "an entry of an ALCE result file", has_units=False
        ),
        _json("openai", _json_bytes(to_openai), "a Responses message, url_citation annotations"),
        _json("openai-files", _json_bytes(to_openai_files), "a Responses message, file_citation annotations"),
        _json("openai-chat", _json_bytes(to_openai_chat), "a Chat Completions message with annotations"),
        _json("anthropic", _json_bytes(to_anthropic), "text blocks with char_location and page_location"),
        _json("cohere", _json_bytes(to_cohere), "a Chat v2 message with citations"),
        _json(
            "w3c",
            _json_bytes(lambda a, _: to_w3c(a)),
            "Web Annotations",
            has_units=False,
            media_type="application/ld+json",
        ),
    )
}
