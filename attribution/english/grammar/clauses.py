"""The facts of a tagged sentence: clauses, predicates that share a subject, and what is said of a name in passing."""

from __future__ import annotations

from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import verbs
from propcite.attribution.english.grammar.additions import adds, amount_before, gives_cause, tells_amount
from propcite.attribution.english.grammar.antecedents import agrees, apposition, ends_in_name, lists_more, stands_for
from propcite.attribution.english.grammar.brackets import said_once
from propcite.attribution.english.grammar.cuts import borrowed_by, next_cut
from propcite.attribution.english.grammar.gerunds import is_no_deed, told_by_gerunds
from propcite.attribution.english.grammar.joints import belongs_to_both, independent, joint, opening
from propcite.attribution.english.grammar.leads import lead_end, lead_kind
from propcite.attribution.english.grammar.members import described, members
from propcite.attribution.english.grammar.phrases import (
    FINITE,
    Fact,
    Piece,
    be_like,
    be_with,
    group_end,
    is_comparing,
    list_commas,
    noun_before,
    own_verb,
    words,
)
from propcite.attribution.english.grammar.subjects import subject_of, without_adverbs
from propcite.attribution.english.grammar.tagging import Tagged

MAX_WORDS = 200  # of a sentence; a longer one is a list or a broken text


def facts(s: Tagged) -> list[Fact]:
    """The facts of a sentence in its own order; a sentence that the rules do not follow is one fact.

    Empty for a sentence of more than MAX_WORDS words.
    """
    if len(s.words) > MAX_WORDS:
        return []
    end = len(s.tags)
    while end and s.tags[end - 1] in ".,;:-":
        end -= 1
    start, always = opening(s, end)
    found: list[Fact] = []
    for at, stop in independent(s, start, end):
        found += _clause(s, at, stop, always)
    return said_once(s, found)


def _clause(s: Tagged, start: int, end: int, always: Fact) -> list[Fact]:
    """The facts of a clause with its own subject; `always` is a condition or a source that all of them need."""
    while start < end and s.tags[start] in ",cu-":
        start += 1
    if start >= end:
        return []
    out: list[Fact] = []
    first: Fact = ()
    told: list[tuple[int, int]] = []  # leading phrases that say something of the subject
    at = start
    for _ in range(3):
        stop = lead_end(s, at, end)
        if stop is None:
            break
        kind = lead_kind(s, at, stop)
        if kind == "apart":
            while s.tags[at] in "Sa":
                at += 1
            out += _clause(s, at, stop, always)
        elif kind == "clause":
            out += _clause(s, at, stop, (*always, *first))
            first = ()
        elif kind == "always":
            always = (*always, *first, Piece(at, stop + (s.tags[stop] in ",-")))
            first = ()
        elif kind == "subject":
            told.append((at, stop))
        elif kind == "first":
            first = (*first, Piece(at, stop + (s.tags[stop] in ",-")))
        else:
            break
        at = stop
        while at < end and s.tags[at] in ",-":
            at += 1
    found = subject_of(s, at, end)
    if found is None:
        return _halves(s, start, end, always)
    subject, verb, asides = found
    if s.lows[subject[0].start] in lex.DENYING:
        return out + _of_none(s, (*always, *first), at, verb, end, always)
    subject, between = without_adverbs(s, subject)
    for a, b in told:
        if s.tags[a] in "EL":
            said = Piece(0, 0, be_with(be_like(s, verb, subject[0]), s.lows[a:b]))
            out += _predicates(s, always, (), subject, a, b, said)
        else:
            out.append((*always, *subject, Piece(0, 0, be_like(s, verb, subject[0])), Piece(a, b)))
    for a, b in asides:
        told_of = _aside(s, subject, a, b, verb)
        if told_of is None:  # it stays where it stood
            return _halves(s, start, end, always) if not out else [*out, (*always, *first, Piece(at, end))]
        out += told_of
    return out + _predicates(s, always, first, subject, verb, end, between=between)


def _halves(s: Tagged, start: int, end: int, always: Fact) -> list[Fact]:
    """A clause whose subject is not found: itself, or itself up to where another clause plainly begins."""
    cut = joint(s, start, end)
    if cut is None:
        return [(*always, Piece(start, end))]
    return [(*always, Piece(start, cut[0])), *_clause(s, cut[1], end, always)]


def _of_none(s: Tagged, before: Fact, start: int, verb: int, end: int, always: Fact) -> list[Fact]:
    """`no one came and left` is not `no one left`: only a clause of its own stands apart."""
    cut = next_cut(s, verb, end, None)
    if cut is None or cut[2] != "clause":
        return [(*before, Piece(start, end))]
    return [(*before, Piece(start, cut[0])), *_clause(s, cut[1], end, always)]


def _aside(s: Tagged, subject: Fact, start: int, stop: int, verb: int) -> list[Fact] | None:
    """What an aside says of the noun before it: `X, who ..., `X, a ...`, `X, born in ...`."""
    first = start
    while first < stop and s.tags[first] == "a":
        first += 1
    tag = s.tags[first]
    if tag == "W":
        return relative_facts(s, subject, first, stop)
    if tag in "EL":
        said = Piece(0, 0, be_with(be_like(s, verb, subject[0]), s.lows[first:stop]))
        return _predicates(s, (), (), subject, first, stop, said, words(start, first))
    named = tag in "DNXJU" if first == start else s.lows[first] in {"a", "an", "the"}
    if named and s.lows[first] not in {"such", "this", "that"}:
        return [(*subject, Piece(0, 0, be_like(s, verb, subject[0])), Piece(start, stop))]
    return None


def relative_facts(s: Tagged, noun: Fact, pronoun: int, end: int) -> list[Fact] | None:
    """`X, who was ...` says that X was ...; `X, which he wrote` that he wrote X; None where it cannot be turned."""
    low = s.lows[pronoun]
    after = pronoun + 1
    while after < end and s.tags[after] == "a":
        after += 1
    if after >= end or s.tags[pronoun : pronoun + 2] == "WW":
        return None
    if low in {"which", "who", "that"} and (s.tags[after] in FINITE or s.tags[after] == "E"):
        return _predicates(s, (), (), noun, after, end, between=words(pronoun + 1, after))
    verb = own_verb(s, after, end)
    if verb is None:
        return None
    stop = group_end(s, verb, end)
    if low in {"which", "whom", "that", "who"}:
        if (stop < end and s.tags[stop] not in "PaT") or s.lows[stop - 1] in verbs.REPORTING:
            return None
        return [(Piece(pronoun + 1, stop), *noun, *words(stop, end))]
    if low == "whose":
        return [(*noun, Piece(pronoun, pronoun + 1, "'s"), Piece(pronoun + 1, end))]
    place = s.lows[noun[0].start - 1] if noun[0].start else "in"
    if low == "where" and place in {"in", "at", "on", "to", "near", "from", "into", "for"}:
        at_place = place if place in {"at", "on", "near"} else "in"
        return [(Piece(pronoun, pronoun + 1, at_place), *noun, Piece(0, 0, ","), Piece(pronoun + 1, end))]
    return None


def _predicates(
    s: Tagged,
    always: Fact,
    first: Fact,
    subject: Fact,
    verb: int,
    end: int,
    helper: Piece | None = None,
    between: Fact = (),
) -> list[Fact]:
    """One fact and more for each verb that the subject has; `helper` is the `was` or `has` that a verb borrows."""
    cut = next_cut(s, verb, end, helper)
    stop = cut[0] if cut else end
    shared = (*subject, helper, *between) if helper else (*subject, *between)
    if cut is None:
        return _body(s, always, first, shared, verb, end)
    at, kind = cut[1], cut[2]
    if kind == "clause":
        lasting = (*always, *first) if first and belongs_to_both(s, first, stop, at, end) else always
        return _body(s, always, first, shared, verb, stop) + _clause(s, at, end, lasting)
    borrowed = borrowed_by(s, verb, helper, at, end)
    lone = group_end(s, verb, stop) == stop and s.tags[at - 1] in "c" and s.tags[at] in "EL"
    if lone:  # "was written and directed by X": what follows belongs to both
        group = group_end(s, at, end)
        further = next_cut(s, at, end, borrowed)
        tail = further[0] if further else end
        passive = s.tags[verb] == "B" or (helper is not None and s.tags[helper.start] == "B")
        follows = s.tags[group : group + 1]
        to_both = (follows == "P" and s.lows[group] in lex.SHARED) if passive else follows in ("D", "X", "K")
        if group < tail and s.tags[tail - 1] != "," and to_both:
            both = [(*always, *first, *shared, Piece(verb, stop), Piece(group, tail))]
            return both + _predicates(s, always, first, subject, at, end, borrowed)
        if not passive:
            return [(*always, *first, *shared, Piece(verb, end))]
    return _body(s, always, first, shared, verb, stop) + _predicates(s, always, (), subject, at, end, borrowed)


def _body(s: Tagged, always: Fact, first: Fact, subject: Fact, verb: int, end: int) -> list[Fact]:
    """The facts of one predicate: its core, then each phrase after a comma that says something by itself."""
    if s.tags[verb:end].count(",W") > 1 and ",c" in s.tags[verb:end]:
        return [(*always, *first, *subject, Piece(verb, end))]  # "are A, who ..., B, who ..., and C, who ..."
    listed = list_commas(s, verb, end)
    stops = [
        at
        for at in range(verb + 1, end)
        if (s.tags[at] in ",-" and at not in listed) or _tells_more(s, at) or gives_cause(s, verb, at, end)
    ]
    out: list[Fact] = []
    core = end
    for number, at in enumerate(stops):
        close = stops[number + 1] if number + 1 < len(stops) else end
        told = _trailing(s, subject, verb, at, close, end)
        if told is None and adds(s, verb, at, end):
            core = min(core, at)
            out.append((*first, *subject, Piece(verb, end)))
            break
        if told is None:
            continue
        core = min(core, at)
        out += told[0]
        if told[1] >= end:
            break
        if number + 1 < len(stops) and _trailing(s, subject, verb, told[1], end, end) is None:
            # words after an aside go on with the core: "A, a B, in C"
            return [(*always, *first, *subject, Piece(verb, end))]
    return _core(s, (*always, *first), subject, verb, core) + [(*always, *fact) for fact in out]


def _tells_more(s: Tagged, at: int) -> bool:
    """`to Tokyo where he ...`: a name needs no comma before words that tell more of it."""
    return s.tags[at] == "W" and s.tags[at - 1] in "XQ" and s.lows[at] in {"which", "who", "where"}


def _trailing(s: Tagged, subject: Fact, verb: int, at: int, close: int, end: int) -> tuple[list[Fact], int] | None:
    """What the phrase after the comma at `at` says, and where it ends; None if it belongs to the words before it."""
    begin = first = at + 1 if s.tags[at] in ",-" else at
    while first < end and s.tags[first] == "a":
        first += 1
    if first >= end:
        return None
    tag, after = s.tags[first], s.tags[first + 1 : min(first + 2, end)]
    if tag == "W":
        noun = _noun_told_of(s, verb, at, first)
        said_of = None if noun is None else relative_facts(s, (noun,), first, end)
        return None if said_of is None else (said_of, end)
    if (
        tag == "G"
        and s.tags[at] == ","
        and after not in ("c", ",")
        and s.tags[at - 1] != "c"
        and not is_no_deed(s, subject, verb, at, end)
    ):
        told = told_by_gerunds(s, subject, begin, end, verb)
        return None if told is None else (told, end)
    if tag in "EL" and after in ("P", "a", "T") and not is_comparing(s, first):
        while close + 1 < end and s.tags[close + 1] in "PU":  # "born on DATE, in PLACE"
            close = next((i for i in range(close + 1, end) if s.tags[i] in ",-"), end)
        told = _participle(s, subject, verb, at, begin, first, close)
        return None if told is None else (told, close)
    if first == begin > at and s.lows[first] in {"a", "an", "the", "one"} and not lists_more(s, first, end):
        fact = apposition(s, subject, verb, at, close)
        return None if fact is None else ([fact], close)
    return None


def _noun_told_of(s: Tagged, verb: int, at: int, pronoun: int) -> Piece | None:
    """The noun that a relative clause tells more of, where that is sure."""
    if tells_amount(s, pronoun):
        return amount_before(s, at, verb)
    noun = noun_before(s, at, verb)
    if noun is not None and (s.lows[pronoun] in {"who", "where"} or not agrees(s, noun, pronoun)):
        noun = noun_before(s, at, verb, near=True) or noun
    if noun is None or s.tags[noun.end - 1] == "U" or s.lows[noun.end - 1] in lex.TIME_NOUNS:
        return None
    return noun if stands_for(s, noun, pronoun) else None


def _participle(s: Tagged, subject: Fact, verb: int, at: int, begin: int, first: int, close: int) -> list[Fact] | None:
    """`, built by X`: told of the subject after `is`, otherwise of the noun before the comma, where that is sure."""
    if s.tags[verb] == "B":
        return _predicates(s, (), (), subject, first, close, Piece(verb, verb + 1), words(begin, first))
    noun = noun_before(s, at, verb)
    if noun is None or s.tags[noun.end - 1] == "U" or not (s.tags[noun.start] == "D" or ends_in_name(s, noun)):
        return None
    said = Piece(0, 0, be_with(be_like(s, verb, noun), s.lows[first:close]))
    return _predicates(s, (), (), (noun,), first, close, said, words(begin, first))


def _core(s: Tagged, before: Fact, subject: Fact, verb: int, end: int) -> list[Fact]:
    """The facts of a predicate without its asides: `is a B based in C`, lists, times and places."""
    cut = described(s, verb, end)
    if cut is None:
        return [(*before, *subject, *pieces) for pieces in members(s, verb, end)]
    at, said = cut
    out: list[Fact] = [(*before, *subject, *pieces) for pieces in members(s, verb, at)]
    if s.tags[at] == "W":
        return out + _predicates(s, (), (), subject, at + 1, end)
    first = at
    while s.tags[first] == "a":
        first += 1
    return out + _predicates(s, (), (), subject, first, end, said, words(at, first))
