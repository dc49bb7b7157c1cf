"""Shared by all views: the application's parts, the chosen collection, errors, and adding documents."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import streamlit as st
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from propcite.app.answering.pipeline import Pipeline
from propcite.app.demo import DOCUMENTS
from propcite.app.errors import NotFoundError, without_commands
from propcite.app.ingest.outcomes import Outcome, Progress
from propcite.app.ingest.sources import Source, gather
from propcite.app.library.conditions import EXAMPLE
from propcite.app.library.selection import selected_documents, selected_passages
from propcite.app.library.store import Action, CollectionInfo, Scope
from propcite.app.parts import Parts
from propcite.app.settings import Settings, load_settings
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.text import Granularity
from propcite.ui.markdown import plain
from propcite.ui.people.visitor import PERSON_HEADER, Visitor, visitor_of
from propcite.ui.sources import View, Views
from propcite.ui.words import UNITS

KEPT = (
    *("collection", "text-to-cite", "given-passages", "search-text", "granularity", "documents"),
    *("left-documents", "right-documents", "left-documents-where", "right-documents-where", "compared-question"),
    *("runs-kind", "runs-text", "measure-kind", "measure-path", "measure-limit"),
)
SETTING = "setting-"  # begins the keys of the fields of settings
NOTE = "review-note-"  # begins the keys of notes on the statements of a draft
DECIDING = (NOTE, "review-words-")  # begin the keys of what is typed at the statements of a draft
KEPT_ERROR = "kept-error"  # of the session: what went wrong in a callback of a fragment
DEMO = "demo"
ADDED = "times-added"
MAX_NAMED = 1000  # documents to choose among by name; with more, only conditions select


def keep_what_was_typed(kept: Collection[str] = KEPT, beginnings: tuple[str, ...] = (SETTING, *DECIDING)) -> None:
    """Keep typed values of boxes that are not shown: Streamlit forgets them unless they are set again in each run."""
    for key in list(map(str, st.session_state)):
        if key in kept or key.startswith(beginnings):
            st.session_state[key] = st.session_state[key]


@contextmanager
def showing_errors() -> Iterator[None]:
    """Show a PropCiteError on the page instead of raising it."""
    try:
        yield
    except PropCiteError as error:
        _show_error(without_commands(error))


@contextmanager
def keeping_errors() -> Iterator[None]:
    """Keep a PropCiteError for `show_kept_error`: in a callback of a fragment nothing can be shown beside the page."""
    try:
        yield
    except PropCiteError as error:
        st.session_state[KEPT_ERROR] = without_commands(error)


def show_kept_error() -> None:
    """Show the error that a callback of this fragment has kept, once."""
    if kept := st.session_state.pop(KEPT_ERROR, ""):
        _show_error(kept)


def leave_what_is_gone() -> None:
    """Draw the whole page again, which says that what this fragment shows was removed meanwhile."""
    st.session_state.pop(KEPT_ERROR, None)
    st.rerun()


def _show_error(words: str) -> None:
    st.error(plain(words), icon=":material/error:")


def parts() -> Parts:
    """Return the parts for the current settings, shared by all sessions."""
    return _parts(load_settings())


@st.cache_resource(show_spinner=False, hash_funcs={Settings: Settings.model_dump_json})
def _parts(settings: Settings) -> Parts:
    """Return the parts for settings; what these share with the settings before is not loaded again."""
    newest = _newest()
    newest[:] = [newest[0].changed(settings) if newest else Parts(settings)]
    return newest[0]


def take_up_settings() -> None:
    """Let go of what was made for the settings before; answers that are being written keep it until they end."""
    for kept in (_pipeline, _load_model, _parts):
        kept.clear()


@st.cache_resource(show_spinner=False)
def _newest() -> list[Parts]:
    return []


def visitor() -> Visitor:
    """Return who asks, with what they may do now."""
    return visitor_of(parts(), st.context.headers.get(PERSON_HEADER))


def load_model() -> None:
    with st.spinner("Loading the models; this happens once…"):
        _load_model(parts())


def load_model_ahead() -> None:
    """Load the models and what writes answers, in the thread of the caller, before anybody asks."""
    _load_model(parts())
    _ = parts().generator


@st.cache_resource(show_spinner=False, hash_funcs={Parts: id})
def _load_model(parts: Parts) -> bool:
    loaded = bool(parts.propcite)
    if not gc.get_freeze_count():  # Streamlit collects garbage after each run: what stays would cost 0.3 s each time
        gc.collect()
        gc.freeze()
    return loaded


def pipeline(collection: CollectionInfo, documents: Sequence[str] = ()) -> Pipeline:
    """Return a collection's pipeline, limited to some documents if ids are given.

    Its index stays open and is read again only when it has changed.
    """
    load_model()
    return pipeline_of(parts(), collection, documents)


def pipeline_of(parts: Parts, collection: CollectionInfo, documents: Sequence[str] = ()) -> Pipeline:
    """Return the same for any thread; the models load without a word on the page."""
    _load_model(parts)
    whole = _pipeline(parts, collection)
    return replace(whole, within=selected_passages(whole.library, collection, documents))


def _identity(collection: CollectionInfo) -> tuple[int, str]:
    """Identify a collection by id and name: its counts may change while it stays the same."""
    return collection.id, collection.name


@st.cache_resource(show_spinner=False, hash_funcs={Parts: id, CollectionInfo: _identity})
def _pipeline(parts: Parts, collection: CollectionInfo) -> Pipeline:
    return replace(parts.pipeline(collection), propcite=parts.shared_propcite)


def granularity(
    label: str,
    key: str,
    first: Granularity = Granularity.SENTENCE,
    words: Callable[[Granularity], str] = lambda level: f"{UNITS[level]}s",
) -> Granularity:
    """Show a control for the granularity and return the choice; pressing the chosen one again leaves it chosen.

    The first choice is the element's own default.  A value set once through the session's state is lost if the next
    run begins before the browser has received it; then the browser sends back what it shows instead.
    """
    default = None if key in KEPT and key in st.session_state else first  # kept values are set in every run
    chosen = st.segmented_control(label, list(Granularity), default=default, format_func=words, key=key, required=True)
    return chosen or first


def choose_documents(collection: CollectionInfo) -> list[str]:
    """Return the ids of the documents chosen in the sidebar, by name or condition; empty means all."""
    titles = document_titles(collection)
    chosen = [i for i in st.session_state.get("documents", ()) if i in titles]
    if st.session_state.get("documents", chosen) != chosen:
        st.session_state["documents"] = chosen  # drop documents of another collection and removed ones
    if collection.num_documents < 2:
        return []
    named = _choose_by_name(titles) if titles else []
    where = st.sidebar.text_input("Only documents that match", key="where", placeholder=EXAMPLE).strip()
    return named if not where else _matching(collection, named, where)


def document_titles(collection: CollectionInfo) -> dict[str, str]:
    """Return what people call each document, by id; empty where there are too many to choose among."""
    if collection.num_documents > MAX_NAMED:
        return {}
    known = parts().library.document_fields(collection)
    return {i: str(about["title"] or about["source"]) for i, about in known.items()}


def names_of(collection: CollectionInfo, ids: Sequence[str]) -> str:
    """Name documents in a few words: the first two, and how many more."""
    titles = document_titles(collection) or parts().library.sources(ids[:2])
    named = ", ".join(titles.get(i, i) for i in ids[:2])
    return f"{named} and {len(ids) - 2} more" if len(ids) > 2 else named


def _choose_by_name(titles: dict[str, str]) -> list[str]:
    return st.sidebar.multiselect(
        "Only these documents",
        list(titles),
        key="documents",
        format_func=lambda i: titles.get(i, i),
        placeholder=f"All {len(titles)}",
    )


def _matching(collection: CollectionInfo, named: Sequence[str], where: str) -> list[str]:
    ids = selected_documents(parts().library, collection, named, [where])
    if not ids:
        raise NotFoundError(f"no document matches {where}: change it in the sidebar")
    return ids


def filled(collection: CollectionInfo | None) -> CollectionInfo | None:
    """Return the collection if it has documents; else say what to do next and return None."""
    if collection is not None and collection.num_documents:
        return collection
    offer_demo(f"The collection {plain(collection.name)} is empty." if collection else "There are no documents yet.")
    if not visitor().may_add:
        return None
    st.page_link("views/library.py", label="Add your own documents in the Library", icon=":material/folder_open:")
    return None


def offer_demo(why: str) -> None:
    if not visitor().may_create:
        st.info(why, icon=":material/inbox:")
        return
    demo = "The demo holds twenty-two documents on a city and its harbour (`propcite demo` loads it too)."
    st.info(f"{why} {demo}", icon=":material/inbox:")
    if st.button("Load the demo collection", key="load-demo", type="primary"):
        with showing_errors():
            outcomes = add(create_collection(DEMO), gather([DOCUMENTS])[0])
            st.toast(f"{len(outcomes)} documents are in the collection {DEMO}.", icon=":material/check:")
            st.session_state["next-collection"] = DEMO
            close_adding()
            st.rerun()


def times_added() -> int:
    """Return how often something was added: each time, the form for it is a new one, closed and empty."""
    return int(st.session_state.get(ADDED, 0))


def close_adding() -> None:
    """Show a new form for adding documents from the next run on."""
    st.session_state[ADDED] = times_added() + 1


def create_collection(name: str) -> CollectionInfo:
    """Return the collection of this name, created if there is none; it then belongs to the person who asks."""
    asking, library = visitor(), parts().library
    if library.collection_id(name) is None:
        asking.require_everywhere(Scope.WRITE)
        created = library.create_collection(name, asking.name)
        asking.record(Action.CREATED_COLLECTION, name)
        return created
    asking.require(Scope.WRITE, name)
    return library.collection(name)


def views(document_ids: Iterable[str], gone: Collection[str] = ()) -> Views:
    """Return what can be shown of each document: its file, if it is unchanged, and its text, if it is not gone."""
    ids = set(document_ids)
    kinds = parts().finder.kinds(ids)
    return {i: View(kinds.get(i, ""), i not in gone) for i in ids}


def add(collection: CollectionInfo, sources: Sequence[Source]) -> list[Outcome]:
    """Add documents to a collection, with a progress bar."""
    load_model()
    bar = st.progress(0.0, text="Reading…")

    page = get_script_run_ctx()

    def report(progress: Progress) -> None:
        if get_script_run_ctx(suppress_warning=True) is None:  # in a thread that reads a document
            add_script_run_ctx(ctx=page)
        bar.progress(progress.share, text=progress.line)

    ingester = parts().ingester(collection, report)
    outcomes = list(ingester.ingest(sources))
    bar.empty()
    return outcomes
