"""Examples for training the wording of claims: which words a claim holds, and the steps that write it as people did.

This module imports torch: import it only where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from propcite.attribution.english import Tagged, tag
from propcite.attribution.propositions.grouped.claims import held_tokens
from propcite.attribution.propositions.grouped.steps import ADDED, Form, Step, inflected
from propcite.attribution.propositions.grouped.writer import MAX_STEPS
from propcite.attribution.propositions.learned import LearnedSplitter
from propcite.attribution.propositions.matching import form, match
from propcite.attribution.propositions.metrics import jaccard
from propcite.attribution.propositions.sentence import without_markup
from propcite.attribution.propositions.training.examples import Example

MAX_TOKENS = 120  # claims of longer sentences are left out
MIN_SAME = 0.7  # Jaccard from which a claim of the network is one that people wrote
READ_AT_ONCE = 32  # sentences
_END_MARKS = frozenset(".!?")


@dataclass(frozen=True, slots=True)
class Wording:
    """A claim that people wrote of a sentence.

    `held` are its tokens; `grouped` holds the tokens of the claims of the network that are nearly the same.
    """

    states: Tensor  # of the sentence's tokens, in half precision
    words: tuple[str, ...]  # the tokens in small letters
    held: frozenset[int]
    grouped: tuple[frozenset[int], ...]
    steps: tuple[Step, ...]


def steps_of(s: Tagged, text: str) -> tuple[Step, ...] | None:
    """Return the steps that write a text from a sentence's words; None if it needs others or is too long.

    >>> from propcite.attribution.english import tag
    >>> s = tag("Ada, a poet, wrote books.", "Ada, a poet, wrote books.")
    >>> [step.added or step.token for step in steps_of(s, "Ada was a poet.")]
    [0, 'was', 2, 3]
    >>> steps_of(s, "Ada was a famous poet.")
    """
    written = list(tag(text, text).words)
    while written and written[-1] in _END_MARKS:
        written.pop()
    if not written or len(written) >= MAX_STEPS:
        return None
    at_token = match([_form(word) for word in written], [_form(word) for word in s.words])
    steps: list[Step] = []
    for number, word in enumerate(written):
        low, token = word.lower(), at_token.get(number)
        forms = (one for one in Form if token is not None and inflected(s.lows[token], one) == low)
        if (taken := next(forms, None)) is not None:
            steps.append(Step(token, taken))
        elif low in ADDED:
            steps.append(Step(None, added=low))
        else:
            return None
    return tuple(steps)


def _form(word: str) -> str:
    return form(word) if word[:1].isalnum() else word


def wordings_of(splitter: LearnedSplitter, examples: Sequence[Example], advance: Callable[[], None]) -> list[Wording]:
    """Return how people worded the claims of these sentences, beside what the splitter reads of each sentence.

    Empty if their words are not those of the sentences.
    """
    wordings: list[Wording] = []
    order = sorted((e for e in examples if e.facts), key=lambda e: len(e.sentence))
    for first in range(0, len(order), READ_AT_ONCE):
        some = order[first : first + READ_AT_ONCE]
        blanks = [without_markup(e.sentence) for e in some]
        tagged = [tag(e.sentence, blank) for e, blank in zip(some, blanks, strict=True)]
        for example, s, output in zip(some, tagged, splitter.outputs(blanks, tagged), strict=True):
            advance()
            if output is not None and len(s.words) <= MAX_TOKENS:
                groups, states = held_tokens(output.network), output.states.half().cpu()
                written = (steps for text in example.facts if (steps := steps_of(s, text)))
                wordings += (_wording(s, states, groups, steps) for steps in written)
    return [wording for wording in wordings if len(wording.held) > 1]


def _wording(s: Tagged, states: Tensor, groups: Sequence[frozenset[int]], steps: tuple[Step, ...]) -> Wording:
    said = {step.token for step in steps if step.token is not None}
    held = frozenset(token for token in said if s.words[token][:1].isalnum())
    same = tuple(group for group in groups if jaccard(group, held) >= MIN_SAME)
    return Wording(states, tuple(s.lows), held, same, steps)
