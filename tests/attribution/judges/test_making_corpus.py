"""Examples are made from passages, the same ones for a seed, and probes show what they give away."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import spacy
from parsed import parsed
from spacy.language import Language
from spacy.tokens import Doc

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.reader import MAX_WORDS
from propcite.attribution.judges.training.making.corpus import Corpus, differing, joined, make_examples, window
from propcite.attribution.judges.training.making.example import Example
from propcite.attribution.judges.training.making.passages import Passage, Question, Texts, YesNoQuestion
from propcite.attribution.judges.training.making.pipeline import load_parser
from propcite.attribution.judges.training.making.probes import auc, overlaps, probe
from propcite.attribution.judges.training.making.rewriting import Draft
from propcite.attribution.judges.training.making.scenarios.scenes import scene_examples

PASSAGES = [
    Passage(
        ("Anna Berg sold the ships to Carl Dahl in May 1921.", "Eva Frost opened a shop in Bergen in 1935."),
        "Ships",
        "squad",
        [Question("Did Anna sell the ships?", "Anna", 0)],
    ),
    Passage(
        ("The company opened a small office in Bergen in 1921.", "All the students passed the exam."),
        "Bergen",
        "hotpot",
    ),
]
YES_NO = [YesNoQuestion("Is the bridge safe for cars?", "contradicted", "It is not safe.", "Bridge", "boolq")]


class ParsedBefore:
    """Parses sentences of a file, as a pipeline of spaCy does any sentence."""

    def pipe(self, texts: Iterable[str], batch_size: int) -> Iterator[Doc]:
        assert batch_size > 0
        return map(parsed, texts)


def made(seed: int) -> list[Example]:
    corpus = Corpus(cast(Language, ParsedBefore()), seed)
    return list(corpus.examples(Texts(passages=PASSAGES, yes_no=YES_NO), lambda *_: None))


def test_the_same_seed_gives_the_same_examples() -> None:
    assert made(3) == made(3)
    assert any(made(3) != made(seed) for seed in range(4, 9))


@pytest.mark.parametrize("seed", range(12))
def test_every_example_has_a_label_that_fits_its_marks(seed: int) -> None:
    examples = made(seed)
    assert {e.source for e in examples} == {"squad", "hotpot", "boolq"}
    for example in examples:
        assert example.wrong == () if example.label == "supported" else example.wrong != ()
        assert all(example.claim[a:b].strip() == example.claim[a:b] != "" for a, b in example.wrong or ())
        assert example.group in ("Ships", "Bergen", "Bridge")


def test_a_claim_stands_beside_the_sentence_that_it_was_made_from() -> None:
    for example in (e for seed in range(12) for e in made(seed) if e.kind == "crossed"):
        assert example.claim == "Carl Dahl sold the ships to Anna Berg in May 1921."
        assert PASSAGES[0].sentences[0] in example.evidence


def test_a_claim_that_the_evidence_says_as_well_is_supported() -> None:
    said = [e for seed in range(30) for e in made(seed) if e.kind == "in_both"]
    assert said
    for example in said:
        assert (example.label, example.wrong) == ("supported", ())
        assert example.claim in example.evidence


def test_a_sentence_is_wrong_where_the_evidence_has_it_changed() -> None:
    changed = [e for seed in range(30) for e in made(seed) if e.kind.endswith("_in_evidence")]
    assert {e.claim for e in changed} >= {PASSAGES[0].sentences[0], PASSAGES[1].sentences[1]}
    for example in changed:
        assert example.label != "supported"
        assert example.claim in {s for p in PASSAGES for s in p.sentences}
        assert example.claim not in example.evidence
        assert example.wrong


@pytest.mark.parametrize(
    ("text", "other", "words"),
    [
        ("Anna sold it to Carl.", "Carl sold it to Anna.", ["Anna", "Carl"]),
        ("The drug may reduce pain.", "The drug reduces pain.", ["may reduce"]),
        ("The bridge is safe.", "The bridge is not safe.", ["safe"]),
        ("It opened in 1921.", "It opened in 1935.", ["1921"]),
        ("The same.", "The same.", []),
    ],
)
def test_the_words_that_differ_are_found(text: str, other: str, words: list[str]) -> None:
    assert [text[start:end] for start, end in differing(text, other)] == words


def test_a_claim_that_a_person_wrote_is_rewritten_beside_its_own_evidence() -> None:
    evidence = "A storm hit the bridge, which stood no more afterwards."
    claims = [Example("The storm destroyed the bridge.", evidence, "supported", "labelled", "own", wrong=())] * 20
    corpus = Corpus(cast(Language, ParsedBefore()), 1)
    examples = list(corpus.examples(Texts(claims=claims), lambda *_: None))
    changed = [e for e in examples if e.kind != "labelled"]
    assert len(examples) == 20 + len(changed)
    assert 8 <= len(changed) < 20
    assert {(e.claim, e.evidence, e.label, e.source) for e in changed if e.kind == "not_added"} == {
        ("The storm did not destroy the bridge.", evidence, "contradicted", "own")
    }
    assert all(e.wrong and e.label != "supported" for e in changed)


def test_a_yes_no_question_keeps_the_label_that_people_gave() -> None:
    (example,) = [e for e in made(1) if e.kind == "yes_no"]
    assert (example.claim, example.label, example.wrong) == ("The bridge is safe for cars.", "contradicted", None)


def test_progress_ends_with_all_texts() -> None:
    steps: list[tuple[int, int]] = []
    corpus = Corpus(cast(Language, ParsedBefore()), 1)
    list(corpus.examples(Texts(passages=PASSAGES, yes_no=YES_NO), lambda done, total: steps.append((done, total))))
    assert steps == [(2, 3), (3, 3)]


def test_a_window_has_all_sentences_that_are_needed_in_their_order() -> None:
    sentences = [str(i) for i in range(9)]
    windows = [window(sentences, [5, 3], random.Random(seed)).split() for seed in range(40)]
    assert all(shown == sorted(shown) and {"3", "4", "5"} <= set(shown) for shown in windows)
    assert len({tuple(shown) for shown in windows}) > 5


def test_a_missing_pipeline_is_one_line_with_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(AttributionError, match="python -m spacy download en_core_web_sm"):
        list(make_examples([], "no_such_pipeline"))
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(AttributionError, match="has no tagger, parser, ner, lemmatizer"):
        load_parser(str(tmp_path / "blank"))


def test_without_the_extra_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lemminflect", cast(Any, None))
    with pytest.raises(AttributionError, match=r"lemminflect is not installed: .*pip install"):
        load_parser("en_core_web_sm")


def example(claim: str, label: str, group: str, **fields: str) -> Example:
    given = {"evidence": "Anna sold the ships.", "kind": "k", "source": "s"} | fields
    return Example(claim, label=label, group=group, **given)


def test_an_auc_counts_ties_as_half() -> None:
    assert auc(np.array([1.0, 2.0, 3.0]), np.array([False, True, True])) == 1
    assert auc(np.array([1.0, 1.0]), np.array([False, True])) == 0.5
    assert auc(np.array([3.0, 1.0, 2.0]), np.array([False, True, False])) == 0
    assert auc(np.array([1.0, 2.0]), np.array([True, True])) is None


def test_an_overlap_is_the_share_of_the_claims_words() -> None:
    assert overlaps([example("Anna sold boats, Anna.", "supported", "g")]).tolist() == [2 / 3]


def test_a_claim_that_gives_its_label_away_is_seen() -> None:
    rows = [
        example(f"Anna {'not ' * (i % 2)}sold w{i}", ("supported", "contradicted")[i % 2], str(i)) for i in range(80)
    ]
    everything = probe(rows)[0]
    assert (everything.source, everything.supported, everything.contradicted) == ("all", 40, 40)
    assert everything.claim_only_auc == 1
    assert everything.overlap_auc == 1  # "not" is in no evidence


def test_nothing_is_learned_from_the_own_group() -> None:
    rows = [example(f"word{i}", ("supported", "unsupported")[i % 2], f"g{i}") for i in range(40) for _ in range(5)]
    assert probe(rows)[0].claim_only_auc == 0.5


def test_a_kind_is_measured_with_the_supported_claims_of_its_sources() -> None:
    rows = [
        example("Anna sold the ships.", "supported", "a", kind="verbatim"),
        example("Eva bought a boat.", "unsupported", "b", kind="crossed"),
        example("Anna sold a boat.", "supported", "c", kind="verbatim", source="other"),
    ]
    found = {(row.source, row.kind): row for row in probe(rows)}
    assert found.keys() == {("all", "all"), ("s", "all"), ("other", "all"), ("all", "crossed"), ("all", "verbatim")}
    crossed = found["all", "crossed"]
    assert (crossed.supported, crossed.unsupported, crossed.overlap_auc) == (0, 1, 1.0)
    assert found["other", "all"].overlap_auc is None


def test_two_claims_are_as_wrong_as_the_worse_of_them() -> None:
    right, wrong = Draft("It rained.", "supported", "a"), Draft("It snowed.", "unsupported", "b", ((3, 9),))
    both = joined(right, wrong)
    assert (both.claim, both.label) == ("It rained. It snowed.", "unsupported")
    assert [both.claim[slice(*span)] for span in both.wrong or ()] == ["snowed"]
    assert joined(right, right).label == "supported"
    assert joined(wrong, replace(wrong, label="contradicted")).label == "contradicted"


def test_a_scene_stands_among_sentences_of_one_text_and_is_short_enough_to_be_read() -> None:
    around = [["Sand is fine.", "Clay is heavy.", " ".join(["Much was said of it"] * 20)]]
    examples = list(scene_examples(3, around, random.Random(1)))
    assert {e.label for e in examples} == {"supported", "unsupported", "contradicted"}
    assert any("Clay is heavy." in e.evidence for e in examples)
    assert all(len(e.evidence.split()) <= MAX_WORDS for e in examples)
    assert len({e.kind for e in examples}) > 40
