"""Claims from sentences that people split into what they say: a part, the whole from its parts, and mixed-up parts."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from propcite.attribution.english import content_words, share_found
from propcite.attribution.judges.training.making.entities import Entity, entities_in
from propcite.attribution.judges.training.making.example import SUPPORTED, UNSUPPORTED, Example
from propcite.attribution.judges.training.making.passages import Split
from propcite.attribution.judges.training.making.rewrites.names import are_related, crossed_names
from propcite.attribution.judges.training.making.rewriting import Draft, is_whole, rewrite

if TYPE_CHECKING:
    from spacy.tokens import Doc

_UNSURE = re.compile(  # what stands under these is not said by itself
    r"\b(?:if|unless|when|whether|would|could|should|might|may|think|thinks|thought|believe|believes|believed|say|says|said|"
    r"claim|claims|claimed|feel|feels|argue|argues|argued|not|n't|never|no|only|most|because|since|although)\b",
    re.IGNORECASE,
)
_JOINED_SHARE = 0.95  # of the sentence's words that its parts must have together
_PART_SHARE = 0.8  # of a part's words that the sentence must have
_MISSING_WORDS = 3  # that no other part has
_REST = 0.35  # share of the splits that are joined again


def split_examples(split: Split, doc: Doc, strangers: Sequence[str], rng: random.Random) -> Iterator[Example]:
    """Yield at most one supported and one unsupported claim; the evidence may have another sentence beside it."""
    if not split.sentence[:1].isupper():
        return
    whole = len(split.propositions) > 1 and not _UNSURE.search(split.sentence) and rng.random() < _REST
    drafts = [*(_joined(split, rng) if whole else _part(split, doc, rng)), *_crossed(split, doc, rng)]
    for draft, evidence in drafts:
        shown = evidence
        if strangers and rng.random() < 0.4:
            shown = " ".join(rng.sample([evidence, rng.choice(strangers)], 2))
        yield Example(draft.claim, shown, draft.label, draft.kind, split.source, "", split.sentence[:80], draft.wrong)


def _part(split: Split, doc: Doc, rng: random.Random) -> Iterator[tuple[Draft, str]]:
    """Yield one proposition of the sentence, unless it may hold only under a condition or in somebody's words."""
    parts = [p for p in split.propositions if _is_clause(p, doc) and _is_covered(p, split.sentence)]
    if parts and not _UNSURE.search(split.sentence):
        yield Draft(rng.choice(parts), SUPPORTED, "split"), split.sentence


def _joined(split: Split, rng: random.Random) -> Iterator[tuple[Draft, str]]:
    """Yield the sentence with all of its parts as evidence, or without one of them."""
    parts = list(split.propositions)
    words = content_words(split.sentence)
    if not is_whole(split.sentence) or share_found(words, content_words(" ".join(parts))) < _JOINED_SHARE:
        return
    missing = rng.choice(parts)
    rest = " ".join(p for p in parts if p != missing)
    lost = (set(content_words(missing)) - set(content_words(rest))) & set(words)
    if rng.random() < 0.5:
        yield Draft(split.sentence, SUPPORTED, "joined"), " ".join(parts)
    elif len(lost) >= _MISSING_WORDS and rest:
        yield Draft(split.sentence, UNSUPPORTED, "part_missing", None), rest


def _crossed(split: Split, doc: Doc, rng: random.Random) -> Iterator[tuple[Draft, str]]:
    """Yield a proposition with a name that the sentence gives to something else, or the sentence with two exchanged."""
    entities = entities_in(doc)
    pairs = list(_exchangeable(split, doc, entities))
    if pairs:
        part, own, other = rng.choice(pairs)
        start = part.find(own.text)
        change = replace(own, start=start, end=start + len(own.text)).put(other.text)
        for draft in rewrite(part, [change], UNSUPPORTED, "split_crossed"):
            yield draft, split.sentence
    elif len(split.propositions) > 1:
        for draft in crossed_names(doc, rng):
            yield Draft(draft.claim, draft.label, "joined_crossed", draft.wrong), " ".join(split.propositions)


def _exchangeable(split: Split, doc: Doc, entities: Sequence[Entity]) -> Iterator[tuple[str, Entity, Entity]]:
    """Yield a proposition, an entity in it, and one of the other propositions that could stand in its place."""
    for part in split.propositions:
        for one, other in combinations(entities, 2):
            for own, foreign in ((one, other), (other, one)):
                placed = part.count(own.text) == 1 and foreign.text not in part and _is_clause(part, doc)
                if placed and own.fits(foreign) and not are_related(doc, one, other):
                    yield part, own, foreign


def _is_clause(part: str, doc: Doc) -> bool:
    """Return whether a part is a sentence: with a capital and with a finite verb of the whole sentence."""
    verbs = {t.text for t in doc if t.tag_ in ("VBD", "VBZ", "VBP", "VBN", "MD")}
    is_statement = part[:1].isupper() and "?" not in part and not verbs.isdisjoint(part.replace(".", " ").split())
    return is_statement and is_whole(part)


def _is_covered(part: str, sentence: str) -> bool:
    """Return whether the sentence has nearly all words of a part, and all of its numbers and names."""
    names = set(re.findall(r"\d[\w,.]*\d|\d|(?<=[a-z,] )[A-Z]\w+", part))
    return share_found(content_words(part), content_words(sentence)) >= _PART_SHARE and all(
        n in sentence for n in names
    )
