"""Which phrases of a clause are facts of their own: the grammar says where a claim may end, the network which do.

A network's row says, for a word that is some claim's own, which words that claim holds.  Phrases whose words' rows
agree are told together; what a row holds of the other phrases is told with them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage

from propcite.attribution.english.frames.asides import Aside, deeds, larger_place, titles
from propcite.attribution.english.frames.frames import Frame, frame, told_with
from propcite.attribution.english.frames.units import Unit, tokens_of
from propcite.attribution.english.grammar import Fact, Tagged
from propcite.attribution.english.grammar import lexicon as lex

Floats = npt.NDArray[np.float32]

OWN = 0.3  # the probability from which a word is taken to be one claim's own
AGREE = 0.4  # the agreement from which two phrases are told together
HELD = 0.5  # the mean probability from which a claim holds a phrase
NEAR = 0.3  # as HELD, for the phrase just before a claim's own: it may belong to its noun
MOST_CLAIMS = 12  # of one clause; subjects that would make more are told together


@dataclass(frozen=True, slots=True)
class Reading:
    """What the network says of a sentence: pairs of words, own words, and which words each token is."""

    pairs: Floats
    own: Floats
    words: Sequence[Sequence[int]]

    def anchors(self, tokens: Sequence[int]) -> list[int]:
        return [word for token in tokens for word in self.words[token] if self.own[word] >= OWN]


def chosen(s: Tagged, fact: Fact, reading: Reading, seen: Collection[int] = ()) -> list[Fact]:
    """The facts that a clause tells; itself where the network takes it for one.

    A lead that stands in `seen`, since an earlier claim tells it, is told again only where the network wants it.
    """
    framed = frame(s, fact)
    if framed is None:
        return [fact]
    claims, told = _in_passing(s, framed, reading)
    return [*_claims(s, fact, told, reading, told is not framed, seen), *claims]


def _in_passing(s: Tagged, framed: Frame, reading: Reading) -> tuple[list[Fact], Frame]:
    """What the network takes for claims of their own in a phrase, and the clause without what only they say."""
    claims: list[Fact] = []
    units: list[Unit] = []
    subject = [w for t in tokens_of(framed.subject) for w in reading.words[t]]
    verbs = [w for t in tokens_of(framed.verbs) for w in reading.words[t]]
    for unit in framed.units:
        done = deeds(s, unit, framed.subject, framed.verbs)
        if done and _stands_alone(done[0], verbs, reading):
            claims += [one.claim for one in done]
            units.append(replace(unit, pieces=()))
            continue
        place = larger_place(s, unit, framed.verbs)
        if place is not None and _stands_alone(place, subject, reading):
            claims.append(place.claim)
            unit = replace(unit, pieces=place.rest or unit.pieces)
        units.append(unit)
        claims += [one.claim for one in titles(s, unit.pieces, framed.verbs) if _stands_alone(one, subject, reading)]
    return claims, replace(framed, units=tuple(units)) if claims else framed


def _stands_alone(aside: Aside, others: Sequence[int], reading: Reading) -> bool:
    """Whether what says an aside speaks of its own words, and not of those others."""
    rows = reading.anchors(aside.said_by)
    if not rows or not others:
        return False
    names = [w for t in tokens_of(aside.claim) for w in reading.words[t]]
    of_others, of_names = (float(reading.pairs[np.ix_(rows, words)].mean()) for words in (others, names))
    return of_others < HELD <= of_names


def _claims(s: Tagged, fact: Fact, framed: Frame, reading: Reading, changed: bool, seen: Collection[int]) -> list[Fact]:
    frames = _by_doer(framed, reading)
    groups = _groups(framed, reading)
    units = framed.units
    leads = [at for at, unit in enumerate(units) if unit.is_lead]
    if len(groups) < 2:
        groups = [[at for at in range(len(units)) if at not in leads]]
        again = [at for at in leads if set(units[at].tokens) <= set(seen)]
        if not groups[0] or (len(frames) < 2 and not changed and not again):
            return [fact]
    told = [list(claim) for claim in dict.fromkeys(_completed(s, framed, group, reading) for group in groups)]
    held = set().union(*told)
    for at in range(len(units)):
        if at not in held and not (at in leads and set(units[at].tokens) <= set(seen)):
            best = 0 if at in leads else len(told) - 1  # a lead that no claim needs stays with the first
            told[best] = sorted({*told[best], at})
    if len(frames) * len(told) > MOST_CLAIMS:
        frames = [framed]
    return [told_with(s, one, claim, first=number == 0) for number, claim in enumerate(told) for one in frames]


def _by_doer(framed: Frame, reading: Reading) -> list[Frame]:
    """The frame once for each of its subjects, where the network takes them for claims of their own."""
    anchors = [reading.anchors(tokens_of(subject)) for subject, _ in framed.doers]
    if len(anchors) < 2 or not all(anchors):
        return [framed]
    every = [word for found in anchors for word in found]
    whose = np.array([number for number, found in enumerate(anchors) for _ in found])
    agree = agreement(reading.pairs, every)
    if agree[whose[:, None] != whose[None, :]].mean() >= AGREE:
        return [framed]
    return [replace(framed, subject=subject, verbs=verbs) for subject, verbs in framed.doers]


def _groups(framed: Frame, reading: Reading) -> list[list[int]]:
    """The units by the claim that the network takes them for, in the order of the sentence."""
    anchors = [reading.anchors(unit.tokens) for unit in framed.units]
    units = framed.units
    own = [
        at for at, found in enumerate(anchors) if (found or units[at].instead_of is not None) and not units[at].is_lead
    ]
    anchors = [
        found or [w for t in unit.tokens for w in reading.words[t]] for unit, found in zip(units, anchors, strict=True)
    ]
    if any(units[at].instead_of is not None for at in own):  # several awards, and then each of them
        own = sorted({*own, *(units[at].instead_of or 0 for at in own if units[at].instead_of is not None)})
    own = [at for at in own if anchors[at]]
    if len(own) < 2:
        return []
    every = [word for at in own for word in anchors[at]]
    unit_of = np.array([at for at in own for _ in anchors[at]])
    agree = agreement(reading.pairs, every)
    apart = np.zeros((len(own), len(own)))
    for i, one in enumerate(own):
        for j, other in enumerate(own):
            if i != j:
                alike = agree[np.ix_(unit_of == one, unit_of == other)].mean()
                replaced = (units[one].instead_of is None) != (units[other].instead_of is None)
                apart[i, j] = 1.0 if replaced else 1 - alike
    number = fcluster(linkage(apart[np.triu_indices(len(own), 1)], "average"), 1 - AGREE, "distance")
    groups: dict[int, list[int]] = {}
    for at, group in zip(own, number, strict=True):
        groups.setdefault(group, []).append(at)
    return sorted(_with_whole_lists(framed, list(groups.values())))


def _with_whole_lists(framed: Frame, groups: list[list[int]]) -> list[list[int]]:
    """Members of a list are told one by one or all together: where two stand apart, each does."""
    out: list[list[int]] = []
    parted = {
        framed.units[at].of_list
        for group in groups
        for at in group
        if any(framed.units[o].of_list == framed.units[at].of_list for other in groups if other != group for o in other)
    } - {None}
    for group in groups:
        members = [at for at in group if framed.units[at].of_list in parted and not framed.units[at].is_quality]
        rest = [at for at in group if at not in members]
        out += [[at] for at in members[1:]]
        if members or rest:
            out.append(sorted([*members[:1], *rest]))
    return out


def _completed(s: Tagged, framed: Frame, group: Sequence[int], reading: Reading) -> tuple[int, ...]:
    """The group with the units that its claim cannot do without."""
    units = framed.units
    rows = [word for at in group for word in reading.anchors(units[at].tokens)]
    row = reading.pairs[rows].mean(0) if rows else np.zeros(len(reading.own), dtype=np.float32)
    lists = {units[at].of_list for at in group} - {None}
    replaced = {k for at in group if units[at].instead_of is not None for k in range(units[at].instead_of or 0, at)}
    out = set(group) - replaced
    for at, unit in enumerate(units):
        if at in out or at in replaced or unit.of_list in lists or unit.instead_of is not None:
            continue
        words = [w for t in unit.tokens for w in reading.words[t] if s.lows[t] not in lex.FUNCTION_WORDS]
        near = at + 1 == min(group) and not units[min(group)].joint
        held = bool(words) and float(np.mean(row[words])) >= (NEAR if near else HELD)
        held = held or (near and units[min(group)].is_attached)
        wanted = unit.is_object and not replaced and not _may_drop(s, framed, group)
        if held or wanted:
            out.add(at)
    if any(units[at].is_quality for at in group) and not any(units[at].is_object for at in group):
        out -= {at for at in out if units[at].is_object}
    return tuple(sorted(out))


def _may_drop(s: Tagged, framed: Frame, group: Sequence[int]) -> bool:
    tokens = framed.units[min(group)].tokens
    return framed.is_copula and bool(tokens) and s.lows[tokens[0]] in {"in", "from", "at", "near", "on"}


def agreement(pairs: Floats, words: Sequence[int]) -> Floats:
    """How far two words speak of the same claim: alike rows, and each in the other's claim.  (n, n), a words -> (a, a)

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
