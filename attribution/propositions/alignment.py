"""Align propositions that a model wrote in its own words to the words of the sentence.

The model's texts are proposals.  One is dropped if it has a number or a name of its own, negates what the sentence
affirms, or speaks of something else.  If content words are left over, the whole sentence becomes a proposition too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from propcite.attribution.citations import Proposition
from propcite.attribution.english import FUNCTION_WORDS, numbers, verbs
from propcite.attribution.propositions.check_worthiness import needs_citation
from propcite.attribution.propositions.matching import NEGATIONS, Word, are_related, match, nearness, words_in
from propcite.attribution.propositions.sentence import LETTER, spans_of_words, whole_sentence, without_markup
from propcite.retrieval.text import Span

MAX_WORDS = 300  # of a sentence; a longer one is a list or a broken text and stays whole
MAX_TEXTS = 100  # of the model; further texts are repetitions
MAX_CONTEXT = 30  # sentences before that may contain the name for a pronoun
MIN_SHARE = 0.5  # of a proposition's content words that must be in the sentence
MAX_GAP = 2  # words of the sentence that one word may paraphrase
MAX_STRAYS = 2  # uncovered content words in a row that join a neighbouring claim; more are a claim of their own

_STOP = re.compile(r"[.!?…。！？؟।][\"'”’)\]»]*$")
_LINKS = FUNCTION_WORDS | set(
    """
    addition additionally also although another apart aside besides despite each ever example finally furthermore hence
    however include included includes including instance later like meanwhile moreover nevertheless number others
    overall since such therefore though throughout thus unlike well whereas while yet
    """.split()
)
_BREAK = re.compile(r"[,;:()\[\]—]|\s–")
_NEARBY = (1, -1, 2, -2, 3, -3)
_COORDINATOR = re.compile(r"\b(?:and|or|but|nor)\b|&")
_BOUNDARY = re.compile(f"{_BREAK.pattern}|{_COORDINATOR.pattern}")
_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th)\b")  # the sentence may have it as a word
_SHORT_YEAR = re.compile(r"\b(\d\d)\d\d[-–/](\d\d)\b")
_JOINT = re.compile(r"[;,]|\b(?:and|but|while|although|though|whereas|yet)\b")
_NO_DENIAL = frozenset("only just merely simply necessarily".split())
_PRONOUNS = frozenset("he she it they him her them his hers its their theirs i we you my our your".split())
_DETERMINERS = frozenset("the this that these those".split())
_FINITE = frozenset("is was has had does did will would can could became remains received won".split())
_VERBS = verbs.PAST_ONLY | verbs.PAST_OR_PARTICIPLE | verbs.THIRD_PERSON.keys()


class _Claim(NamedTuple):
    """A proposition's text, and the numbers of the sentence's words that it covers."""

    text: str
    covered: frozenset[int]


def propositions_from_texts(sentence: str, texts: Sequence[str], context: Sequence[str] = ()) -> list[Proposition]:
    """Return the model's propositions as spans of the sentence, in the model's order.

    If they leave out a content word, the whole sentence is added.  `context` holds the sentences before, oldest first
    (or a title): a proposition may have a name from there in place of the sentence's pronoun.

    >>> [p.text for p in propositions_from_texts("Ada wrote it and sang.", ["Ada wrote it", "Ada sang", "Bo sang"])]
    ['Ada wrote it.', 'Ada sang.']
    """
    blank = without_markup(sentence)
    if not LETTER.search(blank):
        return []
    whole = whole_sentence(sentence, blank)
    words = words_in(blank)
    if not whole.check_worthy or not 0 < len(words) <= MAX_WORDS:
        return [whole]
    claims, is_complete = _with_strays(blank, words, _claims(blank, words, texts, context))
    propositions = [_proposition(sentence, blank, words, claim) for claim in claims]
    if not any(p.check_worthy for p in propositions):
        return [whole]
    return propositions if is_complete else [*propositions, whole]


def _claims(blank: str, words: Sequence[Word], texts: Iterable[str], context: Sequence[str]) -> list[_Claim]:
    """Return the texts that the sentence states, one per set of covered words."""
    claims: dict[frozenset[int], _Claim] = {}
    stated = numbers(blank) | {"".join(years) for years in _SHORT_YEAR.findall(blank)}
    for text in list(dict.fromkeys(" ".join(text.split()) for text in texts))[:MAX_TEXTS]:
        claim = words_in(text)
        if 0 < len(claim) <= MAX_WORDS and numbers(_ORDINAL.sub(" ", text)) <= stated | _borrowable(text, context):
            covered = _covered(blank, words, claim, context)
            claims.setdefault(covered, _Claim(_ended(text), covered))
    claims.pop(frozenset(), None)
    return list(claims.values())


def _borrowable(text: str, context: Sequence[str]) -> set[str]:
    """Return the numbers that belong to names of the context, such as `Apollo 11`."""
    named = re.findall(r"[A-Z]\w+ (\d+)\b(?!\s+[A-Z])", text) if context else []
    before = " ".join(context[-MAX_CONTEXT:])
    return {number for number in named if re.search(rf"[A-Z]\w+ {number}\b", before)} if named else set()


def _ended(text: str) -> str:
    return text if _STOP.search(text) else text.rstrip(" ,;:") + "."


def _covered(blank: str, words: Sequence[Word], claim: Sequence[Word], context: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the sentence's words that a claim covers; empty if the sentence does not state it."""
    pairs = _pairs(words, claim)
    foreign = [i for i in range(len(claim)) if i not in pairs and _must_match(claim, i)]
    is_borrowed = bool(foreign) and _are_borrowed(foreign, words, claim, pairs, context)
    if (foreign and not is_borrowed) or _negation_differs(blank, words, claim, pairs):
        return frozenset()
    content = [i for i, word in enumerate(claim) if word.is_content and not (is_borrowed and i in foreign)]
    if not content or sum(i in pairs for i in content) < MIN_SHARE * len(content):
        return frozenset()
    covered = set(pairs.values())
    for i, word in enumerate(claim):
        if i not in pairs and word.is_content:
            covered |= _paraphrased(blank, words, claim, pairs, i, is_borrowed and i in foreign)
    return frozenset(covered)


def _pairs(words: Sequence[Word], claim: Sequence[Word]) -> dict[int, int]:
    """Map the claim's words to the sentence's: equal content words, then related ones, then function words nearby."""
    claim_forms, sentence_forms = [w.form for w in claim], [w.form for w in words]
    equal = match(claim_forms, sentence_forms)
    pairs = {i: j for i, j in equal.items() if claim[i].is_content}
    free = set(range(len(words))) - set(pairs.values())
    for i, word in enumerate(claim):
        if i not in pairs and word.is_content and not word.is_number:
            related = (j for j in sorted(free) if words[j].is_content and are_related(word.written, words[j].written))
            if (first := next(related, None)) is not None:
                pairs[i] = first
                free.discard(first)
    content = dict(pairs)
    for i, word in enumerate(claim):
        if not word.is_content:
            beside = (content[i + k] - k for k in _NEARBY if i + k in content)
            j = next((j for j in beside if j in free and sentence_forms[j] == word.form), equal.get(i, -1))
            if j in free and nearness(claim_forms, sentence_forms, i, j) > 0:  # a lone "the" elsewhere is chance
                pairs[i] = j
                free.discard(j)
    return pairs


def _must_match(claim: Sequence[Word], i: int) -> bool:
    """Return whether a word is a name; the first word counts as one only before another name or a singular verb."""
    word = claim[i]
    if word.is_name or i or not word.is_content or not word.written[:1].isupper():
        return word.is_name and not word.is_number
    following = claim[1] if len(claim) > 1 else None
    if following is None or word.is_number:
        return False
    low = following.written.lower()
    is_verb = (low.endswith("ed") or low in _VERBS) and not word.written.endswith(("s", "ly"))
    return following.is_name or low in _FINITE or is_verb


def _are_borrowed(
    foreign: Sequence[int], words: Sequence[Word], claim: Sequence[Word], pairs: dict[int, int], context: Sequence[str]
) -> bool:
    """Return whether names that the sentence lacks are in the context, and words of the sentence refer to them."""
    if not context:
        return False
    before = " " + " ".join(w.form for text in context[-MAX_CONTEXT:] for w in words_in(text)) + " "
    covered = set(pairs.values())
    refers = any(
        w.written.lower() in _PRONOUNS
        or (w.written.lower() in _DETERMINERS and j + 1 < len(words) and j + 1 not in covered)
        for j, w in enumerate(words)
    )
    for _, run in groupby(enumerate(foreign), key=lambda pair: pair[1] - pair[0]):
        members = [i for _, i in run]
        is_beside_name = any(i in pairs and claim[i].is_name for i in (members[0] - 1, members[-1] + 1))
        phrase = " ".join(claim[i].form for i in members)
        if f" {phrase} " not in before or not (refers or is_beside_name):
            return False
    return True


def _negation_differs(blank: str, words: Sequence[Word], claim: Sequence[Word], pairs: dict[int, int]) -> bool:
    """Return whether the claim denies what the sentence affirms, or affirms what it denies."""
    denials = [i for i in range(len(claim)) if _denies(claim, i)]
    if denials:
        return not all(_is_denied(blank, words, claim, pairs, i) for i in denials)
    covered = set(pairs.values())
    return "until" not in blank.lower() and any(
        _denies(words, j)
        and (following := _next_content(words, j)) in covered
        and not _BREAK.search(blank[words[j].end : words[following].start])
        for j in range(len(words))
    )


def _denies(words: Sequence[Word], i: int) -> bool:
    following = words[i + 1].written.lower() if i + 1 < len(words) else ""
    return words[i].form in NEGATIONS and following not in _NO_DENIAL


def _is_denied(blank: str, words: Sequence[Word], claim: Sequence[Word], pairs: dict[int, int], i: int) -> bool:
    """Return whether the sentence denies what the claim denies here, in the same clause."""
    place = pairs.get(_next_content(claim, i), -1)
    return any(
        words[j].form in NEGATIONS and not _JOINT.search(blank[words[j].end : words[place].start]) for j in range(place)
    )


def _next_content(words: Sequence[Word], i: int) -> int:
    return next((j for j in range(i + 1, len(words)) if words[j].is_content), -1)


def _paraphrased(
    blank: str, words: Sequence[Word], claim: Sequence[Word], pairs: dict[int, int], i: int, is_borrowed: bool
) -> set[int]:
    """Return the sentence's words that a claim's word paraphrases: the few between those of its neighbours."""
    before = next((pairs[k] for k in range(i - 1, -1, -1) if k in pairs), -1)
    after = next((pairs[k] for k in range(i + 1, len(claim)) if k in pairs), len(words))
    covered = set(pairs.values())
    if is_borrowed and 0 < after <= len(words) and words[after - 1].written.lower() in _PRONOUNS:
        return {after - 1}
    gap: list[int] = []
    step, at = (-1, after - 1) if after < len(words) else (1, before + 1)
    while (
        0 <= at < len(words) and at not in covered and not (gap and _BREAK.search(_between(blank, words, at, gap[-1])))
    ):
        gap.append(at)
        at += step
    beside = after if after < len(words) else before
    if not 0 < len(gap) <= MAX_GAP or (before >= 0 and not all(before < j < after for j in gap)):
        return set()
    is_exact = any(words[j].is_exact and words[j].is_number != claim[i].is_number for j in gap)
    return set() if is_exact or _BREAK.search(_between(blank, words, beside, gap[0])) else set(gap)


def _between(blank: str, words: Sequence[Word], one: int, other: int) -> str:
    first, last = sorted((one, other))
    return blank[words[first].end : words[last].start]


def _with_strays(blank: str, words: Sequence[Word], claims: Sequence[_Claim]) -> tuple[list[_Claim], bool]:
    """Add the few uncovered words beside each claim to it; return the claims and whether all content is covered now."""
    covered_by = [set(claim.covered) for claim in claims]
    covered: set[int] = set().union(*covered_by)
    content = [j for j, word in enumerate(words) if word.is_content or _denies(words, j)]
    covered_forms = {words[j].form for j in covered}
    is_complete = True
    for is_covered, run in groupby(content, key=covered.__contains__):
        strays = list(run)
        if is_covered:
            continue
        new_exact = {words[j].form for j in strays if words[j].is_exact} - covered_forms
        owner = None
        if len(strays) <= MAX_STRAYS and (not new_exact or _is_abbreviation(blank, words, strays)):
            owner = _owner(blank, words, covered_by, strays)
        if owner is None:
            is_complete = False
        else:
            owner.update(strays)
    texts = {frozenset(own): claim.text for own, claim in zip(covered_by, claims, strict=True)}
    return [_Claim(text, own) for own, text in texts.items()], is_complete


def _owner(blank: str, words: Sequence[Word], covered_by: Sequence[set[int]], strays: Sequence[int]) -> set[int] | None:
    """Return the claim that strays join: that of the content word after them, else before, in the same clause.

    Link words (`however`, `including`) and an abbreviation in brackets may be anywhere; other words that a comma or an
    `and` separates from a claim may be a claim of their own.  None if there is no such claim.
    """
    first, last = strays[0], strays[-1]
    before = next((j for j in range(first - 1, -1, -1) if words[j].is_content), -1)
    after = _next_content(words, last)
    is_abbreviation = _is_abbreviation(blank, words, strays)
    sides = [before, after] if is_abbreviation else [after, before]
    lows = [words[j].written.lower() for j in strays]
    if not is_abbreviation and not all(low in _LINKS or low.endswith("ly") for low in lows):
        is_split = _BOUNDARY.search(blank[words[first].end : words[last].start])
        gap_before = _between(blank, words, before, first) if before >= 0 else ""
        is_coordinated = first > 0 and _COORDINATOR.search(gap_before)
        joins_after = after > 0 and not is_split and not _BOUNDARY.search(_between(blank, words, last, after))
        joins_before = before >= 0 and not is_split and not _BOUNDARY.search(gap_before)
        is_verb = first == last and after > last + 1  # "and became a hit": its object follows
        sides = [after] * bool(joins_after and (is_verb or not is_coordinated)) + [before] * joins_before
    owners = (claim for j in sides for claim in covered_by if j in claim)
    return next(owners, None)


def _is_abbreviation(blank: str, words: Sequence[Word], strays: Sequence[int]) -> bool:
    """Return whether a single word in brackets abbreviates the name before it: `World Health Organization (WHO)`."""
    word = words[strays[0]]
    around = blank[word.start - 1 : word.start] + blank[word.end : word.end + 1]
    return len(strays) == 1 and around == "()" and word.written.isupper()


def _proposition(sentence: str, blank: str, words: Sequence[Word], claim: _Claim) -> Proposition:
    places = [Span(word.start, word.end) for word in words]
    return Proposition(spans_of_words(sentence, blank, places, claim.covered), claim.text, needs_citation(claim.text))
