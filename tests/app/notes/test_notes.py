"""Notes: stored on every database, cited, exported with their references, by the command and over HTTP."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace

import docx
import httpx
import pytest
from commanded import Propcite
from sample_answers import ANSWER
from serving import parts_with, running_server

from propcite.app.errors import AppError, NotFoundError
from propcite.app.library.store import ChangedNoteError, CollectionInfo, Library, Notes, Scope
from propcite.app.notes.choosing import number_of_part
from propcite.app.notes.notebook import notebook_answer
from propcite.app.notes.pinning import pinned
from propcite.attribution.formats import FORMATS

FERRY = "The ferry leaves at seven. It carries ninety people and their bicycles across the bay.\n"
HOSTILE = "<script>alert(1)</script> [x](javascript:alert(1)) **bold**"


@pytest.fixture
def library(database_url: str) -> Iterator[Library]:
    opened = Library(database_url)
    yield opened
    opened.close()


@pytest.fixture
def rivers(library: Library) -> CollectionInfo:
    return library.create_collection("rivers")


@pytest.fixture
def notes(library: Library) -> Notes:
    return Notes(library)


def test_a_note_keeps_what_it_pins_as_it_was(notes: Notes, rivers: CollectionInfo) -> None:
    made = notes.add(rivers, "  Check this. ", pinned(ANSWER, "1"), "Ana")
    assert (made.text, made.by, made.version) == ("Check this.", "Ana", 1)
    assert made.pinned is not None
    assert made.pinned.text == ANSWER.facts[0].proposition.text
    assert [c.quote for c in made.pinned.citations] == [c.quote for c in ANSWER.facts[0].citations]
    assert notes.all(rivers) == [made] == [notes.find(made.id)]
    with pytest.raises(AppError, match="an empty note"):
        notes.add(rivers, " \n")


def test_the_same_of_an_answer_is_pinned_once(notes: Notes, rivers: CollectionInfo, library: Library) -> None:
    number, quote = ANSWER.facts[0].citations[0].number, ANSWER.facts[0].citations[0].id
    parts = [ANSWER, pinned(ANSWER, "1"), pinned(ANSWER, "1", quote, quote=True)]
    made = [notes.keep(rivers, "", part, "Ana", ANSWER.id) for part in parts]
    again = [notes.keep(rivers, "", part, "Ben", ANSWER.id) for part in parts]
    assert [is_new for _, is_new in made] == [True] * 3
    assert again == [(note, False) for note, _ in made]
    assert [note.answer for note, _ in made] == [ANSWER.id] * 3
    assert notes.keep(rivers, "", pinned(ANSWER, "1", str(number), quote=True), "", ANSWER.id)[1] is False
    with_words, is_new = notes.keep(rivers, "Check this.", ANSWER, "Ana", ANSWER.id)
    assert (is_new, notes.keep(rivers, " Check this.", ANSWER, "Ana", ANSWER.id)) == (True, (with_words, False))
    lake = library.create_collection("lake")
    assert notes.keep(lake, "", ANSWER, "Ana", ANSWER.id)[1]


def test_a_pin_of_which_the_answer_is_not_known_is_found_too(notes: Notes, rivers: CollectionInfo) -> None:
    before = notes.add(rivers, "", pinned(ANSWER, "1"))
    assert notes.keep(rivers, "", pinned(ANSWER, "1"), "", ANSWER.id) == (before, False)
    assert [number_of_part(pinned(ANSWER, str(n)), ANSWER) for n in (1, 2)] == [1, 2]
    quote = pinned(ANSWER, "1", quote=True)
    assert (number_of_part(quote, ANSWER), number_of_part(replace(quote, sentences=()), ANSWER)) == (1, 0)


def test_who_saves_an_older_version_is_told_and_loses_nothing(notes: Notes, rivers: CollectionInfo) -> None:
    made = notes.add(rivers, "one")
    cited = notes.set_cited(made.id, ANSWER, made.version)
    assert cited.cited is not None
    changed = notes.write(made.id, "two", made.version)
    assert (changed.text, changed.cited, changed.version) == ("two", None, 2)
    with pytest.raises(ChangedNoteError) as raised:
        notes.write(made.id, "three", made.version)
    assert raised.value.newer == "two"
    with pytest.raises(ChangedNoteError):
        notes.set_cited(made.id, ANSWER, made.version)
    assert notes.find(made.id) == changed


def test_notes_go_with_their_collection(notes: Notes, library: Library, rivers: CollectionInfo) -> None:
    made = notes.add(rivers, "one")
    library.remove_collection(rivers)
    with pytest.raises(NotFoundError, match="deleted"):
        notes.write(made.id, "two", made.version)
    with pytest.raises(NotFoundError, match="no note"):
        notes.find("a\0b")
    with pytest.raises(NotFoundError, match="deleted meanwhile"):
        notes.add(rivers, "three")


def test_a_notebook_is_written_with_all_its_references(notes: Notes, rivers: CollectionInfo) -> None:
    notes.add(rivers, HOSTILE, pinned(ANSWER, "1", quote=True, citation=ANSWER.facts[0].citations[0].id))
    notes.add(rivers, "", ANSWER)
    whole = notebook_answer("rivers", notes.all(rivers))
    assert all(sentence.span.of(whole.text) for sentence in whole.sentences)
    assert {c.passage.id for c in whole.citations} == {c.passage.id for c in ANSWER.citations}
    numbers = {c.passage.id: c.number for c in whole.citations}
    assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))
    assert all(numbers[c.passage.id] == c.number for c in whole.citations)
    text = FORMATS["markdown"].write(whole).decode()
    assert "[^1]" in text
    assert ANSWER.citations[0].quote in text.replace("\\", "")
    assert "<script>" not in text.replace("\\<", "")
    word = docx.Document(io.BytesIO(FORMATS["docx"].write(whole)))
    assert HOSTILE in "\n".join(paragraph.text for paragraph in word.paragraphs)


def test_a_notebook_says_where_a_note_begins_and_which_words_were_written(notes: Notes, rivers: CollectionInfo) -> None:
    one = notes.add(rivers, "Is that so?", pinned(ANSWER, "1"), "ada")
    notes.add(rivers, "Ask the harbour.")
    lines = [line for line in notebook_answer("rivers", notes.all(rivers)).text.split("\n") if line]
    day = f"{one.changed_at.astimezone():%d %B %Y}".lstrip("0")
    assert lines == [
        f"Note 1, by ada, {day}",
        *ANSWER.question.split("\n"),
        ANSWER.facts[0].proposition.text,
        "Written beside it:",
        "Is that so?",
        f"Note 2, {day}",
        "Ask the harbour.",
    ]
    assert notebook_answer("rivers", notes.all(rivers)[1:]).text == "Ask the harbour."


def test_the_commands_add_cite_and_export(propcite: Propcite) -> None:
    with open("ferry.txt", "w") as file:
        file.write(FERRY)
    assert propcite("ingest", "ferry.txt", "-c", "town").code == 0
    assert propcite("notes", "export", "-c", "town").code == 2
    made = propcite("notes", "add", "The ferry carries ninety people.", "-c", "town", "--cite", "--json")
    assert made.code == 0
    assert made.json["cited"]["text"] == "The ferry carries ninety people."
    answer = propcite("ask", "When does the ferry leave?", "-c", "town", "--json").json
    assert propcite("notes", "add", "--answer", answer["id"], "--fact", "1", "--quote").code == 0
    assert propcite("notes", "add", "--fact", "1").code == 2
    again = propcite("notes", "add", "--answer", answer["id"], "--fact", "1", "--quote", "--json")
    assert "it is pinned already, in the note" in again.err
    listed = propcite("notes", "list", "-c", "town", "--json").json
    assert [note["answer"] for note in listed] == ["", answer["id"]]
    assert again.json == listed[1]
    out = propcite("notes", "export", "-c", "town").out
    assert out.startswith("# Notes on town")
    assert "ferry carries ninety people.[^1]" in " ".join(out.split())
    assert propcite("notes", "export", "-c", "town", "-f", "docx", "-o", "notes.docx").code == 0
    assert docx.Document("notes.docx").paragraphs[0].text == "Notes on town"
    changed = propcite("notes", "write", made.json["id"], "Other words.", "--json")
    assert (changed.json["version"], changed.json["cited"]) == (2, None)
    assert propcite("notes", "remove", made.json["id"]).code == 0
    assert propcite("notes", "remove", made.json["id"]).code == 2


def test_the_routes_add_change_cite_and_export(serve: Callable[..., str]) -> None:
    address = serve({"town": {"ferry.txt": FERRY}})
    made = httpx.post(f"{address}/v1/notes", json={"text": "The ferry leaves at seven.", "collection": "town"})
    assert made.status_code == 201
    at = f"{address}/v1/notes/{made.json()['id']}"
    assert httpx.post(f"{at}/cite").json()["cited"]["text"] == "The ferry leaves at seven."
    assert httpx.put(at, json={"text": "It leaves.", "version": 1}).json()["version"] == 2
    refused = httpx.put(at, json={"text": "lost?", "version": 1})
    assert (refused.status_code, "meanwhile" in refused.json()["detail"]) == (409, True)
    exported = httpx.get(f"{address}/v1/notes/export", params={"collection": "town", "format": "markdown"})
    assert "It leaves." in exported.text
    assert httpx.delete(at).status_code == 200
    assert httpx.get(f"{address}/v1/notes", params={"collection": "town"}).json()["notes"] == []
    assert httpx.delete(at).status_code == 404
    wrong = httpx.post(f"{address}/v1/notes", json={"text": "x", "fact": 1, "collection": "town"})
    assert wrong.status_code == 422


def test_a_key_changes_its_own_notes_and_sees_only_its_collections(loaded: dict[str, object]) -> None:
    parts = parts_with(loaded, {"town": {"ferry.txt": FERRY}, "lake": {"ferry.txt": FERRY}})
    keys = [
        parts.keys.create("a reader", Scope.READ, ["town"]),
        parts.keys.create("another", Scope.READ, ["town"]),
        parts.keys.create("of the lake", Scope.READ, ["lake"]),
        parts.keys.create("a writer", Scope.WRITE, ["town"]),
    ]
    reader, other, stranger, writer = ({"Authorization": f"Bearer {secret}"} for _, secret in keys)
    with running_server(parts, requires_keys=True) as address:
        made = httpx.post(f"{address}/v1/notes", json={"text": "mine", "collection": "town"}, headers=reader).json()
        at, change = f"{address}/v1/notes/{made['id']}", {"text": "theirs", "version": 1}
        assert httpx.put(at, json=change, headers=other).status_code == 403
        assert httpx.put(at, json=change, headers=stranger).status_code == 404
        assert httpx.put(at, json=change, headers=writer).json()["version"] == 2
        listed = httpx.get(f"{address}/v1/notes", params={"collection": "town"}, headers=stranger)
        assert listed.status_code == 404
