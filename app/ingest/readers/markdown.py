"""Markdown as the text that a reader sees: no markup, with headings, lists, tables and code as lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from propcite.app.ingest.readers.draft import Draft, clean
from propcite.app.ingest.readers.html.blocks import write_blocks
from propcite.app.ingest.readers.html.tree import html_tree
from propcite.app.ingest.readers.plain_text import decode
from propcite.app.ingest.readers.raised import lowered, raised
from propcite.app.ingest.readers.rows import Row, write_rows
from propcite.retrieval.text import Document

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n(.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_LINE = re.compile(r"[\w-][\w .-]*:(?:\s|$)|\s|#|-\s|$")
_TOML = re.compile(r"\A\s*\+\+\+[ \t]*\n(.*?\n)??\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML_LINE = re.compile(r"[\w.\"'-]+\s*=|\[|\s|#|\]|[\"']|$")
_FIELD = re.compile(r"(title|author|date)s?\s*(?::(?:\s+(.*)|$)|=\s*(.+))", re.IGNORECASE)
_ATTRIBUTES = re.compile(r"\s*\{\s*[#.][^{}]*\}$")  # after a heading: {#its-name .class}
_ITEM = re.compile(r"\s*-\s+(.*)")
_SKIPPED_TAG = re.compile(r"<(/?)(script|style|del|strike|s)\b", re.IGNORECASE)
_SCRIPT_TAG = re.compile(r"<(/?)(sup|sub)\s*>", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_NOTE = re.compile(r" {0,3}\[\^([^\]\s]+)\]:[ \t]*(.*)")
_REFERENCE = re.compile(r" ?\[\^([^\]\s]+)\]")
# The parser omits quotes and lists nested deeper, since it would run out of stack.
_MAX_NESTING = 100


def read_markdown(name: str, data: bytes) -> Document:
    fields, body = front_matter(clean(decode(name, data)))
    draft = Draft()
    write_markdown(draft, body)
    return draft.document(name, fields.pop("title", ""), {"kind": "markdown", **fields})


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the title, author and date from front matter between `---` or `+++` lines, and the text after it.

    >>> front_matter("---\\ntitle: 'Rivers'\\n---\\nThe Po.")
    ({'title': 'Rivers'}, 'The Po.')
    """
    match = _FRONT_MATTER.match(text) or _TOML.match(text)
    form = _TOML_LINE if match and match.re is _TOML else _FRONT_LINE
    lines = (match[1] or "").splitlines() if match else []
    # A text may also begin with a horizontal rule and have another further down, so all lines must look like fields.
    if match is None or not all(form.match(line) for line in lines):
        return {}, text
    fields = {
        field[1].lower(): _value(field[2] or field[3], lines[n:])
        for n, line in enumerate(lines, 1)
        if (field := _FIELD.match(line))
    }
    return {key: value for key, value in fields.items() if value}, text[match.end() :]


def _value(value: str, below: Sequence[str]) -> str:
    """Return a field's value in one line; the lines `below` it hold its items if it has none itself."""
    value = (value or "").strip()
    if value.startswith("[") and value.endswith("]"):
        return ", ".join(filter(None, map(_unquoted, value[1:-1].split(","))))
    if value in (">", "|", ">-", "|-"):
        return " ".join(line.strip() for line in takewhile(lambda line: line[:1] in (" ", "\t"), below))
    if value:
        return _unquoted(value)
    items = takewhile(lambda item: item is not None, map(_ITEM.fullmatch, below))
    return ", ".join(_unquoted(item[1]) for item in items if item)


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return re.sub(r"\s+#.*", "", value)


def write_markdown(draft: Draft, text: str) -> None:
    """Write a text; each footnote follows the block that refers to it first, the others come at the end."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable(["table", "strikethrough"])
    body, notes = _notes(text)
    references = _Notes({label: _words_of(parser.parse(note)) for label, note in notes.items()})
    _write_tokens(draft, parser.parse(body), references)
    for label in list(references.left):
        draft.block(references.note(label))


def _notes(text: str) -> tuple[str, dict[str, str]]:
    """Return a text without its footnotes, and the footnotes by their labels."""
    notes: dict[str, list[str]] = {}
    body: list[str] = []
    fence = label = ""
    goes_on = False  # whether the line above is of the same paragraph
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line.strip(mark[1][0] + " "))):
            fence = "" if fence else mark[1]
        if not fence and not mark and (found := _NOTE.match(line)) and found[1] not in notes:
            label, notes[found[1]] = found[1], [found[2]]
        elif label and line.strip() and (line[:1] in (" ", "\t") or goes_on):
            notes[label].append(line.strip())
        elif label and not line.strip():
            notes[label].append("")
            body.append("")
        else:
            label = ""
            body.append(line)
        goes_on = bool(line.strip())
    return "\n".join(body), {label: "\n".join(lines) for label, lines in notes.items()}


class _Notes:
    """The footnotes of a text, numbered in the order in which they are first referred to."""

    def __init__(self, words: dict[str, str]) -> None:
        self.left = dict(words)
        self._known = frozenset(words)
        self._number = 0
        self._waiting: dict[str, None] = {}

    def without_references(self, words: str) -> str:
        """Return words without the marks of footnotes, and keep these notes for the end of the block."""
        return _REFERENCE.sub(self._take, words)

    def _take(self, mark: re.Match[str]) -> str:
        if mark[1] not in self._known:
            return mark[0]
        if mark[1] in self.left and mark[1] not in self._waiting:
            self._waiting[mark[1]] = None
        return ""

    def take(self) -> list[str]:
        """Return the notes that wait for the end of the block."""
        labels, self._waiting = self._waiting, {}
        return [self.note(label) for label in labels]

    def note(self, label: str) -> str:
        self._number += 1
        return f"Note {self._number}: {self.left.pop(label)}"


def _words_of(tokens: Sequence[Token]) -> str:
    """Return the words of all blocks in one line."""
    return " ".join(inline_text(token.children or ()) for token in tokens if token.type == "inline")


def _write_tokens(draft: Draft, tokens: Sequence[Token], notes: _Notes) -> None:
    level = 0  # of the open heading
    cells: list[str] | None = None  # of the open table row
    rows: list[Row] = []  # of the open table
    is_label = False  # whether the first cell of the open row is all in bold letters
    for token in tokens:
        match token.type:
            case "heading_open":
                level = int(token.tag[1:])
            case "heading_close":
                level = 0
            case "bullet_list_open":
                draft.open_list(None)
            case "ordered_list_open":
                draft.open_list(int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                draft.close_list()
            case "list_item_open":
                draft.open_item()
            case "list_item_close":
                draft.close_item()
            case "tr_open":
                cells = []
            case "tr_close":
                rows.append(Row(cells or [], is_label=is_label))
                cells = None
            case "table_close":
                write_rows(draft, rows, named=True)
                rows = []
                for note in notes.take():
                    draft.block(note)
            case "inline":
                words = notes.without_references(inline_text(token.children or ()))
                if cells is None:
                    draft.block(_ATTRIBUTES.sub("", words) if level else words, level=level)
                    for note in notes.take():
                        draft.block(note)
                else:
                    is_label = is_label if cells else _is_bold(token.children or ())
                    cells.append(" ".join(words.split()))
            case "fence" | "code_block":
                draft.block(token.content)
            case "html_block":
                tree = html_tree(token.content)
                if tree is not None:
                    write_blocks(draft, tree)


def _is_bold(tokens: Sequence[Token]) -> bool:
    """Whether all words of a cell are in bold letters."""
    marks = [token.type for token in tokens if token.type != "text" or token.content.strip()]
    return marks[:1] == ["strong_open"] and marks.index("strong_close") == len(marks) - 1


def inline_text(tokens: Iterable[Token]) -> str:
    """Return a paragraph's text: links and images as their text, a soft break as a space."""
    words: list[str] = []
    skipping = False  # inside struck words, or an inline <script> or <style>
    script = ""  # `sup` or `sub` inside such an element
    for token in tokens:
        match token.type:
            case "html_inline":
                tag = _SKIPPED_TAG.match(token.content)
                skipping = skipping if tag is None else not tag[1]
                if found := _SCRIPT_TAG.match(token.content):
                    script = "" if found[1] else found[2].lower()
                words.append("\n" if token.content.lower().startswith("<br") else "")
            case "s_open" | "s_close":
                skipping = token.type == "s_open"
            case "softbreak":
                words.append(" ")
            case "hardbreak":
                words.append("\n")
            case "image":
                words.append("" if skipping else inline_text(token.children or ()))
            case _ if skipping:
                continue
            case _ if script:
                words.append(raised(token.content) if script == "sup" else lowered(token.content, "".join(words[-2:])))
            case _:
                words.append(token.content)
    return re.sub(r" *\n *", "\n", re.sub(r"[ \t]+", " ", clean("".join(words)))).strip()
