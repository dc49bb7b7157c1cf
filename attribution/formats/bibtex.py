"""Write the documents that an answer cites as BibTeX entries with stable keys."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.cited_documents import CitedDocument, Documents
from propcite.attribution.formats.text import one_line

# Characters with a meaning in LaTeX.  Letters beyond ASCII stay: biber and current BibTeX read UTF-8.
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "#$%&_"},
}
_WORDS = re.compile(r"[a-z0-9]+")
_ARTICLES = {"a", "an", "the", "of", "on", "in", "and", "der", "die", "das", "le", "la", "el", "il"}
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_MONTH = re.compile(r"\d{4}-(\d{2})(?:-(\d{2}))?")
_ADDRESS = re.compile(r"https?://\S+$")
_COPIED_FIELDS = ("publisher", "volume", "number", "pages", "doi", "isbn", "issn", "language", "booktitle", "school")


def to_bibtex(answer: CitedAnswer, documents: Documents | None = None) -> str:
    """Return an entry for each cited document; one that is not in `documents` has its title only."""
    by_id = documents or {}
    passages = {passage.document_id or passage.id: passage for passage in answer.passages}
    return bibtex_entries(by_id.get(i) or CitedDocument(i, p.title.split(" › ")[0]) for i, p in passages.items())


def bibtex_entries(documents: Iterable[CitedDocument]) -> str:
    """Return an entry for each document once, sorted by key; a comment if there are none."""
    keyed = {_key(document): document for document in documents}
    if not keyed:
        return "% no document is cited\n"
    return "\n".join(_entry(key, keyed[key]) for key in sorted(keyed))


def _entry(key: str, document: CitedDocument) -> str:
    fields = {name: value for name, value in _fields(document).items() if value}
    width = max(map(len, fields), default=0)
    lines = "".join(f"  {name:<{width}} = {{{value}}},\n" for name, value in fields.items())
    return f"@{_kind(document.details)}{{{key},\n{lines}}}\n"


def _kind(details: Mapping[str, Any]) -> str:
    if details.get("journal"):
        return "article"
    return "book" if details.get("isbn") else "misc"


def _fields(document: CitedDocument) -> dict[str, str]:
    details = document.details
    date = _line(details.get("date") or details.get("year"))
    month = _MONTH.match(date)
    address = _line(details.get("url")) or document.source
    return {
        "title": f"{{{escape_latex(_title(document))}}}",  # inner braces keep styles from changing its case
        "author": " and ".join(map(_author, _list(details.get("author")))),
        "year": _year(details),
        "month": str(int(month[1])) if month else "",
        "date": date if month else "",
        "journal": escape_latex(_line(_journal(details.get("journal")))),
        **{
            name: escape_latex(_line(details.get(name)))
            for name in _COPIED_FIELDS
            if name != "pages" or details.get("journal")
        },
        "url": _address(address) if _ADDRESS.fullmatch(address) else "",
        "keywords": escape_latex(", ".join(_list(details.get("tags")))),
        "note": escape_latex(document.status),
    }


def escape_latex(text: str) -> str:
    r"""Escape the characters that have a meaning in LaTeX.

    >>> escape_latex("50% of {A_1} & B\\C")
    '50\\% of \\{A\\_1\\} \\& B\\textbackslash{}C'
    """
    return "".join(_ESCAPES.get(sign, sign) for sign in one_line(text))


def _key(document: CitedDocument) -> str:
    """Return author, year, first word of the title, and some characters of the id, which make the key unique."""
    first = next(iter(_list(document.details.get("author"))), "")
    name = first.split(",")[0] if "," in first else first.split(" ")[-1]
    words = [word for word in _WORDS.findall(_ascii(_title(document))) if word not in _ARTICLES]
    parts = ["".join(_WORDS.findall(_ascii(name))), _year(document.details), *words[:1], _ascii(document.id)[:6]]
    return "-".join(part for part in ("".join(_WORDS.findall(p)) for p in parts) if part) or "untitled"


def _title(document: CitedDocument) -> str:
    return one_line(document.title) or document.id or "untitled"


def _year(details: Mapping[str, Any]) -> str:
    year = _YEAR.search(_line(details.get("date"))) or _YEAR.search(_line(details.get("year")))
    return year[0] if year else ""


def _author(name: str) -> str:
    """Put a name that contains "and" in braces: BibTeX would split it into two names."""
    return f"{{{escape_latex(name)}}}" if " and " in name.lower() else escape_latex(name)


def _address(address: str) -> str:
    """Percent-encode the characters that would end the field; the rest is printed as it is."""
    return address.replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")


def _list(value: Any) -> list[str]:
    """Return names or tags from a list, or from a text that separates them by `;`."""
    values = value.split(";") if isinstance(value, str) else value
    return [line for one in values if (line := _line(one))] if isinstance(values, list | tuple) else []


def _journal(value: Any) -> Any:
    return value.get("name") or value.get("title") if isinstance(value, Mapping) else value


def _line(value: Any) -> str:
    return one_line(str(value)) if isinstance(value, str | int | float) else ""


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
