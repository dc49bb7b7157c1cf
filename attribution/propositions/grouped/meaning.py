"""Whether a claim says something else than its sentence, because of a word that it leaves out."""

from __future__ import annotations

from collections.abc import Set

from propcite.attribution.english import Tagged
from propcite.attribution.english import lexicon as lex
from propcite.attribution.propositions.parses import Parse

_DENYING = lex.DENYING - {"nobody", "nothing", "none"}
_CHANGING = _DENYING | frozenset("or than only either except".split())
_SPLIT_OR = _DENYING | frozenset("can may could might".split())  # what can be A or B can be A; so it is with `not`
_DENYING_EACH = frozenset("neither nor".split())
_RESTRICTING = frozenset("acl pobj prep relcl xcomp".split())
_MARKS = frozenset(", ; : – — -".split())


def changes_meaning(s: Tagged, parse: Parse, said: Set[int]) -> bool:
    """Return whether the tokens that a claim leaves out would change it: `neither`, `or`, `the first to`."""
    may_split = any(s.lows[at] in _SPLIT_OR for at in said)
    for at, low in enumerate(s.lows):
        if at in said or (may_split and low == "or"):
            continue
        if low in _DENYING_EACH and any(at < other for other in said):
            return True
        if low in _CHANGING and _joined(parse, at) & said:
            return True
        if _is_limit(s, parse, at) and parse.heads[at] not in said and said & {*parse.subtree(parse.heads[at])}:
            return True
    return not all(_holds_all_below(s, parse, head, said) for at in said for head in _limited_by(s, parse, at, said))


def _joined(parse: Parse, at: int) -> set[int]:
    """Return the word that a token belongs to, and those that are joined with it by `and` or `or`."""
    first = parse.heads[at]
    while parse.relations[first] == "conj":
        first = parse.heads[first]
    found, waiting = {first}, [first]
    while waiting:
        members = [kid for kid in parse.children[waiting.pop()] if parse.relations[kid] == "conj" and kid not in found]
        found.update(members)
        waiting += members
    return found


def _limited_by(s: Tagged, parse: Parse, at: int, said: Set[int]) -> Set[int]:
    """Return the words of which all must be said, because this one limits them: `first`, `only`, `between`."""
    low = s.lows[at]
    if low == "between":
        return {at}
    return {parse.heads[at]} & said if _is_limit(s, parse, at) else set()


def _is_limit(s: Tagged, parse: Parse, at: int) -> bool:
    return s.lows[at] == "only" or s.lows[at] in lex.ONLY or parse.tags[at] in {"JJS", "RBS"}


def _holds_all_below(s: Tagged, parse: Parse, at: int, said: Set[int]) -> bool:
    """Return whether no word is left out that belongs to this one without a mark before it."""
    for kid in parse.children[at]:
        if kid in said:
            if parse.relations[kid] in _RESTRICTING and not _holds_all_below(s, parse, kid, said):
                return False
        elif s.words[kid][:1].isalnum() and parse.relations[kid] not in {"conj", "cc", "preconj"}:
            first = parse.subtree(kid)[0]
            if not first or s.words[first - 1] not in _MARKS:
                return False
    return True
