"""Find the headings of plain text: lines that stand alone, and are underlined, numbered or in capitals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from propcite.retrieval.text import Heading, Span

_MAX_WORDS, _MAX_CHARACTERS = 12, 90
_MAX_TITLE_LINES = 2  # between two rules
_MAX_REPEATED = 3  # a line in capitals that is repeated more often names a speaker, or a kind of remark
_MAX_MISSED = 3  # by which a number may be higher than the one before
_MIN_PROSE = 6  # words
_MIN_PARAGRAPH = 8  # words below a heading that nothing but its place shows
_MIN_PLAIN = 3  # such headings of a text
_SHORT = 6  # level of a heading that nothing but its place shows
_CHAPTER, _CAPITALS, _NUMBERED = 1, 2, 2  # levels; that of a number is below the last, by its depth
_RULE = re.compile(r"([=~*^#_-])\1{2,}")
_LEVELS = {"=": 1, "*": 1, "#": 1, "-": 2, "_": 2, "~": 3, "^": 4}  # of what they underline
_OTHER_END = re.compile(r"[.,;]$")
_BEGIN = re.compile(r"[^\W_]|[\"'“‘(\[]")
_COLUMNS = re.compile(r"\S(?: {3}|[ ]*\t)[ \t]*\S")
_LEADERS = re.compile(r"(?:\.[ ]?){4}")
_PART = re.compile(
    r"(?:(chapter|part|book|appendix|annex)|section|article)\s+(?:\d{1,3}(?:\.\d{1,3})*|[IVXLC]{1,7}|[A-Z])\b"
    r"[.:]?(?:\s*[–—-])?(?:\s+(\S.*))?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:(?:\d{1,3}|[A-Z](?=\.\d))(?:\.\d{1,3})+\.?|\d{1,3}\.)(?=\s)")
_PLAIN = re.compile(
    r"(?!(?:note|warning|caution|tip|important)$)(?-i:[A-Z])[^\W\d_]*(?:[ ’'/,&-]+[^\W_][\w’'-]*)*(?: \([\w -]+\))?",
    re.IGNORECASE,
)
_SETTING = re.compile(r"[a-z]+(?:[_-][a-z0-9]+)*")
_DATE = re.compile(
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\.?,? +\d", re.IGNORECASE
)
_CODE = re.compile(r"[_=<>{}$\\|@#+*]|://|\d{3}")
_SENTENCE_END = re.compile(r"[.!?:][\"'”’)\]]*$")


@dataclass(slots=True)
class _Candidate:
    """A line that may be a heading, and whether prose comes before the next one."""

    heading: Heading
    words: str
    number: tuple[str, ...] = ()
    form: str = ""  # how it is recognised
    indent: int = 0
    has_prose: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    words: str
    span: Span  # without the white space around it
    indent: int


def text_headings(text: str) -> tuple[Heading, ...]:
    """Return the headings of a text whose wrapped paragraphs are joined; empty if it has none.

    >>> text = "Dams\\n====\\n\\nTwo dams hold the river back in spring.\\n"
    >>> [(heading.level, heading.span.of(text)) for heading in text_headings(text)]
    [(1, 'Dams\\n====')]
    """
    lines = list(_lines(text))
    candidates = _candidates(lines)
    counts = Counter(one.words for one in candidates if one.form in ("capitals", "plain"))
    candidates = [one for one in candidates if counts[one.words] <= _MAX_REPEATED]
    if sum(one.form == "plain" for one in candidates) < _MIN_PLAIN:
        candidates = [one for one in candidates if one.form != "plain"]
    return tuple(one.heading for one in _in_order(list(_with_text(candidates))))


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        words = line.strip()
        indent = len(line) - len(line.lstrip())
        yield _Line(words, Span(start + indent, start + indent + len(words)), indent)
        start += len(line) + 1


def _candidates(lines: Sequence[_Line]) -> list[_Candidate]:
    candidates: list[_Candidate] = []
    at = 0
    while at < len(lines):
        candidate, size = _candidate(lines, at)
        if candidate:
            candidates.append(candidate)
        elif candidates and _is_prose(lines[at].words):
            candidates[-1].has_prose = True
        at += size
    return candidates


def _candidate(lines: Sequence[_Line], at: int) -> tuple[_Candidate | None, int]:
    """Return what may be a heading at a line, and the number of its lines."""
    if not lines[at].words:
        return None, 1
    if at and lines[at - 1].words:
        return (_unruled(lines[at]) if _ends_section(lines, at) else None), 1
    is_overlined = _rule(lines[at].words) != ""
    first = at + is_overlined
    for last in range(first, min(first + (_MAX_TITLE_LINES if is_overlined else 1), len(lines) - 1)):
        below, words = lines[last + 1].words, " ".join(line.words for line in lines[first : last + 1])
        if not all(_is_title(line.words.removesuffix(":")) for line in lines[first : last + 1]):
            break
        is_framed = is_overlined and below == lines[at].words and 5 * len(below) >= 4 * len(lines[first].words)
        if is_framed or (not is_overlined and _rule(below) and 2 * len(below) > len(words)):
            number = _number(words)
            level = _NUMBERED + len(number) if number else 1 if is_framed else _LEVELS[_rule(below)]
            span = Span(lines[at].span.start, lines[last + 1].span.end)
            return _Candidate(Heading(span, level), words, number, "rule"), last + 2 - at
    if is_overlined or (at + 1 < len(lines) and lines[at + 1].words):
        return (None if is_overlined else _plain(lines, at)), 1
    is_first = not any(line.words for line in lines[:at])
    return _unruled(lines[at], is_first=is_first) or _plain(lines, at), 1


def _ends_section(lines: Sequence[_Line], at: int) -> bool:
    """Whether a numbered line comes right below the last sentence of a section, and not below an item of its list."""
    above, line = lines[at - 1], lines[at]
    is_apart = at + 1 < len(lines) and not lines[at + 1].words
    is_below_prose = above.indent == line.indent and _is_prose(above.words) and not _NUMBER.match(above.words)
    return is_apart and is_below_prose and _SENTENCE_END.search(above.words) is not None and _number(line.words) != ()


def _unruled(line: _Line, *, is_first: bool = False) -> _Candidate | None:
    """Return a line that may be a heading for its number or its capitals; the first of a text may have any signs."""
    words = line.words
    if not _is_title(words) or words.endswith(":"):
        return None
    if part := _PART.fullmatch(words):
        if part[2] and not part[2].lstrip("\"'“‘(")[:1].isupper():
            return None
        return _Candidate(Heading(line.span, _CHAPTER if part[1] else _CAPITALS), words, form="part")
    if number := _number(words):
        return _Candidate(Heading(line.span, _NUMBERED + len(number)), words, number, "number", line.indent)
    if words.isupper() and (is_first or not _CODE.search(words)) and max(map(_num_letters, words.split())) > 2:
        return _Candidate(Heading(line.span, _CAPITALS), words, form="capitals")
    return None


def _plain(lines: Sequence[_Line], at: int) -> _Candidate | None:
    """Return a short line above a paragraph, which is a heading where the text has several such lines."""
    line = lines[at]
    below = next((one for one in lines[at + 1 : at + 3] if one.words), None)
    if below is None or below.indent != line.indent or len(below.words.split()) < _MIN_PARAGRAPH:
        return None
    if not _PLAIN.fullmatch(line.words) or len(line.words.split()) > _MIN_PROSE or not _is_title(line.words):
        return None
    if not below.words.lstrip("\"'“‘")[:1].isupper() or _DATE.search(line.words) or line.words.isupper():
        return None
    return _Candidate(Heading(line.span, _SHORT), line.words, form="plain")


def _rule(words: str) -> str:
    """Return the sign that a rule is drawn with; empty if the line is none."""
    rule = _RULE.match(words)
    return words[0] if rule and rule.end() == len(words) else ""


def _is_title(words: str) -> bool:
    if not words or len(words) > 2 * _MAX_CHARACTERS or not _BEGIN.match(words) or _OTHER_END.search(words):
        return False
    number = _NUMBER.match(words)
    plain = words[number.end() :].strip() if number else words
    return (
        len(" ".join(words.split())) <= _MAX_CHARACTERS
        and len(words.split()) <= _MAX_WORDS + (number is not None)
        and not _COLUMNS.search(plain)
        and not _LEADERS.search(words)
        and any(map(str.isalpha, plain))
        and not words.startswith(("[", "(c)", "(C)"))
    )


def _number(words: str) -> tuple[str, ...]:
    """Return the parts of the number before words that begin with a capital letter, or before the name of a setting.

    Empty if there is none.
    """
    number = _NUMBER.match(words)
    plain = words[number.end() :].lstrip().lstrip("\"'“‘(") if number else ""
    if not number or _DATE.match(plain):
        return ()
    is_setting = _SETTING.fullmatch(plain) and number[0].endswith(".") and number[0].count(".") > 1
    if not plain[:1].isupper() and not is_setting:
        return ()
    return tuple(number[0].rstrip(".").split("."))


def _num_letters(word: str) -> int:
    return sum(map(str.isalpha, word))


def _is_prose(words: str) -> bool:
    if _LEADERS.search(words) or not any(map(str.isalpha, words)):
        return False
    num_words = len(words.split())
    is_item = _NUMBER.match(words) or _PART.match(words)  # a line of contents, unless it is a sentence
    return (
        num_words > _MAX_WORDS
        or (num_words >= _MIN_PROSE / 2 and _SENTENCE_END.search(words) is not None)
        or (num_words >= _MIN_PROSE and not is_item)
    )


def _with_text(candidates: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """Yield those with prose before the next one, or with a deeper one that has it.

    The last of a list of numbered lines is none either, whatever follows it.
    """
    kept = [False] * len(candidates)
    open_: list[tuple[int, bool]] = []  # the levels that a kept candidate is looked for on, from the end on
    for at in range(len(candidates) - 1, -1, -1):
        level = candidates[at].heading.level
        below = False
        while open_ and open_[-1][0] > level:
            below = open_.pop()[1] or below
        before = candidates[at - 1] if at else None
        is_last_item = before and not before.has_prose and _follows(before, candidates[at])
        kept[at] = (candidates[at].has_prose and not is_last_item) or below
        open_.append((level, kept[at]))
    return (one for one, is_kept in zip(candidates, kept, strict=True) if is_kept)


def _follows(one: _Candidate, other: _Candidate) -> bool:
    """Whether two numbered lines are the next of each other."""
    if one.form != "number" or other.form != "number" or one.number[:-1] != other.number[:-1]:
        return False
    return int(other.number[-1]) == int(one.number[-1]) + 1


def _in_order(candidates: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """Yield all but the items of lists: a single number, and those of one part that do not go on from the one before.

    Capitals between two numbers that go on lie under the first.
    """
    num_numbered = sum(one.form == "number" for one in candidates)
    candidates = [one for one in candidates if one.form != "number" or num_numbered > 1]
    goes_on = _goes_on(candidates)
    last: _Candidate | None = None  # the last number of one part
    items: set[int] = set()  # the indents of items
    level = 0  # of the last number
    is_new = False  # whether a chapter began since
    for one, is_inside in zip(candidates, goes_on, strict=True):
        if one.form == "number" and len(one.number) == 1:
            number = int(one.number[0])
            if last and not (is_new and number <= 1):
                is_next = 0 < number - int(last.number[0]) <= _MAX_MISSED
                if not is_next or (one.indent in items and one.indent != last.indent):
                    items.add(one.indent)
                    continue
            last, is_new = one, False
        if one.number:
            level = one.heading.level
        elif one.form == "capitals" and is_inside and level:
            one.heading = replace(one.heading, level=level + 1)
        elif one.heading.level <= _CAPITALS:
            is_new = True
        yield one


def _goes_on(candidates: Sequence[_Candidate]) -> list[bool]:
    """Return for each whether the next number, before the next chapter, is not the first one."""
    goes_on = [False] * len(candidates)
    for at in range(len(candidates) - 2, -1, -1):
        after = candidates[at + 1]
        goes_on[at] = (
            after.number[0] not in "01" or len(after.number) > 1
            if after.number
            else (after.form == "capitals" and goes_on[at + 1])
        )
    return goes_on
