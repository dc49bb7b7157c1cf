"""Sections of a passage: whether their headings ask a question, or are what it asks to be stated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from propcite.app.answering.naming import Name, described_in
from propcite.attribution.english import Form, answer_form, content_words, defined_term, is_question, share_found
from propcite.retrieval.text import Passage

MIN_SHARED = 2  # words of a heading that asks what a question asks; one more where it is no question itself
SAME_HEADING, SAME_QUESTION = 0.75, 0.6  # share of the words of one that the other has

_SECTION = re.compile(r"^[\W_]*(?:\d+(?:\.\d+)*[.):]*\s+)?")  # what comes before the words of a heading
_ASKS = re.compile(r"\b(?:what|who(?:se|m)?|which|when|where|why|how)\b", re.IGNORECASE)
# What comes before the thing that is to be stated: "What are the main risks of …", "What does the policy say about …".
_STATE = re.compile(
    r"\W*(?:(?:please\s+)?(?:list|name|describe|explain|outline|summari[sz]e)|(?:please\s+)?tell\s+me\s+about"
    r"|what\s+(?:do|does|did)\s+(?P<by>.{2,60}?)\s+(?:say|state)\s+(?:about|on|of)"
    r"|(?:what|which)(?:\s+(?:is|are|was|were))?(?!\s+(?:do|does|did)\b))\s+"
    r"(?:(?:the|an?|its|their|his|her|your|our|my|any|all|some)\s+)*"
    r"(?:(?:main|key|chief|major|principal|biggest|most\s+important|general|overall)\s+)?",
    re.IGNORECASE,
)
# "What is new in …?", and the headings that say so.
_WHAT_IS_NEW = re.compile(
    r"\W*what(?:['’]s|\s+(?:is|was|are|were))\s+(?:the\s+)?new\b|\W*what\s+(?:has\s+)?changed\b", re.I
)
_NEWS = re.compile(
    r"(?:highlights|news|(?:main |major |other )?(?:changes|improvements)|new(?: and (?:improved|changed))? features"
    r"(?: ?(?:/|and) ?changes)?|what(?:['’]s| is) new)(?: (?:in|since|for)\b.*)?\W*$",
    re.IGNORECASE,
)
_ONE = re.compile(r"\W*(?:what|which)(?:['’]s|\s+(?:is|was))\b", re.IGNORECASE)
# Nouns of what says something, such as the document itself, and verbs of its saying.
DOCUMENT_NOUNS = frozenset(
    """
    act agreement analysis article assessment author bill book brochure bulletin bylaws catalogue charter code contract
    convention decree directive document faq glossary guide guideline guidelines handbook index instructions law leaflet
    lease ledger letter list log manual memo minutes note notes order paper plan policy press procedure programme
    proposal protocol readme record register regulation regulations report resolution review rules schedule
    specification standard statement statute strategy study summary survey terms text trial tutorial
    """.split()
)
_VERBS = "apply cover describe discuss exist give include list mention name present say state use"


@dataclass(frozen=True, slots=True)
class Section:
    """Consecutive sentences of a passage below one heading, with the titles and headings above them.

    `begins` is false where the heading came in an earlier passage.
    """

    titles: str
    numbers: range
    text: str = ""
    begins: bool = True

    @property
    def heading(self) -> str:
        """Return the heading without its number; empty where there is only the title of the document."""
        above, _, heading = self.titles.rpartition(" › ")
        return without_number(heading) if above else ""

    @property
    def above(self) -> str:
        return self.titles.rpartition(" › ")[0]


def sections(passage: Passage) -> list[Section]:
    """Return the sections that a passage holds, in order; a passage without headings is one.

    >>> from propcite.retrieval.splitter import passage_from_text
    >>> whole = passage_from_text("1", "It is long.", "Plan › Bridge")
    >>> [(section.titles, section.heading, section.begins) for section in sections(whole)]
    [('Plan › Bridge', 'Bridge', False)]
    """
    found, sentences = list[Section](), passage.sentences
    starts = [0, *(n for n, s in enumerate(sentences) if n and s.is_heading and not sentences[n - 1].is_heading)]
    for first, end in zip(starts, [*starts[1:], len(sentences)], strict=True):
        headings = list(takewhile(lambda sentence: sentence.is_heading, sentences[first:end]))
        titles = passage.title
        if headings and (heading := " ".join(headings[-1].span.of(passage.text).split())) not in titles.split(" › "):
            titles = f"{titles} › {heading}"
        numbers = range(first + len(headings), end)
        text = passage.text[sentences[numbers[0]].span.start : sentences[end - 1].span.end] if numbers else ""
        found.append(Section(titles, numbers, text, begins=bool(headings)))
    return found


def heading_of(passage: Passage, number: int) -> str:
    """Return the heading that a sentence of a passage lies under, by its number; empty where there is none."""
    return next((one.heading for one in sections(passage) if number in one.numbers), "")


def asks(section: Section, question: str) -> bool:
    """Return whether a section's heading asks a question, or another in nearly its words.

    >>> faq = Section("Backups › FAQ › How do I choose a strong password?", range(0))
    >>> asks(faq, "How should I choose a strong password for backups?"), asks(faq, "How do I choose a disk?")
    (True, False)
    >>> asks(Section("Privacy › Who we share it with", range(0), "Your data go to us."), "Who is my data shared with?")
    True
    >>> asks(Section("Glossary › Dithering", range(0)), "What is dithering?")
    True
    >>> asks(Section("Gates › ***", range(0)), "How heavy are they?")
    False
    """
    if not (heading := section.heading):
        return False
    if (term := defined_term(question)) and heading.casefold() == term.casefold():
        return True
    words, asked, above = content_words(heading), content_words(question), content_words(section.above)
    opening = _ASKS.match(heading)  # also of "What it is used for"
    asks_alike = opening is not None and opening[0].casefold() in map(str.casefold, _ASKS.findall(question))
    least = MIN_SHARED - asks_alike if opening or is_question(heading) or heading.endswith("?") else MIN_SHARED + 1
    if len(words) < least or share_found(words, asked) < SAME_HEADING:
        return False
    about = share_found(asked, [*words, *above])
    return about >= SAME_QUESTION or {*asked} <= {*words, *above, *content_words(section.text)}


def states(section: Section, question: str) -> bool:
    """Return whether a section's heading is what a question asks to be stated.

    What else the question names must be in the headings above it, or in its text, or mean the document.

    >>> risks = Section("Plan for the new pump › 4. Risks", range(0), "The pump may fail.")
    >>> states(risks, "What are the main risks of the plan?"), states(risks, "What are the risks of smoking?")
    (True, False)
    >>> states(risks, "What does the plan say about risks?"), states(risks, "Which risks does the plan name?")
    (True, True)
    >>> states(risks, "How many risks are there?")
    False
    >>> states(Section("Tessera 5.3 › Highlights", range(0)), "What is new in Tessera 5.3?")
    True
    """
    if (news := _WHAT_IS_NEW.match(question)) and _NEWS.match(section.heading):
        return {*content_words(question[news.end() :])} <= {*content_words(section.titles)}
    words, opening = content_words(section.heading), _STATE.match(question)
    asked = content_words(question[opening.end() :]) if opening else []
    if not opening or not words or asked[: len(words)] != words:
        return False
    said = {*content_words(section.above), *content_words(section.text), *_words_of_saying()}
    return {*asked[len(words) :], *content_words(opening["by"] or "")} <= said


@cache
def _words_of_saying() -> frozenset[str]:
    return frozenset(content_words(" ".join([_VERBS, *DOCUMENT_NOUNS])))


def asks_for_all(question: str) -> bool:
    """Return whether a question that asks for something to be stated asks for all of it, and not for one value.

    >>> asks_for_all("What are the risks?"), asks_for_all("Describe the scope."), asks_for_all("What is the budget?")
    (True, True, False)
    """
    is_for_one = _ONE.match(question) is not None and _WHAT_IS_NEW.match(question) is None
    return answer_form(question) is Form.SEVERAL or not is_for_one


def without_number(heading: str) -> str:
    """Return a heading without the bullet or number in front of it.

    >>> without_number("2.15 Can I resize it?"), without_number("- Gates")
    ('Can I resize it?', 'Gates')
    """
    return _SECTION.sub("", heading)


def is_headed(passage: Passage, question: str, names: Sequence[Name]) -> bool:
    """Return whether a passage lies under an identifier of the question, or has a section that is what it asks for."""
    if described_in(passage, names):
        return True
    return any(asks(section, question) or states(section, question) for section in sections(passage))
