"""The drafts: send one, open one, cite one again, remove one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from propcite.app.errors import NotFoundError
from propcite.app.ingest.names import safe_name
from propcite.app.library.store import Action, CollectionInfo, ReviewInfo, Scope
from propcite.app.parts import Parts
from propcite.app.reviewing.citing import Reviewing
from propcite.app.reviewing.drafts import DRAFTS
from propcite.app.turns.costs import Kind
from propcite.ui import choosing, session
from propcite.ui.markdown import plain
from propcite.ui.people.turns import admitted
from propcite.ui.reviewing.words import draft_line

OPENED = "review"  # in the address: the draft that is open
HELP = "Word and Markdown files come back as they are, with comments or footnotes; others are written from their text."


@st.cache_resource(show_spinner=False, hash_funcs={Parts: id})
def reviewing(parts: Parts) -> Reviewing:
    return Reviewing(parts)


def open_draft(id_: str) -> None:
    st.query_params.from_dict({OPENED: id_})


def close() -> None:
    st.query_params.clear()


def is_there(id_: str) -> bool:
    """Return whether the draft was not removed meanwhile."""
    try:
        return bool(session.parts().reviews.find(id_))
    except NotFoundError:
        return False


def opened() -> ReviewInfo | None:
    """Return the draft that the address names; None if it names none, or one that is gone or not theirs."""
    named = st.query_params.get(OPENED, "")
    if not named:
        return None
    try:
        info = session.parts().reviews.find(named)
    except NotFoundError:
        info = None
    if info is None or not session.visitor().may(Scope.READ, info.collection):
        st.warning("This draft was removed, or is not shared with you.", icon=":material/info:")
        _show_lost(named)
        return None
    return info


def _show_lost(id_: str) -> None:
    """Show the notes that were typed at the statements of a draft that is gone, so that they can be copied."""
    begins = f"{session.NOTE}{id_}-"
    notes = [str(text) for key, text in st.session_state.items() if str(key).startswith(begins) and str(text).strip()]
    if notes:
        st.caption("Notes on its statements:")
        st.code("\n".join(notes), language=None, wrap_lines=True)


def show_sending(collection: CollectionInfo) -> None:
    """Show the form for a new draft; it is read, kept, and cited in the background."""
    st.markdown("Send a draft. Each of its statements is looked up in the collection, and you decide on each.")
    file = st.file_uploader(
        "Draft",
        type=[suffix.lstrip(".") for suffix in DRAFTS],
        max_upload_size=session.parts().settings.max_file_mb,
        key="draft-file",
        help=HELP,
    )
    if st.button("Review", key="begin-review", type="primary", icon=":material/rate_review:", disabled=file is None):
        with session.showing_errors():
            if file is not None and not choosing.gone_collection():
                open_draft(_begin(collection, file.name, file.getvalue()))
                st.rerun()


def _begin(collection: CollectionInfo, name: str, content: bytes) -> str:
    asking, parts = session.visitor(), session.parts()
    asking.require(Scope.READ, collection.name)
    with st.spinner("Reading the draft…"):
        info = reviewing(parts).begin(
            collection,
            safe_name(name),
            lambda: content,
            lambda: session.pipeline_of(parts, collection),
            admitted(Kind.CITE),
            asking.name,
        )
    asking.record(Action.BEGAN_REVIEW, collection.name, info.id)
    return info.id


def cite_again(info: ReviewInfo) -> None:
    """Cite a draft again from its beginning; decisions stay."""
    asking, parts = session.visitor(), session.parts()
    with session.showing_errors():
        require_change(info)
        collection, work = parts.library.collection(info.collection), admitted(Kind.CITE)
        reviewing(parts).go_on(info, lambda: session.pipeline_of(parts, collection), work, asking.name)


def show_list(drafts: Sequence[ReviewInfo]) -> None:
    """List the drafts; a click opens one."""
    if not drafts:
        return
    st.subheader("Drafts", anchor=False)
    with st.container(gap=None, key="drafts"):
        for info in drafts:
            st.button(
                plain(draft_line(info)),
                key=f"draft-{info.id}",
                type="tertiary",
                icon=":material/description:",
                on_click=open_draft,
                args=(info.id,),
            )


def show_removing(info: ReviewInfo) -> None:
    """Offer to remove a draft to those who sent it, and those who may change its collection."""
    if not may_change(info):
        return
    with st.popover("Remove", type="tertiary", icon=":material/delete:", key="remove-draft"):
        st.markdown("The draft, its sources and all decisions go.")
        st.button("Remove the draft", key="remove-draft-now", type="primary", on_click=_remove, args=(info,))


def may_change(info: ReviewInfo) -> bool:
    """Return whether the person sent the draft, or may change documents of its collection."""
    asking = session.visitor()
    is_own = bool(asking.name and asking.name == info.by) and asking.may(Scope.READ, info.collection)
    return is_own or asking.may(Scope.WRITE, info.collection)


def require_change(info: ReviewInfo) -> None:
    """Raise AppError unless the person may change the draft; the rights may differ since a button was drawn."""
    if not may_change(info):
        session.visitor().require(Scope.WRITE, info.collection)


def _remove(info: ReviewInfo) -> None:
    with session.showing_errors():
        require_change(info)
        session.parts().reviews.remove(info.id)
        session.visitor().record(Action.REMOVED_REVIEW, info.collection, info.id)
        close()
