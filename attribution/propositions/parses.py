"""The grammar of a sentence as the network reads it: a tag for each token, its head, and its relation to that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from propcite.retrieval.text import Span

TAGS = tuple(  # Penn Treebank's, and "-" for any other
    "- IN NN NNP DT JJ NNS , . RB VBD PRP CC VBN CD VBZ VB VBP VBG PRP$ TO MD WDT -RRB- -LRB- WRB HYPH POS NNPS `` WP"
    " '' : RP JJR JJS EX RBR RBS SYM PDT FW $ UH WP$".split()
)
RELATIONS = tuple(  # ClearNLP's, and "-" for any other
    "- prep pobj punct det nsubj compound amod advmod conj ROOT dobj cc aux poss nummod auxpass ccomp advcl attr mark"
    " nsubjpass relcl appos xcomp acomp acl pcomp neg npadvmod nmod case agent prt expl oprd quantmod dep csubj dative"
    " predet preconj parataxis csubjpass".split()
)


@dataclass(frozen=True)
class Parse:
    """Tags, heads and relations of a sentence's tokens; the head of a root is the root itself."""

    tags: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]

    @cached_property
    def children(self) -> list[list[int]]:
        """The tokens below each token, in the sentence's order."""
        below: list[list[int]] = [[] for _ in self.heads]
        for at, head in enumerate(self.heads):
            if head != at:
                below[head].append(at)
        return below

    def subtree(self, at: int, without: frozenset[int] = frozenset()) -> list[int]:
        """Return a token and all below it in the sentence's order; what is below `without` is left out."""
        found, waiting = [], [at]
        while waiting:
            token = waiting.pop()
            found.append(token)
            waiting += [child for child in self.children[token] if child not in without]
        return sorted(found)


def parse_of_tokens(places: Sequence[tuple[int, int]], parsed: Sequence[tuple[int, int, str, int, str]]) -> Parse:
    """Return the parse of these tokens from that of another tokenizer: (start, end, tag, head, relation) each.

    A token of several others is the one whose head is outside; a token of a part of another is below that part.

    >>> parse_of_tokens([(0, 3), (4, 9)], [(0, 3, "NNP", 1, "nsubj"), (4, 9, "VBZ", 1, "ROOT")])
    Parse(tags=('NNP', 'VBZ'), heads=(1, 1), relations=('nsubj', 'ROOT'))
    """
    token_of: list[int] = []
    at = 0
    for start, end, *_ in parsed:
        while at + 1 < len(places) and places[at][1] <= start:
            at += 1
        token_of.append(at if places and Span(*places[at]).overlaps(Span(start, end)) else -1)
    tags, heads, relations = ["-"] * len(places), list(range(len(places))), ["-"] * len(places)
    for number, token in enumerate(token_of):
        _, _, tag, head, relation = parsed[number]
        outside = head == number or (token_of[head] not in (-1, token))
        if token >= 0 and (outside or tags[token] == "-") and not (tags[token] != "-" and relations[token] != "-"):
            tags[token] = tag
            if outside:
                heads[token], relations[token] = token if head == number else token_of[head], relation
    return Parse(tuple(tags), tuple(heads), tuple(relations))


def tree_of(scores: npt.NDArray[np.float32]) -> list[int]:
    """Return each token's head from scores (token, head), without circles; a root is its own head.

    A circle is broken at the token that loses least by a head that does not hang on the circle itself.
    """
    n = len(scores)
    heads = [int(head) for head in scores.argmax(1)] if n else []
    if n and not any(head == at for at, head in enumerate(heads)):
        root = int(np.diagonal(scores).argmax())
        heads[root] = root
    while circle := _circle(heads):
        outside = [at for at in range(n) if not _hangs_on(heads, at, circle)]  # a root at least, and what hangs on it
        losses = [
            (float(scores[at, heads[at]] - scores[at, head]), at, head) for at in sorted(circle) for head in outside
        ]
        _, token, head = min(losses)
        heads[token] = head
    return heads


def _hangs_on(heads: Sequence[int], at: int, circle: set[int]) -> bool:
    """Return whether a token is part of a circle or hangs on one of its tokens."""
    for _ in heads:
        if at in circle:
            return True
        at = heads[at]
    return False


def _circle(heads: Sequence[int]) -> set[int]:
    """Return the tokens of a circle of heads; empty if there is none."""
    known = [0] * len(heads)
    for start in range(len(heads)):
        path: list[int] = []
        at = start
        while not known[at]:
            known[at] = start + 1
            path.append(at)
            if heads[at] == at:
                break
            at = heads[at]
        if heads[at] != at and known[at] == start + 1 and at in path:
            return set(path[path.index(at) :])
    return set()
