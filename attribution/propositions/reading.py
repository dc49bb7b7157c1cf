"""Read a sentence's clauses by rules, corrected by its parse, and check that a claim reads as a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from propcite.attribution.english import Fact, Piece, Tagged, be_like
from propcite.attribution.english import lexicon as lex
from propcite.attribution.propositions.parses import Parse
from propcite.attribution.propositions.rules import clauses

_FINITE = frozenset("VBD VBZ VBP MD".split())
_ENDS = frozenset("CC VBD VBZ VBP MD , . : -RRB-".split())  # tags before which a phrase has ended
_PHRASE_ENDS = frozenset("IN VBD VBZ VBP MD . :".split())
_HEADS = frozenset("CD JJS PRP WP EX '' ``".split())  # tags that may end a phrase, beside nouns
_NAME = frozenset("NNP NNPS".split())
_SAID = _FINITE | {"VB"}
_SAID_OF = _FINITE | {"VBN"}
_ADDED_VERBS = frozenset("is was are were has have had".split())
_ADDED_ENDS = frozenset("a an the of in on to at by from for with as and that".split())
_OPEN = frozenset("VEILGNJ")  # tags of the rules that the parse may correct
_TAGS = {"NN": "N", "NNS": "N", "JJ": "J", "JJR": "J", "JJS": "J", "VBZ": "V", "VBP": "V", "VB": "I", "VBG": "G"}
_NOUNS = frozenset("DJNXUpzQOk")
_VERB_TAGS = frozenset("BHMVEY")


def corrected(s: Tagged, parse: Parse) -> Tagged:
    """Return the words with the parse's tags where the rules take a noun for a verb, or a verb for a noun.

    >>> from propcite.attribution.english import tag
    >>> s = tag("Any patent licenses end.", "Any patent licenses end.")
    >>> corrected(s, Parse(("DT", "NN", "NNS", "VBP", "."), (2, 2, 3, 3, 3), ("", "", "", "", ""))).tags
    'DNNV.'
    """
    tags = list(s.tags)
    for at, (tag, read) in enumerate(zip(s.tags, parse.tags, strict=True)):
        if tag not in _OPEN or not s.words[at].isalpha():
            continue
        if read in {"VBN", "VBG"} and parse.relations[at] == "amod" and parse.heads[at] > at:
            tags[at] = "J"
        elif read == "VBN" and parse.relations[at] == "acl":
            tags[at] = "L"
        elif read in {"VBD", "VBN"}:
            tags[at] = tag if tag in "VEL" else "E"
        elif read.startswith("NNP"):
            tags[at] = "N"
        else:
            tags[at] = _TAGS.get(read, tag)
    return replace(s, tags="".join(tags))


def clauses_read(s: Tagged, parse: Parse) -> list[Fact]:
    """Return the clauses that the rules find; empty if they are not certain, or one does not read by the parse."""
    found = [part for fact in clauses(s) for part in _with_gap(s, fact)]
    return found if all(is_readable(s, parse, fact) for fact in found) else []


def _with_gap(s: Tagged, fact: Fact) -> list[Fact]:
    """`A is voiced by B and C by D`: the second part has the first one's verb."""
    last = fact[-1]
    if last.say is not None:
        return [fact]
    verb = next((at for at in range(last.start, last.end) if s.tags[at] in _VERB_TAGS), None)
    if verb is None:
        return [fact]
    stop = verb + 1
    while stop < last.end and s.tags[stop] in "aELbH":
        stop += 1
    joint = s.tags.find("c", stop, last.end)
    if joint < 0 or s.tags[stop] != "P" or set(s.tags[stop + 1 : joint]) - _NOUNS or joint == stop + 1:
        return [fact]
    again = next((at for at in range(joint + 1, last.end) if s.tags[at] == "P"), None)
    if again is None or s.lows[again] != s.lows[stop] or again + 1 >= last.end or again == joint + 1:
        return [fact]
    if (
        s.tags[joint + 1] not in "XD"
        or set(s.tags[joint + 1 : again]) - _NOUNS
        or set(s.tags[again : last.end]) & set("BHMV")
    ):
        return [fact]
    subject = Piece(joint + 1, again)
    said = be_like(s, verb, subject) if s.lows[verb] in {"is", "are", "was", "were"} else None
    verbs = (Piece(verb, verb + 1, said), *((Piece(verb + 1, stop),) if stop > verb + 1 else ()))
    lead = tuple(piece for piece in fact[:-1] if piece.end and s.tags[piece.end - 1] == ",")
    return [(*fact[:-1], Piece(last.start, joint)), (*lead, subject, *verbs, Piece(again, last.end))]


def is_readable(s: Tagged, parse: Parse, claim: Fact) -> bool:
    """Return whether a claim has a verb, and no auxiliary, preposition, article or name loses its other half."""
    words = [at for piece in claim for at in (range(piece.start, piece.end) if piece.say is None else (-1,))]
    if not any(at < 0 or is_verb(parse, at) for at in words):
        return False
    held = {at for piece in claim for at in range(piece.start, piece.end)}
    return not any(
        at >= 0 and (hangs(parse, at, words[place + 1 :]) or _is_cut(s, parse, at, held))
        for place, at in enumerate(words)
    )


def is_complete(s: Tagged, parse: Parse, claim: Fact) -> bool:
    """Return whether a claim that a network wrote has a verb, all of its phrases, and its verb's negation or condition.

    A word that the network added is a verb or does not count.
    """
    words: list[int] = []
    for start, end, said in claim:
        if said is None:
            words += range(start, end)
        elif start < end or said in _ADDED_VERBS:
            words.append(-1)
    if not claim or claim[-1].say in _ADDED_ENDS or not any(at < 0 or parse.tags[at] in _SAID for at in words):
        return False
    first = claim[0].start if claim[0].say is None else 0
    if first and (parse.tags[first] in _SAID_OF or (parse.relations[first] == "mark" and s.lows[first] == "that")):
        return False  # the subject or the main clause is missing
    held = {at for piece in claim for at in range(piece.start, piece.end)}
    if any(_is_misformed(s, parse, piece, after, held) for piece, after in pairwise((*claim, Piece(0, 0)))):
        return False
    return not any(
        at >= 0
        and (hangs(parse, at, words[place + 1 :]) or _is_cut(s, parse, at, held) or _is_borrowed(parse, at, held))
        for place, at in enumerate(words)
    )


def _is_misformed(s: Tagged, parse: Parse, piece: Piece, after: Piece, held: set[int]) -> bool:
    """Whether a word that is no verb has a verb's ending, or an added `was` stands before a verb that has an object."""
    start, end, said = piece
    if said is not None and start < end:
        if parse.tags[start].startswith("VB"):
            return s.lows[start] in {"be", "been", "being"}
        return said not in (s.lows[start], s.lows[start].removesuffix("s"))
    if said not in lex.BE or not parse.tags:
        return False
    if after.say is not None:
        return after.start < after.end or after.say == said
    verb = after.start
    is_active = any(parse.relations[kid] in {"dobj", "dative"} and kid in held for kid in parse.children[verb])
    return after.start < after.end and is_active and parse.tags[verb] in {"VBD", "VBN", "VBZ"}


def _is_borrowed(parse: Parse, at: int, held: set[int]) -> bool:
    """Whether an auxiliary stands before another verb than its own: `was` before `held` in `was opened and held`."""
    if parse.relations[at] not in {"aux", "auxpass"} or parse.heads[at] in held:
        return False
    verb = next((other for other in sorted(held) if other > at and parse.tags[other].startswith("VB")), at)
    return parse.tags[verb] in {"VBD", "VBZ", "VBP"} and verb != at


def covers(s: Tagged, claims: Sequence[Fact], fact: Fact) -> bool:
    """Return whether claims hold all content words of a fact."""
    held = {at for claim in claims for piece in claim for at in range(piece.start, piece.end)}
    words = (at for piece in fact for at in range(piece.start, piece.end))
    return all(at in held or s.lows[at] in lex.FUNCTION_WORDS or not s.words[at][:1].isalnum() for at in words)


def is_verb(parse: Parse, at: int) -> bool:
    """Return whether a word is a finite verb, or another form that has a subject of its own."""
    is_form = parse.tags[at] in {"VB", "VBN"} and any(parse.relations[kid] == "nsubj" for kid in parse.children[at])
    return parse.tags[at] in _FINITE or is_form


def hangs(parse: Parse, at: int, following: Sequence[int]) -> bool:
    """Return whether what a preposition, article or auxiliary needs is not among the words that follow in the claim."""
    relation, tag = parse.relations[at], parse.tags[at]
    following = [other for other in following if other < 0 or parse.relations[other] != "preconj"]
    after = [parse.tags[other] if other >= 0 else "VBD" for other in following]
    if relation in {"prep", "agent"} and tag in {"IN", "TO"}:
        needs = any(parse.relations[kid] in {"pobj", "pcomp"} for kid in parse.children[at])
        return needs and (not after or after[0] in _ENDS)
    if (tag == "DT" and relation == "det") or (tag == "PRP$" and relation == "poss"):
        if parse.heads[at] in following and parse.relations[parse.heads[at]] not in {"amod", "compound", "nmod"}:
            return False
        phrase = list(takewhile(lambda other: other not in _PHRASE_ENDS, after))
        return not any(other.startswith("NN") or other in _HEADS for other in phrase)
    if relation == "aux" and tag == "MD":
        return not any(other.startswith("VB") for other in after)
    return relation == "auxpass" and (not after or after[0] in {",", ".", "CC"})


def _is_cut(s: Tagged, parse: Parse, at: int, held: set[int]) -> bool:
    """Whether a name stands in a claim without a part of it, or a verb without its negation or condition."""
    relation, head = parse.relations[at], parse.heads[at]
    if relation == "appos" and head not in held and {parse.tags[at], parse.tags[head]} <= _NAME:
        first = parse.subtree(at)[0]
        return bool(first) and s.words[first - 1] == ":"  # the second half of a title
    if relation == "compound" and parse.tags[at] in _NAME and parse.tags[head] in _NAME:
        return head not in held and not _stands_for(parse, head, held)
    if _loses_condition(s, parse, at, held):
        return True
    for kid in parse.children[at]:
        if kid in held:
            continue
        is_part = parse.relations[kid] == "compound" and kid == at - 1 and {parse.tags[at], parse.tags[kid]} <= _NAME
        if is_part and not s.lows[kid].endswith(lex.DEMONYM_ENDINGS):
            return True
    return False


def _loses_condition(s: Tagged, parse: Parse, at: int, held: set[int]) -> bool:
    """Whether a verb stands in a claim without its negation or condition."""
    return any(
        parse.relations[kid] == "neg" or (parse.relations[kid] == "advcl" and _is_condition(s, parse, kid))
        for kid in parse.children[at]
        if kid not in held
    )


def _is_condition(s: Tagged, parse: Parse, clause: int) -> bool:
    return any(parse.relations[at] == "mark" and s.lows[at] in {"if", "unless"} for at in parse.children[clause])


def _stands_for(parse: Parse, at: int, tokens: set[int]) -> bool:
    """Whether a claim holds another member of the list that begins with this word."""
    waiting: Sequence[int] = [at]
    for _ in range(40):
        waiting = [kid for word in waiting for kid in parse.children[word] if parse.relations[kid] == "conj"]
        if not waiting:
            return False
        if any(kid in tokens for kid in waiting):
            return True
    return False
