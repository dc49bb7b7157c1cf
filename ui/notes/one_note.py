"""Show one note: what is pinned, what is written, and the actions on it; what is typed stays until it is saved."""

from __future__ import annotations

import streamlit as st

from propcite.app.errors import without_commands
from propcite.app.library.store import Action, ChangedNoteError, CollectionInfo, Note, Scope
from propcite.app.notes.choosing import number_of_part
from propcite.app.turns.costs import Kind
from propcite.attribution.citations import CitedAnswer, Evidence
from propcite.attribution.formats.cited_documents import with_documents
from propcite.attribution.formats.reviewed.remarks import verdict_line
from propcite.attribution.formats.wording import place_of, title_of
from propcite.retrieval.errors import PropCiteError
from propcite.ui import session
from propcite.ui.markdown import plain
from propcite.ui.people.turns import in_turns
from propcite.ui.sources import Views, address_of
from propcite.ui.words import support_line

DRAFTS = "note-drafts"  # of the session: the text that is typed, by the id of its note; empty for a new one
NEW = ""


def drafts() -> dict[str, str]:
    found: dict[str, str] = st.session_state.setdefault(DRAFTS, {})
    return found


def show_new(collection: CollectionInfo) -> None:
    """Show the box of a new note."""
    _box("A new note", NEW, "")
    st.button("Add", key="add-note", type="primary", icon=":material/add:", on_click=_add, args=(collection,))


def show(note: Note) -> None:
    with st.container(border=True):
        if note.pinned:
            _show_cited(note.pinned)
        if may_change(note):
            _box("Your words", note.id, note.text)
            _show_newer(note)
            _actions(note)
        elif note.text:
            st.text(note.text)
        if note.cited:
            _show_support(note.cited, note.id)
        _show_answer_of(note)
        st.caption(plain(about(note)))


def _show_answer_of(note: Note) -> None:
    """Offer the answer that a note was pinned from, at the statement that it pins, if it is still there."""
    answer_id = note.answer or (note.pinned.id if note.pinned else "")
    if not note.pinned or not session.parts().library.has_answer(answer_id):
        return
    if st.button("Open the answer", key=f"answer-{note.id}", type="tertiary", icon=":material/arrow_outward:"):
        answer = session.visitor().answer(answer_id)
        number = 0 if note.pinned.id == answer.id else number_of_part(note.pinned, answer)
        where = {"answer": answer.id, **({"fact": str(number)} if number else {})}
        st.switch_page("views/ask.py" if answer.question else "views/cite.py", query_params=where)


def about(note: Note) -> str:
    return " · ".join(filter(None, [note.by, f"{note.changed_at.astimezone():%d %b %Y, %H:%M}"]))


def may_change(note: Note) -> bool:
    """Return whether the person wrote it, or may change documents of its collection."""
    asking = session.visitor()
    is_own = note.by == asking.name and asking.may(Scope.READ, note.collection)
    return is_own or asking.may(Scope.WRITE, note.collection)


def _show_cited(answer: CitedAnswer) -> None:
    """Show what is pinned as text, with the places of its sources."""
    if answer.question:
        st.markdown(f"**{plain(answer.question)}**")
    st.text(answer.text)
    _show_sources(answer)


def _show_support(cited: CitedAnswer, note_id: str) -> None:
    st.caption(plain(support_line(cited)))
    _show_sources(cited)
    if st.button("Open with its sources", key=f"open-{note_id}", type="tertiary", icon=":material/open_in_full:"):
        st.switch_page("views/cite.py", query_params={"answer": cited.id})


def _show_sources(answer: CitedAnswer) -> None:
    """Show each quote with its place, which opens the document, and each statement without one with its verdict."""
    documents = session.parts().library.cited_documents(answer)
    answer = with_documents(answer, documents)
    views = session.views(documents, {document.id for document in documents.values() if document.status})
    lines = [_source_line(citation.evidence, views) for citation in answer.citations]
    uncited = (fact for fact in answer.facts if not fact.citations)
    lines += [plain(f"{fact.proposition.text} — {verdict_line(fact)}") for fact in uncited]
    for line in dict.fromkeys(lines):
        st.caption(line)


def _source_line(evidence: Evidence, views: Views) -> str:
    """Return a quote and its place as Markdown."""
    title = plain(title_of(evidence.passage).split(" › ")[0])
    address = address_of(evidence.passage, [evidence.span], views)
    place = plain(place_of(evidence))
    opened = f"[{title}]({address})" if address else title
    return f"{', '.join(filter(None, [opened, place]))}: {plain(f'“{evidence.quote}”')}"


def _box(label: str, id_: str, text: str) -> None:
    """Show a box whose text is kept while other views are open."""
    key = f"note-{id_}"

    def keep() -> None:
        drafts()[id_] = st.session_state[key]

    if key not in st.session_state or id_ not in drafts():
        st.session_state[key] = drafts().get(id_, text)  # else it was saved, here or in another tab
    st.text_area(label, key=key, on_change=keep)


def _show_newer(note: Note) -> None:
    """Show a text that was saved elsewhere while this one was typed."""
    seen = st.session_state.get(f"seen-{note.id}", note.version)
    if note.id in drafts() and seen != note.version:
        st.warning("Somebody changed this note meanwhile. Saving replaces these words:", icon=":material/info:")
        st.text(note.text)
    if note.id not in drafts():
        st.session_state[f"seen-{note.id}"] = note.version


def _actions(note: Note) -> None:
    with st.container(horizontal=True, gap="small"):
        st.button("Save", key=f"save-{note.id}", icon=":material/save:", on_click=_save_only, args=(note,))
        st.button("Save and cite", key=f"cite-{note.id}", icon=":material/format_quote:", on_click=_cite, args=(note,))
        with st.popover("Remove", key=f"remove-{note.id}", icon=":material/delete:", type="tertiary"):
            st.button("Remove the note", key=f"gone-{note.id}", type="primary", on_click=_remove, args=(note,))


def _add(collection: CollectionInfo) -> None:
    try:
        asking = session.visitor()
        asking.require(Scope.READ, collection.name)
        text = st.session_state.get(f"note-{NEW}", "")
        made = session.parts().notes.add(collection, text, None, asking.name)
        asking.record(Action.WROTE_NOTE, collection.name, made.id)
        drafts().pop(NEW, None)
        st.session_state[f"note-{NEW}"] = ""
    except PropCiteError as error:
        _say(error)


def _save(note: Note) -> Note | None:
    """Save what is typed; None where it was not saved, and then it stays in its box."""
    text = st.session_state.get(f"note-{note.id}", note.text)
    drafts()[note.id] = text
    try:
        _require(note)
        saved = session.parts().notes.write(note.id, text, note.version)
        session.visitor().record(Action.WROTE_NOTE, note.collection, note.id)
        drafts().pop(note.id, None)
        st.session_state[f"seen-{note.id}"] = saved.version
        return saved
    except ChangedNoteError as error:
        st.session_state[f"seen-{note.id}"] = note.version
        _say(error)
    except PropCiteError as error:
        _say(error)
    return None


def _save_only(note: Note) -> None:
    _save(note)


def _cite(note: Note) -> None:
    saved = _save(note)
    if saved is None:
        return
    try:
        collection = session.parts().library.collection(saved.collection)
        with in_turns(Kind.CITE):
            cited = session.pipeline(collection).cite(saved.text)
        session.parts().notes.set_cited(saved.id, cited, saved.version)
    except PropCiteError as error:
        _say(error)


def _remove(note: Note) -> None:
    try:
        _require(note)
        session.parts().notes.remove(note.id)
        session.visitor().record(Action.REMOVED_NOTE, note.collection, note.id)
        drafts().pop(note.id, None)
    except PropCiteError as error:
        _say(error)


def _require(note: Note) -> None:
    if not may_change(note):
        session.visitor().require(Scope.WRITE, note.collection)


def _say(error: PropCiteError) -> None:
    """Show an error in the next run, above the notes."""
    st.session_state["notes-said"] = without_commands(error)
