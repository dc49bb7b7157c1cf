"""What the views share: the parts of the application, the chosen collection, errors in words, and adding documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import streamlit as st

from propcite.app.answering.pipeline import Pipeline
from propcite.app.demo import DOCUMENTS
from propcite.app.errors import NotFoundError
from propcite.app.ingest.outcomes import Outcome, Progress
from propcite.app.ingest.sources import Source, gather
from propcite.app.library.conditions import EXAMPLE
from propcite.app.library.selection import selected_documents, selected_passages
from propcite.app.library.store import CollectionInfo
from propcite.app.parts import Parts
from propcite.app.settings import Settings, load_settings
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.text import Granularity
from propcite.ui.render import plain
from propcite.ui.sources import View, Views

KEPT = (
    *("collection", "text-to-cite", "given-passages", "search-text", "granularity", "documents"),
    *("runs-kind", "runs-text", "measure-kind", "measure-path", "measure-limit"),
)
DEMO = "demo"
MOST_NAMED = 1000  # documents that one may choose among by name: of more, conditions say which


def keep_what_was_typed() -> None:
    """Streamlit forgets what a view was given when another is opened, unless it is set anew."""
    for key in KEPT:
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


@contextmanager
def told() -> Iterator[None]:
    """An error that a person may cause is shown in its words; the page goes on."""
    try:
        yield
    except PropCiteError as error:
        st.error(plain(str(error)), icon=":material/error:")


def parts() -> Parts:
    """The parts for the settings as they are now, shared by all who use the page."""
    return _parts(load_settings())


@st.cache_resource(show_spinner=False, hash_funcs={Settings: Settings.model_dump_json})
def _parts(settings: Settings) -> Parts:
    return Parts(settings)


def load_model() -> None:
    _load_model(parts())


@st.cache_resource(show_spinner="Loading the language model; this happens once…", hash_funcs={Parts: id})
def _load_model(parts: Parts) -> bool:
    return bool(parts.propcite)


def pipeline(collection: CollectionInfo, documents: Sequence[str] = ()) -> Pipeline:
    """One collection's pipeline; its index stays open, and is read again only when it has changed.

    With ids of documents it looks at these alone.
    """
    load_model()
    whole = _pipeline(parts(), collection)
    return replace(whole, within=selected_passages(whole.library, collection, documents))


def _known_by(collection: CollectionInfo) -> tuple[int, str]:
    """Its counts may change; it stays the same collection."""
    return collection.id, collection.name


@st.cache_resource(show_spinner=False, hash_funcs={Parts: id, CollectionInfo: _known_by})
def _pipeline(parts: Parts, collection: CollectionInfo) -> Pipeline:
    return parts.pipeline(collection)


def granularity(
    label: str,
    key: str,
    first: Granularity = Granularity.SENTENCE,
    words: Callable[[Granularity], str] = lambda level: f"{level}s",
) -> Granularity:
    """The one that is chosen: pressing that again leaves it chosen.

    What is chosen at first is the element's own default, here and wherever else one of several is: what the session's
    state sets but once is lost if the next run begins before the browser has heard of it, and then the browser
    sends back what it shows instead.
    """
    default = None if key in KEPT and key in st.session_state else first  # what is kept is set in every run
    chosen = st.segmented_control(label, list(Granularity), default=default, format_func=words, key=key, required=True)
    return chosen or first


def choose_documents(collection: CollectionInfo) -> list[str]:
    """Ids of the documents that are asked, chosen in the sidebar by name, by a condition or both; none for all."""
    titles = {}
    if collection.num_documents <= MOST_NAMED:
        known = parts().library.document_fields(collection)
        titles = {i: str(about["title"] or about["source"]) for i, about in known.items()}
    chosen = [i for i in st.session_state.get("documents", ()) if i in titles]
    if st.session_state.get("documents", chosen) != chosen:
        st.session_state["documents"] = chosen  # those of another collection, or gone
    if collection.num_documents < 2:
        return []
    named = _named(titles) if titles else []
    where = st.sidebar.text_input("Only documents of which this holds", key="where", placeholder=EXAMPLE).strip()
    return named if not where else _left(collection, named, where)


def _named(titles: dict[str, str]) -> list[str]:
    return st.sidebar.multiselect(
        "Only these documents",
        list(titles),
        key="documents",
        format_func=lambda i: titles.get(i, i),
        placeholder=f"All {len(titles)}",
    )


def _left(collection: CollectionInfo, named: Sequence[str], where: str) -> list[str]:
    found = selected_documents(parts().library, collection, named, [where])
    if not found:
        raise NotFoundError(f"no document is left where {where}: change it in the sidebar")
    return found


def choose_collection() -> CollectionInfo | None:
    """The collection that is asked, chosen in the sidebar when there are several."""
    known = {c.name: c for c in parts().library.collections()}
    if wanted := st.session_state.pop("next-collection", None):
        st.session_state["collection"] = wanted
    if len(known) < 2:
        return next(iter(known.values()), None)
    if st.session_state.get("collection") not in known:
        st.session_state["collection"] = _usual(known)
    return known[st.sidebar.selectbox("Collection", list(known), key="collection")]


def _usual(known: dict[str, CollectionInfo]) -> str:
    usual = parts().settings.collection
    return usual if usual in known else max(known, key=lambda name: known[name].num_documents)


def filled(collection: CollectionInfo | None) -> CollectionInfo | None:
    """The collection, if there is anything in it; else what to do next is said."""
    if collection is not None and collection.num_documents:
        return collection
    offer_demo(f"The collection {plain(collection.name)} is empty." if collection else "There are no documents yet.")
    st.page_link("views/library.py", label="Add your own documents in the Library", icon=":material/folder_open:")
    return None


def offer_demo(why: str) -> None:
    demo = "The demo holds twenty-two documents on a city and its harbour (`propcite demo` loads it too)."
    st.info(f"{why} {demo}", icon=":material/inbox:")
    if st.button("Load the demo collection", key="load-demo", type="primary"):
        with told():
            add(parts().library.create_collection(DEMO), gather([DOCUMENTS])[0])
            st.session_state["next-collection"] = DEMO
            st.rerun()


def views(document_ids: Iterable[str], gone: Collection[str] = ()) -> Views:
    """What can be shown of documents: their files, where these are still what was read, and the texts of those here."""
    ids = set(document_ids)
    kinds = parts().finder.kinds(ids)
    return {i: View(kinds.get(i, ""), i not in gone) for i in ids}


def add(collection: CollectionInfo, sources: Sequence[Source]) -> list[Outcome]:
    """Documents into a collection, with a bar that tells how far they are and what is left."""
    load_model()
    bar = st.progress(0.0, text="Reading…")

    def report(progress: Progress) -> None:
        bar.progress(progress.share, text=progress.line)

    ingester = parts().ingester(collection, report)
    outcomes = list(ingester.ingest(sources))
    bar.empty()
    return outcomes
