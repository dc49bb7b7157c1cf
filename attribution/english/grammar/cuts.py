"""Where one predicate ends and the next begins, and which helper verb the next one borrows."""

from __future__ import annotations

from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import verbs
from propcite.attribution.english.grammar.leads import lead_end, starts_clause
from propcite.attribution.english.grammar.phrases import FINITE, NAME, Piece, group_end, own_verb
from propcite.attribution.english.grammar.tagging import Tagged


def next_cut(s: Tagged, verb: int, end: int, helper: Piece | None) -> tuple[int, int, str] | None:
    """Where the next predicate or clause begins: (end of this one, start of that one, its kind)."""
    at = group_end(s, verb, end)
    if _reports(s, at, end):
        return _next_report(s, at, end)
    inner = False  # inside a relative or subordinate clause, to which an `and` without a comma belongs
    while at < end:
        tag = s.tags[at]
        comma = at > verb and s.tags[at - 1] == ","
        if tag in "cu" and s.tags[at - 1] not in "cu":
            found = _after_coordinator(s, verb, at, end, helper)
            if found and found[1] == "verb" and not _may_stand_apart(s, verb, helper, at, found[0], end):
                found = None
            if found and (comma or not inner):
                return (at - 1 if comma else at), found[0], found[1]
        elif tag == "," and not inner and at + 2 < end:
            then = s.lows[at + 1] == "then"
            if s.tags[at + 1 + then] in "VEBHI" and (then or _is_next_verb(s, verb, at, end, helper)):
                return at, at + 1, "verb"
        elif tag == "S":
            apart = s.lows[at] in lex.CONCESSIVE and own_verb(s, at + 1, end) is not None
            if apart and (comma or not inner):
                even = s.lows[at - 1] == "even"
                stop = at - 1 if even else at
                while stop > verb + 1 and s.tags[stop - 1] in ",cu":
                    stop -= 1  # "..., but although ..."
                return stop, at + 1, "clause"
            inner = True
        elif tag in "Wt" or (s.lows[at] in lex.TWO_WAY and tag == "P" and own_verb(s, at + 1, end) is not None):
            inner = True
        elif tag == ";":
            if starts_clause(s, at + 1, end):
                return at, at + 1, "clause"
            if at + 1 < end and s.tags[at + 1] in "cu" and (found := _after_coordinator(s, verb, at + 1, end, helper)):
                return at, found[0], found[1]
        at += 1
    return None


def _may_stand_apart(s: Tagged, verb: int, helper: Piece | None, at: int, start: int, end: int) -> bool:
    """False for `was not signed and sealed` and `claims to have won A and founded B`: the second shares the scope."""
    stop = group_end(s, verb, at)
    denied = s.lows[verb].endswith(("n't", "n’t")) or any(
        s.tags[i] == "n" or s.lows[i] in lex.DENYING for i in range(verb, stop)
    )
    if denied and borrowed_by(s, verb, helper, start, end) is not None:
        return False
    word = start
    while word < end and s.tags[word] in "cua":
        word += 1
    if s.tags[word : word + 1] == "I" and s.tags[at - 1] == "I":
        return False  # "can read and write Greek": what follows may belong to both
    numbers = {_number(s, verb), _number(s, word)} - {""}
    return "TH" not in s.tags[verb:at] and len(numbers) < 2  # "ears produce wax, which ... and prevents ..."


def _number(s: Tagged, verb: int) -> str:
    """Whether a verb shows that its subject is one or many; empty where it does not."""
    if verb >= len(s.tags):
        return ""
    tag, low = s.tags[verb], s.lows[verb]
    if low in {"is", "was", "has", "does"} or (tag == "V" and low in verbs.THIRD_PERSON):
        return "one"
    return "many" if low in {"are", "were", "have", "do"} or (tag == "V" and low in verbs.BASE_VERBS) else ""


def _reports(s: Tagged, stop: int, end: int) -> bool:
    """`said that ...`: what follows is what was said, and stays so."""
    if stop >= end:
        return False
    if s.tags[stop] == "t":
        return True
    parted = [at for mark in (",c", ",u") if (at := s.tags.find(mark, stop, end)) >= 0]
    return s.lows[stop - 1] in verbs.REPORTING and own_verb(s, stop, min([end, *parted])) is not None


def _after_coordinator(s: Tagged, verb: int, at: int, end: int, helper: Piece | None) -> tuple[int, str] | None:
    """What begins after `and` or `but`: a verb of the same subject, a clause of its own, or neither."""
    before = at - 1 if s.tags[at - 1] != "," else at - 2
    start = at + 1
    while start < end and s.tags[start] in "cu":
        start += 1
    word = start
    while word < end and s.tags[word] in "an":
        word += 1
    if word >= end:
        return None
    tag = s.tags[word]
    lead = _lead(s, helper) if helper else s.tags[verb]
    if tag in "BHMV":
        return start, "verb"
    adjective = s.tags[word : word + 2] in ("EN", "EG", "EJ") and s.lows[word].endswith("ed") and lead == "M"
    if tag == "t" or adjective:
        return None  # "not that A, but that B"; "can lead to increased A and increased B"
    if tag in "EL":
        if s.tags[before] in "JDP":
            return None
        if tag == "L" and lead not in "BH":
            return None
        done = group_end(s, verb, at)
        copula = lead == "B" and helper is None and s.tags[done - 1] not in "ELbG"
        if copula and set(s.tags[done:at]) & set("EL") and not _is_active(s, word, end):
            return None  # "is a language created by A and released in B": goes on with `created`
        if word + 1 < end and s.tags[word + 1] in "NJG" and _governed(s, verb, before):
            return None  # "on politics and organized crime", "such as steel, glass, and reinforced concrete"
        return start, "verb"
    if tag == "b" and lead in "HM":
        return start, "verb"
    plural = s.lows[verb] in {"are", "have"} or (s.tags[verb] == "V" and s.lows[verb] in verbs.BASE_VERBS)
    if tag == "I" and (lead == "M" or plural) and "T" not in s.tags[verb:at]:
        return start, "verb"
    if tag == "G" and lead == "B" and s.tags[group_end(s, verb, end) - 1] == "G" and not s.lows[before].endswith("ing"):
        return start, "verb"
    if not starts_clause(s, start, end) or _ends_list(s, verb, at, start, end):
        return None
    plain = s.tags[word] in "RD" or s.tags[at - 1] == "," or s.tags[at] == "u"
    if not plain and s.tags[word] in "UXNJ":
        plain = _is_sure_clause(s, verb, at, word, end)
    if not plain:  # "and in 1990 he moved"
        led = lead_end(s, word, end) if s.tags[word] in "PU" else None
        plain = led is not None and s.tags[led : led + 1] == "R"
    return (start, "clause") if plain else None


def _is_sure_clause(s: Tagged, verb: int, at: int, start: int, end: int) -> bool:
    """`were finished and two of the gates had been delivered`: no comma, but a verb that nothing else explains."""
    own = own_verb(s, start, end)
    if own is None or "c" in s.tags[start:own] or set(s.tags[verb:at]) & set("GStW"):
        return False
    if s.lows[verb] in {"means", "mean", "meant"} or {"than", "as"} & set(s.lows[verb:at]):
        return False
    if {"as", "than"} & set(s.lows[start:own]) or not _is_sure_verb(s, verb):
        return False
    if s.tags[own] == "E":
        return s.tags[own + 1 : own + 2] in ("D", "U", "K")
    return s.tags[own] in "BHM" or s.lows[own] in verbs.PAST_ONLY


def _is_sure_verb(s: Tagged, verb: int) -> bool:
    """Whether this is a verb and no noun or participle: `the balance between time spent on A and B was ...`."""
    tag, low = s.tags[verb], s.lows[verb]
    if tag == "E":
        return low in verbs.NEVER_PASSIVE or s.tags[verb + 1 : verb + 2] in tuple("DUXTKc")
    base = verbs.THIRD_PERSON.get(low, low)
    return tag in "BHMY" or (tag == "V" and (low in verbs.PAST_ONLY or base not in verbs.NOUN_VERBS))


def _next_report(s: Tagged, at: int, end: int) -> tuple[int, int, str] | None:
    """`some say that ..., while others say ...`: what is said ends where another says something."""
    for cut in range(at + 1, end - 2):
        if s.tags[cut] != "," or not (s.tags[cut + 1] in "cu" or s.lows[cut + 1] in lex.CONCESSIVE):
            continue
        own = own_verb(s, cut + 2, end)
        if own is not None and s.lows[group_end(s, own, end) - 1] in verbs.REPORTING:
            return cut, cut + 2, "clause"
    return None


def _ends_list(s: Tagged, verb: int, at: int, start: int, end: int) -> bool:
    """`approaches, tools, and techniques used to ...`: the last member of a list, not a clause."""
    own = own_verb(s, start, end)
    if own is None or s.tags[own] != "E" or s.tags[at - 1] != ",":
        return False
    comma = s.tags.rfind(",", verb, at - 1)
    return comma >= 0 and not set(s.tags[comma + 1 : at - 1]) - NAME


def _governed(s: Tagged, verb: int, last: int) -> bool:
    """Whether the noun phrase that ends here stands after a preposition."""
    at = last
    while at > verb and (s.tags[at] in NAME or s.tags[at] == ","):
        at -= 1
    return s.tags[at] in "PG"


def _is_next_verb(s: Tagged, verb: int, comma: int, end: int, helper: Piece | None) -> bool:
    """`wrote A, directed B, and produced C`: after a comma alone only where an `and` with a verb follows."""
    if s.tags[comma + 1] == "E" and comma + 2 < end and s.lows[comma + 2] == "by":
        return False
    for at in range(comma + 2, end):
        if s.tags[at] in "WSt;":
            return False
        if s.tags[at] == "c" and s.tags[comma + 1] == "I" and "T" in s.tags[verb:at]:
            return False
        if s.tags[at] == "c":
            found = _after_coordinator(s, verb, at, end, helper)
            return found is not None and found[1] == "verb"
    return False


def borrowed_by(s: Tagged, verb: int, helper: Piece | None, at: int, end: int) -> Piece | None:
    """The helper that a verb after `and` borrows from the one before: `was born in A and raised in B`."""
    while at < end and s.tags[at] == "a":
        at += 1
    own = s.tags[at]
    if own in FINITE:
        return None
    if helper is None:
        if s.tags[verb] not in "BHM":
            return None
        copula = s.tags[verb] == "B" and s.tags[group_end(s, verb, at) - 1] not in "ELbG"
        if copula and own != "L" and not (s.lows[verb] in {"is", "are"} and s.lows[at] in verbs.STATES):
            return None  # "was a pianist and toured": no participle stands before it
        stop = verb + 1
        while stop < end and s.tags[stop] in "HbBa" and s.tags[stop + 1 : stop + 2] and s.tags[stop] != "a":
            stop += 1
        helper = Piece(verb, stop)
    lead = _lead(s, helper)
    if own == "I":
        return Piece(helper.start, helper.start + 1) if lead == "M" else None  # "must be 18 and pay"
    if own == "G":
        return helper
    if lead == "H":
        if own == "E" and s.tags[helper.end - 1] == "b" and _is_active(s, at, end):
            return Piece(helper.start, helper.start + 1)
        return Piece(helper.start, helper.start + 1) if own == "b" else helper
    if own == "E" and lead == "B" and _is_active(s, at, end):
        return None
    return helper if lead in "BH" or s.tags[helper.end - 1] == "b" else None


def _lead(s: Tagged, helper: Piece) -> str:
    """The tag of a helper's first word; one that was put in is a form of be."""
    return s.tags[helper.start] if helper.end > helper.start else "B"


def _is_active(s: Tagged, at: int, end: int) -> bool:
    """Whether `-ed` after `was ... and` is a past of its own: it takes an object or moves by itself."""
    if s.lows[at] in verbs.NEVER_PASSIVE:
        return True
    after = at + 1
    while after < end and s.tags[after] == "a":
        after += 1
    if after + 1 < end and s.lows[after] in lex.ABOUT and s.tags[after + 1] == "U":
        return not _is_year(s.lows[after + 1])  # "was released and contained around 8,500 packages"
    if after >= end or s.tags[after] not in "DKXNRUJQt":
        return False
    return s.lows[at] not in verbs.NAMING or s.lows[after] in {"his", "her", "its", "their"}


def _is_year(low: str) -> bool:
    return len(low) == 4 and low.isdigit() and low[0] in "12"
