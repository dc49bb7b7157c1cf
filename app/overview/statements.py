"""The statements of documents: sentences that are understood by themselves, and how much each tells of its document."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from propcite.attribution.english import content_words, tag
from propcite.retrieval.text import Passage, Span

MIN_WORDS, MAX_WORDS = 6, 40
MIN_TELLING = 4
LETTERS = 0.75  # share of a sentence
TITLE_SHARE = 1.5  # weight of the words of the title and the headings, beside those of the text
FIRST_SHARE = 0.6  # weight of standing at the beginning
NUMBER_SHARE = 0.15  # of a statement with a number or a date

_REFERS_BACK = re.compile(
    r"(?:it|its|they|their|them|he|his|him|she|her|this|these|those|that|such|both|there|here|so|then|but|and|or|nor|yet"
    r"|however|therefore|thus|hence|also|moreover|furthermore|otherwise|instead|likewise|similarly|another|meanwhile"
    r"|for example|in addition|as a result|we|i"
    r"|you|our|my|your|please|see|the (?:former|latter|same|other))\b",
    re.IGNORECASE,
)
_FINITE = frozenset("BHMVYE")  # tags of verbs
_ITEM = re.compile(r"\s*(?:[-*+•‣▪◦●○■□–—·►✓✔]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s", re.IGNORECASE)
_SENTENCE = re.compile(r"[\"“‘(]?[A-Z0-9ÄÖÜÉÈÀ€$£].*\w[\w%)”’\"]*[.!]", re.DOTALL)
_POINTS = re.compile(
    r"\b(?:above|below|previously|(?:this|next|previous|following) (?:case|example|point|section))\b"
    r"|^(?:instead|likewise|similarly)\b",
    re.IGNORECASE,
)  # at what stands around it
_CODE = re.compile(r"[{}]|\(\)|<-|//\s|;$|^[>+|]\s|^\[\d")
_TABLE = re.compile(r" \| |\t|(?:; |^)[^=;]{1,40} = ")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a passage by its number, on one line."""

    passage: Passage
    number: int
    text: str

    @property
    def span(self) -> Span:
        """Return the sentence's place in its passage."""
        return self.passage.sentences[self.number].span.trimmed(self.passage.text)

    @property
    def document(self) -> str:
        return self.passage.document_id or self.passage.id

    @property
    def section(self) -> str:
        """Return the document's title with the headings that the passage stands under."""
        return self.passage.title


def statements_of(passages: Iterable[Passage]) -> Iterator[Statement]:
    """Yield the sentences that are understood alone: no headings, questions, items, rows, nor what refers back."""
    for passage in passages:
        for number, sentence in enumerate(passage.sentences):
            if sentence.is_heading:
                continue
            raw = sentence.span.of(passage.text).strip()
            text = " ".join(raw.split())
            if is_statement(text) and not _ITEM.match(raw):
                yield Statement(passage, number, text)


def is_statement(text: str) -> bool:
    """Return whether a sentence is understood without those around it, as far as its words tell.

    >>> is_statement("The bridge was opened on 3 April 2019."), is_statement("It was opened on 3 April 2019.")
    (True, False)
    """
    num_words = len(text.split())
    return (
        MIN_WORDS <= num_words <= MAX_WORDS
        and _SENTENCE.fullmatch(text) is not None
        and not _REFERS_BACK.match(text)
        and not _TABLE.search(text)
        and text.count("“") == text.count("”")
        and text.count('"') % 2 == 0
        and _is_prose(text)
    )


def has_verb(text: str) -> bool:
    """Return whether a sentence has a verb, as the rules of English tell.

    >>> has_verb("The press office writes letters."), has_verb("Press office, Town Hall, Market Square 1.")
    (True, False)
    """
    return bool(set(tag(text, text).tags) & _FINITE)


def headings_of(passages: Iterable[Passage]) -> Iterator[tuple[str, Passage, str]]:
    """Yield each heading once, with its first passage and its section.

    The section is a title of passages; empty for a heading within a passage, which has only what follows it there.
    """
    passages = list(passages)
    sections = {passage.title: passage for passage in reversed(passages)}
    for title, passage in sections.items():
        yield title.split(" › ")[-1], passage, title
    known = {" ".join(part.split()) for title in sections for part in title.split(" › ")}
    for passage in passages:
        for sentence in passage.sentences:
            heading = " ".join(sentence.span.of(passage.text).split()).rstrip(" -=~_*#")
            if sentence.is_heading and heading not in known:
                known.add(heading)
                yield heading, passage, ""


def tells(text: str) -> bool:
    """Return whether a sentence says something by itself, whatever it refers to: it has a verb, and is no code or row.

    >>> tells("They are the names of gates."), tells("7. Names of gates."), tells("x <- gate(1, 2) # is it open")
    (True, False, False)
    >>> tells("This is done by the command"), tells("In the example above the gate is shut.")
    (False, False)
    """
    has_stop = text.rstrip(")”’\"'").endswith((".", "!", "?"))
    is_row = (
        _ITEM.match(text) or _POINTS.search(text) or _TABLE.search(text) or _CODE.search(text) or not _is_prose(text)
    )
    return has_stop and len(text.split()) >= MIN_TELLING and not is_row and has_verb(text)


def _is_prose(text: str) -> bool:
    return sum(c.isalpha() or c.isspace() for c in text) > LETTERS * len(text)


class Salience:
    """How much a statement tells of its document: by the words that the document uses most, and has in its headings."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._words = {p.id: set(content_words(p.text)) for p in passages}
        self._weights = _weights(self._words.values())
        self._titled = Counter(w for title in {p.title for p in passages} for w in set(content_words(title)))
        self._first = {p.id: place for place, p in enumerate(sorted(passages, key=lambda p: (p.document_id, p.start)))}
        starts: dict[str, int] = {}
        for passage in sorted(passages, key=lambda p: p.start):
            starts.setdefault(passage.document_id, self._first[passage.id])
        self._starts = starts

    def of(self, statement: Statement) -> float:
        words = set(content_words(statement.text))
        if not words:
            return 0.0
        common = sum(self._weights.get(word, 0.0) for word in words) / math.sqrt(len(words))
        titled = sum(word in self._titled for word in words) / math.sqrt(len(words))
        far = self._first[statement.passage.id] - self._starts.get(statement.passage.document_id, 0)
        first = FIRST_SHARE / (1 + far + statement.number / 4)
        return common + TITLE_SHARE * titled + first + NUMBER_SHARE * any(map(str.isdecimal, statement.text))


def _weights(words_of_passages: Iterable[set[str]]) -> Mapping[str, float]:
    """Weigh each word by the passages that have it: a word of one passage alone tells little of the whole."""
    counts: Counter[str] = Counter()
    for words in words_of_passages:
        counts.update(words)
    most = max(counts.values(), default=1)
    return {word: math.log1p(count - 1) / math.log1p(most) if most > 1 else 0.0 for word, count in counts.items()}
