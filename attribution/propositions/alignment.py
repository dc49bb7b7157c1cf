"""Propositions that a model told in its own words, brought back to the words of the sentence they speak of.

The model's strings are proposals: one that holds a number or a name of its own, that negates what the sentence affirms,
or that speaks of something else is dropped, and what then belongs to no proposition is given back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from propcite.attribution.citations import Proposition
from propcite.attribution.english.grammar.verbs import PAST_ONLY, PAST_OR_PARTICIPLE, THIRD_PERSON
from propcite.attribution.english.words import FUNCTION_WORDS, numbers
from propcite.attribution.propositions.checkworthy import needs_citation
from propcite.attribution.propositions.matching import NEGATIONS, Word, akin, match, nearness, words_in
from propcite.attribution.propositions.sentence import LETTER, spans_of_run, whole, without_marks
from propcite.retrieval.text import Span

MOST_WORDS = 300  # a longer sentence is a list or a broken text: it stays whole
MOST_TEXTS = 100  # what comes after is a model that repeats itself
MOST_CONTEXT = 30  # sentences before it in which a name may stand that a pronoun was replaced with
LEAST_SHARE = 0.5  # of a proposition's content words that the sentence must hold
MOST_GAP = 2  # words of the sentence that one paraphrased word may stand for
MOST_STRAYS = 2  # content words in a row that a neighbouring proposition takes in; more are a claim of their own

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
_APART = re.compile(f"{_BREAK.pattern}|{_COORDINATOR.pattern}")
_NTH = re.compile(r"\b\d+(?:st|nd|rd|th)\b")  # the sentence may tell it in a word
_SHORT_YEAR = re.compile(r"\b(\d\d)\d\d[-–/](\d\d)\b")
_JOINT = re.compile(r"[;,]|\b(?:and|but|while|although|though|whereas|yet)\b")
_NO_DENIAL = frozenset("only just merely simply necessarily".split())
_PRONOUNS = frozenset("he she it they him her them his hers its their theirs i we you my our your".split())
_POINTING = frozenset("the this that these those".split())
_FINITE = frozenset("is was has had does did will would can could became remains received won".split())
_TELLING = PAST_ONLY | PAST_OR_PARTICIPLE | THIRD_PERSON.keys()


class _Claim(NamedTuple):
    text: str
    held: frozenset[int]


def propositions_from_texts(sentence: str, texts: Sequence[str], context: Sequence[str] = ()) -> list[Proposition]:
    """The model's propositions as spans of the sentence, in the model's order; what they leave out is given back.

    `context` holds the sentences before it, oldest first (or a title): a name from there may stand where the sentence
    has a pronoun.

    >>> [p.text for p in propositions_from_texts("Ada wrote it and sang.", ["Ada wrote it", "Ada sang", "Bo sang"])]
    ['Ada wrote it.', 'Ada sang.']
    """
    blank = without_marks(sentence)
    if not LETTER.search(blank):
        return []
    alone = whole(sentence, blank)
    words = words_in(blank)
    if not alone.check_worthy or not 0 < len(words) <= MOST_WORDS:
        return [alone]
    claims = _claims(blank, words, texts, context)
    found, complete = _with_strays(blank, words, claims)
    made = [_proposition(sentence, blank, words, claim) for claim in found]
    if not any(p.check_worthy for p in made):
        return [alone]
    return made if complete else [*made, alone]


def _claims(blank: str, words: Sequence[Word], texts: Iterable[str], context: Sequence[str]) -> list[_Claim]:
    """The texts that the sentence bears out, one for each set of its words."""
    claims: dict[frozenset[int], _Claim] = {}
    stated = numbers(blank) | {"".join(years) for years in _SHORT_YEAR.findall(blank)}
    for text in list(dict.fromkeys(" ".join(text.split()) for text in texts))[:MOST_TEXTS]:
        told = words_in(text)
        if 0 < len(told) <= MOST_WORDS and numbers(_NTH.sub(" ", text)) <= stated | _borrowable(text, context):
            held = _held(blank, words, told, context)
            claims.setdefault(held, _Claim(_ended(text), held))
    claims.pop(frozenset(), None)
    return list(claims.values())


def _borrowable(text: str, context: Sequence[str]) -> set[str]:
    """The numbers that belong to names of the context: `Apollo 11`."""
    named = re.findall(r"[A-Z]\w+ (\d+)\b(?!\s+[A-Z])", text) if context else []
    before = " ".join(context[-MOST_CONTEXT:])
    return {number for number in named if re.search(rf"[A-Z]\w+ {number}\b", before)} if named else set()


def _ended(text: str) -> str:
    return text if _STOP.search(text) else text.rstrip(" ,;:") + "."


def _held(blank: str, words: Sequence[Word], told: Sequence[Word], context: Sequence[str]) -> frozenset[int]:
    """The sentence's words that a text speaks of, by number; none where it says what the sentence does not."""
    pairs = _pairs(words, told)
    foreign = [i for i, word in enumerate(told) if i not in pairs and _must_match(told, i)]
    borrowed = _are_borrowed(foreign, words, told, pairs, context) if foreign else False
    if (foreign and not borrowed) or _negated_otherwise(blank, words, told, pairs):
        return frozenset()
    content = [i for i, word in enumerate(told) if word.is_content and not (borrowed and i in foreign)]
    if not content or sum(i in pairs for i in content) < LEAST_SHARE * len(content):
        return frozenset()
    held = set(pairs.values())
    for i, word in enumerate(told):
        if i not in pairs and word.is_content:
            held |= _stands_for(blank, words, told, pairs, i, borrowed and i in foreign)
    return frozenset(held)


def _pairs(words: Sequence[Word], told: Sequence[Word]) -> dict[int, int]:
    """Which word of the text is which of the sentence: equal forms, then words of one family."""
    wanted, offered = [w.form for w in told], [w.form for w in words]
    equal = match(wanted, offered)
    pairs = {i: j for i, j in equal.items() if told[i].is_content}
    free = set(range(len(words))) - set(pairs.values())
    for i, word in enumerate(told):
        if i not in pairs and word.is_content and not word.is_number:
            kin = (j for j in sorted(free) if words[j].is_content and akin(word.written, words[j].written))
            if (first := next(kin, None)) is not None:
                pairs[i] = first
                free.discard(first)
    content = dict(pairs)
    for i, word in enumerate(told):
        if not word.is_content:
            beside = (content[i + k] - k for k in _NEARBY if i + k in content)
            j = next((j for j in beside if j in free and offered[j] == word.form), equal.get(i, -1))
            if j in free and nearness(wanted, offered, i, j) > 0:  # a lone "the" of another clause is chance
                pairs[i] = j
                free.discard(j)
    return pairs


def _must_match(told: Sequence[Word], i: int) -> bool:
    """Whether a word is a name; a capital at the start tells that only before another name or a verb of one thing."""
    word = told[i]
    if word.is_name or i or not word.is_content or not word.written[:1].isupper():
        return word.is_name and not word.is_number
    following = told[1] if len(told) > 1 else None
    if following is None or word.is_number:
        return False
    low = following.written.lower()
    return (
        following.is_name
        or low in _FINITE
        or ((low.endswith("ed") or low in _TELLING) and not word.written.endswith(("s", "ly")))
    )


def _are_borrowed(
    foreign: Sequence[int], words: Sequence[Word], told: Sequence[Word], pairs: dict[int, int], context: Sequence[str]
) -> bool:
    """Whether names that the sentence does not hold stand in the context, and something in the sentence for them."""
    if not context:
        return False
    before = " " + " ".join(w.form for text in context[-MOST_CONTEXT:] for w in words_in(text)) + " "
    held = set(pairs.values())
    refers = any(
        w.written.lower() in _PRONOUNS or (w.written.lower() in _POINTING and j + 1 < len(words) and j + 1 not in held)
        for j, w in enumerate(words)
    )
    for _, run in groupby(enumerate(foreign), key=lambda place: place[1] - place[0]):
        members = [i for _, i in run]
        beside = [i for i in (members[0] - 1, members[-1] + 1) if i in pairs and told[i].is_name]
        phrase = " ".join(told[i].form for i in members)
        if f" {phrase} " not in before or not (refers or beside):
            return False
    return True


def _negated_otherwise(blank: str, words: Sequence[Word], told: Sequence[Word], pairs: dict[int, int]) -> bool:
    """Whether the text denies what the sentence affirms, or the other way round."""
    denials = [i for i, word in enumerate(told) if _denies(told, i)]
    if denials:
        return not all(_is_denied(blank, words, told, pairs, i) for i in denials)
    held = set(pairs.values())
    return "until" not in blank.lower() and any(
        _denies(words, j)
        and (following := _next_content(words, j)) in held
        and not _BREAK.search(blank[words[j].end : words[following].start])
        for j in range(len(words))
    )


def _denies(words: Sequence[Word], i: int) -> bool:
    following = words[i + 1].written.lower() if i + 1 < len(words) else ""
    return words[i].form in NEGATIONS and following not in _NO_DENIAL


def _is_denied(blank: str, words: Sequence[Word], told: Sequence[Word], pairs: dict[int, int], i: int) -> bool:
    """Whether what the text denies is denied in the sentence too, in the same clause."""
    place = pairs.get(_next_content(told, i), -1)
    return any(
        words[j].form in NEGATIONS and not _JOINT.search(blank[words[j].end : words[place].start]) for j in range(place)
    )


def _next_content(words: Sequence[Word], i: int) -> int:
    return next((j for j in range(i + 1, len(words)) if words[j].is_content), -1)


def _stands_for(
    blank: str, words: Sequence[Word], told: Sequence[Word], pairs: dict[int, int], i: int, borrowed: bool
) -> set[int]:
    """The words of the sentence that a paraphrased word took the place of: the few that lie between its neighbours'."""
    before = next((pairs[k] for k in range(i - 1, -1, -1) if k in pairs), -1)
    after = next((pairs[k] for k in range(i + 1, len(told)) if k in pairs), len(words))
    held = set(pairs.values())
    if borrowed and 0 < after <= len(words) and words[after - 1].written.lower() in _PRONOUNS:
        return {after - 1}
    gap: list[int] = []
    step, at = (-1, after - 1) if after < len(words) else (1, before + 1)
    while 0 <= at < len(words) and at not in held and not (gap and _BREAK.search(_between(blank, words, at, gap[-1]))):
        gap.append(at)
        at += step
    beside = after if after < len(words) else before
    if not 0 < len(gap) <= MOST_GAP or (before >= 0 and not all(before < j < after for j in gap)):
        return set()
    if _BREAK.search(_between(blank, words, beside, gap[0])) or any(
        words[j].is_exact and words[j].is_number != told[i].is_number for j in gap
    ):
        return set()
    return set(gap)


def _between(blank: str, words: Sequence[Word], one: int, other: int) -> str:
    first, last = sorted((one, other))
    return blank[words[first].end : words[last].start]


def _with_strays(blank: str, words: Sequence[Word], claims: Sequence[_Claim]) -> tuple[list[_Claim], bool]:
    """The claims with the few words around theirs that none holds, and whether all content words are held now."""
    held = [set(claim.held) for claim in claims]
    covered: set[int] = set().union(*held)
    content = [j for j, word in enumerate(words) if word.is_content or _denies(words, j)]
    said = {words[j].form for j in covered}
    complete = True
    for is_held, run in groupby(content, key=covered.__contains__):
        strays = list(run)
        if is_held:
            continue
        new = {words[j].form for j in strays if words[j].is_exact} - said
        owner = None
        if len(strays) <= MOST_STRAYS and (not new or _is_short_name(blank, words, strays)):
            owner = _owner(blank, words, held, strays)
        if owner is None:
            complete = False
        else:
            owner.update(strays)
    found = {frozenset(words_held): claim.text for words_held, claim in zip(held, claims, strict=True)}
    return [_Claim(text, words_held) for words_held, text in found.items()], complete


def _owner(blank: str, words: Sequence[Word], held: Sequence[set[int]], strays: Sequence[int]) -> set[int] | None:
    """The claim that takes strays in: of the content word after them or else before, in the same clause.

    Words that only link (`however`, `including`) and a short name in brackets may stand anywhere; what a comma or an
    `and` parts from a claim may be a claim of its own.
    """
    first, last = strays[0], strays[-1]
    before = next((j for j in range(first - 1, -1, -1) if words[j].is_content), -1)
    after = _next_content(words, last)
    short = _is_short_name(blank, words, strays)
    sides = [before, after] if short else [after, before]
    if not short and not all(low in _LINKS or low.endswith("ly") for low in (words[j].written.lower() for j in strays)):
        joined = first > 0 and _COORDINATOR.search(_between(blank, words, before, first) if before >= 0 else "")
        apart = _APART.search(blank[words[first].end : words[last].start])
        forth = after > 0 and not apart and not _APART.search(_between(blank, words, last, after))
        back = before >= 0 and not apart and not _APART.search(_between(blank, words, before, first))
        verb = first == last and after > last + 1  # "and became a hit": the words after it are what it says
        sides = [after] * bool(forth and (verb or not joined)) + [before] * back
    owners = (claim for j in sides for claim in held if j in claim)
    return next(owners, None)


def _is_short_name(blank: str, words: Sequence[Word], strays: Sequence[int]) -> bool:
    """Whether one word in brackets repeats the name before it: `World Health Organization (WHO)`."""
    word = words[strays[0]]
    around = blank[word.start - 1 : word.start] + blank[word.end : word.end + 1]
    return len(strays) == 1 and around == "()" and word.written.isupper()


def _proposition(sentence: str, blank: str, words: Sequence[Word], claim: _Claim) -> Proposition:
    places = [Span(word.start, word.end) for word in words]
    return Proposition(spans_of_run(sentence, blank, places, claim.held), claim.text, needs_citation(claim.text))
