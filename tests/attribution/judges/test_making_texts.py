"""Rewritten text stays English and keeps its marks; examples and rows are read with one line for what is wrong."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.training.making.example import Example, read_examples, write_examples
from propcite.attribution.judges.training.making.held_out import HeldOut
from propcite.attribution.judges.training.making.passages import read_texts, untokenized
from propcite.attribution.judges.training.making.rewriting import (
    Change,
    Piece,
    article_for,
    is_prose,
    rewrite,
    sentence_of,
)

SENTENCES = [
    "The harbour of the old town was built by the merchants of Bergen in the spring of 1921.",
    "It was sold to Anna Berg, who built a new one for the ships of the whole town.",
]


def changed(text: str, *changes: Change) -> list[tuple[str, list[str]]]:
    drafts = rewrite(text, changes, "unsupported", "kind")
    return [(d.claim, [d.claim[a:b] for a, b in d.wrong or ()]) for d in drafts]


def test_a_cut_leaves_no_marks_behind() -> None:
    text = "In 1921, Anna sold (with Carl) the ships, in May."
    assert changed(text, Change(0, 7)) == [("Anna sold (with Carl) the ships, in May.", [])]
    assert changed(text, Change(20, 29)) == [("In 1921, Anna sold the ships, in May.", [])]
    assert changed(text, Change(42, 48)) == [("In 1921, Anna sold (with Carl) the ships.", [])]


def test_an_article_fits_the_next_word() -> None:
    text = "Anna wrote a famous opera in an old town."
    assert changed(text, Change(13, 20)) == [("Anna wrote an opera in an old town.", [])]
    assert changed(text, Change(32, 36)) == [("Anna wrote a famous opera in a town.", [])]
    words = ["hour", "union", "uninformed", "European", "one-way", "ox", "user", "11th", "ship"]
    assert [article_for(word) for word in words] == ["an", "a", "an", "a", "a", "an", "a", "an", "a"]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Anna sold the ships and the boats", "the boats"),  # ends with "and"
        ("Anna sold ships.", "Anna"),  # two words
        ('Anna said "no" to the ships.', '"'),  # one quotation mark
        ("Anna (of Oslo) sold the ships.", "("),
    ],
)
def test_no_broken_sentence_is_made(text: str, cut: str) -> None:
    start = text.index(cut)
    assert changed(text, Change(start, start + len(cut))) == []


def test_changes_that_overlap_or_change_nothing_give_nothing() -> None:
    assert changed("Anna sold the ships.", Change(0, 6, "Eva "), Change(4, 9, " left")) == []
    assert changed("Anna sold the ships.", Change(0, 4, "Anna", wrong=True)) == []


@given(
    st.lists(st.tuples(st.sampled_from(["Anna", "sold", "the ships", "Oslo"]), st.booleans()), min_size=3, max_size=9)
)
def test_every_wrong_piece_is_marked_and_nothing_else(parts: list[tuple[str, bool]]) -> None:
    pieces = [piece for text, wrong in parts for piece in (Piece(text, wrong), Piece(" "))]
    made = sentence_of(pieces)
    if made is not None:
        text, spans = made
        marked = [text[a:b] for a, b in spans]
        assert " ".join(marked).lower() == " ".join(t for t, wrong in parts if wrong).lower()


def test_prose_is_told_from_other_text() -> None:
    assert is_prose("Anna sold the ships in 1921.")
    assert not any(
        map(is_prose, ["sold the ships.", "Anna sold the ships", "Ships: Anna sold 14.", "Is it 3 | 4 | 5."])
    )


def write_rows(path: Path, rows: list[Any]) -> Path:
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def test_examples_are_read_as_they_were_written(tmp_path: Path) -> None:
    examples = [
        Example("Anna sold it.", "Anna bought it.", "contradicted", "opposite", "squad", "Anna", "g", ((5, 9),)),
        Example("Anna sold it.", "Anna sold it.", "supported", "verbatim", "squad", wrong=()),
        Example("Anna sold it.", "Eva did.", "unsupported", "absent", "squad"),
    ]
    path = tmp_path / "made.jsonl.gz"
    assert write_examples(path, examples) == 3
    assert list(read_examples(path)) == examples
    first = path.read_bytes()
    write_examples(path, examples)
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"label": "maybe"}, "the label must be one of supported, unsupported, contradicted, not 'maybe'"),
        ({"claim": 3}, "claim must be a text"),
        ({"wrong": [[3, 99]]}, "the wrong spans [[3, 99]] do not lie in the claim"),
        ({"wrong": [[4, 6], [0, 2]]}, "one after another"),
    ],
)
def test_a_bad_example_is_named_with_its_line(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    row = {"claim": "Anna sold it.", "evidence": "x", "label": "supported", "kind": "k", "source": "s"}
    path = write_rows(tmp_path / "made.jsonl.gz", [row, row | change])
    with pytest.raises(AttributionError) as error:
        list(read_examples(path))
    assert f"{path}, line 2: " in str(error.value)
    assert reason in str(error.value)


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "made.jsonl.gz", [{"claim": "Anna sold it."}])
    with pytest.raises(AttributionError, match="line 1: the field 'evidence' is missing"):
        list(read_examples(path))


def ranked(**fields: Any) -> dict[str, Any]:
    row = {"source": "selqa", "kind": "question", "query": "Who?", "title": "The_Harbour", "sentences": SENTENCES}
    return row | {"positive_sentence_ids": [1]} | fields


def test_rows_are_known_by_their_fields_in_any_mixture(tmp_path: Path) -> None:
    answer = {
        "source": "squad2",
        "question": "When was the harbour built?",
        "passages": [{"title": "The Harbour", "sentences": SENTENCES}],
        "answerable": True,
        "answer": "1921",
        "answer_sentences": [[0, 0]],
    }
    yes_no = {
        "source": "boolq",
        "claim": "was the harbour sold? No.",
        "evidence": "Harbour -- It was sold.",
        "label": "contradicted",
    }
    split = {
        "source": "wikisplit",
        "sentence": "It is old , and it is big .",
        "propositions": ["It is old .", "It is big ."],
    }
    label = ranked(query="Anna bought it.", label="SUPPORTS", source="fool_me_twice", kind="claim")
    rows = [split, ranked(), answer, yes_no, label, {"other": 1}, {"sentence": 5, "propositions": 7, "source": "x"}]
    texts = read_texts([write_rows(tmp_path / "mixed.jsonl.gz", rows)], HeldOut())
    (passage,) = texts.passages
    assert (passage.title, passage.sentences, passage.source) == ("The Harbour", tuple(SENTENCES), "selqa")
    assert [(q.text, q.answer, q.sentence) for q in passage.questions] == [("When was the harbour built?", "1921", 0)]
    assert [(s.sentence, s.propositions) for s in texts.splits] == [
        ("It is old, and it is big.", ("It is old.", "It is big."))
    ]
    assert [(q.text, q.label, q.title, q.evidence) for q in texts.yes_no] == [
        ("Was the harbour sold?", "supported", "Harbour", "It was sold.")
    ]
    assert [(c.claim, c.label, c.wrong) for c in texts.claims] == [("Anna bought it.", "supported", ())]
    assert texts.unknown == 2


def test_wrong_words_in_brackets_are_marked(tmp_path: Path) -> None:
    row = {"claim": "Anna sold it in [[1931]] to [[Carl]].", "evidence": SENTENCES[1], "source": "own"}
    path = write_rows(tmp_path / "rows.jsonl.gz", [{**row, "label": "contradicted"}, {**row, "label": "supported"}])
    wrong, right = read_texts([path], HeldOut()).claims
    assert wrong.claim == right.claim == "Anna sold it in 1931 to Carl."
    assert [wrong.claim[start:end] for start, end in wrong.wrong or ()] == ["1931", "Carl"]
    assert right.wrong == ()


@pytest.mark.parametrize(
    "measured",
    [
        {"title": "The Harbour", "claim": "x"},
        {"passage": f"Something else. {SENTENCES[1]}"},
        {"docs": [{"sentences": [SENTENCES[0]]}]},
    ],
)
def test_a_passage_of_a_measurement_is_left_out(tmp_path: Path, measured: dict[str, Any]) -> None:
    held_out = HeldOut([write_rows(tmp_path / "dev.jsonl.gz", [measured])])
    rows = write_rows(tmp_path / "rows.jsonl.gz", [ranked()])
    texts = read_texts([rows], held_out)
    assert (texts.passages, texts.held_out) == ([], 1)
    assert len(read_texts([rows], HeldOut()).passages) == 1


def test_a_row_that_is_no_object_is_named_with_its_line(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl.gz", [ranked(), [1]])
    with pytest.raises(AttributionError, match="line 2: a row must be a JSON object"):
        read_texts([path], HeldOut())


def test_spaces_of_a_tokenized_text_go() -> None:
    text = "He did n't say `` yes '' ( to us ) , it 's said ."
    assert untokenized(text) == "He didn't say \"yes\" (to us), it's said."
