"""Select which phrases of a clause are claims of their own: the grammar offers phrases, the network's scores decide.

The network's matrix has a row per word: if the word belongs to one claim alone, the row says which words are in that
claim.  Phrases whose rows agree are one claim; other phrases that their rows contain are added to it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage

from propcite.attribution.english import (
    Aside,
    Fact,
    Frame,
    Tagged,
    Unit,
    deeds,
    frame,
    larger_place,
    titles,
    tokens_of,
    told_with,
)
from propcite.attribution.english import lexicon as lex

Floats = npt.NDArray[np.float32]

MIN_OWN = 0.3  # probability from which a word counts as one claim's own
MIN_AGREEMENT = 0.4  # of two phrases in one claim
MIN_HELD = 0.5  # mean probability from which a claim contains a phrase
MIN_HELD_NEAR = 0.3  # the same for the phrase just before a claim's own, which may belong to its noun
MAX_CLAIMS = 12  # per clause; with more, the subjects share their claims


@dataclass(frozen=True, slots=True)
class NetworkOutput:
    """The network's scores for a sentence: which word's claim contains which word, and which words are a claim's own.

    `words` lists, for each token of the grammar, the network's words that it consists of.
    """

    pairs: Floats
    own: Floats
    words: Sequence[Sequence[int]]

    def anchors(self, tokens: Sequence[int]) -> list[int]:
        """Return the words of these tokens that are one claim's own."""
        return [word for word in self.words_of(tokens) if self.own[word] >= MIN_OWN]

    def words_of(self, tokens: Sequence[int]) -> list[int]:
        return [word for token in tokens for word in self.words[token]]


def select_claims(s: Tagged, fact: Fact, output: NetworkOutput, seen: Collection[int] = ()) -> list[Fact]:
    """Return the claims of a clause; the clause itself if it is one claim.

    `seen` holds the tokens of earlier claims: a lead phrase among them is repeated only where the network contains it.
    """
    clause = frame(s, fact)
    if clause is None:
        return [fact]
    asides, rest = _split_asides(s, clause, output)
    return [*_claims(s, fact, rest, output, rest is not clause, seen), *asides]


def _split_asides(s: Tagged, clause: Frame, output: NetworkOutput) -> tuple[list[Fact], Frame]:
    """Return the claims that the network finds within phrases, and the clause without their words."""
    claims: list[Fact] = []
    units: list[Unit] = []
    subject = output.words_of(tokens_of(clause.subject))
    verbs = output.words_of(tokens_of(clause.verbs))
    for unit in clause.units:
        actions = deeds(s, unit, clause.subject, clause.verbs)
        if actions and _stands_alone(actions[0], verbs, output):
            claims += [action.claim for action in actions]
            units.append(replace(unit, pieces=()))
            continue
        place = larger_place(s, unit, clause.verbs)
        if place is not None and _stands_alone(place, subject, output):
            claims.append(place.claim)
            unit = replace(unit, pieces=place.rest or unit.pieces)
        units.append(unit)
        claims += [a.claim for a in titles(s, unit.pieces, clause.verbs) if _stands_alone(a, subject, output)]
    return claims, replace(clause, units=tuple(units)) if claims else clause


def _stands_alone(aside: Aside, others: Sequence[int], output: NetworkOutput) -> bool:
    """Return whether the rows of an aside contain its own words and not the others."""
    rows = output.anchors(aside.said_by)
    if not rows or not others:
        return False
    own = output.words_of(tokens_of(aside.claim))
    of_others, of_own = (float(output.pairs[np.ix_(rows, words)].mean()) for words in (others, own))
    return of_others < MIN_HELD <= of_own


def _claims(
    s: Tagged, fact: Fact, clause: Frame, output: NetworkOutput, is_changed: bool, seen: Collection[int]
) -> list[Fact]:
    frames = _per_subject(clause, output)
    groups = _groups(clause, output)
    units = clause.units
    leads = [at for at, unit in enumerate(units) if unit.is_lead]
    seen_leads = [at for at in leads if set(units[at].tokens) <= set(seen)]
    if len(groups) < 2:
        groups = [[at for at in range(len(units)) if at not in leads]]
        if not groups[0] or (len(frames) < 2 and not is_changed and not seen_leads):
            return [fact]
    claims = [list(claim) for claim in dict.fromkeys(_completed(s, clause, group, output) for group in groups)]
    covered = set().union(*claims)
    for at in range(len(units)):
        if at not in covered and at not in seen_leads:
            best = 0 if at in leads else len(claims) - 1  # a lead that no claim contains goes with the first
            claims[best] = sorted({*claims[best], at})
    if len(frames) * len(claims) > MAX_CLAIMS:
        frames = [clause]
    return [told_with(s, one, claim, first=number == 0) for number, claim in enumerate(claims) for one in frames]


def _per_subject(clause: Frame, output: NetworkOutput) -> list[Frame]:
    """Return the clause once per subject if the network finds separate claims, else once."""
    anchors = [output.anchors(tokens_of(subject)) for subject, _ in clause.doers]
    if len(anchors) < 2 or not all(anchors):
        return [clause]
    words = [word for own in anchors for word in own]
    subject_of = np.array([number for number, own in enumerate(anchors) for _ in own])
    agree = agreement(output.pairs, words)
    if agree[subject_of[:, None] != subject_of[None, :]].mean() >= MIN_AGREEMENT:
        return [clause]
    return [replace(clause, subject=subject, verbs=verbs) for subject, verbs in clause.doers]


def _groups(clause: Frame, output: NetworkOutput) -> list[list[int]]:
    """Return the units grouped into claims, in the order of the sentence; empty if fewer than two have own words."""
    units = clause.units
    own_words = [output.anchors(unit.tokens) for unit in units]
    own = [at for at, unit in enumerate(units) if (own_words[at] or unit.instead_of is not None) and not unit.is_lead]
    anchors = [words or output.words_of(unit.tokens) for unit, words in zip(units, own_words, strict=True)]
    if any(units[at].instead_of is not None for at in own):  # several awards, and then each of them
        own = sorted({*own, *(units[at].instead_of or 0 for at in own if units[at].instead_of is not None)})
    own = [at for at in own if anchors[at]]
    if len(own) < 2:
        return []
    distances = _distances(units, own, anchors, output)
    return sorted(_with_split_lists(clause, agreeing(own, distances)))


def agreeing(items: Sequence[int], distances: npt.NDArray[np.float64]) -> list[list[int]]:
    """Return at least two items in groups that agree on average, given how far each two are from one claim.  (n, n)"""
    pairs = distances[np.triu_indices(len(items), 1)]
    labels = fcluster(linkage(pairs, "average"), 1 - MIN_AGREEMENT, "distance")
    groups: dict[int, list[int]] = {}
    for item, label in zip(items, labels, strict=True):
        groups.setdefault(label, []).append(item)
    return list(groups.values())


def _distances(
    units: Sequence[Unit], own: Sequence[int], anchors: Sequence[Sequence[int]], output: NetworkOutput
) -> npt.NDArray[np.float64]:
    """Return how far each two of these units are from being one claim.  (n, n)"""
    agree = agreement(output.pairs, [word for at in own for word in anchors[at]])
    unit_of = np.array([at for at in own for _ in anchors[at]])
    distances = np.zeros((len(own), len(own)))
    for i, one in enumerate(own):
        for j, other in enumerate(own):
            if i != j:
                alike = agree[np.ix_(unit_of == one, unit_of == other)].mean()
                is_replaced = (units[one].instead_of is None) != (units[other].instead_of is None)
                distances[i, j] = 1.0 if is_replaced else 1 - alike
    return distances


def _with_split_lists(clause: Frame, groups: list[list[int]]) -> list[list[int]]:
    """Split a list's members into one group each if any two of them are in different groups."""
    list_of = [unit.of_list for unit in clause.units]
    split = {
        list_of[at]
        for group in groups
        for at in group
        if any(list_of[o] == list_of[at] for other in groups if other != group for o in other)
    } - {None}
    result: list[list[int]] = []
    for group in groups:
        members = [at for at in group if list_of[at] in split and not clause.units[at].is_quality]
        rest = [at for at in group if at not in members]
        result += [[at] for at in members[1:]]
        if members or rest:
            result.append(sorted([*members[:1], *rest]))
    return result


def _completed(s: Tagged, clause: Frame, group: Sequence[int], output: NetworkOutput) -> tuple[int, ...]:
    """Return the group with the other units that its claim needs."""
    units, first = clause.units, min(group)
    rows = [word for at in group for word in output.anchors(units[at].tokens)]
    row = output.pairs[rows].mean(0) if rows else np.zeros(len(output.own), dtype=np.float32)
    lists = {units[at].of_list for at in group} - {None}
    replaced = {k for at in group if units[at].instead_of is not None for k in range(units[at].instead_of or 0, at)}
    claim = set(group) - replaced
    for at, unit in enumerate(units):
        if at in claim or at in replaced or unit.of_list in lists or unit.instead_of is not None:
            continue
        words = output.words_of([t for t in unit.tokens if s.lows[t] not in lex.FUNCTION_WORDS])
        is_near = at + 1 == first and not units[first].joint
        is_held = bool(words) and float(np.mean(row[words])) >= (MIN_HELD_NEAR if is_near else MIN_HELD)
        is_held = is_held or (is_near and units[first].is_attached)
        if is_held or (unit.is_object and not replaced and not _may_drop_object(s, clause, group)):
            claim.add(at)
    if any(units[at].is_quality for at in group) and not any(units[at].is_object for at in group):
        claim -= {at for at in claim if units[at].is_object}
    return tuple(sorted(claim))


def _may_drop_object(s: Tagged, clause: Frame, group: Sequence[int]) -> bool:
    tokens = clause.units[min(group)].tokens
    return clause.is_copula and bool(tokens) and s.lows[tokens[0]] in {"in", "from", "at", "near", "on"}


def agreement(pairs: Floats, words: Sequence[int]) -> Floats:
    """Return how far each two words are in one claim: similar rows, and each in the other's claim.  (n, n) -> (a, a)

    >>> agreement(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=np.float32), [0, 1, 2]).round(1).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    rows = pairs[list(words)]
    smaller = np.minimum(rows[:, None, :], rows[None, :, :]).sum(-1)
    larger = np.maximum(rows[:, None, :], rows[None, :, :]).sum(-1)
    among = rows[:, list(words)]
    mutual = np.minimum(among, among.T)
    both: Floats = 0.5 * smaller / np.maximum(larger, 1e-6) + 0.5 * mutual
    np.fill_diagonal(both, 1.0)
    return both
