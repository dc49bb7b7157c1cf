"""The supported file types: their suffixes, and the function that reads each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import PurePath
from typing import Protocol

from propcite.app.errors import ReadError
from propcite.retrieval.text import Document

# The module and function that read each suffix.  A module is imported when its first file comes.
_READERS = {
    ".txt": ("plain_text", "read_plain"),
    ".text": ("plain_text", "read_plain"),
    ".md": ("markdown", "read_markdown"),
    ".markdown": ("markdown", "read_markdown"),
    ".html": ("html.page", "read_html"),
    ".htm": ("html.page", "read_html"),
    ".xhtml": ("html.page", "read_html"),
    ".pdf": ("pdf.reader", "read_pdf"),
    ".png": ("images", "read_image"),
    ".jpg": ("images", "read_image"),
    ".jpeg": ("images", "read_image"),
    ".tif": ("images", "read_image"),
    ".tiff": ("images", "read_image"),
    ".docx": ("docx", "read_docx"),
    ".docm": ("docx", "read_docx"),
    ".odt": ("odf", "read_odt"),
    ".rtf": ("rtf", "read_rtf"),
    ".epub": ("epub", "read_epub"),
    ".pptx": ("pptx", "read_pptx"),
    ".pptm": ("pptx", "read_pptx"),
    ".ppsx": ("pptx", "read_pptx"),
    ".odp": ("odf", "read_odp"),
    ".xlsx": ("xlsx", "read_xlsx"),
    ".xlsm": ("xlsx", "read_xlsx"),
    ".ods": ("odf", "read_ods"),
    ".csv": ("delimited", "read_csv"),
    ".tsv": ("delimited", "read_tsv"),
    ".json": ("json_records", "read_json"),
    ".jsonl": ("json_records", "read_jsonl"),
    ".ndjson": ("json_records", "read_jsonl"),
    ".eml": ("mail", "read_eml"),
    ".mbox": ("mail", "read_mbox"),
}
# The function that yields the parts of a large file, for kinds that are read part by part.
_PART_READERS = {
    ".txt": ("plain_text", "plain_parts"),
    ".text": ("plain_text", "plain_parts"),
    ".pdf": ("pdf.reader", "pdf_parts"),
    ".xlsx": ("xlsx", "xlsx_parts"),
    ".xlsm": ("xlsx", "xlsx_parts"),
    ".csv": ("delimited", "csv_parts"),
    ".tsv": ("delimited", "tsv_parts"),
    ".json": ("json_records", "json_parts"),
    ".jsonl": ("json_records", "jsonl_parts"),
    ".ndjson": ("json_records", "jsonl_parts"),
    ".mbox": ("mail", "mbox_parts"),
}
# The version of each kind's reader, 1 where none is named: raised when it reads more of the same files, so that those
# read before are found and read again.
_BLOCKS = 6  # the version of html.blocks, by which these kinds are read
_OWN = {"pdf": 9, "html": _BLOCKS, "epub": _BLOCKS + 1, "markdown": _BLOCKS + 1, "text": 6, "email": 3}
_OWN |= {"docx": 5, "odt": 5, "rtf": 5, "csv": 3, "tsv": 3} | dict.fromkeys(("pptx", "odp", "xlsx", "ods"), 4)
# A mail is read again when any reader of its body or attachments is better.
READING_VERSIONS = {**_OWN, "email": sum(_OWN.values())}
# Each member of an archive is a document of its own, so no function reads an archive as one.
ARCHIVES = (".zip",)
SUFFIXES = (*_READERS, *ARCHIVES)
KINDS = (
    "txt, md, html, pdf, png, jpeg, tiff, docx, odt, rtf, epub, pptx, odp, xlsx, ods, csv, tsv, json, jsonl, eml, "
    "mbox, and zip archives of these"
)
PICTURE_SUFFIXES = tuple(suffix for suffix, (module, _) in _READERS.items() if module == "images")
PICTURES = ("png", "jpeg", "tiff")  # kinds of documents whose text is recognised
PAGED = ("pdf", *PICTURES)  # kinds whose pages can be drawn
_LEGACY = {".doc": ".docx", ".dot": ".docx", ".xls": ".xlsx", ".ppt": ".pptx", ".pps": ".pptx", ".msg": ".eml"}
_MANUAL = re.compile(r"\.[1-9][a-z]{0,3}(?:\.gz)?")
_SUFFIX_OF_TYPE = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "text/rtf": ".rtf",
    "application/rtf": ".rtf",
    "application/pdf": ".pdf",
    "image/png": ".png",
    "image/jpeg": ".jpeg",
    "image/tiff": ".tiff",
    "application/json": ".json",
    "application/x-ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
    "application/epub+zip": ".epub",
    "application/zip": ".zip",
    "message/rfc822": ".eml",
    "application/mbox": ".mbox",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/vnd.oasis.opendocument.presentation": ".odp",
    "application/vnd.oasis.opendocument.spreadsheet": ".ods",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}


class Reader(Protocol):
    def __call__(self, name: str, data: bytes) -> Document: ...


class PartReader(Protocol):
    def __call__(self, name: str, data: bytes) -> Iterator[Document]: ...


def reader_of(name: str) -> Reader:
    """Return the function that reads a file of this name, or raise a ReadError."""
    suffix = supported_suffix(name)
    if suffix in ARCHIVES:
        raise ReadError(f"{name} is an archive inside another file: unpack it and add its files")
    module, function = _READERS[suffix]
    reader: Reader = getattr(import_module(f"propcite.app.ingest.readers.{module}"), function)
    return reader


def part_reader_of(name: str) -> PartReader | None:
    """Return the function that reads a file of this name part by part; None if its kind is read as a whole."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in _PART_READERS:
        return None
    module, function = _PART_READERS[suffix]
    reader: PartReader = getattr(import_module(f"propcite.app.ingest.readers.{module}"), function)
    return reader


def supported_suffix(name: str) -> str:
    """Return the name's suffix in lower case, or raise a ReadError if files of this type cannot be read."""
    suffix = PurePath(name).suffix.lower()
    if legacy := legacy_error(name):
        raise legacy
    if _MANUAL.fullmatch("".join(PurePath(name).suffixes[-2:] if suffix == ".gz" else [suffix])):
        raise ReadError(f"{name} looks like the source of a manual page: run man -l {name} > {name}.txt and add that")
    if suffix not in SUFFIXES:
        raise ReadError(f"{name} has an unsupported file type: save it as one of {KINDS}")
    return suffix


def legacy_error(name: str) -> ReadError | None:
    """Return the error for a file in a legacy Office format; None for any other file."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in _LEGACY:
        return None
    return ReadError(f"{name} has a legacy format that cannot be read: open it and save it as {_LEGACY[suffix]}")


def is_supported(name: str) -> bool:
    return PurePath(name).suffix.lower() in SUFFIXES


def suffix_of_type(content_type: str) -> str:
    """Return the suffix for a content type, or an empty string."""
    return _SUFFIX_OF_TYPE.get(content_type.partition(";")[0].strip().lower(), "")
