"""Notes of a collection, stored with what they pin as it was: quotes outlive their documents and answers."""

from __future__ import annotations

import secrets

from sqlalchemy import select
from sqlalchemy.orm import Session

from propcite.app.errors import AppError, NotFoundError
from propcite.app.library.records import CollectionInfo, Note
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.tables import CollectionRow, NoteRow, now
from propcite.app.storable_text import storable
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.json import from_json, to_json
from propcite.attribution.formats.links import linked_by

MAX_NOTE = 200_000  # characters


class ChangedNoteError(AppError):
    """Somebody changed the note meanwhile; `newer` is its text now."""

    def __init__(self, newer: str) -> None:
        super().__init__("somebody changed this note meanwhile: join both texts, then save again")
        self.newer = newer


class Notes:
    """The notes in one database.  Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, collection: CollectionInfo, text: str, pinned: CitedAnswer | None = None, by: str = "", answer: str = ""
    ) -> Note:
        """Store a note at the end of the collection's notebook, as `keep` does."""
        return self.keep(collection, text, pinned, by, answer)[0]

    def keep(
        self, collection: CollectionInfo, text: str, pinned: CitedAnswer | None, by: str, answer: str
    ) -> tuple[Note, bool]:
        """Store a new note; return it and true, or false with a note that pins the same and says no less already.

        `answer` is the id of the answer that is pinned or that the pinned part is of.
        """
        if not text.strip() and pinned is None:
            raise AppError("an empty note: write something, or pin an answer")
        with self._database.session() as session:
            if session.get(CollectionRow, collection.id) is None:
                raise NotFoundError(f"the collection {collection.name!r} was deleted meanwhile: the note is not kept")
            if pinned and (same := _same(session, collection, text, pinned, answer)):
                return same, False
            row = NoteRow(id=secrets.token_hex(6), collection_id=collection.id, by=by, pinned=_body(pinned), version=1)
            row.answer_id = answer
            row.text, row.cited = _checked(text), ""
            row.made_at = row.changed_at = now()
            session.add(row)
            session.flush()
            return _note(row, collection.name), True

    def all(self, collection: CollectionInfo) -> list[Note]:
        """Return the notes of a collection, the oldest first."""
        query = select(NoteRow).where(NoteRow.collection_id == collection.id).order_by(NoteRow.made_at, NoteRow.id)
        with self._database.session() as session:
            return [_note(row, collection.name) for row in session.scalars(query)]

    def find(self, note_id: str) -> Note:
        with self._database.session() as session:
            row = _row(session, note_id)
            return _note(row, _name(session, row))

    def write(self, note_id: str, text: str, version: int) -> Note:
        """Change the text of a note; ChangedNoteError unless it still is at this version."""
        with self._database.session() as session:
            row = _row(session, note_id, version)
            if row.text != _checked(text):
                row.text, row.cited = _checked(text), ""
                row.version, row.changed_at = row.version + 1, now()
            session.flush()
            return _note(row, _name(session, row))

    def set_cited(self, note_id: str, cited: CitedAnswer, version: int) -> Note:
        """Store the citations of the text of a version; ChangedNoteError if there is a newer one."""
        with self._database.session() as session:
            row = _row(session, note_id, version)
            row.cited = _body(cited)
            session.flush()
            return _note(row, _name(session, row))

    def remove(self, note_id: str) -> None:
        with self._database.session() as session:
            session.delete(_row(session, note_id))


def _same(session: Session, collection: CollectionInfo, text: str, pinned: CitedAnswer, answer: str) -> Note | None:
    """Return the first note that pins the same of the same answer, and says the same if `text` says anything."""
    query = select(NoteRow).where(NoteRow.collection_id == collection.id, NoteRow.answer_id.in_([answer, ""]))
    query = query.where(NoteRow.pinned != "").order_by(NoteRow.made_at, NoteRow.id)
    found = (_note(row, collection.name) for row in session.scalars(query))
    words = _checked(text)
    return next((n for n in found if n.pinned and n.pinned.id == pinned.id and words in ("", n.text)), None)


def _checked(text: str) -> str:
    if len(text) > MAX_NOTE:
        raise AppError(f"a note has at most {MAX_NOTE:,} characters, this one {len(text):,}: divide it")
    return storable(text).strip()


def _row(session: Session, note_id: str, version: int | None = None) -> NoteRow:
    """Return the row; with a version, lock it and check that it is at this one."""
    is_id = note_id.isascii() and note_id.isalnum()  # no database is asked for anything else
    row = session.get(NoteRow, note_id, with_for_update=version is not None or None) if is_id else None
    if row is None:
        raise NotFoundError(
            f"no note {note_id[:40]!r}: it, or its collection, was deleted; save your text as a new one"
        )
    if version is not None and row.version != version:
        raise ChangedNoteError(row.text)
    return row


def _name(session: Session, row: NoteRow) -> str:
    collection = session.get(CollectionRow, row.collection_id)
    return collection.name if collection else ""


def _body(answer: CitedAnswer | None) -> str:
    with linked_by(lambda *_: ""):  # links end, notes stay
        return to_json(answer) if answer else ""


def _note(row: NoteRow, collection: str) -> Note:
    pinned, cited = (from_json(body) if body else None for body in (row.pinned, row.cited))
    dates = aware(row.made_at), aware(row.changed_at)
    return Note(row.id, collection, row.by, row.text, pinned, cited, row.version, *dates, row.answer_id)
