"""The learned splitter: selection with given scores, the network on real sentences, and training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from propcite.attribution.english import FUNCTION_WORDS, WORD, Piece, lexicon, tag
from propcite.attribution.errors import AttributionError
from propcite.attribution.propositions.claim_selection import NetworkOutput, agreement, select_claims
from propcite.attribution.propositions.learned import LearnedSplitter
from propcite.attribution.propositions.wording import proposition_of

SENTENCES = (
    "Ada Lorne was born in Bergen in 1951 and moved to Oslo in 1970.",
    "The bridge, which was built by a Danish firm, is 96 metres long and carries 4,000 cyclists a day.",
    "Marta Sund is a Norwegian painter and sculptor.",
    "Water freezes at 0 °C.",
)


@pytest.fixture(scope="module")
def splitter() -> LearnedSplitter:
    return LearnedSplitter()


def claims_of(sentence: str, pairs: Any) -> list[str]:
    """Return the claims of a sentence that is one clause, with these scores of its pairs of words."""
    s = tag(sentence, sentence)
    count = len(s.words)
    output = NetworkOutput(pairs, np.ones(count, dtype=np.float32), [[i] for i in range(count)])
    claims = select_claims(s, (Piece(0, len(s.words) - 1),), output)
    return [proposition_of(sentence, sentence, s, claim).text for claim in claims]


def fully_split(sentence: str) -> list[str]:
    """Return the claims if each word is a claim of its own."""
    return claims_of(sentence, np.eye(len(tag(sentence, sentence).words), dtype=np.float32))


def not_split(sentence: str) -> list[str]:
    """Return the claims if all words are in one claim."""
    count = len(tag(sentence, sentence).words)
    return claims_of(sentence, np.ones((count, count), dtype=np.float32))


FULLY_SPLIT = [
    ("The gates closed in May for repairs.", ["The gates closed in May.", "The gates closed for repairs."]),
    (
        "It is made from flour, water and salt.",
        ["It is made from flour.", "It is made from water.", "It is made from salt."],
    ),
    ("Marta Sund is a Norwegian painter.", ["Marta Sund is Norwegian.", "Marta Sund is a painter."]),
    ("Gold is a soft, yellow metal.", ["Gold is a soft metal.", "Gold is a yellow metal."]),
    (
        "The drug was 94% effective in adults and 87% effective in children.",
        ["The drug was 94% effective in adults.", "The drug was 87% effective in children."],
    ),
    (
        "She won several awards, including the Lund Prize and the Oslo Medal.",
        ["She won several awards.", "She won the Lund Prize.", "She won the Oslo Medal."],
    ),
    (
        "In 1969, Ada Lorne moved to Oslo with a friend.",
        ["In 1969, Ada Lorne moved to Oslo.", "Ada Lorne moved with a friend."],
    ),
    (
        "Ada Lorne and Bo Lind were awarded the prize.",
        ["Ada Lorne was awarded the prize.", "Bo Lind was awarded the prize."],
    ),
    ("The shop sold nine boats in Norway.", ["The shop sold nine boats.", "The shop sold nine boats in Norway."]),
]


@pytest.mark.parametrize(("sentence", "claims"), FULLY_SPLIT)
def test_every_claim_keeps_its_subject_and_verb(sentence: str, claims: list[str]) -> None:
    assert fully_split(sentence) == claims


@pytest.mark.parametrize("sentence", [sentence for sentence, _ in FULLY_SPLIT if "including" not in sentence])
def test_a_clause_stays_whole_if_the_network_finds_one_claim(sentence: str) -> None:
    assert not_split(sentence) == [sentence]


INSEPARABLE = [
    "The pump did not fail in May or June.",
    "Only two of the houses were damaged by the fire in May.",
    "It was the first bridge in Norway.",
    "The line runs between Oslo and Bergen.",
    "The minister said that taxes would rise in May.",
    "She is more likely than her brother to win in May.",
    "The book is by Ada Lorne, a painter from Oslo, and Bo Lind.",
]


@pytest.mark.parametrize("sentence", INSEPARABLE)
def test_a_clause_that_is_true_only_as_a_whole_is_not_split(sentence: str) -> None:
    assert fully_split(sentence) == [sentence]


def test_a_place_and_a_title_become_claims_of_their_own() -> None:
    sentence = "He married the painter Ada Lorne in Bergen, Norway."
    s = tag(sentence, sentence)
    pairs = np.eye(len(s.words), dtype=np.float32)
    for said_by, names in ((3, (4, 5)), (9, (6, 7))):  # painter: Ada Lorne; Norway: in Bergen
        pairs[said_by, list(names)] = 1
    claims = claims_of(sentence, pairs)
    assert claims[-2:] == ["Ada Lorne was a painter.", "Bergen is in Norway."]
    assert "Norway" not in " ".join(claims[:-1])


def test_agreement_combines_rows_and_mutual_scores() -> None:
    pairs = np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1]], dtype=np.float32)
    assert agreement(pairs, [1, 3])[0, 1] == pytest.approx(0.5 * 1 / 3)


REAL = [
    (SENTENCES[2], ["Marta Sund is Norwegian.", "Marta Sund is a painter.", "Marta Sund is a sculptor."]),
    (SENTENCES[3], [SENTENCES[3]]),
    (
        "Tickets cost £12 for adults and £6 for children, and members enter free.",
        ["Tickets cost £12 for adults.", "Tickets cost £6 for children.", "Members enter free."],
    ),
    (
        "The river rises in the Alps, flows through four countries and enters the Black Sea near Sulina.",
        [
            "The river rises in the Alps.",
            "The river flows through four countries.",
            "The river enters the Black Sea near Sulina.",
        ],
    ),
    ("The museum is open between 10 a.m. and 6 p.m.", ["The museum is open between 10 a.m. and 6 p.m."]),
    ("The bridge opened in 1951 [2].", ["The bridge opened in 1951."]),
]


READ = [  # each once lost its verb, a part of its name, or another clause's subject
    (
        "Ada Lorne is voiced by Vera Holm and Bo Lind by Nils Dahl.",
        ["Ada Lorne is voiced by Vera Holm.", "Bo Lind is voiced by Nils Dahl."],
    ),
    (
        "Harbour 3.0 was released in July 2002 and contained around 8500 binary packages.",
        ["Harbour 3.0 was released in July 2002.", "Harbour 3.0 contained around 8500 binary packages."],
    ),
    (
        "North Harbour: March of the Gulls is a 2018 animated film directed by Vera Holm.",
        [
            "North Harbour: March of the Gulls is a 2018 animated film.",
            "North Harbour: March of the Gulls was directed by Vera Holm.",
        ],
    ),
    (
        "You can look up information about installed packages and their files with the tool.",
        [
            "You can look up information about installed packages.",
            "You can look up information about their files with the tool.",
        ],
    ),
]


@pytest.mark.parametrize(("sentence", "claims"), READ)
def test_claims_keep_verbs_names_and_subjects(splitter: LearnedSplitter, sentence: str, claims: list[str]) -> None:
    assert [p.text for p in splitter.split(sentence)] == claims


def test_a_condition_keeps_the_verb_that_it_governs(splitter: LearnedSplitter) -> None:
    sentence = "If You sue any entity, then any patent licenses granted to You under this License shall terminate."
    assert all("shall terminate" in p.text for p in splitter.split(sentence))


@pytest.mark.parametrize(("sentence", "claims"), REAL)
def test_claims_are_sentences(splitter: LearnedSplitter, sentence: str, claims: list[str]) -> None:
    assert [p.text for p in splitter.split(sentence)] == claims


def test_facts_of_a_sentence_are_separated(splitter: LearnedSplitter) -> None:
    claims = [" ".join(s.of(SENTENCES[0]) for s in p.spans) for p in splitter.split(SENTENCES[0])]
    assert any("Bergen" in claim and "Oslo" not in claim for claim in claims)
    assert any("Oslo" in claim and "Bergen" not in claim for claim in claims)


SINGLE = [
    "Oslo is the capital of Norway.",
    "The lake froze in January.",
    "Insulin is produced by the beta cells of the pancreas.",
    "Her second novel won the Lund Prize.",
    "The company employs 4,200 people.",
    "Bees communicate the location of food by dancing.",
    "The tower stands 330 metres tall.",
    "The treaty came into force two months later.",
    "No one was hurt.",
    "She has two brothers.",
]


@pytest.mark.parametrize("sentence", SINGLE)
def test_a_sentence_with_one_fact_stays_whole(splitter: LearnedSplitter, sentence: str) -> None:
    assert [p.text for p in splitter.split(sentence)] == [sentence]


def test_a_pronoun_takes_its_antecedent_from_the_sentences_before(splitter: LearnedSplitter) -> None:
    propositions = splitter.split("It is 6.4 metres high and was painted green.", ["The sea gate closed on Monday."])
    assert propositions[0].text == "[The sea gate] is 6.4 metres high."


def test_a_batch_is_split_like_each_sentence(splitter: LearnedSplitter) -> None:
    assert splitter.split_many(SENTENCES, [()] * len(SENTENCES)) == [splitter.split(sentence) for sentence in SENTENCES]


def test_the_style_clause_splits_less(splitter: LearnedSplitter) -> None:
    coarse = splitter.with_style("clause")
    assert sum(len(coarse.split(s)) for s in SENTENCES) <= sum(len(splitter.split(s)) for s in SENTENCES)
    with pytest.raises(ValueError, match="expected style"):
        splitter.with_style("fine")


WHOLE = [
    "Really?",
    "Das Haus wurde 1951 gebaut und 1970 verkauft.",
    "La maison, construite en 1951, a été vendue en 1970 et rénovée.",
    "x = f(y)",
    "for i in range(10): print(i, i ** 2)",
    "| city | people |\n| Oslo | 700,000 |",
    "https://example.org/a,b?c=d and https://example.org/e",
    "a, b and " * 1500,
    "ק" * 50,
    "הגשר נבנה בשנת 1951, ונמכר בשנת 1970, ושופץ.",
    "橋は1951年に建てられ、1970年に売却された。",
    "Мост был построен в 1951 году, а в 1970 году продан.",
    "Мост built в 1951 году and продан в 1970.",
]


@pytest.mark.parametrize("sentence", WHOLE)
def test_other_texts_than_english_sentences_stay_whole(splitter: LearnedSplitter, sentence: str) -> None:
    (alone,) = splitter.split(sentence)
    assert alone.spans[0].start == 0
    assert alone.spans[-1].end >= len(sentence.rstrip()) - 1


@pytest.mark.parametrize("sentence", ["", " ", "...", "\u200f", "—"])
def test_a_sentence_without_words_has_no_proposition(splitter: LearnedSplitter, sentence: str) -> None:
    assert splitter.split(sentence) == []


def assert_nothing_is_lost(sentence: str, splitter: LearnedSplitter) -> None:
    propositions = splitter.split(sentence)
    covered = set()
    for p in propositions:
        assert all(a.end <= b.start for a, b in zip(p.spans, p.spans[1:], strict=False))
        assert p.spans[-1].end <= len(sentence)
        covered |= {i for s in p.spans for i in range(s.start, s.end)}
    joining = FUNCTION_WORDS | lexicon.FUNCTION_WORDS  # a joint such as "while" is in no claim
    if len(propositions) > 1:
        content = [m for m in WORD.finditer(sentence) if m.group().lower() not in joining and not m.group().isdigit()]
        assert all(m.start() in covered for m in content if m.group() not in {"1"})


PIECES = (
    " ".join(SENTENCES) + " including such as both not only first after moving to because which said that than"
    " while 2019, Oslo, and or but he it were “quoted” (aside)"
).split()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*PIECES, "[1]", "—", "(", "😀", ",", ";"]), min_size=1, max_size=25))
def test_spans_are_sorted_disjoint_and_lose_nothing(splitter: LearnedSplitter, words: list[str]) -> None:
    assert_nothing_is_lost(" ".join(words), splitter)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_any_string_can_be_split(splitter: LearnedSplitter, sentence: str) -> None:
    for p in splitter.split(sentence):
        assert p.text.strip()


def test_training_writes_weights_that_split(tmp_path: Path) -> None:
    from propcite.attribution.propositions.training.examples import read_examples
    from propcite.attribution.propositions.training.trainer import train

    rows = [{"sentence": s, "propositions": [s.split(" and ")[0], s.split(" and ")[-1]]} for s in SENTENCES[:3]]
    marked = {"sentence": "Ada sings.", "tokens": ["Ada", "sings", "."], "token_indices": [[0, 1]]}
    clauses = {
        "sentence": "Ada sings , and Bo paints .",
        "propositions": ["Ada sings .", "Bo paints ."],
        "style": "split_2",
    }
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in [*rows, marked, clauses]), "utf-8")
    examples = read_examples(data)
    assert [e.style for e in examples] == ["atomic"] * 3 + ["span", "clause"]
    assert examples[3].propositions == (frozenset({0, 1}),)
    assert examples[4].sentence == "Ada sings, and Bo paints."
    steps = []
    weights = train(examples, tmp_path / "own.safetensors", epochs=1, progress=lambda *state: steps.append(state))
    assert steps
    assert weights.stat().st_size < 8_000_000
    own = LearnedSplitter(weights)
    assert own.split(SENTENCES[3])
    assert own.parses([SENTENCES[3]]) == [None]  # no row had a parse
    assert own.was_trained_on(SENTENCES[0])
    assert own.was_trained_on("Ada sings , and Bo paints .")
    assert not own.was_trained_on(SENTENCES[3])


def test_a_claim_without_a_word_of_its_own_gets_one() -> None:
    from propcite.attribution.propositions.metrics import word_spans
    from propcite.attribution.propositions.training.examples import Example
    from propcite.attribution.propositions.training.targets import claims_by_word

    sentence = "Bo was born in Oslo, Norway, in 1970."
    born, lies, when = frozenset({0, 1, 2, 3, 4}), frozenset({3, 4, 5}), frozenset({0, 1, 2, 6, 7})
    example = Example(sentence, tuple(word_spans(sentence)), (born, lies, when), "atomic")
    own = claims_by_word(example, 8)
    assert own[5] is lies
    assert own[7] is when
    assert born in own


def test_the_shipped_weights_were_not_trained_on_these_sentences(splitter: LearnedSplitter) -> None:
    assert not any(splitter.was_trained_on(sentence) for sentence in SENTENCES)


def test_an_invalid_row_or_file_raises_and_is_named(tmp_path: Path) -> None:
    from propcite.attribution.propositions.training.examples import read_examples

    data = tmp_path / "rows.jsonl"
    data.write_text('{"sentence": "Ada sings.", "propositions": ["Ada sings."]}\n{"sentence": 1}\n', "utf-8")
    with pytest.raises(AttributionError, match=r"rows\.jsonl, line 2"):
        read_examples(data)
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"no weights")
    with pytest.raises(AttributionError, match="cannot read the splitter"):
        LearnedSplitter(broken)
