"""Word the words of a claim as a sentence: with a verb where one was understood, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from propcite.attribution.english import Fact, Piece, Tagged, be_like, be_with
from propcite.attribution.english import lexicon as lex
from propcite.attribution.propositions.grouped.held_words import HeldWords
from propcite.attribution.propositions.parses import Parse
from propcite.attribution.propositions.reading import is_readable
from propcite.attribution.propositions.tree_clauses import pieces_of

_SUBJECTS = frozenset("nsubj nsubjpass csubj csubjpass expl".split())
_FINITE = frozenset("VBD VBZ VBP MD".split())
_RELATIVE = frozenset("WDT WP".split())
_APART = frozenset("although though while whereas whilst".split())
_NAMING = frozenset("a an the one".split())
_AT = frozenset("in at near from to".split())


def worded(s: Tagged, parse: Parse, tokens: Iterable[int]) -> Fact | None:
    """Return these tokens as a fact; None if they do not read as a sentence."""
    held = HeldWords(s, parse, tokens)
    if held.loses_meaning():
        return None
    fact = _place(held) or _clause(held, held.tops())
    return fact if fact and is_readable(s, parse, fact) and not held.dangles() else None


def _place(held: HeldWords) -> Fact | None:
    """`in Oslo, Norway`: Oslo is in Norway."""
    s = held.s
    words = sorted(at for at in held.tokens if held.is_word(at))
    if words and s.lows[words[0]] in _AT:
        words = words[1:]
    if len(words) < 2 or not all(held.parse.tags[at].startswith("NNP") for at in words):
        return None
    cuts = [number for number in range(1, len(words)) if words[number] != words[number - 1] + 1]
    if len(cuts) != 1 or words[0] < 1 or s.lows[words[0] - 1] not in _AT:
        return None
    small, large = words[: cuts[0]], words[cuts[0] :]
    if large[0] != small[-1] + 2 or s.words[large[0] - 1] != ",":
        return None
    return (*_pieces(held, small), Piece(0, 0, "is in"), *_pieces(held, large))


def _clause(held: HeldWords, tops: Sequence[int]) -> Fact | None:
    tags = held.parse.tags
    if len(tops) == 1:
        is_verb = tags[tops[0]].startswith("VB") or tags[tops[0]] == "MD"
        return _of_verb(held, tops[0]) if is_verb else _said_of(held, tops[0])
    if len(tops) != 2 or held.heads[tops[0]][1] not in _SUBJECTS:
        return None
    subject, verb = tops
    if tags[verb] == "VBN" and held.parse.relations[verb] in {"advcl", "acl", "conj"}:
        return _with_be(held, held.below(subject), held.below(verb), verb)
    return _pieces(held, sorted(held.tokens)) if tags[verb] in _FINITE else None


def _of_verb(held: HeldWords, verb: int) -> Fact | None:
    parse, kids = held.parse, held.kids(verb)
    subject = next((kid for kid in kids if held.heads[kid][1] in _SUBJECTS), None)
    if subject is None or parse.tags[subject] in _RELATIVE or any(parse.relations[kid] == "mark" for kid in kids):
        return None
    if subject > verb and held.heads[subject][1] != "expl" and parse.tags[verb] != "VBZ":
        return None
    if held.s.lows[verb] in lex.BE and not any(held.is_word(kid) for kid in kids if kid > verb):
        held.tokens.discard(verb)
        return _said_of(held, subject)
    if parse.relations[verb] in {"ccomp", "pcomp", "xcomp"} or (
        parse.relations[verb] == "advcl" and not _APART & {held.s.lows[kid] for kid in parse.children[verb]}
    ):
        return None
    helpers = {parse.tags[kid] for kid in kids if held.heads[kid][1] in {"aux", "auxpass"}}
    if parse.tags[verb] in _FINITE or helpers & _FINITE:
        return _pieces(held, sorted(held.tokens))
    if _has_object(held, verb):
        return _pieces(held, sorted(held.tokens))
    below = held.below(subject)
    rest = sorted(held.tokens - set(below))
    return _with_be(held, below, rest, verb) if parse.tags[verb] == "VBN" and rest and below[-1] < rest[0] else None


def _has_object(held: HeldWords, verb: int) -> bool:
    """Return whether a joined verb is a past tense that was read as a participle: `was opened and held letters`."""
    relations = held.parse.relations
    after = {relations[kid] for kid in held.parse.children[verb] if kid > verb}
    return relations[verb] == "conj" and bool(after & {"dobj", "npadvmod"})


def _said_of(held: HeldWords, noun: int) -> Fact | None:
    """`Ada, a poet`, `Ada, who wrote`, `Ada, born in Oslo`: what is said of a noun in passing."""
    parse = held.parse
    additions = [kid for kid in held.kids(noun) if held.heads[kid][1] in {"appos", "relcl", "acl"}]
    if len(additions) != 1:
        return None
    [addition] = additions
    below = held.below(addition)
    own = [at for at in held.below(noun) if at not in below]
    if own[-1] > below[0]:
        return None
    relation = held.heads[addition][1]
    if relation == "relcl":
        is_subject = [kid for kid in parse.children[addition] if parse.relations[kid] in _SUBJECTS]
        pronoun = next((kid for kid in is_subject if parse.tags[kid] in _RELATIVE), None)
        rest = [at for at in below if at != pronoun]
        return None if pronoun is None else (*_pieces(held, own), *_pieces(held, rest))
    if relation == "appos" and not _is_naming(held, own, below):
        return None
    if relation == "acl" and parse.tags[addition] != "VBN":
        return None
    return _with_be(held, own, below, addition)


def _is_naming(held: HeldWords, noun: Sequence[int], below: Sequence[int]) -> bool:
    """Return whether a name, or a noun with `the` or `his`, is followed by what it is: `Ada, a poet`."""
    first = noun[0]
    is_known = held.parse.tags[first] in {"NNP", "PRP$"} or held.s.lows[first] in {"the", "this", "that"}
    return is_known and held.s.lows[below[0]] in _NAMING


def _with_be(held: HeldWords, noun: Sequence[int], rest: Sequence[int], top: int) -> Fact | None:
    """Return noun and rest with `is`, `are`, `was` or `were` between them; None for a sentence without a verb."""
    parse = held.parse
    root = next((at for at, head in enumerate(parse.heads) if head == at and parse.tags[at].startswith("VB")), None)
    subject, said = _pieces(held, noun), _pieces(held, rest)
    if root is None or not subject or not said:
        return None
    helper = next((kid for kid in parse.children[root] if parse.relations[kid] in {"aux", "auxpass"}), root)
    be = be_like(held.s, helper, subject[0])
    if parse.tags[top] == "VBN":
        be = be_with(be, held.s.lows[said[0].start : said[-1].end])
    return (*subject, Piece(0, 0, be), *said)


def _pieces(held: HeldWords, tokens: Sequence[int]) -> Fact:
    """Return tokens as pieces, without marks at both ends and without a bracket that has lost its other half."""
    words = held.s.words
    kept = list(tokens)
    sides = [words[at] for at in kept]
    if sides.count("(") != sides.count(")"):
        kept = [at for at in kept if words[at] not in "()"]
    while kept and not held.is_word(kept[-1]) and words[kept[-1]] not in ")\"'”’":
        kept.pop()
    while kept and not held.is_word(kept[0]) and words[kept[0]] not in "($\"'“‘":
        kept.pop(0)
    return pieces_of(kept)
