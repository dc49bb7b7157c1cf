"""The words that a claim of the network holds, completed and linked by the parse."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from propcite.attribution.english import Tagged
from propcite.attribution.english import lexicon as lex
from propcite.attribution.propositions.parses import Parse

_PARTS = frozenset("neg prt aux auxpass case quantmod".split())
_DETERMINERS = frozenset("det poss".split())
_JOINING = frozenset("and or but both".split())
_CHANGING = (lex.DENYING - {"nobody", "nothing", "none"}) | frozenset("or than only either if unless except".split())
_RESTRICTING = frozenset("acl pobj prep relcl xcomp".split())
_MARKS = frozenset(", ; : – — -".split())


class HeldWords:
    """Tokens of one claim, and which of them each hangs on: a list's member stands where its list begins."""

    def __init__(self, s: Tagged, parse: Parse, tokens: Iterable[int]) -> None:
        self.s, self.parse = s, parse
        self.tokens = set(tokens)
        self._complete()
        self._drop_loose_ends()
        self._drop_borrowed_helpers()
        self.heads = {at: self._head(at) for at in sorted(self.tokens)}

    def is_word(self, at: int) -> bool:
        return any(char.isalnum() for char in self.s.words[at])

    def kids(self, at: int) -> list[int]:
        """Return the tokens that hang on this one, in the sentence's order."""
        return [token for token, (head, _) in self.heads.items() if head == at]

    def below(self, at: int) -> list[int]:
        """Return a token and all that hang on it, in the sentence's order."""
        found: set[int] = set()
        waiting = [at]
        while waiting:
            token = waiting.pop()
            if token not in found:
                found.add(token)
                waiting += self.kids(token)
        return sorted(found)

    def tops(self) -> list[int]:
        """Return the words that hang on no other."""
        return [at for at, (head, _) in self.heads.items() if head is None and self.is_word(at)]

    def dangles(self) -> bool:
        """Return whether a preposition has lost its object, or an object its preposition."""
        holding = {head for head, _ in self.heads.values()}
        relations, tags = self.parse.relations, self.parse.tags
        for at, (head, _) in self.heads.items():
            if relations[at] == "pobj" and head is None:
                return True
            needs = any(relations[kid] in {"pobj", "pcomp"} for kid in self.parse.children[at])
            if relations[at] in {"prep", "agent"} and tags[at] in {"IN", "TO"} and needs and at not in holding:
                return True
        return False

    def loses_meaning(self) -> bool:
        """Return whether what is left out would change what the rest says: `neither`, `or`, `the first to`."""
        lows = self.s.lows
        if any(self._is_torn(at) for at in self.tokens):
            return True
        if any(lows[at] in _CHANGING and self._above(at) & self.tokens for at in set(range(len(lows))) - self.tokens):
            return True
        return not all(self._holds_all_below(head) for at in self.tokens for head in self._limited_by(at))

    def _is_torn(self, at: int) -> bool:
        """Return whether `as` or `that` stands without its verb, or the verb of `what is kept` without its subject."""
        parse = self.parse
        if parse.relations[at] == "mark":
            return parse.heads[at] not in self.tokens
        lost = [
            kid for kid in parse.children[at] if parse.relations[kid].startswith("nsubj") and kid not in self.tokens
        ]
        return bool(lost) and parse.relations[at] in {"csubj", "csubjpass", "ccomp", "pcomp"}

    def _limited_by(self, at: int) -> set[int]:
        """Return the words of which all must be held, because this one limits them: `first`, `only`, `between`."""
        low = self.s.lows[at]
        if low == "between":
            return {at}
        if low == "only":
            return self._above(at) & self.tokens
        is_limit = low in lex.ONLY or self.parse.tags[at] in {"JJS", "RBS"}
        return {self.parse.heads[at]} if is_limit else set()

    def _above(self, at: int) -> set[int]:
        """Return what a token hangs on in the whole sentence."""
        found: set[int] = set()
        while self.parse.heads[at] not in {at, *found}:
            at = self.parse.heads[at]
            found.add(at)
        return found

    def _holds_all_below(self, at: int) -> bool:
        """Return whether no word is left out that hangs on this one without a mark before it."""
        for kid in self.parse.children[at]:
            if (
                kid not in self.tokens
                and self.is_word(kid)
                and self.parse.relations[kid] not in {"conj", "cc", "preconj"}
            ):
                first = self.parse.subtree(kid)[0]
                if not first or self.s.words[first - 1] not in _MARKS:
                    return False
            is_part = kid in self.tokens and self.parse.relations[kid] in _RESTRICTING
            if is_part and not self._holds_all_below(kid):
                return False
        return True

    def _complete(self) -> None:
        """Add what a word cannot be without, and the marks between two words."""
        waiting = list(self.tokens)
        while waiting:
            new = self._missing(waiting.pop()) - self.tokens
            self.tokens |= new
            waiting += new
        held = sorted(self.tokens)
        for one, other in pairwise(held):
            if not any(self.is_word(at) for at in range(one + 1, other)):
                self.tokens.update(range(one + 1, other))

    def _missing(self, at: int) -> set[int]:
        parse, kids = self.parse, self.parse.children[at]
        relation, head = parse.relations[at], parse.heads[at]
        has_determiner = any(kid in self.tokens and parse.relations[kid] in _DETERMINERS for kid in kids)
        found = {kid for kid in kids if parse.relations[kid] in _PARTS or self._is_part_of_name(kid, at)}
        found |= {kid for kid in kids if parse.relations[kid] in _DETERMINERS and not has_determiner}
        if relation == "conj" and head in self.tokens:
            found |= {kid for kid in parse.children[head] if kid < at and parse.relations[kid] == "cc"}
        if relation in {"pobj", "pcomp"} and parse.heads[head] in self.tokens:
            found.add(head)
        return found

    def _is_part_of_name(self, kid: int, at: int) -> bool:
        names = self.parse.tags[at].startswith("NNP") and self.parse.tags[kid].startswith("NNP")
        is_near = self.parse.relations[kid] in {"compound", "amod", "nmod"} and kid < at
        return names and is_near and not self.s.lows[kid].endswith(lex.DEMONYM_ENDINGS)

    def _drop_loose_ends(self) -> None:
        """Drop `and` without a second member, and marks at both ends."""
        relations, heads = self.parse.relations, self.parse.heads
        members = {heads[at] for at in self.tokens if relations[at] == "conj"} & self.tokens
        for at in sorted(self.tokens):
            if (
                self.s.lows[at] in _JOINING
                and relations[at] in {"cc", "preconj"}
                and (heads[at] not in members or not self.tokens & {at - 1, at - 2})
            ):
                self.tokens.discard(at)
        tags = self.parse.tags
        for at in [at for at in self.tokens if relations[at] == "compound" and tags[at].startswith("NNP")]:
            if heads[at] not in self.tokens and tags[heads[at]].startswith("NNP"):
                self.tokens.discard(at)
        for at in [at for at in self.tokens if relations[at] == "prep" and at in members]:
            if not self.tokens & {kid for kid in self.parse.children[at] if relations[kid] in {"pobj", "pcomp"}}:
                self.tokens.discard(at)
        for end in (min, max):
            while self.tokens and self.s.words[end(self.tokens)] in _MARKS:
                self.tokens.discard(end(self.tokens))

    def _drop_borrowed_helpers(self) -> None:
        """`was opened and holds letters`: the second verb does not take the first one's helper."""
        parse = self.parse
        for at in sorted(self.tokens):
            verb = parse.heads[at]
            if parse.relations[at] not in {"aux", "auxpass"} or verb in self.tokens:
                continue
            other = self._member(verb, at)
            if other is not None and parse.tags[other] in {"VBD", "VBZ", "VBP"}:
                self.tokens.discard(at)

    def _head(self, at: int) -> tuple[int | None, str]:
        """Return the token that this one hangs on, and the relation: what is left out between them is skipped."""
        parse = self.parse
        relation, below, head = parse.relations[at], at, parse.heads[at]
        for _ in parse.heads:
            if head == below:
                break
            if head in self.tokens:
                return head, relation
            member = None if relation == "conj" else self._member(head, below)
            if member is not None:
                return member, relation
            above = parse.heads[head]
            if relation == "conj":
                relation = parse.relations[head]
            elif self._is_said_of_attribute(head, above, relation):
                return above, relation
            elif parse.relations[head] != "conj":
                return None, relation
            below, head = head, above
        return None, relation

    def _is_said_of_attribute(self, noun: int, verb: int, relation: str) -> bool:
        """`is a Swiss manager from Jura`: is Swiss, is from Jura."""
        is_attribute = self.parse.relations[noun] == "attr" and self.s.lows[verb] in lex.BE
        return is_attribute and verb in self.tokens and relation in {"amod", "prep"}

    def _member(self, at: int, without: int) -> int | None:
        """Return a held member of the list that begins with this token; None if there is none."""
        waiting, relations, children = [at], self.parse.relations, self.parse.children
        for _ in relations:
            waiting = [kid for one in waiting for kid in children[one] if relations[kid] == "conj" and kid != without]
            if held := [kid for kid in waiting if kid in self.tokens]:
                return held[0]
            if not waiting:
                break
        return None
