"""Stored answers: searched page by page, in conversations, and removed, on both databases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from sqlalchemy import text

from propcite.app.errors import NotFoundError
from propcite.app.library.store import CollectionInfo, Library
from propcite.app.library.store.database import upgrade
from propcite.app.library.store.history import MAX_TURNS
from propcite.attribution.citations import CitedAnswer


@pytest.fixture
def library(database_url: str) -> Iterator[Library]:
    opened = Library(database_url)
    yield opened
    opened.close()


@pytest.fixture
def rivers(library: Library) -> CollectionInfo:
    return library.create_collection("rivers")


def save(library: Library, collection: CollectionInfo, question: str, words: str, after: str = "") -> CitedAnswer:
    answer = CitedAnswer(words, question=question, collection=collection.name, after=after)
    library.save_answer(collection, answer)
    return answer


def save_conversation(library: Library, collection: CollectionInfo, questions: Sequence[str]) -> list[CitedAnswer]:
    """Store a conversation of these questions."""
    turns: list[CitedAnswer] = []
    for question in questions:
        turns.append(save(library, collection, question, f"About {question}", turns[-1].id if turns else ""))
    return turns


def ids(library: Library, collection: CollectionInfo | None, words: str, **options: bool) -> list[str]:
    return [info.id for info in library.find_answers(collection, words, **options).items]


def test_answers_are_found_by_words_of_question_and_text(library: Library, rivers: CollectionInfo) -> None:
    lakes = library.create_collection("lakes")
    po = save(library, rivers, "How long is the PO? Über 600?", "It is 652 km long.")
    garda = save(library, lakes, "How deep is Garda?", "100% of it is deep_blue, 346 m.")
    pasted = save(library, rivers, "", "The Adige is 410 km long.")
    assert ids(library, None, "how") == [garda.id, po.id]
    assert ids(library, None, "LONG km") == [pasted.id, po.id]
    assert ids(library, rivers, "über  po") == [po.id]
    assert ids(library, rivers, "deep") == []
    assert ids(library, None, "100% deep_blue") == [garda.id]
    assert ids(library, None, "1%0 deep") == ids(library, None, "deepxblue") == []
    assert ids(library, rivers, "", questions=True) == [po.id]
    assert ids(library, rivers, "", questions=False) == [pasted.id]


def test_answers_are_found_by_the_understood_question(library: Library, rivers: CollectionInfo) -> None:
    answer = CitedAnswer("9 m.", question="How deep is it?", understood="How deep is the Po?", collection="rivers")
    library.save_answer(rivers, answer)
    assert ids(library, rivers, "po") == [answer.id]
    assert [turn.understood for turn in library.conversation(answer.id)] == ["How deep is the Po?"]


def test_answers_are_listed_page_by_page_newest_first(library: Library, rivers: CollectionInfo) -> None:
    made = [save(library, rivers, f"Question {n}", "Yes.").id for n in range(7)][::-1]
    pages = [library.find_answers(rivers, "question", first=first, limit=3) for first in (0, 3, 6, 9)]
    assert [page.total for page in pages] == [7, 7, 7, 7]
    assert [[info.id for info in page.items] for page in pages] == [made[:3], made[3:6], made[6:], []]


def test_a_conversation_begins_with_its_first_turn(library: Library, rivers: CollectionInfo) -> None:
    first, second, third = save_conversation(library, rivers, ["Is it long?", "And deep?", "And wide?"])
    other = save(library, rivers, "And cold?", "No.", first.id)
    turns = library.conversation(third.id)
    assert [(turn.id, turn.question, turn.text) for turn in turns] == [
        (a.id, a.question, a.text) for a in (first, second, third)
    ]
    assert [turn.id for turn in library.conversation(other.id[:8], rivers)] == [first.id, other.id]
    assert library.find_answers(rivers, "deep").items[0].after == first.id
    lakes = library.create_collection("lakes")
    with pytest.raises(NotFoundError, match=r"no answer .* in 'lakes'"):
        library.conversation(third.id, lakes)
    with pytest.raises(NotFoundError, match="begin with ''"):
        library.conversation("")


def test_a_long_conversation_is_cut_to_its_last_turns(library: Library, rivers: CollectionInfo) -> None:
    turns = save_conversation(library, rivers, [f"Number {n}?" for n in range(MAX_TURNS + 3)])
    assert [turn.id for turn in library.conversation(turns[-1].id)] == [answer.id for answer in turns[3:]]


def test_an_answer_is_removed_with_those_that_follow_it(library: Library, rivers: CollectionInfo) -> None:
    first, second, third = save_conversation(library, rivers, ["Is it long?", "And deep?", "And wide?"])
    other = save(library, rivers, "And cold?", "No.", first.id)
    assert set(library.following(first.id)) == {second.id, third.id, other.id}
    assert library.remove_answer(second.id) == 2
    assert ids(library, rivers, "") == [other.id, first.id]
    assert library.remove_answer(second.id) == 0
    assert [turn.id for turn in library.conversation(other.id)] == [first.id, other.id]
    assert library.remove_answer(first.id) == 2
    assert ids(library, rivers, "") == []


def test_a_cycle_of_answers_ends(library: Library, rivers: CollectionInfo) -> None:
    one, other = save_conversation(library, rivers, ["Is it long?", "And deep?"])
    with library.engine.begin() as connection:
        connection.execute(text("UPDATE answers SET after = :b WHERE id = :a"), {"a": one.id, "b": other.id})
    assert [turn.id for turn in library.conversation(one.id)] == [other.id, one.id]
    assert library.remove_answer(one.id) == 2


def test_a_conversation_begins_after_a_removed_answer(library: Library, rivers: CollectionInfo) -> None:
    alone = save(library, rivers, "And deep?", "No.", "feedbeef0123")
    assert [turn.id for turn in library.conversation(alone.id)] == [alone.id]


def test_answers_of_an_older_schema_are_found_by_their_words(library: Library, rivers: CollectionInfo) -> None:
    stored = save(library, rivers, "How long is the Pó?", "Straße:\0 652 km.")
    with library.engine.begin() as connection:
        upgrade(connection, "0011")
        upgrade(connection)
    assert ids(library, rivers, "PÓ strasse") == [stored.id]


def test_failures_are_listed_until_read_or_dismissed(library: Library, rivers: CollectionInfo) -> None:
    library.note_failures(rivers, {"/a.pdf": "it is locked", "b.pdf": "it is empty"})
    library.note_failures(rivers, {"/a.pdf": "it is damaged"})
    assert {f.source: f.reason for f in library.failures(rivers)} == {"/a.pdf": "it is damaged", "b.pdf": "it is empty"}
    library.note_failures(rivers, {}, ["b.pdf", "c.pdf"])
    assert [f.source for f in library.failures(rivers)] == ["/a.pdf"]
    assert library.failures(library.create_collection("lakes")) == []
    library.remove_collection(rivers)
    assert library.failures(rivers) == []


def test_surrogates_are_replaced_in_the_searched_text(library: Library, rivers: CollectionInfo) -> None:
    answer = save(library, rivers, "How long?", "652\ud800 km.")
    assert ids(library, rivers, "652") == [answer.id]
    library.save_answer(rivers, replace(answer, timings_ms={"judge": 1.0}))
    assert ids(library, rivers, "652") == [answer.id]
