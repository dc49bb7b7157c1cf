"""Claims from questions, from the neighbours of a sentence and from sentences that people split."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from parsed import parsed

from propcite.attribution.judges.training.making.entities import entities_in
from propcite.attribution.judges.training.making.example import Example
from propcite.attribution.judges.training.making.neighbours import (
    absent_sentences,
    pronoun_misread,
    pronoun_resolved,
    silenced,
)
from propcite.attribution.judges.training.making.passages import Question, Split
from propcite.attribution.judges.training.making.questions import expected_groups, question_drafts
from propcite.attribution.judges.training.making.rewriting import sentence_of
from propcite.attribution.judges.training.making.splits import split_examples
from propcite.attribution.judges.training.making.statements import statement_of, statement_with

WHOLE = "Anna Berg founded a firm in 1921 and left it in 1930."
PARTS = ("Anna Berg founded a firm in 1921.", "Anna Berg left it in 1930.")


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Who founded the firm?", "Anna Berg", "Anna Berg founded the firm."),
        ("When did the crisis begin?", "1973", "The crisis began in 1973."),
        ("When did the crisis begin?", "October 6, 1973", "The crisis began on October 6, 1973."),
        ("When did the crisis begin?", "after the war", "The crisis began after the war."),
        ("When did the crisis begin?", "three years ago", "The crisis began three years ago."),
        ("What did Anna Berg build in 1921?", "a school", "Anna Berg built a school in 1921."),
        ("How many ships did Anna sell?", "14", "Anna sold 14 ships."),
        ("How many ships did Anna sell?", "14 ships", "Anna sold 14 ships."),
        ("What is the capital of France?", "Paris", "The capital of France is Paris."),
        ("Where was the treaty signed?", "Oslo", "The treaty was signed in Oslo."),
    ],
)
def test_a_question_with_its_answer_becomes_a_statement(question: str, answer: str, statement: str) -> None:
    made = sentence_of(statement_with(parsed(question), answer, wrong=True))
    assert made is not None
    text, wrong = made
    assert text == statement
    assert [text[a:b].lower() for a, b in wrong] == [answer.lower()]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Why did the firm close?", "the war"),
        ("When did the crisis begin?", "quickly"),
        ("Who founded the firm?", ""),
        ("Who founded the firm?", "would do more harm"),
        ("Did Anna sell the ships?", "Anna"),
    ],
)
def test_no_statement_where_its_form_is_not_clear(question: str, answer: str) -> None:
    assert statement_with(parsed(question), answer) == []


def test_yes_to_a_question_becomes_a_statement() -> None:
    assert sentence_of(statement_of(parsed("Did Anna sell the ships?"))) == ("Anna sold the ships.", ())
    assert sentence_of(statement_of(parsed("Is the bridge safe for cars?"))) == ("The bridge is safe for cars.", ())
    assert statement_of(parsed("Who founded the firm?")) == []


def test_another_entity_of_the_passage_is_a_wrong_answer() -> None:
    sentences = [
        parsed("Anna Berg opened a school in Oslo."),
        parsed("Eva Frost opened a shop in Bergen in 1935."),
    ]
    entities = [e for number, doc in enumerate(sentences) for e in entities_in(doc, number)]
    asked, question = parsed("Who founded the firm?"), Question("Who founded the firm?", "Anna Berg", 0)
    right, wrong = question_drafts(asked, question, sentences, entities, random.Random(1))
    assert (right[0], right[1].claim, right[1].label, right[1].wrong) == (
        0,
        "Anna Berg founded the firm.",
        "supported",
        (),
    )
    number, draft = wrong
    assert (number, draft.other, draft.claim, draft.label) == (0, 1, "Eva Frost founded the firm.", "unsupported")
    assert draft.wrong == ((0, len("Eva Frost")),)


def test_an_item_of_the_same_list_is_no_wrong_answer() -> None:
    sentences = [parsed("Anna Berg, Eva Frost and Carl Dahl founded the firm.")]
    asked, question = parsed("Who founded the firm?"), Question("Who founded the firm?", "Anna Berg", 0)
    drafts = list(question_drafts(asked, question, sentences, entities_in(sentences[0]), random.Random(1)))
    assert [draft.kind for _, draft in drafts] == ["answer"]


def test_a_question_without_answer_gets_a_plausible_one() -> None:
    sentences = [parsed("Eva Frost opened a shop in Bergen in 1935.")]
    asked, question = parsed("When did the crisis begin?"), Question("When did the crisis begin?")
    ((number, draft),) = question_drafts(asked, question, sentences, entities_in(sentences[0]), random.Random(1))
    assert (number, draft.claim, draft.label, draft.wrong) == (0, "The crisis began in 1935.", "unsupported", None)


def test_a_question_tells_what_it_asks_for() -> None:
    assert expected_groups("In what year did it end?") == ("DATE",)
    assert expected_groups("How many ships sank?") == ("CARDINAL",)
    assert expected_groups("Which river is it?") == ()


def test_a_pronoun_gets_the_name_of_the_title() -> None:
    before, doc = parsed("Carl Dahl was a Norwegian engineer."), parsed("He built a bridge over the river in 1935.")
    (draft,) = pronoun_resolved(doc, before, 1, "Carl Dahl (engineer)")
    assert draft.claim == "Carl Dahl built a bridge over the river in 1935."
    assert (draft.label, draft.wrong, draft.other) == ("supported", (), 0)
    frost = entities_in(parsed("Eva Frost opened a shop in Bergen in 1935."), sentence=2)
    (draft,) = pronoun_misread(doc, before, 1, "Carl Dahl", frost)
    assert (draft.claim[:9], draft.label, draft.wrong) == ("Eva Frost", "unsupported", ((0, 9),))


@pytest.mark.parametrize(
    ("before", "title"),
    [
        ("Carl Dahl was a Norwegian engineer.", "Eva Frost"),  # the sentence before is about someone else
        ("Carl Dahl was a Norwegian engineer.", ""),
        ("Carl Dahl was a Norwegian engineer.", "Car"),  # a name that only begins like it
        ("Anna Berg sold the ships to Carl Dahl in May 1921.", "Anna Berg"),  # "he" may be the other person
    ],
)
def test_a_pronoun_stays_where_it_may_mean_another(before: str, title: str) -> None:
    assert list(pronoun_resolved(parsed("He built a bridge over the river in 1935."), parsed(before), 1, title)) == []


def test_a_sentence_is_absent_from_its_neighbours_when_they_lack_a_name_of_it() -> None:
    sentences = [
        "The harbour of the old town was built by the merchants.",
        "The harbour was sold to the merchants of Bergen in 1921.",
        "The merchants of the town left the harbour after the war.",
    ]
    found = dict(absent_sentences(sentences, "Harbour"))
    assert found == {1: f"{sentences[0]} {sentences[2]}"}
    assert dict(absent_sentences([*sentences[:2], "In 1921 the merchants sold Bergen."], "")) == {}


def split_claims(split: Split) -> set[tuple[str, str, str, str]]:
    doc = parsed(split.sentence)
    made = [e for seed in range(40) for e in split_examples(split, doc, (), random.Random(seed))]
    for example in made:
        assert (example.wrong == ()) == (example.label == "supported")
    return {(e.kind, e.label, e.claim, e.evidence) for e in made}


def test_a_split_sentence_supports_its_parts_and_they_it() -> None:
    found = split_claims(Split(WHOLE, PARTS, "wikisplit"))
    assert {("split", "supported", part, WHOLE) for part in PARTS} <= found
    assert ("joined", "supported", WHOLE, " ".join(PARTS)) in found
    assert ("split_crossed", "unsupported", "Anna Berg founded a firm in 1930.", WHOLE) in found
    assert ("split_crossed", "unsupported", "Anna Berg left it in 1921.", WHOLE) in found


def test_the_changed_word_of_a_part_is_marked() -> None:
    split = Split(WHOLE, PARTS, "wikisplit")
    made = [e for seed in range(9) for e in split_examples(split, parsed(WHOLE), (), random.Random(seed))]
    spans = {e.claim[a:b] for e in made if e.kind == "split_crossed" for a, b in e.wrong or ()}
    assert spans == {"1921", "1930"}


def test_a_part_that_says_more_than_the_sentence_is_left_out() -> None:
    found = split_claims(Split(WHOLE, ("Anna Berg founded a firm in Oslo.", "A firm."), "wikisplit"))
    assert {kind for kind, *_ in found} <= {"part_missing"}


def test_a_part_under_a_condition_is_no_claim() -> None:
    text = "If it rains, the match is cancelled."
    assert split_claims(Split(text, ("The match is cancelled.",), "desse")) == set()


def test_a_claim_is_silenced_by_taking_away_what_says_it() -> None:
    sentences = [
        "The ferry crosses the fjord every hour.",
        "It was built in Bergen by Nordship for 4 million euros.",
        "Two crews share the work on the ferry.",
        "Nordship delivered the ferry in the spring of 2011.",
        "The harbour has a café and a small museum.",
    ]
    claim = Example("Nordship built the ferry in Bergen.", " ".join(sentences), "supported", "labelled", "own", "Ferry")
    silent = silenced(claim, sentences)
    assert silent is not None
    assert silent.evidence == " ".join((sentences[0], sentences[2], sentences[4]))
    assert (silent.label, silent.kind) == ("unsupported", "silent")
    assert [silent.claim[start:end] for start, end in silent.wrong or ()] == ["Nordship", "built", "Bergen"]
    assert silenced(claim, sentences[:3]) is None  # little is left of so short a passage
    said = replace(claim, claim="The ferry has two crews.")
    assert silenced(said, [*sentences, "The two crews of the ferry are proud.", "A ferry has crews."]) is None
