"""The clauses of a sentence by its parse: each with its subject and verb, and what is told of a noun in passing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from propcite.attribution.english import (
    Fact,
    Piece,
    Tagged,
    be_like,
    be_with,
    borrowed_by,
    members,
    relative_facts,
    said_once,
    told_by_gerunds,
)
from propcite.attribution.english import lexicon as lex
from propcite.attribution.propositions.parses import Parse

_SUBJECTS = frozenset("nsubj nsubjpass csubj csubjpass expl".split())
_FINITE = frozenset("VBD VBZ VBP MD".split())
_CONDITIONS = frozenset("if unless until once whether provided lest except".split())
_APART = frozenset("although though while whereas whilst".split())
_OPEN = frozenset("VEILGNJ")  # tags of the rules that the parse may correct
_TAGS = {"NN": "N", "NNS": "N", "JJ": "J", "JJR": "J", "JJS": "J", "VBZ": "V", "VBP": "V", "VB": "I", "VBG": "G"}


class _NotFollowedError(Exception):
    """The parse of a clause has a form that is left whole."""


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


def tree_facts(s: Tagged, parse: Parse) -> list[Fact]:
    """Return the facts of a sentence in its own order; empty if the parse has a form that is not followed."""
    end = len(s.tags)
    while end and s.tags[end - 1] in ".,;:-":
        end -= 1
    roots = [at for at, head in enumerate(parse.heads) if head == at and s.tags[at] not in ".,;:-" and at < end]
    builder = _Builder(s, parse)
    try:
        for root in roots:
            builder.clause(root, frozenset(range(end, len(s.tags))))
    except _NotFollowedError:
        return []
    return said_once(s, builder.found)


class _Builder:
    """Collects the facts of a sentence."""

    def __init__(self, s: Tagged, parse: Parse) -> None:
        self.s = s
        self.parse = parse
        self.found: list[Fact] = []

    def clause(
        self,
        verb: int,
        without: frozenset[int],
        subject: Fact = (),
        helper: Fact = (),
        always: Fact = (),
    ) -> None:
        """Add the facts of the clause with this verb, and of the clauses below it."""
        parse = self.parse
        kids = [kid for kid in parse.children[verb] if kid not in without]
        own = next((kid for kid in kids if parse.relations[kid] in _SUBJECTS), None)
        if own is not None and (own > verb or parse.tags[own] in {"WP", "WDT"}):
            if not subject:
                raise _NotFollowedError
            own = None
        told: list[tuple[int, int]] = []  # nouns with what is told of them in passing
        left = set(without)
        joined = self._joined(verb, kids)
        for kid in joined:
            left |= set(parse.subtree(kid))
        subtree = [at for at in parse.subtree(verb, frozenset(left)) if at not in left]
        left |= self._links(joined)
        if own is not None:
            held = [at for at in parse.subtree(own) if at not in without]
            told += self._told(held)
            for _, below in told:
                left |= set(parse.subtree(below))
            subject_tokens = self._trimmed(at for at in held if at not in left)
            if not subject_tokens:
                raise _NotFollowedError
            subject = pieces_of(subject_tokens)
            start = held[0]
            helper = ()
        elif not subject:
            raise _NotFollowedError
        else:
            held, start = [], subtree[0]
        leads, apart = self._leads(kids, start, left) if own is not None else ((), [])
        always = (*always, *(piece for lead, lasts in leads if lasts for piece in lead))
        first = tuple(piece for lead, lasts in leads if not lasts for piece in lead)
        for kid in apart:
            left |= set(parse.subtree(kid))
        behind = [at for at in subtree if at not in left and at not in held and at >= start]
        inner = self._told(behind)
        for _, below in inner:
            left |= set(parse.subtree(below))
        trailing = self._trailing(verb, kids, left)
        for kid in trailing:
            left |= set(parse.subtree(kid))
        predicate = self._trimmed(at for at in behind if at not in left)
        if not predicate or verb not in predicate:
            raise _NotFollowedError
        before = (*always, *first, *subject, *helper)
        if not self._add_shared(verb, joined, predicate, before):
            self.found += [(*before, *pieces) for pieces in self._members(predicate)]
        for kid in (*apart, *trailing):
            self._add_apart(kid, without, subject, verb)
        for noun, below in (*told, *inner):
            self._add_told(noun, below, verb, subject, without)
        for kid in joined:
            self.clause(kid, without, subject, self._borrowed(verb, kid, helper), always)

    def _joined(self, verb: int, kids: list[int]) -> list[int]:
        """Return the verbs joined to this one by `and` or `but` that may stand apart from it."""
        s, parse = self.s, self.parse
        if any(parse.relations[kid] == "preconj" or s.lows[kid] in {"or", "nor"} for kid in kids):
            return []
        denied = any(parse.relations[kid] == "neg" or s.lows[kid] in lex.DENYING for kid in kids)
        found = []
        for kid in kids:
            is_conjunct = parse.relations[kid] == "conj" or (
                parse.relations[kid] in {"ccomp", "parataxis"} and self._is_parted(kid, verb)
            )
            if not is_conjunct or not (parse.tags[kid].startswith("VB") or parse.tags[kid] == "MD"):
                continue
            if denied and not self._is_finite(kid):
                continue
            if parse.relations[kid] != "conj" and not self._has_subject(kid):
                continue
            found.append(kid)
        return found

    def _is_parted(self, kid: int, verb: int) -> bool:
        """Whether a semicolon stands between two clauses."""
        first, last = sorted((kid, verb))
        return any(self.s.tags[at] == ";" for at in range(first, last))

    def _is_finite(self, verb: int) -> bool:
        tags, kids = self.parse.tags, self.parse.children[verb]
        return tags[verb] in _FINITE or any(
            self.parse.relations[kid] in {"aux", "auxpass"} and tags[kid] in _FINITE for kid in kids
        )

    def _has_subject(self, verb: int) -> bool:
        return any(self.parse.relations[kid] in _SUBJECTS for kid in self.parse.children[verb])

    def _links(self, joined: list[int]) -> set[int]:
        """Return the words that link joined verbs: the nearest `and` and marks before each."""
        links: set[int] = set()
        for other in joined:
            first = self.parse.subtree(other)[0] - 1
            while first >= 0 and (self.s.tags[first] in ",cu;-" or self.parse.relations[first] == "cc"):
                links.add(first)
                first -= 1
        return links

    def _leads(self, kids: list[int], start: int, left: set[int]) -> tuple[list[tuple[Fact, bool]], list[int]]:
        """Return what stands before the subject, each with whether it holds for all that follows, and clauses apart."""
        s, parse = self.s, self.parse
        leads: list[tuple[Fact, bool]] = []
        apart: list[int] = []
        for kid in kids:
            tokens = [at for at in parse.subtree(kid) if at not in left]
            if not tokens or tokens[-1] >= start or parse.relations[kid] in {"cc", "punct", "aux", "auxpass"}:
                continue
            if tokens[-1] - tokens[0] + 1 != len(tokens):
                raise _NotFollowedError
            stop = tokens[-1] + 1
            is_clause = parse.relations[kid] in {"advcl", "ccomp"}
            mark = next((s.lows[at] for at in tokens if parse.relations[at] in {"mark", "advmod"}), "")
            participle = parse.tags[kid] in {"VBN", "VBG"} and not self._has_subject(kid)
            if is_clause and parse.tags[kid].startswith("VB") and (mark in _APART or (participle and tokens[0] == kid)):
                apart.append(kid)
                continue
            if parse.relations[kid] == "ccomp":
                raise _NotFollowedError
            lasts = is_clause and bool(_CONDITIONS & {s.lows[at] for at in tokens[:3]})
            lasts = lasts or s.lows[tokens[0]] == "according"
            leads.append(((Piece(tokens[0], stop + (s.tags[stop : stop + 1] in (",", "-"))),), lasts))
        return leads, apart

    def _trailing(self, verb: int, kids: list[int], left: set[int]) -> list[int]:
        """Return the clauses behind the verb that stand apart: `although ...`, `, becoming ...`."""
        s, parse = self.s, self.parse
        found = []
        for kid in kids:
            if parse.relations[kid] != "advcl" or kid in left or kid < verb:
                continue
            tokens = parse.subtree(kid)
            mark = s.lows[tokens[0]]
            if mark in _APART and self._has_subject(kid) and parse.tags[kid] in {"VBD", "VBZ", "VBP", "VBN", "VB"}:
                found.append(kid)
        return found

    def _add_apart(self, kid: int, without: frozenset[int], subject: Fact, verb: int) -> None:
        """Add the facts of a clause that stands apart, or of a participle that is told of the subject."""
        s, parse = self.s, self.parse
        tokens = parse.subtree(kid)
        if self._has_subject(kid):
            marks = {at for at in tokens if parse.relations[at] == "mark" and parse.heads[at] == kid}
            self.clause(kid, without | marks | {tokens[0]} if s.lows[tokens[0]] in _APART else without | marks)
            return
        if parse.tags[kid] == "VBG":
            facts = told_by_gerunds(s, subject, tokens[0], tokens[-1] + 1, verb)
            if facts is None:
                raise _NotFollowedError
            self.found += facts
            return
        said = Piece(0, 0, be_with(be_like(s, verb, subject[0]), s.lows[kid : tokens[-1] + 1]))
        self.clause(kid, without, subject, (said,))

    def _told(self, tokens: list[int]) -> list[tuple[int, int]]:
        """Return nouns among these tokens with what is told of them in passing."""
        s, parse = self.s, self.parse
        found: list[tuple[int, int]] = []
        inside: set[int] = set()
        for noun in tokens:
            if noun in inside:
                continue
            for kid in parse.children[noun]:
                if kid not in tokens or kid in inside:
                    continue
                below = parse.subtree(kid)
                first = below[0]
                after_mark = first > 0 and s.tags[first - 1] in ",-"
                relation = parse.relations[kid]
                if s.tags[first] in "Qz" or not set(below) <= set(tokens):
                    continue
                is_told = (
                    (relation == "relcl" and (after_mark or self._is_said_to_be(noun)))
                    or (relation == "acl" and parse.tags[kid] == "VBN" and (after_mark or self._is_said_to_be(noun)))
                    or (relation == "appos" and after_mark and self._is_naming(noun, kid))
                )
                if is_told:
                    found.append((noun, kid))
                    inside |= set(below)
        return found

    def _is_said_to_be(self, noun: int) -> bool:
        """Whether a noun is what the subject is said to be: `is a shell`."""
        s, parse = self.s, self.parse
        if parse.relations[noun] != "attr":
            return False
        words = [s.lows[at] for at in parse.subtree(noun)]
        before = {s.lows[kid] for kid in parse.children[noun]}
        only = before & lex.ONLY or any(w.endswith("est") and w not in lex.NOT_SUPERLATIVE for w in before)
        return bool(before & {"a", "an"}) and not only and words[0] != "one"

    def _is_naming(self, noun: int, kid: int) -> bool:
        s, parse = self.s, self.parse
        first = parse.subtree(kid)[0]
        if parse.tags[kid] not in {"NN", "NNS", "NNP", "NNPS"} or s.lows[kid] in lex.MONTHS:
            return False
        if any(parse.relations[below] == "conj" for below in (*parse.children[noun],)):
            return False
        return s.lows[first] in {"a", "an", "the", "one"}

    def _add_told(self, noun: int, kid: int, verb: int, subject: Fact, without: frozenset[int]) -> None:
        s, parse = self.s, self.parse
        below = parse.subtree(kid)
        siblings = {
            at
            for other in parse.children[noun]
            if parse.relations[other] in {"relcl", "appos", "acl", "conj", "cc", "punct"} or other in without
            for at in parse.subtree(other)
        }
        tokens = self._trimmed(at for at in parse.subtree(noun) if at not in siblings)
        noun_pieces = pieces_of(tokens)
        is_said = self._is_said_to_be(noun) and parse.relations[kid] != "appos"
        if is_said:
            noun_pieces = subject
        stop = below[-1] + 1
        while stop > below[0] and s.tags[stop - 1] in ",.;-":
            stop -= 1
        if parse.relations[kid] == "appos":
            be = Piece(0, 0, be_like(s, verb, noun_pieces[0]))
            self.found.append((*noun_pieces, be, Piece(below[0], stop)))
        elif parse.relations[kid] == "acl":
            low = s.lows[verb] if is_said and s.lows[verb] in lex.BE else be_like(s, verb, noun_pieces[0])
            self.clause(kid, without, noun_pieces, (Piece(0, 0, be_with(low, s.lows[kid:stop])),))
        else:
            pronoun = next((at for at in below if parse.tags[at] in {"WDT", "WP", "WRB", "WP$"}), None)
            is_subject = pronoun is not None and parse.heads[pronoun] == kid and parse.relations[pronoun] in _SUBJECTS
            if is_subject and pronoun is not None:
                self.clause(kid, without | {pronoun}, noun_pieces)
                return
            facts = None if pronoun is None else relative_facts(s, noun_pieces, pronoun, stop)
            if facts is None:
                raise _NotFollowedError
            self.found += facts

    def _members(self, predicate: list[int]) -> list[Fact]:
        """Return the predicate once for each member of its list; itself where there is none."""
        whole = pieces_of(predicate)
        return members(self.s, whole[0].start, whole[0].end) if len(whole) == 1 else [whole]

    def _add_shared(self, verb: int, joined: list[int], predicate: list[int], before: Fact) -> bool:
        """`wrote and directed films`: the first verb shares what follows the second; False where it does not."""
        if not joined or predicate[-1] != verb or joined[0] != verb + 2:
            return False
        other = joined[0]
        tail = [at for at in self.parse.subtree(other) if at > other]
        nested = self._joined(other, self.parse.children[other])
        for kid in nested:
            below = set(self.parse.subtree(kid))
            tail = [at for at in tail if at not in below]
        tail = [at for at in tail if at not in self._links(nested)]
        follows = self.s.tags[tail[0]] if tail else ""
        if follows and (follows in "DXKNUJQ" or (follows == "P" and self.s.lows[tail[0]] in lex.SHARED)):
            self.found.append((*before, *pieces_of(predicate), *pieces_of(self._trimmed(tail))))
            return True
        return False

    def _borrowed(self, verb: int, kid: int, helper: Fact) -> Fact:
        """Return the helper that a joined verb borrows: `was born in A and raised in B`."""
        if self._is_finite(kid):
            return ()
        tokens = self.parse.subtree(kid)
        first = next((at for at in sorted({verb, *self.parse.children[verb]}) if self.s.tags[at] in "BHM"), verb)
        found = borrowed_by(self.s, first, helper[0] if helper else None, tokens[0], tokens[-1] + 1)
        return () if found is None else (found,)

    def _trimmed(self, tokens: Iterable[int]) -> list[int]:
        """Return the tokens without marks and links at both ends."""
        kept = list(tokens)
        while kept and (self.s.tags[kept[-1]] in ",;:-cu." and self.s.tags[kept[-1]] != "k"):
            kept.pop()
        while kept and self.s.tags[kept[0]] in ",;:-cu.":
            kept.pop(0)
        return kept


def pieces_of(tokens: Iterable[int]) -> Fact:
    """Return tokens as pieces: neighbours are one.

    >>> [(piece.start, piece.end) for piece in pieces_of([0, 1, 4])]
    [(0, 2), (4, 5)]
    """
    pieces: list[Piece] = []
    for at in tokens:
        if pieces and pieces[-1].end == at:
            pieces[-1] = Piece(pieces[-1].start, at + 1)
        else:
            pieces.append(Piece(at, at + 1))
    return tuple(pieces)
