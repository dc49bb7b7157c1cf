"""Propositions in a model's own words: paraphrases aligned by hand, and properties that hold for any strings."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timing import cpu_seconds

from propcite.attribution.citations import Proposition
from propcite.attribution.propositions.alignment import propositions_from_texts
from propcite.attribution.propositions.matching import NEGATIONS, words_in
from propcite.attribution.propositions.sentence import without_markup
from propcite.retrieval.text import join_spans

CURIE = "Marie Curie, born in Warsaw in 1867, won the Nobel Prize in Physics in 1903."
CURIE_TEXTS = (
    "Marie Curie was born in Warsaw.",
    "Marie Curie was born in 1867.",
    "Marie Curie won the Nobel Prize in 1903.",
)
BARRIER = "The barrier, which cost €221.4 million, protects 14,000 homes and wasn't damaged by the storm."
DOGS = "The cat of the baker slept, the dog of the miller barked, and the dog of the baker ran."

# sentence, the model's text, the words of the sentence that it covers
GOLDEN = [
    (CURIE, "Marie Curie was born in Warsaw.", "Marie Curie, born in Warsaw"),
    (CURIE, "Marie Curie was born in 1867.", "Marie Curie, born … in 1867"),
    (
        CURIE,
        "In 1903, Marie Curie won the Nobel Prize in Physics.",
        "Marie Curie … won the Nobel Prize in Physics in 1903",
    ),
    (CURIE, "The Nobel Prize in Physics was won by Marie Curie", "Marie Curie … won the Nobel Prize in Physics"),
    (CURIE, "Warsaw is where Marie Curie was born!", "Marie Curie, born … Warsaw"),
    ("She writes novels and paints.", "She wrote a novel.", "She writes novels"),
    ("The men were taken to Kyiv by two women.", "A man was taken to Kyiv.", "men were taken to Kyiv"),
    ("Two children fell ill and the dog ran off.", "A child falls ill.", "children fell ill"),
    ("He has begun building ships, and sells them.", "He began to build ships.", "He … begun building ships"),
    (
        "The Italian architect designed the bridge and left.",
        "An architect from Italy designed the bridge.",
        "Italian architect designed the bridge",
    ),
    ("He directed the film and sang in it.", "He was the director of the film.", "He directed the film"),
    ("The production of steel rose, and coal fell.", "More steel was produced.", "production of steel"),
    # paraphrased words
    (
        "The factory commenced production in 1950, and closed in 1990.",
        "The factory began production in 1950.",
        "The factory commenced production in 1950",
    ),
    (
        "The king died of a heart attack in Rome.",
        "The king died of a cardiac arrest in Rome.",
        "The king died of a heart attack in Rome",
    ),
    (
        "The mayor resigned and the council purchased the building.",
        "The council bought the building.",
        "the council purchased the building",
    ),
    # numbers
    (
        "Fourteen people died in the fire and 3 were hurt.",
        "14 people died in the fire.",
        "Fourteen people died in the fire",
    ),
    ("The tower has 12 floors and 2,500 windows.", "The tower has 2500 windows.", "The tower has … 2,500 windows"),
    (
        "The town has two million people and one park.",
        "The town has 2 million people.",
        "The town has two million people",
    ),
    ("He was the second king of the 19th century.", "He was the 2nd king.", "He was the second king"),
    (BARRIER, "The barrier cost €221.4 million.", "The barrier … cost €221.4 million"),
    (BARRIER, "The barrier protects 14,000 homes.", "The barrier … protects 14,000 homes"),
    ("He ruled from 2005–09, then fled.", "He ruled from 2005 to 2009.", "He ruled from 2005–09"),
    ("The vote was on 3 March 1990 and it passed.", "The vote was on March 3, 1990.", "The vote was on 3 March 1990"),
    ("The vote was on 3 Jan 1990 and it passed.", "The vote was on January 3, 1990.", "The vote was on 3 Jan 1990"),
    # possessives
    (
        "Tucker's father is Irish, while his mother is Jewish.",
        "The father of Tucker is Irish.",
        "Tucker's father is Irish",
    ),
    (
        "The father of Tucker is Irish, but was born in Rome.",
        "Tucker's father is Irish.",
        "father … Tucker is Irish",
    ),
    (
        "The birds’ nests and the dogs' beds were cleaned.",
        "The birds' nests were cleaned.",
        "The birds’ nests … were cleaned",
    ),
    # negation
    (BARRIER, "The barrier was not damaged by the storm.", "The barrier … wasn't damaged by the storm"),
    ("He did not pay or apologise.", "He did not apologise.", "He did not … apologise"),
    ("They're poor, but they've got a boat.", "They have got a boat.", "they've got a boat"),
    ("He cannot swim, but he sails.", "He can't swim.", "He cannot swim"),
    (
        "Neither the mayor nor the council approved the plan.",
        "The council did not approve the plan.",
        "the council approved the plan",
    ),
    (
        "The theory was not accepted until the 1960s.",
        "The theory was accepted in the 1960s.",
        "The theory was … accepted until the 1960s",
    ),
    ("He won not only the race but also the cup.", "He won the race.", "He won … the race"),
    # repeated words: the neighbours decide
    (DOGS, "The dog of the miller barked.", "the dog of the miller barked"),
    (DOGS, "The dog of the baker ran.", "the dog of the baker ran"),
    ("He won three awards, including the Grammy Awards.", "He won the Grammy Awards.", "He won … the Grammy Awards"),
    # unicode
    (
        "Ana Sánchez was born in Málaga and moved to Łódź.",
        "Ana Sanchez was born in Malaga.",
        "Ana Sánchez was born in Málaga",
    ),
    (
        "Ana Sa\u0301nchez was born in Rome and moved to Paris.",
        "Ana Sánchez was born in Rome.",
        "Ana Sa\u0301nchez was born in Rome",
    ),
    ("Йозеф родился в Праге и умер в Вене.", "Йозеф умер в Вене.", "Йозеф … умер в Вене"),
    ("The “Blue Café” opened in May — and failed.", 'The "Blue Café" opened in May.', "The “Blue Café” opened in May"),
    # marks of an answer
    ("The **river** floods [1], and the town was moved [2].", "The river floods.", "The … river … floods"),
    ("- Ada wrote programs; Bo sang.", "Ada wrote programs.", "Ada wrote programs"),
]

# sentence, a text that it does not state
DROPPED = [
    (CURIE, "Marie Curie won the Nobel Prize in Chemistry in 1903."),  # another name
    (CURIE, "Marie Curie was born in 1868."),  # another number
    (CURIE, "Pierre Curie was born in Warsaw."),
    (CURIE, "Bo won the Nobel Prize."),
    (CURIE, "The museum opens on Sundays."),  # nothing of it
    (CURIE, "It was in the."),  # no content
    (CURIE, "Marie Curie did not win the Nobel Prize."),  # the opposite
    ("The bridge was not damaged and the tower collapsed.", "The bridge was damaged."),
    ("The bridge was not damaged and the tower collapsed.", "The tower did not collapse."),
    ("No house in the village was damaged.", "Houses in the village were damaged."),
    ("He moved to Austria in spring.", "He moved to Australia."),
    ("He never married and died poor.", "He married."),
    ("The crew flew an A380 to Rome.", "The crew flew an A320."),
]

# sentence, context, a rewrite that reads without its context, its words
DECONTEXTUALISED = [
    (
        "He won the prize in 1911 and retired.",
        ["Paul Heyse wrote plays."],
        "Paul Heyse won the prize in 1911.",
        "He won the prize in 1911",
    ),
    (
        "In 1911 he won the prize.",
        ["Paul Heyse wrote plays."],
        "Paul Heyse won the prize in 1911.",
        "In 1911 he won the prize",
    ),
    (
        "His sister moved to Rome, and sang.",
        ["Paul Heyse wrote plays."],
        "Paul Heyse's sister moved to Rome.",
        "His sister moved to Rome",
    ),
    (
        "The company was founded in 1990 and failed.",
        ["Acme makes anvils."],
        "Acme was founded in 1990.",
        "The company was founded in 1990",
    ),
    (
        "It landed on the Moon and returned.",
        ["Apollo 11 left in July."],
        "Apollo 11 landed on the Moon.",
        "It landed on the Moon",
    ),
    (
        "Curie moved to Paris and studied.",
        ["Marie Curie was born in Warsaw."],
        "Marie Curie moved to Paris.",
        "Curie moved to Paris",
    ),
]


def covered_words(sentence: str, proposition: Proposition) -> str:
    return join_spans(proposition.spans, sentence)


def ended(text: str) -> str:
    return text if text.endswith((".", "!")) else text + "."


@pytest.mark.parametrize(("sentence", "text", "words"), GOLDEN)
def test_a_paraphrase_is_aligned_to_its_words(sentence: str, text: str, words: str) -> None:
    first = propositions_from_texts(sentence, [text])[0]
    assert (first.text, covered_words(sentence, first)) == (ended(text), words)


@pytest.mark.parametrize(("sentence", "text"), DROPPED)
def test_texts_that_the_sentence_does_not_state_are_dropped(sentence: str, text: str) -> None:
    assert [p.text for p in propositions_from_texts(sentence, [text])] == [sentence]


@pytest.mark.parametrize(("sentence", "context", "text", "words"), DECONTEXTUALISED)
def test_a_name_from_the_context_may_replace_a_pronoun(
    sentence: str, context: list[str], text: str, words: str
) -> None:
    first = propositions_from_texts(sentence, [text], context)[0]
    assert (first.text, covered_words(sentence, first)) == (text, words)
    assert [p.text for p in propositions_from_texts(sentence, [text])] == [sentence]


def test_a_name_from_the_context_does_not_replace_another_name() -> None:
    propositions = propositions_from_texts("Ann won the race.", ["Ben won the race."], ["Ben lost to Ann."])
    assert [p.text for p in propositions] == ["Ann won the race."]


def test_texts_with_the_same_words_are_one_proposition() -> None:
    propositions = propositions_from_texts(
        CURIE, [*CURIE_TEXTS, "Marie Curie was born in Warsaw!", " Marie Curie won the Prize Nobel in 1903"]
    )
    assert [p.text for p in propositions][:3] == list(CURIE_TEXTS)
    assert len({p.spans for p in propositions}) == len(propositions)


def test_a_few_uncovered_words_join_their_neighbours() -> None:
    sentence = "The old river floods, however, and the town moves."
    propositions = propositions_from_texts(sentence, ["The river floods.", "The town moves."])
    assert [covered_words(sentence, p) for p in propositions] == ["The old river floods", "however … the town moves"]


def test_an_uncovered_claim_adds_the_whole_sentence() -> None:
    propositions = propositions_from_texts(CURIE, ["Marie Curie was born in Warsaw."])
    assert [p.text for p in propositions] == ["Marie Curie was born in Warsaw.", CURIE]


def test_an_acronym_in_brackets_belongs_to_its_name() -> None:
    sentence = "He joined the Free German Youth (FDJ) in 1953."
    propositions = propositions_from_texts(sentence, ["He joined the Free German Youth.", "He joined in 1953."])
    assert len(propositions) == 2
    assert covered_words(sentence, propositions[0]) == "He joined the Free German Youth (FDJ"


def test_sentences_that_need_no_citation_stay_whole() -> None:
    question = "Did Ada write programs and sing?"
    assert propositions_from_texts(question, ["Ada wrote programs."])[0].text == question
    assert not propositions_from_texts(question, [])[0].check_worthy
    assert propositions_from_texts("...", ["Ada."]) == []
    assert propositions_from_texts("", []) == []


def test_a_long_sentence_stays_whole() -> None:
    assert len(propositions_from_texts("The cat saw a dog. " * 1000, ["The cat saw a dog."])) == 1


words = st.sampled_from(
    "Ada Bo the a of and but not no never n't wrote writes written book books 14 fourteen 1.5 million he she it , . ; "
    "( ) [1] ** which was did Paris Parisian however over-write l'été 犬 кот 👍".split()
)
sentences = st.one_of(st.lists(words, max_size=14).map(" ".join), st.text(max_size=50))


@settings(max_examples=400)
@given(sentences, st.lists(sentences, max_size=4), st.lists(sentences, max_size=2))
def test_any_strings_give_valid_propositions_and_lose_no_word(
    sentence: str, texts: list[str], context: list[str]
) -> None:
    propositions = propositions_from_texts(sentence, texts, context)
    for proposition in propositions:
        spans = proposition.spans
        assert spans
        assert proposition.text.strip()
        assert all(span and span.end <= len(sentence) for span in spans)
        assert all(one.end <= other.start for one, other in pairwise(spans))
    content = [w for w in words_in(without_markup(sentence)) if w.is_content or w.form in NEGATIONS]
    covered = [any(s.start < w.end and w.start < s.end for p in propositions for s in p.spans) for w in content]
    assert all(covered)


@given(sentences)
def test_a_repeated_sentence_is_one_proposition(sentence: str) -> None:
    assert len(propositions_from_texts(sentence, [sentence, sentence])) <= 2


def test_a_thousand_sentences_in_a_second() -> None:
    def work() -> None:
        for number in range(300):
            propositions_from_texts(CURIE.replace("Physics", f"Physics {number}"), CURIE_TEXTS)

    assert cpu_seconds(work) < 1.0  # a third of the target: machines differ
