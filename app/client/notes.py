"""The notes of a collection, over HTTP."""

from __future__ import annotations

from typing import Any

from propcite.app.client.calls import AsyncCaller, Call, Caller, Calls, part
from propcite.app.library.records import Note
from propcite.app.server.results import NoteList, StoredNote
from propcite.attribution.formats.json import from_dict


class NoteCalls:
    """The requests about notes."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def all(self, collection: str | None) -> Call[list[Note]]:
        return Call("GET", "/v1/notes", _notes, params=self._calls.given({}, collection))

    def add(
        self, text: str, answer: str, fact: str | int, citation: str | int, collection: str | None, *, quote: bool
    ) -> Call[Note]:
        body: dict[str, Any] = {"text": text, "answer": answer, "fact": fact, "citation": citation, "quote": quote}
        if not answer:
            body = self._calls.given(body, collection)
        elif collection:  # else that of the answer
            body["collection"] = collection
        return Call("POST", "/v1/notes", _note, body)

    def change(self, note: Note, text: str) -> Call[Note]:
        return Call("PUT", f"/v1/notes/{part(note.id)}", _note, {"text": text, "version": note.version})

    def cite(self, note_id: str) -> Call[Note]:
        return Call("POST", f"/v1/notes/{part(note_id)}/cite", _note)

    def remove(self, note_id: str) -> Call[Note]:
        return Call("DELETE", f"/v1/notes/{part(note_id)}", _note)

    def export(self, format_: str, collection: str | None) -> Call[bytes]:
        return Call("GET", "/v1/notes/export", bytes, params=self._calls.given({"format": format_}, collection))


class Notes:
    """The notes of a collection; a note of one's own may be changed and removed."""

    def __init__(self, calls: Calls, call: Caller) -> None:
        self._calls, self._call = NoteCalls(calls), call

    def all(self, *, collection: str | None = None) -> list[Note]:
        """Return the notes, the oldest first."""
        return self._call(self._calls.all(collection))

    def add(
        self,
        text: str = "",
        *,
        answer: str = "",
        fact: str | int = "",
        quote: bool = False,
        citation: str | int = "",
        collection: str | None = None,
    ) -> Note:
        """Write a note, and pin a stored answer, a `fact` of it, or the `quote` of that fact.

        What is pinned already is not pinned twice: without other words its note is returned.
        """
        return self._call(self._calls.add(text, answer, fact, citation, collection, quote=quote))

    def change(self, note: Note, text: str) -> Note:
        """Write other words; ServerError with status 409 if somebody changed the note meanwhile."""
        return self._call(self._calls.change(note, text))

    def cite(self, note_id: str) -> Note:
        """Cite what is written in a note over its collection."""
        return self._call(self._calls.cite(note_id))

    def remove(self, note_id: str) -> Note:
        """Remove a note, and return it."""
        return self._call(self._calls.remove(note_id))

    def export(self, format: str = "markdown", *, collection: str | None = None) -> bytes:  # noqa: A002
        """Return the notes as one text with its references, in a format of answers such as `docx`."""
        return self._call(self._calls.export(format, collection))


class AsyncNotes:
    """The notes of a collection: await the methods of `Notes`."""

    def __init__(self, calls: Calls, call: AsyncCaller) -> None:
        self._calls, self._call = NoteCalls(calls), call

    async def all(self, *, collection: str | None = None) -> list[Note]:
        """Return the notes, the oldest first."""
        return await self._call(self._calls.all(collection))

    async def add(
        self,
        text: str = "",
        *,
        answer: str = "",
        fact: str | int = "",
        quote: bool = False,
        citation: str | int = "",
        collection: str | None = None,
    ) -> Note:
        """Write a note, and pin a stored answer, a `fact` of it, or the `quote` of that fact.

        What is pinned already is not pinned twice: without other words its note is returned.
        """
        return await self._call(self._calls.add(text, answer, fact, citation, collection, quote=quote))

    async def change(self, note: Note, text: str) -> Note:
        """Write other words; ServerError with status 409 if somebody changed the note meanwhile."""
        return await self._call(self._calls.change(note, text))

    async def cite(self, note_id: str) -> Note:
        """Cite what is written in a note over its collection."""
        return await self._call(self._calls.cite(note_id))

    async def remove(self, note_id: str) -> Note:
        """Remove a note, and return it."""
        return await self._call(self._calls.remove(note_id))

    async def export(self, format: str = "markdown", *, collection: str | None = None) -> bytes:  # noqa: A002
        """Return the notes as one text with its references, in a format of answers such as `docx`."""
        return await self._call(self._calls.export(format, collection))


def _notes(body: bytes) -> list[Note]:
    return [_read(note) for note in NoteList.model_validate_json(body).notes]


def _note(body: bytes) -> Note:
    return _read(StoredNote.model_validate_json(body))


def _read(note: StoredNote) -> Note:
    pinned, cited = (from_dict(answer) if answer else None for answer in (note.pinned, note.cited))
    return Note(
        note.id,
        note.collection,
        note.by,
        note.text,
        pinned,
        cited,
        note.version,
        note.made_at,
        note.changed_at,
        note.answer,
    )
