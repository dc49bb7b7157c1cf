"""Notes of a collection: list, add, change, cite, remove and export them."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from propcite.app.errors import NotFoundError
from propcite.app.library.store import Action, ChangedNoteError, Note, Scope
from propcite.app.library.store.writing.notes import MAX_NOTE
from propcite.app.notes.notebook import notebook_answer
from propcite.app.notes.pinning import pinned
from propcite.app.server.access import Access, CheckedRoute, ReadAccess
from propcite.app.server.errors import RequestError
from propcite.app.server.results import NoteList, StoredNote, stored_note
from propcite.app.server.routes.answers import find_answer
from propcite.app.server.routes.shared import (
    ANSWER_RESPONSES,
    PROBLEMS,
    answer_response,
    cancel_on_disconnect,
    exported,
)
from propcite.app.server.schemas import AnswerFormat, Name, RequestBody, Text
from propcite.app.turns.costs import Kind, Size

router = APIRouter(tags=["notes"], route_class=CheckedRoute)
Collection = Annotated[Name | None, Query(description="default: the server's own, PROPCITE_COLLECTION")]


class NewNote(RequestBody):
    """A note: what is written, and what is pinned of a stored answer: all of it, a fact, or the quote of a fact."""

    text: Text = Field("", max_length=MAX_NOTE)
    answer: Text = ""
    fact: Text | int = ""
    quote: bool = False
    citation: Text | int = ""
    collection: Name | None = None


class ChangedNote(RequestBody):
    text: Text = Field(max_length=MAX_NOTE)
    version: int = Field(description="of the note that was changed: 409 if somebody changed it meanwhile")


class NotesFormat(AnswerFormat):
    """A collection's notes in a format of answers."""

    collection: Name | None = Field(None, description="default: the server's own, PROPCITE_COLLECTION")


@router.get("/v1/notes", responses=PROBLEMS)
def list_notes(access: ReadAccess, collection: Collection = None) -> NoteList:
    """List the notes of a collection, the oldest first."""
    info = access.service.pipeline(access.collection_name(collection)).collection
    found = access.service.parts.notes.all(info)
    return NoteList(collection=info.name, notes=[stored_note(note) for note in found])


@router.get("/v1/notes/export", responses=ANSWER_RESPONSES, response_class=Response)
async def export_notes(request: Request, access: ReadAccess, options: Annotated[NotesFormat, Query()]) -> Response:
    """Return the notes as one text with its references, in any format of answers: markdown, docx, …"""

    def work() -> Response:
        info = access.service.pipeline(access.collection_name(options.collection)).collection
        found = access.service.parts.notes.all(info)
        return answer_response(access.service, notebook_answer(info.name, found), options, request)

    return await exported(request, access, work)


THERE: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    200: {"model": StoredNote, "description": "The note that pins the same already"},
}


@router.post("/v1/notes", responses=THERE, status_code=201)
def add_note(access: ReadAccess, response: Response, body: NewNote) -> StoredNote:
    """Add a note to a collection, by default to that of the answer which it pins.

    What is pinned already is not pinned twice: without other words its note is returned, with status 200.
    """
    note, is_new = keep_note(access, body)
    response.status_code = 201 if is_new else 200
    return stored_note(note)


def keep_note(access: Access, body: NewNote) -> tuple[Note, bool]:
    """Keep a note with what it pins; return it and whether it is new, or else the one that pins the same already."""
    answer = find_answer(access, body.answer) if body.answer else None
    if answer is None and (body.fact or body.quote):
        raise RequestError(422, "fact, quote: they are of an answer: name it as `answer`")
    name = access.collection_name(body.collection or (answer.collection if answer else None))
    taken = pinned(answer, str(body.fact), str(body.citation), quote=body.quote) if answer else None
    info = access.service.pipeline(name).collection
    by = access.speaker() or access.account
    made, is_new = access.service.parts.notes.keep(info, body.text, taken, by, answer.id if answer else "")
    if is_new:
        access.record(Action.WROTE_NOTE, info.name, made.id)
    return made, is_new


@router.put("/v1/notes/{note_id}", responses=PROBLEMS)
def change_note(access: ReadAccess, note_id: str, body: ChangedNote) -> StoredNote:
    """Change what is written in a note of one's own; keys of scope write change every note."""
    note = _own(access, note_id)
    try:
        changed = access.service.parts.notes.write(note.id, body.text, body.version)
    except ChangedNoteError as error:
        raise RequestError(409, str(error)) from error
    access.record(Action.WROTE_NOTE, note.collection, note.id)
    return stored_note(changed)


@router.post("/v1/notes/{note_id}/cite", responses=PROBLEMS)
async def cite_note(request: Request, access: ReadAccess, note_id: str) -> StoredNote:
    """Cite what is written in a note over its collection."""
    access.service.require_models()
    note = await asyncio.to_thread(_own, access, note_id)
    return stored_note(await cancel_on_disconnect(request, with_citations(access, note)))


async def with_citations(access: Access, note: Note) -> Note:
    """Cite what is written in a note, and return it with its citations."""
    service = access.service

    def work() -> Note:
        cited = service.pipeline(note.collection).cite(note.text)
        try:
            return service.parts.notes.set_cited(note.id, cited, note.version)
        except ChangedNoteError as error:
            raise RequestError(409, str(error)) from error

    return await service.workers.run(access.asking, Kind.CITE, Size.of(note.text), work)


@router.delete("/v1/notes/{note_id}", responses=PROBLEMS)
def remove_note(access: ReadAccess, note_id: str) -> StoredNote:
    """Remove a note of one's own; keys of scope write remove every note."""
    note = _own(access, note_id)
    access.service.parts.notes.remove(note.id)
    access.record(Action.REMOVED_NOTE, note.collection, note.id)
    return stored_note(note)


def _own(access: Access, note_id: str) -> Note:
    """Return a note that the key may change; NotFoundError for one that it may not see."""
    missing = NotFoundError(f"no note {note_id[:40]!r}: GET /v1/notes lists the notes")
    try:
        note = access.service.parts.notes.find(note_id)
    except NotFoundError as error:
        raise missing from error
    if not access.opens(note.collection):
        raise missing
    if note.by != access.speaker() and not access.rights.allow(Scope.WRITE, note.collection):
        raise RequestError(403, f"this note is by {note.by or 'somebody else'}: a key of scope write may change it")
    return note
