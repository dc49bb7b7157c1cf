"""Names in a question: the passage that answers it, or its title, must name what is asked about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from propcite.attribution.english import tag
from propcite.retrieval.text import Passage

_NAME = re.compile(r"X(?:X|(?<=X)U(?!N))*")
_QUOTED = re.compile(r"[“\"]([^“”\"]{2,60})[”\"]")
_NUMBERED = re.compile(r"\b([a-z]{2,})(?:-v?|v)(\d)")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_VERSION = re.compile(r"\b([a-z]{2,}) (\d+(?:\.\d+)*)\b")
_WORD = re.compile(r"\w+(?:[.+#-]+\w+)*")
_SUFFIX = re.compile(r"\.[a-z]\w{0,4}$", re.IGNORECASE)
_PART = re.compile(r"[^\W_]+")
_SOURCE = re.compile(r"\b(?:according to|as per|quoted in|written in|stated in) (?:the |an? )?$", re.IGNORECASE)
_SAYING = re.compile(r" (?:says?|states?|mentions?|describes?|defines?|requires?|recommends?)\b", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?<![\w-])(?:--[a-z][\w-]+|[a-z]\w*_\w+)", re.IGNORECASE)  # of programs and settings
# `ExitPolicy` is one too where the question says that it is about a setting; SQLite and NetHack are none.
_JOINED_WORDS = re.compile(r"\b[A-Z]?[a-z0-9]+(?:[A-Z][a-z0-9]+)+\b")
_SETTING = re.compile(r"\b(?:option|setting|directive|parameter|variable|default|function|method|command)s?\b", re.I)


@dataclass(frozen=True, slots=True)
class Name:
    """A name as the question writes it, such as `Python 3.11`, with its words in small letters.

    Names of settings and functions are identifiers.
    """

    text: str
    words: frozenset[str]
    is_identifier: bool = False


def names_in(question: str) -> list[Name]:
    """Return the names, quoted titles and identifiers of a question, in order.

    >>> [name.text for name in names_in("Which release of Python 3.11 added tomllib, Ada?")]
    ['Python 3.11', 'Ada']
    >>> [name.text for name in names_in("What is the default of max_wal_size?")]
    ['max_wal_size']
    """
    tagged = tag(question, question)
    found = [
        question[tagged.places[match.start()][0] : tagged.places[match.end() - 1][1]]
        for match in _NAME.finditer(tagged.tags)
    ]
    found += [match[1] for match in _QUOTED.finditer(question)]
    identifiers = _IDENTIFIER.findall(question)
    if _SETTING.search(question):
        identifiers += _JOINED_WORDS.findall(question)
    return [
        Name(text, frozenset(_words(text)), text in identifiers)
        for text in dict.fromkeys([*found, *identifiers])
        if _words(text)
    ]


def named_in(passage: Passage, names: Sequence[Name]) -> set[Name]:
    """Return the names that a passage or its title has, word for word or as the initials of its title."""
    words = _words(f"{passage.title} {passage.text}")
    initials = "".join(word[0] for word in _WORD.findall(passage.title) if word[0].isupper()).lower()
    return {
        name for name in names if name.words <= words or (len(name.words) == 1 and _is_short_for(name.text, initials))
    }


def described_in(passage: Passage, names: Sequence[Name]) -> set[Name]:
    """Return the identifiers whose heading a passage lies under: it describes them, others may only mention them."""
    words = _words(passage.title.rpartition(" › ")[2])
    return {name for name in names if name.is_identifier and name.words <= words}


def _is_short_for(name: str, initials: str) -> bool:
    letters = name.split("-")[0]
    return letters.isupper() and len(letters) > 1 and letters.lower() in initials


def documents_named(question: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the ids of the documents that a question names by title or file; `names` has both of each by its id.

    Hyphens and dots count as spaces, and of names within each other only the longest counts.  One word names nothing,
    nor do two that the question may mean by themselves: they have a capital, or words that ask what a document says.

    >>> names = {"a": ["Annual report 2023", "report-23.pdf"], "b": ["Bridge", "minutes.md"], "c": ["annual-report"]}
    >>> documents_named("What does the annual report 2023 say of the bridge?", names)
    ['a']
    >>> documents_named("What was decided according to minutes.md?", names)
    ['b']
    >>> documents_named("Is there an annual report?", names), documents_named("What does the annual report say?", names)
    ([], ['c'])
    """
    asked, named = f" {' '.join(_PART.findall(question))} ", set[str]()
    small = asked.lower()
    by_words: dict[tuple[str, ...], list[str]] = {}
    for id_, several in names.items():
        in_question = [name for name in several if (first := _PART.search(name)) and f" {first[0].lower()} " in small]
        for words in {_parts(form) for name in in_question for form in (name, _SUFFIX.sub("", name))}:
            if len(words) > 1 and f" {' '.join(words)} " in small:
                by_words.setdefault(words, []).append(id_)
    for words in sorted(by_words, key=len, reverse=True):
        name = re.compile(rf"(?<= ){re.escape(' '.join(words))}(?= (?!\d))", re.IGNORECASE)
        if any(_is_meant(found, words) for found in name.finditer(asked)):
            named.update(by_words[words])
            asked = name.sub("|", asked)
    return [id_ for id_ in names if id_ in named]


def _parts(name: str) -> tuple[str, ...]:
    return tuple(_PART.findall(name.lower()))


def _is_meant(found: re.Match[str], words: Sequence[str]) -> bool:
    """Return whether a question means a document by these words of it, rather than what they say."""
    begins = found.start() == 1  # the capital of a question's first word says nothing
    if len(words) > 2 or any(sign.isdigit() or sign.isupper() for sign in found[0][begins:]):
        return True
    return bool(_SOURCE.search(found.string[: found.start()]) or _SAYING.match(found.string[found.end() :]))


def tells_of_another(question: str, sentence: str, title: str = "") -> bool:
    """Return whether a sentence names other years, or another version, than the question does.

    Below a title with what the question names, another number may be the answer.

    >>> tells_of_another("When was Python 3.9 released?", "Python 3.10 was released in 2021.")
    True
    >>> tells_of_another("What does GEO 214 require?", "GEO 101 or an equivalent course.", "Hydrology (GEO 214)")
    False
    >>> tells_of_another("Who led it in 2010?", "Ada Ree led it from 2010 until 2013.")
    False
    """
    asked, stated = set(_YEAR.findall(question)), set(_YEAR.findall(sentence))
    if asked and stated and not asked & stated:
        return True
    versions = {*_VERSION.findall(question.lower())} - {*_VERSION.findall(title.lower())}
    names = {name for name, _ in versions}
    of_these = [version for version in _VERSION.findall(sentence.lower()) if version[0] in names]
    return bool(of_these) and versions.isdisjoint(of_these)


def _words(text: str) -> set[str]:
    """Return the words of a text in small letters, without a possessive ending; GPLv3 and GPL-3 are the same word."""
    plain = re.sub(r"['’]s\b", "", text.lower())
    return set(_WORD.findall(_NUMBERED.sub(r"\1\2", plain)))
