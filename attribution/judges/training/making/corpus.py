"""Make examples for training a judge from files of rows: `make_examples`."""

from __future__ import annotations

import random
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from propcite.attribution.judges.training.making import neighbours
from propcite.attribution.judges.training.making.entities import Entity, entities_in
from propcite.attribution.judges.training.making.example import (
    CONTRADICTED,
    SUPPORTED,
    UNSUPPORTED,
    YES_NO,
    Example,
    Spans,
)
from propcite.attribution.judges.training.making.held_out import HeldOut
from propcite.attribution.judges.training.making.lexicon import Lexicon
from propcite.attribution.judges.training.making.passages import (
    Passage,
    Texts,
    YesNoQuestion,
    read_texts,
)
from propcite.attribution.judges.training.making.pipeline import load_parser
from propcite.attribution.judges.training.making.questions import question_drafts
from propcite.attribution.judges.training.making.rewrites import names
from propcite.attribution.judges.training.making.rewrites.lexical import lexical_drafts
from propcite.attribution.judges.training.making.rewrites.makers import MAKERS, REPLACING
from propcite.attribution.judges.training.making.rewriting import Draft, compose, is_prose
from propcite.attribution.judges.training.making.scenarios.scenes import scene_examples
from propcite.attribution.judges.training.making.splits import split_examples
from propcite.attribution.judges.training.making.statements import statement_of
from propcite.retrieval.sentences import split_sentences

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_Item = TypeVar("_Item")

MIN_TOKENS, MAX_TOKENS = 7, 50  # of a sentence that is rewritten
SECOND_SHARE = 0.25  # of the sentences that give a second wrong claim
VERBATIM_SHARE = 0.4
MOST_SHARE = 0.08  # of the claims that a kind may have, from so many of it on:
MIN_OF_A_KIND = 40
REVERSED_SHARE = 0.5  # of the changes that also stand in the evidence: beside the first sentence, or beside themselves
SHARED_WORDS = frozenset(  # changes whose words the evidence may have
    "crossed roles_swapped comparison_turned number_moved bound_turned frequency preposition exclusion not_added "
    "not_dropped".split()
)
REVERSIBLE = SHARED_WORDS | frozenset(  # changes that are as wrong the other way round
    "other_name other_number foreign_name figure unit_changed opposite antonym sibling relation quantifier".split()
)
MIN_CLAIM_TOKENS = 5
CLAIM_SHARE = 0.7  # of the supported claims of people that are also rewritten
FOREIGN_SHARE = 0.3  # of the sentences that get a name of another passage
TOGETHER_SHARE = 0.25  # of the rewritten sentences whose claim also stands before that of a later one
_AROUND = (0, 1, 2, 3, 7)  # at most this many sentences on each side of those that are needed
_BATCH = 64  # passages that are parsed at once
_STRANGERS = 400  # names of earlier passages that are kept


def make_examples(
    files: Sequence[Path],
    parser: str,
    *,
    held_out: Sequence[Path] = (),
    lexicon: Path | None = None,
    scenes: int = 0,
    seed: int = 7,
    note: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Iterator[Example]:
    """Yield examples made from the rows of these files; the same files, parser, lexicon and seed give the same ones.

    What shares a title or a sentence with the held-out files is left out.  `lexicon` is a folder of WordNet's files:
    without it no word gets a sibling or a synonym.  `scenes` is the number of made-up scenes of each kind.
    """
    corpus = Corpus(load_parser(parser), seed, Lexicon(lexicon) if lexicon else None)
    texts = read_texts(files, HeldOut(held_out))
    note(
        f"{len(texts.passages)} passages, {len(texts.splits)} split sentences, {len(texts.yes_no)} yes/no questions, "
        f"{len(texts.claims)} labelled claims; {texts.held_out} rows held out, {texts.unknown} of an unknown form"
    )
    yield from corpus.examples(texts, progress)
    yield from scene_examples(scenes, [p.sentences for p in texts.passages], random.Random(seed))


@dataclass(slots=True)
class _Parsed:
    passage: Passage
    sentences: list[Doc]
    questions: list[Doc]


class Corpus:
    """Makes the examples of texts, and prefers the kinds of which there are few so far."""

    def __init__(self, pipeline: Language, seed: int, lexicon: Lexicon | None = None) -> None:
        self._pipeline, self._lexicon = pipeline, lexicon
        self._rng = random.Random(seed)
        self._made: Counter[str] = Counter()
        self._seen: set[str] = set()  # sentences that were rewritten
        self._strangers: deque[Entity] = deque(maxlen=_STRANGERS)

    def examples(self, texts: Texts, progress: Callable[[int, int], None]) -> Iterator[Example]:
        total = len(texts.passages) + len(texts.splits) + len(texts.yes_no) + len(texts.claims)
        done = 0
        for passages in _batches(texts.passages):
            for parsed in self._parse(passages):
                yield from self._of_passage(parsed)
            progress(done := done + len(passages), total)
        others = [split.sentence for split in texts.splits]
        for splits in _batches(texts.splits):
            for split, doc in zip(splits, self._docs([s.sentence for s in splits]), strict=True):
                yield from split_examples(split, doc, others, self._rng)
            progress(done := done + len(splits), total)
        for asked in _batches(texts.yes_no):
            for question, doc in zip(asked, self._docs([q.text for q in asked]), strict=True):
                yield from _of_yes_no(question, doc)
            progress(done := done + len(asked), total)
        for claims in _batches(texts.claims):
            yield from claims
            for claim in (one for one in claims if one.label == SUPPORTED):
                sentences = [span.of(claim.evidence) for span in split_sentences(claim.evidence)]
                if silent := neighbours.silenced(claim, sentences):
                    yield silent
            supported = [c for c in claims if c.label == SUPPORTED and self._rng.random() < CLAIM_SHARE]
            for claim, doc in zip(supported, self._docs([c.claim for c in supported]), strict=True):
                yield from self._of_claim(claim, doc)
            progress(done := done + len(claims), total)

    def _docs(self, texts: Sequence[str]) -> list[Doc]:
        return list(self._pipeline.pipe(texts, batch_size=_BATCH))

    def _parse(self, passages: Sequence[Passage]) -> Iterator[_Parsed]:
        docs = iter(self._docs([t for p in passages for t in (*p.sentences, *(q.text for q in p.questions))]))
        for passage in passages:
            sentences = [next(docs) for _ in passage.sentences]
            yield _Parsed(passage, sentences, [next(docs) for _ in passage.questions])

    def _of_passage(self, parsed: _Parsed) -> Iterator[Example]:
        passage = parsed.passage
        entities = [e for number, doc in enumerate(parsed.sentences) for e in entities_in(doc, number)]
        made: list[tuple[int, Draft]] = []
        for number, doc in enumerate(parsed.sentences):
            if MIN_TOKENS <= len(doc) <= MAX_TOKENS and is_prose(doc.text) and doc.text not in self._seen:
                self._seen.add(doc.text)
                drafts = self._chosen(list(self._drafts(parsed, number, entities)))
                made += [(number, draft) for draft in drafts]
                for draft in drafts:
                    yield from self._shown(passage, number, draft)
        yield from self._together(passage, made)
        for question, asked in zip(passage.questions, parsed.questions, strict=True):
            for number, draft in question_drafts(asked, question, parsed.sentences, entities, self._rng):
                yield from self._shown(passage, number, draft)
        for number, evidence in neighbours.absent_sentences(passage.sentences, passage.title):
            yield _example(passage, Draft(passage.sentences[number], UNSUPPORTED, "absent", None), evidence)
        self._strangers.extend(self._rng.sample(entities, min(len(entities), 6)))

    def _drafts(self, parsed: _Parsed, number: int, entities: Sequence[Entity]) -> Iterator[Draft]:
        doc, title, rng = parsed.sentences[number], parsed.passage.title, self._rng
        for make in MAKERS:
            yield from make(doc, rng)
        if self._lexicon:
            yield from lexical_drafts(doc, self._lexicon, rng)
        yield from names.name_of_another_sentence(doc, rng, number, entities)
        if rng.random() < FOREIGN_SHARE:
            yield from names.name_of_another_passage(doc, rng, self._strangers)
        if number:
            before = parsed.sentences[number - 1]
            yield from neighbours.pronoun_resolved(doc, before, number, title)
            yield from neighbours.pronoun_misread(doc, before, number, title, entities)

    def _chosen(self, drafts: list[Draft]) -> list[Draft]:
        """Choose about as many supported as wrong claims of a sentence, the rarer kinds first."""
        most = max(MIN_OF_A_KIND, MOST_SHARE * self._made.total())
        drafts = [d for d in drafts if d.kind == "verbatim" or self._made[d.kind] < most]
        self._rng.shuffle(drafts)
        drafts.sort(key=lambda draft: self._made[draft.kind])
        supported = [d for d in drafts if d.label == SUPPORTED and d.kind != "verbatim"]
        wrong = [d for d in drafts if d.label != SUPPORTED]
        chosen = wrong[:1] + (wrong[1:2] if self._rng.random() < SECOND_SHARE else []) + supported[:1]
        if wrong and self._rng.random() < VERBATIM_SHARE:
            chosen += [d for d in drafts if d.kind == "verbatim"]
        self._made.update(d.kind for d in chosen)
        return chosen

    def _together(self, passage: Passage, made: Sequence[tuple[int, Draft]]) -> Iterator[Example]:
        """Yield some claims with one of a later sentence behind them: an answer states several facts at once."""
        for number, first in made:
            later = [(n, draft) for n, draft in made if number < n <= number + 2 and draft.other is first.other is None]
            if later and self._rng.random() < TOGETHER_SHARE:
                other, second = self._rng.choice(later)
                draft = joined(first, second)
                yield _example(passage, draft, window(passage.sentences, [number, other], self._rng))

    def _of_claim(self, claim: Example, doc: Doc) -> Iterator[Example]:
        """Yield a supported claim of a person with one change that makes it wrong: it is no copy of its evidence."""
        drafts = [draft for make in REPLACING for draft in make(doc, self._rng)]
        if self._lexicon:
            drafts += [d for d in lexical_drafts(doc, self._lexicon, self._rng) if d.label != SUPPORTED]
        evidence = claim.evidence.lower()
        new = [d for d in drafts if d.kind in SHARED_WORDS or not any(word in evidence for word in _wrong_words(d))]
        if len(doc) >= MIN_CLAIM_TOKENS and new:
            draft = min(new, key=lambda d: (self._made[d.kind], d.kind))
            self._made[draft.kind] += 1
            yield replace(claim, claim=draft.claim, label=draft.label, kind=draft.kind, wrong=draft.wrong)

    def _shown(self, passage: Passage, number: int, draft: Draft) -> Iterator[Example]:
        """Yield the claim with sentences around those that it needs; a change also where the evidence has it."""
        numbers = [number] if draft.other is None else [number, draft.other]
        yield _example(passage, draft, window(passage.sentences, numbers, self._rng))
        if draft.kind in REVERSIBLE and self._rng.random() < REVERSED_SHARE:
            first = passage.sentences[number]
            evidence = window([draft.claim if s == first else s for s in passage.sentences], numbers, self._rng)
            if self._rng.random() < 0.5:
                yield _example(passage, Draft(draft.claim, SUPPORTED, "in_both"), evidence)
            else:
                wrong = differing(first, draft.claim)
                yield _example(passage, Draft(first, draft.label, f"{draft.kind}_in_evidence", wrong), evidence)


def joined(first: Draft, second: Draft) -> Draft:
    """Return both claims as one, which is as wrong as the worse of the two."""
    shift = len(first.claim) + 1
    wrong = tuple((start + shift, end + shift) for start, end in second.wrong or ())
    labels = {first.label, second.label} - {SUPPORTED}
    label = CONTRADICTED if CONTRADICTED in labels else UNSUPPORTED if labels else SUPPORTED
    return Draft(f"{first.claim} {second.claim}", label, "two_claims", (*(first.wrong or ()), *wrong))


def differing(text: str, other: str) -> Spans:
    """Return the words of a text that another one lacks or has replaced; what stands beside words that it adds."""
    words = list(re.finditer(r"\w+", text))
    compared = SequenceMatcher(
        None, [w[0].lower() for w in words], re.findall(r"\w+", other.lower()), autojunk=False
    ).get_opcodes()
    changed = [(a, max(b, a + 1)) for kind, a, b, _, _ in compared if kind != "equal" and a < len(words)]
    return tuple((words[a].start(), words[b - 1].end()) for a, b in changed)


def window(sentences: Sequence[str], numbers: Sequence[int], rng: random.Random) -> str:
    """Return the sentences that are needed, with a few around them, in their order."""
    most = rng.choice(_AROUND)
    first = max(0, min(numbers) - rng.randint(0, most))
    last = max(numbers) + rng.randint(0, most)
    return " ".join(sentences[first : last + 1])


def _wrong_words(draft: Draft) -> list[str]:
    return [draft.claim[start:end].lower() for start, end in draft.wrong or ()]


def _of_yes_no(question: YesNoQuestion, doc: Doc) -> Iterator[Example]:
    wrong = () if question.label == SUPPORTED else None
    pieces = statement_of(doc)
    for draft in compose(pieces, question.label, YES_NO) if pieces else ():
        group = question.title or question.evidence[:80]
        yield Example(
            draft.claim, question.evidence, question.label, draft.kind, question.source, question.title, group, wrong
        )


def _example(passage: Passage, draft: Draft, evidence: str) -> Example:
    return Example(
        draft.claim, evidence, draft.label, draft.kind, passage.source, passage.title, passage.group, draft.wrong
    )


def _batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
