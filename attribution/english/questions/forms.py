"""The form of answer that a question asks for: yes or no, a detail, several things, or an explanation.

Of a detail, what kind of words it must have: a number, a time, a length.
"""

from __future__ import annotations

import re
from enum import StrEnum

from propcite.attribution.english.words import DAY_NAMES, MONTH_NAMES, NUMBER_WORDS

_HELPS = r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)"
# "Was" and "am" open questions in German too: "Was kostet es?"
_YES_NO = re.compile(
    rf"(?!was\s(?!(?:the|an?|any|it|he|she|this|that|there|his|her|its|their|my|our|your)\b|(?-i:[A-Z]))|am\s(?!i\b))"
    rf"{_HELPS}(?:n['’]t)?\b",
    re.IGNORECASE,
)
_POLITE = re.compile(r"\s+(?:you|we|someone)\s+(?:please\s+)?(?:tell|explain|say|show)\b", re.IGNORECASE)
_WORD = re.compile(r"(?<!\w)(?:who|whose|whom|what|which|when|where|why|how)(?!\w)", re.IGNORECASE)
# "How many", but not "how do", and not "when should": these ask for an explanation.
_MEASURE = re.compile(
    r"how\s+(?:many|much|long|old|far|often|large|big|small|tall|high|fast|deep|wide|late|early|soon|heavy|hot|cold)\b",
    re.IGNORECASE,
)
_EXPLANATION = re.compile(
    r"why\b|how\b|when\s+(?:should|shall|can|could|do|may|must|is\s+it|to)\b|when\s+not\b|where\s+should\b"
    r"|what\s+(?:happens|happened|would|should|do\s+\w+\s+(?:do|mean|need)|is\s+(?:new|special|meant|wrong)|else|if)\b"
    r"|what\s+counts\s+as\b|what\s+(?:does|do|did)\s.+\s(?:do|mean|say|involve|cover)\b"
    r"|what\s+(?:is|was)\s.+\s(?:for|about|like|good\s+for|used\s+for)\W*$",
    re.IGNORECASE,
)
# Nouns whose "what is the … of" asks to describe.
_DESCRIBED = re.compile(
    r"(?:what|which)\s+(?:is|was)\s+(?:the|an?)\s+(?:\w+\s+){0,2}?(?:goal|aim|purpose|point|idea|difference|relation|"
    r"relationship|meaning|role|benefit|advantage|disadvantage|drawback|effect|reason|cause|problem|way|best\s+way|"
    r"procedure|process|significance|importance|definition|function|task|job|plot|story)\b",
    re.IGNORECASE,
)
# "What is suEXEC?", "What's an escrow account?"
_DEFINITION = re.compile(
    r"what(?:['’]s|\s+(?:is|was))\s+(?:an?\s+)?(?P<term>[\w.'’+#-]+(?:\s+[\w.'’+#-]+)?)\W*$", re.IGNORECASE
)
_DEFINES = (
    r"(?:\s*\([^)]*\))?\s+(?:(?:is|are|was|were)\s+(?:an?|the|any|one|some)|means|denotes|(?:refers|stands)\s+\w+)\b"
)
_SEVERAL = re.compile(
    rf"(?:what|which|who)\s+(?:are|were)\b|(?:which|what)\s+(?:[\w-]+\s+){{0,2}}?(?!\w+(?:ss|us|is)\b)\w{{2,}}s\s+"
    rf"(?:{_HELPS}|\w+ed|exist)\b|what\s+(?:can|could|may|might)\s+(?:cause|lead|go)\b",
    re.IGNORECASE,
)
_LISTS = re.compile(r"(?:please\s+)?(?:list|name|enumerate)\b", re.IGNORECASE)

_NUMBER = rf"\d|\b(?:{'|'.join(NUMBER_WORDS)}|no|none|any|all|half|most|few|several|many|dozens?|free|unlimited)\b"
_DATE = (
    r"\b(?:1\d|20)\d\ds?\b|\bin \d{3}\b|\d+ ?(?:BCE?|AD|CE)\b|\d[./:-]\d|"
    rf"\b(?:{'|'.join((*MONTH_NAMES, *DAY_NAMES))}|centur(?:y|ies)|decades?|yesterday|today|now)\b"
    r"|\d ?[ap]\.?m\b|\bo['’]clock\b|\b(?:noon|midnight|mornings?|evenings?|spring|summer|autumn|winter)\b"
)
_LASTING = (
    rf"{_NUMBER}|\b(?:until|since|forever|indefinite\w*|permanent\w*|always|never|once|twice|every|each|as long as|"
    r"(?:hour|dai|week|month|year)ly|annual\w*|years|months|weeks|days|hours|minutes|seconds)\b"
)
_REPEATED = (
    r"\b(?:every|each|once|twice|thrice|times|always|never|per|regularly|often|(?:hour|dai|week|month|quarter|year)ly|annual\w*"
    r"|an? (?:hour|day|week|month|quarter|year)|\d ?[ap]\.?m)\b"
)
# What the words of an answer must have, by how its question opens.
_EXPECTED = (
    (re.compile(r"how\s+(?:many|much)\b", re.I), re.compile(_NUMBER, re.I)),
    (re.compile(r"how\s+(?:long|old)\b", re.I), re.compile(_LASTING, re.I)),
    (re.compile(r"how\s+often\b", re.I), re.compile(_REPEATED, re.I)),
    (
        re.compile(r"when\s+(?:was|were|did|had)\b|(?:what|which)\s+(?:year|date|day|month)\b", re.I),
        re.compile(_DATE, re.I),
    ),
)


class Form(StrEnum):
    """What answers a question: yes or no, a detail in a few words, several things, or sentences that explain."""

    YES_NO = "yes or no"
    DETAIL = "detail"
    SEVERAL = "several"
    EXPLANATION = "explanation"


def answer_form(question: str) -> Form:
    """Return the form of a question's answer; a detail where nothing shows another one.

    >>> [answer_form(q).value for q in ("Can it be opened?", "When was it opened?", "How is it opened?")]
    ['yes or no', 'detail', 'explanation']
    >>> [answer_form(q).value for q in ("What are its parts?", "Which roles does it have?", "What is a sluice?")]
    ['several', 'several', 'explanation']
    >>> [answer_form(q).value for q in ("Was the gate opened?", "Was kostet das Tor?", "Am I right?", "Am Ende, wer?")]
    ['yes or no', 'detail', 'yes or no', 'detail']
    """
    text = " ".join(question.split())
    if _LISTS.match(text):
        return Form.SEVERAL
    opening = _WORD.search(text)
    if (helper := _YES_NO.match(text)) and not (opening and _POLITE.match(text, helper.end())):
        return Form.YES_NO
    asked = text[opening.start() :] if opening else text
    if _MEASURE.match(asked):
        return Form.DETAIL
    if _EXPLANATION.match(asked) or _DESCRIBED.match(asked) or _DEFINITION.match(asked):
        return Form.EXPLANATION
    return Form.SEVERAL if _SEVERAL.match(asked) else Form.DETAIL


def defined_term(question: str) -> str:
    """Return the one or two words that a question asks to define; empty where it asks for something else.

    >>> defined_term("What is an escrow account?"), defined_term("What's dithering?"), defined_term("What is it for?")
    ('escrow account', 'dithering', '')
    """
    opening = _WORD.search(question)
    match = _DEFINITION.match(question, opening.start()) if opening else None
    return match["term"] if match and not _EXPLANATION.match(question, match.start()) else ""


def defines(term: str, sentence: str) -> bool:
    """Return whether a sentence begins by saying what a term is, or says what is known by it.

    >>> defines("sluice", "A sluice is a gate for water."), defines("sluice", "A sluice is shut at night.")
    (True, False)
    >>> defines("slack water", "The tide stands still for a while, which is known as slack water.")
    True
    """
    word = re.escape(term)
    known_as = rf"\b(?:called|known\s+as|termed|referred\s+to\s+as)\s+[“\"']?(?:an?\s+|the\s+)?{word}\b"
    begins = rf"\W*(?:(?:an?|the)\s+)?{word}{_DEFINES}"
    return bool(re.match(begins, sentence, re.IGNORECASE) or re.search(known_as, sentence, re.IGNORECASE))


def can_answer(question: str, text: str) -> bool:
    """Return whether a text has what a detail needs: a number for "how many", a time for "when was", "how long".

    >>> can_answer("When was it opened?", "It was opened in May."), can_answer("When was it opened?", "It was late.")
    (True, False)
    >>> can_answer("How often is it cleaned?", "Clean it for 3 hours."), can_answer("How often?", "Every six months.")
    (False, True)
    >>> can_answer("How long is a term?", "It lasts one year."), can_answer("Who leads it?", "Ada Ree leads it.")
    (True, True)
    """
    opening = _WORD.search(question)
    needed = (words for asks, words in _EXPECTED if opening and asks.match(question, opening.start()))
    return all(words.search(text) for words in needed)
