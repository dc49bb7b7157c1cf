"""Sentences are rewritten as they should be, with their label and the exact words that became wrong."""

from __future__ import annotations

import random

import pytest
from parsed import parsed

from propcite.attribution.judges.training.making.entities import Entity, entities_in
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
from propcite.attribution.judges.training.making.rewrites.makers import MAKERS, Maker

Made = tuple[str, str, list[str]]  # claim, label, the words that are wrong


def made(maker: Maker, text: str, seed: int = 1) -> Made | None:
    drafts = list(maker(parsed(text), random.Random(seed)))
    assert len(drafts) <= 1
    return (
        None
        if not drafts
        else (drafts[0].claim, drafts[0].label, [drafts[0].claim[a:b] for a, b in drafts[0].wrong or ()])
    )


@pytest.mark.parametrize(
    ("maker", "text", "claim", "wrong"),
    [
        (
            names.crossed_names,
            "Anna Berg sold the ships to Carl Dahl in May 1921.",
            "Carl Dahl sold the ships to Anna Berg in May 1921.",
            ["Carl Dahl", "Anna Berg"],
        ),
        (
            numbers.number_moved,
            "The harbour has 14 ships and 9 crews.",
            "The harbour has 9 ships and 9 crews.",
            ["9"],
        ),
        (
            numbers.unit_changed,
            "The road is 30 kilometres long.",
            "The road is 30 miles long.",
            ["miles"],
        ),
        (words.frequency_changed, "The plant often grows in sand.", "The plant always grows in sand.", ["always"]),
        (words.preposition_changed, "The firm closed before the war.", "The firm closed after the war.", ["after"]),
        (
            quantifiers.quantifier_changed,
            "Some students passed the exam.",
            "All students passed the exam.",
            ["All"],
        ),
        (strength.hedge_dropped, "He is probably the author of the letter.", "He is the author of the letter.", ["is"]),
        (
            strength.hedge_dropped,
            "The museum has nearly 300 paintings.",
            "The museum has 300 paintings.",
            ["300"],
        ),
        (
            strength.modal_dropped,
            "The drug may reduce pain in adults.",
            "The drug reduces pain in adults.",
            ["reduces"],
        ),
        (strength.attribution_dropped, "Officials said that the bridge is safe.", "The bridge is safe.", ["is"]),
        (
            strength.condition_dropped,
            "If it rains, the match is cancelled.",
            "The match is cancelled.",
            ["cancelled"],
        ),
        (
            shortening.scope_adjective_dropped,
            "She was the first female mayor of the town.",
            "She was the first mayor of the town.",
            ["first", "mayor"],
        ),
        (
            shortening.scope_phrase_dropped,
            "Oslo is the largest city in Norway.",
            "Oslo is the largest city.",
            ["largest city"],
        ),
        (
            roles.roles_swapped,
            "Google acquired Fitbit in 2019.",
            "Fitbit acquired Google in 2019.",
            ["Fitbit", "Google"],
        ),
        (
            roles.roles_swapped,
            "The bridge was damaged by the storm.",
            "The storm was damaged by the bridge.",
            ["The storm", "the bridge"],
        ),
        (
            roles.voice_and_roles_changed,
            "Google acquired Fitbit in 2019.",
            "Google was acquired by Fitbit in 2019.",
            ["was acquired by"],
        ),
        (
            roles.voice_and_roles_changed,
            "The bridge was damaged by the storm.",
            "The bridge damaged the storm.",
            ["damaged"],
        ),
    ],
)
def test_a_claim_is_no_longer_supported(maker: Maker, text: str, claim: str, wrong: list[str]) -> None:
    assert made(maker, text) == (claim, "unsupported", wrong)


@pytest.mark.parametrize(
    ("maker", "text", "claim", "wrong"),
    [
        (words.opposite_word, "Prices rose in the spring.", "Prices fell in the spring.", ["fell"]),
        (
            numbers.bound_turned,
            "More than 300 people live in the village.",
            "Fewer than 300 people live in the village.",
            ["Fewer than"],
        ),
        (
            quantifiers.quantifier_changed,
            "The firm has several offices.",
            "The firm has no offices.",
            ["no"],
        ),
        (
            quantifiers.exclusion_turned,
            "All but two students passed the exam.",
            "Only two students passed the exam.",
            ["Only"],
        ),
        (
            quantifiers.exclusion_turned,
            "All members except Anna voted.",
            "All members including Anna voted.",
            ["including"],
        ),
        (negation.not_added, "Anna Berg wrote the book.", "Anna Berg did not write the book.", ["did not write"]),
        (
            negation.not_added,
            "The bridge was damaged by the storm.",
            "The bridge was not damaged by the storm.",
            ["not"],
        ),
        (negation.not_dropped, "The drug does not cause pain.", "The drug causes pain.", ["causes"]),
        (
            negation.not_dropped,
            "The bridge was not damaged by the storm.",
            "The bridge was damaged by the storm.",
            ["was"],
        ),
        (
            comparisons.comparison_turned,
            "The river is deeper than the lake.",
            "The lake is deeper than the river.",
            ["The lake", "the river"],
        ),
    ],
)
def test_a_claim_is_contradicted(maker: Maker, text: str, claim: str, wrong: list[str]) -> None:
    assert made(maker, text) == (claim, "contradicted", wrong)


@pytest.mark.parametrize(
    ("maker", "text", "claim"),
    [
        (shortening.adjective_dropped, "Carl Dahl wrote a famous opera.", "Carl Dahl wrote an opera."),
        (
            shortening.adjunct_dropped,
            "In 1921, Anna Berg opened a school.",
            "Anna Berg opened a school.",
        ),
        (clauses.second_clause, "Anna founded the firm and sold it in 1930.", "Anna sold it in 1930."),
        (clauses.second_clause, "The house was sold and rebuilt in 1930.", "The house was rebuilt in 1930."),
        (clauses.first_clause, "Anna founded the firm and sold it in 1930.", "Anna founded the firm."),
        (roles.voice_changed, "Anna Berg wrote the book.", "The book was written by Anna Berg."),
        (roles.voice_changed, "The book was written by Anna Berg.", "Anna Berg wrote the book."),
        (roles.voice_changed, "He built the first bridge in Oslo.", "The first bridge in Oslo was built by him."),
        (
            quantifiers.quantifier_weakened,
            "All the students passed the exam.",
            "Some of the students passed the exam.",
        ),
        (shortening.verbatim, "The firm has several offices.", "The firm has several offices."),
    ],
)
def test_a_claim_is_still_supported(maker: Maker, text: str, claim: str) -> None:
    assert made(maker, text) == (claim, "supported", [])


def test_names_of_a_list_change_places_and_the_sentence_still_holds() -> None:
    claims = {
        found[0]
        for seed in range(20)
        if (found := made(names.list_reordered, "Anna Berg, Eva Frost and Carl Dahl founded the firm.", seed))
    }
    assert claims == {
        "Eva Frost, Anna Berg and Carl Dahl founded the firm.",
        "Carl Dahl, Eva Frost and Anna Berg founded the firm.",
        "Anna Berg, Carl Dahl and Eva Frost founded the firm.",
    }


@pytest.mark.parametrize(
    ("maker", "text"),
    [
        (names.crossed_names, "Anna Berg, Eva Frost and Carl Dahl founded the firm."),  # one list
        (names.list_reordered, "Anna Berg sold the ships to Carl Dahl in May 1921."),  # no list
        (numbers.number_moved, "The road is 30 kilometres long."),  # one number
        (numbers.unit_changed, "The harbour has 14 ships and 9 crews."),  # no unit
        (words.opposite_word, "Anna Berg sold the ships to Carl Dahl in May 1921."),  # "bought to" is no English
        (negation.not_added, "Some students passed the exam."),  # some passed, and some did not
        (negation.not_added, "The plant often grows in sand."),  # it may often grow there, and often not
        (negation.not_added, "The drug does not cause pain."),  # denied already
        (negation.not_dropped, "The drug may reduce pain in adults."),  # nothing is denied
        (strength.modal_dropped, "He could play the piano."),  # what he was able to do
        (strength.attribution_dropped, "The firm closed before the war."),  # nobody says so
        (shortening.adjective_dropped, "The company opened a small office in Bergen in 1921."),  # "small" says which
        (shortening.adjective_dropped, "They avoided a severe crisis."),  # a milder one may have come
        (shortening.adjunct_dropped, "Carl Dahl was a Norwegian engineer."),  # no time, no place
        (roles.roles_swapped, "Anna Berg wrote the book."),  # a book writes nobody
        (roles.voice_changed, "The firm has several offices."),  # "is had by" is no English
        (roles.voice_changed, "No student passed the exam."),
        (roles.voice_changed, "Carl Dahl was a Norwegian engineer."),
        (clauses.second_clause, "Anna Berg was born in Oslo and Carl Dahl was born in Bergen."),  # its own subject
        (quantifiers.quantifier_weakened, "No student passed the exam."),
        (comparisons.comparison_turned, "Is Oslo larger than Bergen?"),  # a question
    ],
)
def test_a_sentence_is_left_alone(maker: Maker, text: str) -> None:
    assert made(maker, text) is None


@pytest.mark.parametrize("text", ["Who founded the firm?", "Why did the firm close?", "Is Oslo larger than Bergen?"])
def test_no_question_is_rewritten(text: str) -> None:
    assert [draft.claim for maker in MAKERS for draft in maker(parsed(text), random.Random(1))] == []


def test_a_name_of_another_sentence_takes_the_place_of_one() -> None:
    doc = parsed("Anna Berg opened a school in Oslo.")
    others = entities_in(parsed("Eva Frost opened a shop in Bergen in 1935."), sentence=3)
    drafts = [d for seed in range(9) for d in names.name_of_another_sentence(doc, random.Random(seed), 0, others)]
    assert {(d.claim, d.label, d.kind, d.other, d.wrong) for d in drafts} == {
        ("Eva Frost opened a school in Oslo.", "unsupported", "other_name", 3, ((0, 9),)),
        ("Anna Berg opened a school in Bergen.", "unsupported", "other_name", 3, ((29, 35),)),
    }


def test_only_an_entity_of_the_same_group_and_shape_takes_a_place() -> None:
    berg = Entity("Anna Berg", 0, 9, "PERSON", "name")
    assert berg.fits(Entity("Eva Frost", 0, 9, "PERSON", "name"))
    assert not berg.fits(Entity("Eva Berg", 0, 8, "PERSON", "name"))  # it may be the same person
    assert not berg.fits(Entity("Eva", 0, 3, "PERSON", "word"))
    assert not berg.fits(Entity("North Sea", 0, 9, "PLACE", "name"))


def test_a_place_within_a_place_is_no_other_place() -> None:
    doc = parsed("Anna Berg was born in Oslo and Carl Dahl was born in Bergen.")
    berg, oslo, dahl, bergen = entities_in(doc)
    assert not names.are_related(doc, berg, dahl)
    assert not names.are_related(doc, oslo, bergen)
    listed = parsed("Anna Berg, Eva Frost and Carl Dahl founded the firm.")
    first, *_, last = entities_in(listed)
    assert names.are_related(listed, first, last)
    nested = parsed("The shop in the harbour of Bergen in Norway closed in 1935.")
    bergen, norway, _ = entities_in(nested)
    assert names.are_related(nested, bergen, norway)
