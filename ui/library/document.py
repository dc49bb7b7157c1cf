"""Show one document: its text and fields, the answers that cite it, and the actions on it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from propcite.app.errors import NotFoundError, without_commands
from propcite.app.library.fields import parse_change
from propcite.app.library.store import Action, CollectionInfo, DocumentInfo, Scope
from propcite.app.viewing.viewer import SHOWN_TYPES
from propcite.attribution.formats.text import is_address
from propcite.ui import session
from propcite.ui.asking.words import history_help, page_line
from propcite.ui.library import jobs
from propcite.ui.library.words import FIELDS, TAKEN, as_text, changed_fields, document_line, passage_line
from propcite.ui.markdown import plain
from propcite.ui.overview import document as overview
from propcite.ui.words import counted, sentence

AT_ONCE = 10


def show(collection: CollectionInfo, document_id: str) -> None:
    st.button("All documents", key="back", icon=":material/arrow_back:", type="tertiary", on_click=close)
    results = session.parts().library.documents(collection, [document_id])
    if not results:
        text = (
            f"There is no document {plain(document_id[:40])} in {plain(collection.name)}: it was removed or replaced."
        )
        st.info(text, icon=":material/search_off:")
        return
    (info,) = results
    st.title(plain(info.title or info.source), anchor=False)
    st.caption(plain(document_line(info)))
    st.text(info.source)
    if lacks := info.fidelity.line:
        st.warning(plain(sentence(lacks)), icon=":material/warning:")
    may_change = session.visitor().may(Scope.WRITE, collection.name)
    _actions(collection, info, may_change=may_change)
    short, described, read, cited = st.tabs(["In short", "What it is", "What was read", "Who cites it"])
    with short:
        overview.show(collection, info)
    with described:
        if may_change:
            _describe(collection, info)
        _fields(info, FIELDS if may_change else ())
        _versions(collection, info)
    with read:
        _passages(collection, info)
    with cited:
        _answers(collection, info)


def close() -> None:
    st.query_params.clear()
    for key in ("open", "table"):
        st.session_state.pop(key, None)


def _actions(collection: CollectionInfo, info: DocumentInfo, *, may_change: bool) -> None:
    kind = session.views([info.id])[info.id].kind
    with st.container(horizontal=True, gap="small"):
        _offer_to_ask(collection, info)
        st.link_button(
            "Open", f"source/{info.id}/{'file' if kind in SHOWN_TYPES else 'reading'}", icon=":material/open_in_new:"
        )
        if not may_change:
            return
        st.button(
            "Read again", key="read-again", icon=":material/refresh:", on_click=_read_again, args=(collection, info)
        )
        with st.popover("Remove", key="remove", icon=":material/delete:"):
            citing = session.parts().library.count_answers_citing(collection, info.id)
            cited = f"{counted(citing, 'kept answer')} would lose" if citing else "No kept answer would lose"
            st.markdown(f"{cited} this source; quotes that were kept stay as they are.")
            removing = (collection, info)
            st.button("Remove it for good", key="remove-now", type="primary", on_click=_remove, args=removing)


def _offer_to_ask(collection: CollectionInfo, info: DocumentInfo) -> None:
    """Show a button that opens the box for questions with this document chosen, where documents can be chosen."""
    if collection.num_documents > session.MAX_NAMED:
        return
    if st.button("Ask about it", key="ask-it", icon=":material/forum:"):
        st.session_state["documents"] = [info.id]
        st.switch_page("views/ask.py", query_params={})


def _read_again(collection: CollectionInfo, info: DocumentInfo) -> None:
    """Read the document again from its source; an upload is read from its kept file."""
    with session.showing_errors():
        try:
            kept = None if is_address(info.source) else session.parts().finder.find(info.id).path
        except NotFoundError as error:
            st.session_state["library-notice"] = without_commands(error)
            return
        jobs.read_again(collection.name, info.source, kept)


def _remove(collection: CollectionInfo, info: DocumentInfo) -> None:
    with session.showing_errors():
        asking = session.visitor()
        asking.require(Scope.WRITE, collection.name)
        session.parts().ingester(collection).remove(info.id)
        asking.record(Action.REMOVED_DOCUMENT, collection.name, info.id)
        close()
        st.toast("The document was removed", icon=":material/delete:")


def _describe(collection: CollectionInfo, info: DocumentInfo) -> None:
    """Show the fields of the file and those that people added, to edit."""
    details = {**info.details, "title": info.title}
    with st.form(f"describe-{info.id}", border=False):
        places = [column for _ in FIELDS[::2] for column in st.columns(2)]
        boxes = {
            key: place.text_input(key.capitalize(), as_text(details.get(key)), key=f"say-{key}-{info.id}")
            for key, place in zip(FIELDS, places, strict=True)
        }
        more = st.text_area("Other fields, KEY=VALUE in each line; KEY= takes it back", key="say-more", height=80)
        pressed = st.form_submit_button("Save", key="describe", icon=":material/save:")
    if pressed and (lines := changed_fields(details, boxes, more)):
        with session.showing_errors():
            asking = session.visitor()
            asking.require(Scope.WRITE, collection.name)
            session.parts().library.describe([info.id], parse_change(lines, None))
            asking.record(Action.CHANGED_DOCUMENT, collection.name, info.id)
            st.rerun()


def _fields(info: DocumentInfo, shown: Sequence[str]) -> None:
    """Show the fields that are not shown yet."""
    others = {key: as_text(value) for key, value in info.details.items() if key not in (*shown, *TAKEN)}
    if others:
        st.table({"Field": list(others), "Value": [plain(value) for value in others.values()]}, hide_index=True)


def _versions(collection: CollectionInfo, info: DocumentInfo) -> None:
    versions = session.parts().library.versions(collection, info.id)
    if versions:
        st.subheader("Before it", anchor=False)
    for version in versions:
        days = f"{version.added_at.astimezone():%d %b %Y} to {version.ended_at.astimezone():%d %b %Y}"
        st.caption(f"{plain(version.title)} · {days} · {counted(version.num_passages, 'passage')}")


def _passages(collection: CollectionInfo, info: DocumentInfo) -> None:
    library = session.parts().library
    ids = library.passage_ids(collection, info.id)
    pages = max(1, -(-len(ids) // AT_ONCE))
    number = st.number_input("Page", 1, pages, key=f"passages-{info.id}") if pages > 1 else 1
    first = (int(number) - 1) * AT_ONCE
    some = ids[first : first + AT_ONCE]
    results = library.passages(some)
    st.caption(f"Passages {page_line(first, len(some), len(ids))}" if ids else "Nothing was read from it.")
    for passage in (results[i] for i in some if i in results):
        with st.container(border=True):
            st.caption(plain(passage_line(passage)))
            st.text(passage.text.strip())


def _answers(collection: CollectionInfo, info: DocumentInfo) -> None:
    results = session.parts().library.find_answers_citing(collection, info.id)
    st.caption(f"{counted(results.total, 'kept answer')} cite{'s' * (results.total == 1)} it")
    for answer in results.items:
        label = plain(answer.question) or "A text that was given"
        page = "views/ask.py" if answer.question else "views/cite.py"
        if st.button(label, key=f"cites-{answer.id}", type="tertiary", help=plain(history_help(answer))):
            st.switch_page(page, query_params={"answer": answer.id})
