"""Begin an answer, and show it while it is written; leaving the page or loading it again stops nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from propcite.app.answering.pipeline import Pipeline
from propcite.app.errors import without_commands
from propcite.app.library.store import Action, CollectionInfo, Scope
from propcite.app.turns.costs import Kind
from propcite.attribution.formats.wording import EXTRACTIVE
from propcite.retrieval.errors import PropCiteError
from propcite.ui import reader, session
from propcite.ui.asking import attached, errors, turns
from propcite.ui.asking.interrupted import KeptOrders
from propcite.ui.asking.progress import Steps
from propcite.ui.asking.question_box import Asked, choose
from propcite.ui.asking.running import Order, Question, RunningAnswer, RunningAnswers
from propcite.ui.asking.words import history_label_of, silence_line
from propcite.ui.library import jobs
from propcite.ui.markdown import plain
from propcite.ui.people.turns import admitted

ASKING = "asking"  # in the address: the answer that is being written
GONE = "The answer that was being written here is gone: the page's server was started again. Ask once more."
INTERRUPTED = "The answer to “{question}” was interrupted: the page's server was started again."


@st.cache_resource(show_spinner=False)
def running_answers() -> RunningAnswers:
    return RunningAnswers()


def kept_orders() -> KeptOrders:
    return KeptOrders(session.parts().settings.data_dir)


def begin(collection: CollectionInfo | None, asked: Asked, documents: Sequence[str]) -> None:
    """Start the answer and put it into the address; a question that is refused is given back with the reason.

    Files that came with it are read first; without a question they are read alone.
    """
    question = asked.question
    try:
        if asked.files:
            collection, question = attached.read(collection, asked)
        if collection and question:
            _answer(collection, question, documents)
    except PropCiteError as error:
        errors.give_back(question.text if question else "", without_commands(error))
    st.rerun()


def _answer(collection: CollectionInfo, question: Question, documents: Sequence[str]) -> None:
    visitor, parts, uploads = session.visitor(), session.parts(), jobs.uploads()
    visitor.require(Scope.READ, collection.name)

    def open_pipeline(one: RunningAnswer) -> Pipeline:
        new = attached.wait(one, uploads) if question.reading else []
        among = [*documents, *new] if documents else []
        pipeline = session.pipeline_of(parts, parts.library.collection(collection.name), among)
        return replace(pipeline, open_generator=lambda: parts.extractive) if question.quoted else pipeline

    one = running_answers().begin(
        Order(visitor.name, collection.name, question, tuple(documents)),
        admitted(Kind.ANSWER),
        open_pipeline,
        lambda answer_id: visitor.record(Action.ASKED, collection.name, answer_id),
        kept_orders(),
    )
    open_running(one.id)


def open_running(id_: str) -> None:
    """Show an answer that is being written, from the next run on."""
    st.query_params.from_dict({ASKING: id_})
    st.session_state[turns.LAST_RUNNING] = id_


def opened() -> RunningAnswer | None:
    """Return the answer in work that the address names, or that this page showed last; None if there is none."""
    named = st.query_params.get(ASKING, "")
    last = "" if st.query_params.get("answer") else st.session_state.get(turns.LAST_RUNNING, "")
    if not named and not last:
        return None
    one = running_answers().find(named or last, session.visitor().name)
    if one is None or not session.visitor().may(Scope.READ, one.order.collection):
        turns.start_conversation()
        if named:
            _show_gone(named)
        return None
    if not named:
        open_running(one.id)
    return one


def _show_gone(id_: str) -> None:
    """Say that an answer is gone, and offer to ask its question again where that was kept."""
    order = kept_orders().find(id_, session.visitor().name)
    if order is None or not session.visitor().may(Scope.READ, order.collection):
        st.warning(GONE, icon=":material/info:")
        return
    st.warning(plain(INTERRUPTED.format(question=order.question.text)), icon=":material/info:")
    with st.container(horizontal=True, gap="small", key="interrupted"):
        st.button(
            "Ask again", key="ask-interrupted", type="primary", icon=":material/refresh:",
            on_click=_ask_again, args=(id_, order),
        )  # fmt: skip
        st.button("Forget it", key="forget-interrupted", type="tertiary", on_click=kept_orders().drop, args=(id_,))


def _ask_again(id_: str, order: Order) -> None:
    """Ask what was interrupted, over what it was asked; what it followed may have been deleted since."""
    kept_orders().drop(id_)
    follows = order.question.after and session.parts().library.has_answer(order.question.after)
    st.session_state["next-collection"], st.session_state["documents"] = order.collection, list(order.documents)
    choose(order.question if follows else replace(order.question, after=""))


def follow(one: RunningAnswer) -> None:
    """Show the answer while it is written, then open it; where there is none, give the question back."""
    question = one.order.question
    after = question.after if question.after and session.parts().library.has_answer(question.after) else ""
    turns.show_before(session.parts().library.conversation(after) if after else [])
    turns.show_question(question.text)
    steps, written = Steps(follows=bool(question.after)), st.container(key="written").empty()
    silent = st.empty()
    with st.container(horizontal=True, gap="small", key="running"):
        st.button("Stop", key="stop-answer", icon=":material/stop_circle:", on_click=one.stop)
        if not question.quoted and session.parts().settings.generator != EXTRACTIVE:
            quoted = replace(question, quoted=True)
            st.button(errors.IN_THEIR_WORDS, key="quote-instead", type="tertiary", on_click=_quote, args=(one, quoted))
    for _ in one.follow():
        steps.show(one.steps)
        written.markdown(one.text)
        if line := silence_line(one.silent_s, session.parts().settings.generator):
            silent.caption(line)
        else:
            silent.empty()
    st.session_state.pop(turns.LAST_RUNNING, None)
    if one.answer_id:
        reader.open_answer(one.answer_id)
    else:
        st.query_params.from_dict({"answer": after} if after else {})
        errors.give_back(question.text, one.error, question if one.model_failed else None)
    st.rerun()


def _quote(one: RunningAnswer, question: Question) -> None:
    one.stop()
    turns.start_conversation()
    choose(question)


def show_unfinished(collections: Sequence[CollectionInfo], place: DeltaGenerator, shown: str = "") -> None:
    """List in a place what is being written and not shown, and what a restart interrupted; a click shows it."""
    by, names = session.visitor().name, [collection.name for collection in collections]
    running = {one.id: one.order for one in running_answers().unfinished(by, names)}
    kept = kept_orders().of(by, names)
    interrupted = {id_: order for id_, order in kept.items() if not running_answers().find(id_, by)}
    _list(place, "Being answered", "unfinished", ":material/hourglass_top:", running, shown)
    _list(place, "Interrupted", "interrupted-list", ":material/sync_problem:", interrupted, shown)


def _list(place: DeltaGenerator, title: str, key: str, icon: str, orders: Mapping[str, Order], shown: str) -> None:
    others = {id_: order for id_, order in orders.items() if id_ != shown}
    if not others:
        return
    listed = place.container(gap=None, key=key)
    listed.caption(title)
    for id_, order in others.items():
        listed.button(
            plain(history_label_of(order.question.text, order.question.after)),
            key=f"running-{id_}",
            type="tertiary",
            icon=icon,
            wrap=False,
            on_click=open_running,
            args=(id_,),
        )
