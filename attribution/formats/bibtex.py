"""The documents that an answer cites, as BibTeX reads them: an entry each, by a key that stays the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.cited_documents import CitedDocument, Documents
from propcite.attribution.formats.plain import one_line

# In LaTeX these speak; letters beyond ASCII stay as they are, which biber and today's BibTeX read as UTF-8.
_SPEAKS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "#$%&_"},
}
_WORDS = re.compile(r"[a-z0-9]+")
_SMALL = {"a", "an", "the", "of", "on", "in", "and", "der", "die", "das", "le", "la", "el", "il"}
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_MONTH = re.compile(r"\d{4}-(\d{2})(?:-(\d{2}))?")
_ADDRESS = re.compile(r"https?://\S+$")
_NAMED = ("publisher", "volume", "number", "pages", "doi", "isbn", "issn", "language", "booktitle", "school")


def to_bibtex(answer: CitedAnswer, documents: Documents | None = None) -> str:
    """What is known of each cited document; of one that nobody knows, its title."""
    known = documents or {}
    passages = {passage.document_id or passage.id: passage for passage in answer.passages}
    cited = {i: known.get(i) or CitedDocument(i, p.title.split(" › ")[0]) for i, p in passages.items()}
    return entries(cited.values())


def entries(documents: Iterable[CitedDocument]) -> str:
    """Each document once, in the order of their keys."""
    keyed = {_key(document): document for document in documents}
    if not keyed:
        return "% no document is cited\n"
    return "\n".join(_entry(key, keyed[key]) for key in sorted(keyed))


def _entry(key: str, document: CitedDocument) -> str:
    told = {name: value for name, value in _fields(document).items() if value}
    width = max(map(len, told), default=0)
    lines = "".join(f"  {name:<{width}} = {{{value}}},\n" for name, value in told.items())
    return f"@{_kind(document.details)}{{{key},\n{lines}}}\n"


def _kind(details: Mapping[str, Any]) -> str:
    if details.get("journal"):
        return "article"
    return "book" if details.get("isbn") else "misc"


def _fields(document: CitedDocument) -> dict[str, str]:
    details = document.details
    date = _line(details.get("date") or details.get("year"))
    found = _MONTH.match(date)
    address = _line(details.get("url")) or document.source
    return {
        "title": f"{{{escaped(_title(document))}}}",  # inner braces: no style changes its letters
        "author": " and ".join(_author(one) for one in _several(details.get("author"))),
        "year": _year(details),
        "month": str(int(found[1])) if found else "",
        "date": date if found else "",
        "journal": escaped(_line(_journal(details.get("journal")))),
        **{name: escaped(_line(details.get(name))) for name in _NAMED if name != "pages" or details.get("journal")},
        "url": _address(address) if _ADDRESS.fullmatch(address) else "",
        "keywords": escaped(", ".join(_several(details.get("tags")))),
        "note": escaped(document.gone),
    }


def escaped(text: str) -> str:
    r"""
    >>> escaped("50% of {A_1} & B\\C")
    '50\\% of \\{A\\_1\\} \\& B\\textbackslash{}C'
    """
    return "".join(_SPEAKS.get(sign, sign) for sign in one_line(text))


def _key(document: CitedDocument) -> str:
    """The author's name, the year, the title's first word, and a few signs of the id, so that two never meet."""
    first = next(iter(_several(document.details.get("author"))), "")
    name = first.split(",")[0] if "," in first else first.split(" ")[-1]
    words = [word for word in _WORDS.findall(_ascii(_title(document))) if word not in _SMALL]
    parts = ["".join(_WORDS.findall(_ascii(name))), _year(document.details), *words[:1], _ascii(document.id)[:6]]
    return "-".join(part for part in ("".join(_WORDS.findall(p)) for p in parts) if part) or "untitled"


def _title(document: CitedDocument) -> str:
    return one_line(document.title) or document.id or "untitled"


def _year(details: Mapping[str, Any]) -> str:
    found = _YEAR.search(_line(details.get("date"))) or _YEAR.search(_line(details.get("year")))
    return found[0] if found else ""


def _author(name: str) -> str:
    """A name with the word that parts names in it is one name."""
    return f"{{{escaped(name)}}}" if " and " in name.lower() else escaped(name)


def _address(address: str) -> str:
    """As it is: a style prints it so.  Only what would end the field is written in the form that addresses have."""
    return address.replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")


def _several(told: Any) -> list[str]:
    """Names or tags, from a list or from one line that parts them by `;`."""
    several = told.split(";") if isinstance(told, str) else told
    return [line for one in several if (line := _line(one))] if isinstance(several, list | tuple) else []


def _journal(told: Any) -> Any:
    return told.get("name") or told.get("title") if isinstance(told, Mapping) else told


def _line(told: Any) -> str:
    return one_line(str(told)) if isinstance(told, str | int | float) else ""


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
