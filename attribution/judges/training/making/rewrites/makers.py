"""All makers that rewrite one sentence."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.rewrites import (
    clauses,
    comparisons,
    names,
    negation,
    numbers,
    quantifiers,
    roles,
    shortening,
    strength,
    words,
)
from propcite.attribution.judges.training.making.rewriting import Draft

if TYPE_CHECKING:
    from spacy.tokens import Doc

Maker = Callable[["Doc", random.Random], Iterator[Draft]]

REPLACING: tuple[Maker, ...] = (  # what makes any supported claim wrong, whatever its evidence
    names.crossed_names,
    numbers.number_moved,
    numbers.figure_changed,
    numbers.unit_changed,
    numbers.bound_turned,
    words.opposite_word,
    words.related_word,
    words.frequency_changed,
    words.preposition_changed,
    quantifiers.exclusion_turned,
    negation.not_added,
    negation.not_dropped,
    roles.roles_swapped,
    comparisons.comparison_turned,
)
MAKERS: tuple[Maker, ...] = (
    *REPLACING,
    names.list_reordered,
    quantifiers.quantifier_changed,
    quantifiers.quantifier_weakened,
    strength.hedge_dropped,
    strength.modal_dropped,
    strength.attribution_dropped,
    strength.condition_dropped,
    shortening.verbatim,
    shortening.adjective_dropped,
    shortening.scope_adjective_dropped,
    shortening.scope_phrase_dropped,
    shortening.adjunct_dropped,
    clauses.second_clause,
    clauses.first_clause,
    roles.voice_changed,
    roles.voice_and_roles_changed,
)
