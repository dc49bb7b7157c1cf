"""A cited answer in the forms that people, spreadsheets and other programs read, each by its name.

| module | form |
|---|---|
| `native` | PropCite's own JSON, its places counted in code points, UTF-16 units or bytes |
| `markdown`, `html`, `docx`, `pdf`, `csv` | for reading: footnotes, a report, Word, the report printed, a table |
| `bibtex` | the documents that it cites |
| `alce` | `[1][2]` text and the item of a result file, as ALCE scores them |
| `openai`, `anthropic`, `cohere`, `w3c` | the shapes of these interfaces |
| `offsets` | places in other units, and back |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.alce import to_alce, to_alce_item
from propcite.attribution.formats.anthropic import to_anthropic
from propcite.attribution.formats.bibtex import to_bibtex
from propcite.attribution.formats.cited_documents import Documents, with_documents
from propcite.attribution.formats.cohere import to_cohere
from propcite.attribution.formats.csv import to_csv
from propcite.attribution.formats.html import to_html
from propcite.attribution.formats.markdown import to_markdown
from propcite.attribution.formats.native import to_native
from propcite.attribution.formats.offsets import Unit
from propcite.attribution.formats.openai import to_openai, to_openai_chat, to_openai_files
from propcite.attribution.formats.pdf import browser, printed
from propcite.attribution.formats.plain import encoded, json_text
from propcite.attribution.formats.w3c import to_w3c

__all__ = ["FORMATS", "Format", "Unit", "Write"]

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


class Write(Protocol):
    """An answer as the bytes of a file; text is UTF-8.  `documents` are what is known of those that it cites."""

    def __call__(
        self, answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS, documents: Documents | None = None
    ) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Format:
    """A form of a cited answer.  `counts`: its places can be counted in other units; `is_text`: a terminal shows it;
    `lacks` names the program that it needs and that is not here."""

    name: str
    media_type: str
    suffix: str
    write: Write
    what: str = ""
    counts: bool = False
    is_text: bool = True
    lacks: Callable[[], str] = str

    @property
    def tells_documents(self) -> bool:
        """What is for reading says what became of the documents; what is for programs has a shape of its own."""
        return not self.counts


def _text(written: Callable[[CitedAnswer], str]) -> Write:
    return _bytes(lambda answer: encoded(written(answer)))


def _bytes(written: Callable[[CitedAnswer], bytes]) -> Write:
    """What is for reading says what became of the documents."""

    def write(
        answer: CitedAnswer,
        unit: Unit = Unit.CODE_POINTS,  # noqa: ARG001 - it holds no places
        documents: Documents | None = None,
    ) -> bytes:
        return written(with_documents(answer, documents or {}))

    return write


def _counted(projected: Callable[[CitedAnswer, Unit], Mapping[str, Any]], indented: bool = True) -> Write:
    def write(
        answer: CitedAnswer,
        unit: Unit = Unit.CODE_POINTS,
        documents: Documents | None = None,  # noqa: ARG001 - it has a shape of its own
    ) -> bytes:
        return encoded(json_text(projected(answer, unit), indented=indented))

    return write


def _bibtex(
    answer: CitedAnswer,
    unit: Unit = Unit.CODE_POINTS,  # noqa: ARG001
    documents: Documents | None = None,
) -> bytes:
    return encoded(to_bibtex(answer, documents))


def _docx(answer: CitedAnswer) -> bytes:
    from propcite.attribution.formats.docx import to_docx  # the one form that needs a library of its own

    return to_docx(answer)


def _json(name: str, write: Write, what: str, *, counts: bool = True, media_type: str = "application/json") -> Format:
    return Format(name, media_type, ".json" if name == "json" else f".{name}.json", write, what, counts)


FORMATS: Mapping[str, Format] = {
    form.name: form
    for form in (
        Format("html", "text/html", ".html", _text(to_html), "a report in one file, for reading and printing"),
        Format("markdown", "text/markdown", ".md", _text(to_markdown), "text with footnotes"),
        Format("docx", WORD, ".docx", _bytes(_docx), "a Word document", is_text=False),
        Format(
            "pdf",
            "application/pdf",
            ".pdf",
            _bytes(lambda a: printed(to_html(a))),
            "the report, printed by Chromium or Chrome",
            is_text=False,
            lacks=lambda: "" if browser() else "Chromium or Chrome",
        ),
        Format("csv", "text/csv", ".csv", _text(to_csv), "a row for each citation and each fact without one"),
        _json("json", _counted(to_native), "everything (propcite schema)"),
        Format(
            "jsonl",
            "application/x-ndjson",
            ".jsonl",
            _counted(to_native, indented=False),
            "everything in one line, for files of many answers",
            counts=True,
        ),
        Format("bibtex", "application/x-bibtex", ".bib", _bibtex, "the cited documents, for LaTeX"),
        Format("alce", "text/plain", ".txt", _text(lambda a: to_alce(a) + "\n"), "[1][2] text as ALCE scores it"),
        _json("alce-item", _counted(lambda a, _: to_alce_item(a)), "an entry of an ALCE result file", counts=False),
        _json("openai", _counted(to_openai), "a Responses message, url_citation annotations"),
        _json("openai-files", _counted(to_openai_files), "a Responses message, file_citation annotations"),
        _json("openai-chat", _counted(to_openai_chat), "a Chat Completions message with annotations"),
        _json("anthropic", _counted(to_anthropic), "text blocks with char_location and page_location"),
        _json("cohere", _counted(to_cohere), "a Chat v2 message with citations"),
        _json(
            "w3c", _counted(lambda a, _: to_w3c(a)), "Web Annotations", counts=False, media_type="application/ld+json"
        ),
    )
}
