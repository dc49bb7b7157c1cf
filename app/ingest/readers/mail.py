"""E-mail: the headers that a reader sees, the body, and attachments, each read by its file type."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from email import policy
from email.headerregistry import HeaderRegistry
from email.message import EmailMessage
from email.parser import BytesParser
from math import inf
from quopri import decodestring
from typing import Any

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import PART, Draft, one_line
from propcite.app.ingest.readers.html.blocks import write_blocks
from propcite.app.ingest.readers.html.tree import html_tree
from propcite.app.ingest.readers.kinds import is_supported, reader_of
from propcite.app.ingest.readers.plain_text import decode
from propcite.app.ingest.readers.text.wrapping import unwrapped
from propcite.retrieval.text import Document

_STARTS = re.compile(rb"^From [^\r\n]*\d{2}:\d{2}[^\r\n]*\r?\n(?=[!-9;-~]+:)", re.MULTILINE)
_FLOWED = re.compile(r"(?<!^--) \n(?!>)", re.MULTILINE)
_MAX_DEPTH = 3  # of messages attached to messages
_MAX_ATTACHMENTS = 200
_ENCODED = re.compile(r"=\?[\w.-]+\?[BbQq]\?([^?\s]*)\?=")
_WORDS = re.compile(r"=\?([\w.-]+)\?([BbQq])\?[^?\s]*\?=(?:\s+=\?\1\?\2\?[^?\s]*\?=)*")
_DEFAULT_HEADERS = {"content-type": "text/plain", "content-disposition": "inline", "content-transfer-encoding": "8bit"}
_SHOWN = ("From", "To", "Cc", "Date")


def read_eml(name: str, data: bytes) -> Document:
    message = _message(data)
    if not any(header in message for header in ("From", "To", "Date", "Subject", "Received")):
        raise ReadError(f"{name} is not an e-mail (it has no headers): save the message as .eml and add that")
    draft = Draft()
    _Writer(draft).message(message, "", level=1)
    metadata = {"kind": "email", "author": _header(message, "From"), "date": _date(message)}
    return draft.document(name, _header(message, "Subject"), metadata)


def read_mbox(name: str, data: bytes) -> Document:
    return next(mbox_parts(name, data, inf))


def mbox_parts(name: str, data: bytes, size: float = PART) -> Iterator[Document]:
    """Yield a mailbox in parts of whole messages."""
    starts = [match.start() for match in _STARTS.finditer(data)]
    if not starts or data[: starts[0]].strip():
        raise ReadError(f"{name} is not a mailbox (it does not begin with a message): export it as mbox and add that")
    draft = Draft()
    metadata = {"kind": "email", "messages": str(len(starts))}
    return draft.parts(_written(draft, data, starts), name, "", metadata, size)


def _written(draft: Draft, data: bytes, starts: Sequence[int]) -> Iterator[None]:
    """Yield after each message that is written."""
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(data)], strict=True), 1):
        source = data[data.index(b"\n", start) + 1 : end]
        message = _message(re.sub(rb"^>(>*From )", rb"\1", source, flags=re.MULTILINE))
        _Writer(draft).message(message, f"message {number}", level=1)
        yield


def _as_one(words: re.Match[str]) -> str:
    """Return encoded words that follow each other as one if they lose letters else.

    Some mailers divide a letter between two of them, or name a smaller character set than they use.
    """
    charset = "gb18030" if words[1].lower() in ("gb2312", "gbk") else words[1]  # whose letters it has, and more
    form, pieces = words[2].upper(), _ENCODED.findall(words[0])
    try:
        data = [b64decode(piece) if form == "B" else decodestring(piece.replace("_", " ").encode()) for piece in pieces]
        whole = b"".join(data).decode(charset)
    except (ValueError, LookupError):
        return words[0]
    is_lossy = any("\ufffd" in piece.decode(words[1], "replace") for piece in data)
    return f"=?utf-8?B?{b64encode(whole.encode()).decode()}?=" if is_lossy else words[0]


class _Headers(HeaderRegistry):
    """Parses headers; one that the parser fails on is replaced by its default, or an empty one."""

    def __call__(self, name: str, value: str) -> Any:
        try:
            return super().__call__(name, _WORDS.sub(_as_one, value))
        except Exception:  # the parser raises any kind of error on malformed headers
            return super().__call__(name, _DEFAULT_HEADERS.get(name.lower(), ""))


def _message(data: bytes) -> EmailMessage:
    return BytesParser(EmailMessage, policy=policy.default.clone(header_factory=_Headers())).parsebytes(data)


class _Writer:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._attachments = 0

    def message(self, message: EmailMessage, place: str, level: int) -> None:
        with self.draft.optional_place(place):
            self.draft.block(_header(message, "Subject") or "(no subject)", level=level)
            for number, header in enumerate(header for header in _SHOWN if header in message):
                self.draft.block(f"{header}: {_header(message, header)}", tight=number > 0)
            self._body(message)
        for part in _attachments(message):
            self._attachment(part, place, level + 1)

    def _body(self, message: EmailMessage) -> None:
        part = _body_part(message)
        if part is None:
            return
        text = _text(part)
        if part.get_content_subtype() == "html":
            if (tree := html_tree(text)) is not None:
                _mark_quotes(tree)
                write_blocks(self.draft, tree)
        else:
            flowed = str(part.get_param("format", "")).lower() == "flowed"
            text = text.replace("\r\n", "\n")
            self.draft.block(unwrapped(_FLOWED.sub(" ", text) if flowed else text).text)

    def _attachment(self, part: EmailMessage, place: str, level: int) -> None:
        self._attachments += 1
        if self._attachments > _MAX_ATTACHMENTS:
            return
        if part.get_content_type() == "message/rfc822":
            inner = part.get_content()
            if level <= _MAX_DEPTH and isinstance(inner, EmailMessage):
                self.message(inner, _joined(place, f"message {_header(inner, 'Subject')!r}"), level)
            return
        name = one_line(_file_name(part))
        try:
            document = reader_of(name)(name, _bytes(part)) if is_supported(name) else None
            why = "has an unsupported file type"
        except ReadError as error:
            document, why = None, str(error).removeprefix(name).strip()
        if document is not None and document.text.strip():
            self.draft.block(name, level=level)
            self.draft.append(document, level, _joined(place, name))
        elif name:
            with self.draft.optional_place(place):
                self.draft.block(f"Attached: {name} ({why.partition(':')[0]}).")


def _joined(place: str, name: str) -> str:
    return f"{place}, {name}" if place else name


def _body_part(message: EmailMessage) -> EmailMessage | None:
    """Return the plain text part if it has text, else the HTML part, else None."""
    for kind in ("plain", "html"):
        try:
            part: Any = message.get_body((kind,))
        except (KeyError, AttributeError, ValueError, LookupError):  # a multipart message without parts
            return None
        if part is not None and _text(part).strip():
            body: EmailMessage = part
            return body
    return None


def _text(part: EmailMessage) -> str:
    payload = _bytes(part)
    if not payload.strip():
        return ""
    try:
        return decode("the message", payload.replace(b"\0", b""), declared=part.get_content_charset("") or "")
    except ReadError:
        return ""


def _bytes(part: EmailMessage) -> bytes:
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, LookupError, TypeError, AssertionError):
        return b""
    return payload if isinstance(payload, bytes) else b""


def _attachments(message: EmailMessage) -> Iterator[EmailMessage]:
    body = _body_part(message)
    pending = [message]
    while pending:
        part: Any = pending.pop(0)
        if part.is_multipart() and part.get_content_type() != "message/rfc822":
            pending[:0] = part.get_payload()
        elif part is not message and part is not body and (_file_name(part) or part.is_multipart()):
            yield part


def _file_name(part: EmailMessage) -> str:
    return part.get_filename("") or ""


def _mark_quotes(tree: Any) -> None:
    """Put a label before each quoted message in an HTML body, which plain text marks with `>`."""
    from lxml import etree

    for quote in tree.xpath("//blockquote[not(ancestor::blockquote)]"):
        label = etree.Element("p")
        label.text, label.tail = "Quoted:", quote.text
        quote.text = None
        quote.insert(0, label)


def _header(message: EmailMessage, name: str) -> str:
    return one_line(str(message.get(name, "")))


def _date(message: EmailMessage) -> str:
    moment: Any = getattr(message["Date"], "datetime", None)
    return moment.date().isoformat() if moment is not None else ""
