"""Join lines of a paragraph: with a space, or without the hyphen that only divides a word."""

from __future__ import annotations

import re
import unicodedata

_HYPHENS = ("-", "\u2010", "\u00ad")
_HYPHENATED = re.compile(r"([\w-]*\w)[-\u2010\u00ad]$")
_MAX_WORD = 100  # characters
# First parts of words that keep their hyphen: `well-` and `known` make `well-known`.
_HYPHENATED_PREFIXES = frozenset("well self non half ex cross high low long short".split())
# First parts that lose it although both parts are words: `more-` and `over` make `moreover`.
_CLOSED_PREFIXES = frozenset(
    "more over under some every other there where when what them your with within never back down".split()
)


def line_join(line: str, after: str, words: set[str]) -> tuple[str, str]:
    """Return a line, maybe without its final hyphen, and the separator to the next line.

    `words` are the document's whole words, which show how to spell a hyphenated one.

    >>> line_join("for exam-", "ple", set()), line_join("a well-", "known", set()), line_join("one", "two", set())
    (('for exam', ''), ('a well-', ''), ('one', ' '))
    """
    hyphenated, first_word = hyphenated_end(line), re.match(r"\w+", after)
    if hyphenated is None:
        return line, "" if _is_wide(line[-1:]) and _is_wide(after[:1]) else " "
    if first_word is None or first_word[0] in ("and", "or", "und", "oder"):  # pre- and post-war
        return line, " "
    if not first_word[0][0].islower():  # Smith-Jones, 2019-2020
        return line, ""
    loses = line[-1] == "\u00ad" or not _keeps_hyphen(hyphenated[1].lower(), first_word[0].lower(), words)
    return (line[:-1] if loses else line), ""


def hyphenated_end(line: str) -> re.Match[str] | None:
    """Return the end of a line whose last word may go on, with the word before its hyphen as group 1."""
    # A paragraph of many lines is not searched from its start for each of them.
    return _HYPHENATED.search(line, max(0, len(line) - _MAX_WORD)) if line.endswith(_HYPHENS) else None


def _keeps_hyphen(start: str, end: str, words: set[str]) -> bool:
    """Whether a hyphen at a line's end belongs to the word, judged by the document's other words."""
    if f"{start}{end}" in words:
        return False
    if "-" in start or f"{start}-{end}" in words or (start in _HYPHENATED_PREFIXES and len(end) > 3):
        return True
    return min(len(start), len(end)) > 3 and {start, end} <= words and start not in _CLOSED_PREFIXES


def _is_wide(char: str) -> bool:
    """Whether a character is Chinese or Japanese, which are written without spaces; Korean has spaces."""
    is_wide = bool(char) and unicodedata.east_asian_width(char) in "WF"
    return is_wide and not "\uac00" <= char <= "\ud7a3"
