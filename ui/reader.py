"""Show a stored answer: its facts beside their evidence, downloads, and earlier texts."""

from __future__ import annotations

from functools import partial

import streamlit as st

from propcite.app.answering.naming import documents_named
from propcite.app.ingest.names import file_name
from propcite.app.library.store import CollectionInfo, Scope
from propcite.app.parts import Parts
from propcite.app.server.links import Links
from propcite.attribution.citations import CitedAnswer, CitedProposition, Label
from propcite.attribution.formats import FORMATS, Format
from propcite.attribution.formats.cited_documents import Documents, with_documents
from propcite.attribution.formats.links import linked_by
from propcite.attribution.formats.wording import label_of, reason_of, written_by
from propcite.ui import alternatives, explanation, feedback, record, session
from propcite.ui.asking.words import short
from propcite.ui.clickable import show_answer
from propcite.ui.markdown import plain
from propcite.ui.render import payload
from propcite.ui.sources import Views
from propcite.ui.words import (
    FILES,
    Sources,
    evidence_line,
    evidence_of,
    fact_line,
    facts,
    notices,
    other_documents_line,
    sources_of,
    support_line,
)

NUM_EARLIER = 12


def open_answer(answer_id: str) -> None:
    """Open an answer: from the next run on it is in the address and on the page."""
    st.query_params.from_dict({"answer": answer_id})


def opened() -> CitedAnswer | None:
    """Return the answer that the address names; None if it names none or it is gone."""
    with session.showing_errors():
        if answer_id := st.query_params.get("answer"):
            return session.visitor().answer(answer_id)
    return None


def show(answer: CitedAnswer) -> None:
    show_summary(answer)
    documents = session.parts().library.cited_documents(answer)
    gone = {document.id for document in documents.values() if document.status}
    _read(with_documents(answer, documents), sources_of(documents), session.views(documents, gone))
    _downloads(answer, documents)


def show_summary(answer: CitedAnswer) -> None:
    """Show how well the answer is supported, what wrote it, and its notes."""
    coverage = "" if answer.is_empty else support_line(answer)
    st.caption(plain(" · ".join(filter(None, [coverage, written_by(answer)]))))
    if line := _other_documents(answer):
        st.warning(plain(line), icon=":material/compare_arrows:")
    if lines := [plain(notice) for notice in notices(answer)]:
        st.warning("  \n".join(lines), icon=":material/info:")


def _other_documents(answer: CitedAnswer) -> str:
    """Return a line on documents that the question names and the answer does not cite; empty if it cites one."""
    library = session.parts().library
    cited = {c.passage.document_id: c.passage.title.split(" › ")[0] for c in answer.citations}
    if not (cited and answer.question and answer.collection):
        return ""
    collection = library.collection(answer.collection)
    if collection.num_documents > session.MAX_NAMED:
        return ""
    fields = library.document_fields(collection)
    names = {id_: [str(about["title"] or ""), file_name(str(about["source"]))] for id_, about in fields.items()}
    named = documents_named(f"{answer.question} {answer.understood}", names)
    if not named or cited.keys() & set(named):
        return ""
    return other_documents_line([names[id_][0] or names[id_][1] for id_ in named], list(dict.fromkeys(cited.values())))


def _downloads(answer: CitedAnswer, documents: Documents) -> None:
    """Show a menu of the formats, what people read first; a file is made on a press, with links that end."""
    visitor = session.visitor()
    links = Links(session.parts(), expire=True).maker(partial(visitor.may, Scope.READ))

    def write(form: Format) -> bytes:
        with linked_by(links):
            return form.write(answer, documents=documents)

    row = st.container(horizontal=True, gap="small", key="taking-along")
    popover = row.popover("Download", type="tertiary", icon=":material/download:", key="downloads")

    def offer(form: Format, label: str) -> None:
        st.download_button(
            label,
            partial(write, form),
            f"propcite-{answer.id}{form.suffix}",
            form.media_type,
            key=f"download-{form.name}",
            type="tertiary",
            on_click="ignore",
            disabled=bool(lacking := form.missing_program()),
            help=f"needs {lacking}" if lacking else None,
        )

    with popover, st.container(gap=None):
        for name, label in FILES.items():
            offer(FORMATS[name], label)
        with st.expander("For programs"), st.container(gap=None):
            for form in FORMATS.values():
                if form.name not in FILES:
                    offer(form, f"**{form.name}** · {plain(form.description)}")
    with row:
        record.offer(answer)


@st.fragment
def _read(answer: CitedAnswer, sources: Sources, views: Views) -> None:
    """Show the answer beside its evidence; a click reruns this fragment only."""
    if not session.parts().library.has_answer(answer.id):
        session.leave_what_is_gone()
    session.show_kept_error()
    by_number = dict(facts(answer))
    chosen, clicked, lists = f"fact-{answer.id}", f"clicked-{answer.id}", f"lists-{answer.id}"
    if by_number and st.session_state.get(chosen) not in by_number:
        st.session_state[chosen] = _fact_in_address(by_number)
    # With every press the browser sends the value of every list.  A list whose value was set here a moment ago sends
    # its former value: so each click in the answer makes a new list, and the old one is ignored.
    turn, begun = st.session_state.setdefault(lists, (0, st.session_state.get(chosen)))
    listed = f"listed-{answer.id}-{turn}"

    def select() -> None:
        number = st.session_state[clicked]["fact"]
        st.session_state[lists] = (turn + 1, number)
        keep(number)

    def pick() -> None:
        if st.session_state[lists][0] == turn:
            keep(st.session_state[listed])

    def keep(number: int) -> None:
        st.session_state[chosen] = number
        st.query_params["fact"] = str(number)

    show_answer(payload(answer, sources, st.session_state.get(chosen, 0), views), key=clicked, on_select=select)
    if by_number:
        fact = by_number[st.session_state[chosen]]
        if label_of(fact) is not Label.UNCHECKED:
            feedback.ask(answer, fact)
        alternatives.show(answer, fact)
        explanation.show(answer, fact)
        with st.expander("All statements as a list"):
            number = st.selectbox(
                "Statement",
                list(by_number),
                index=list(by_number).index(begun if begun in by_number else st.session_state[chosen]),
                format_func=lambda n: fact_line(by_number[n]),
                key=listed,
                on_change=pick,
            )
            _in_words(by_number[number], sources, of_text=not answer.question)


def _fact_in_address(by_number: dict[int, CitedProposition]) -> int:
    """Return the number of the fact that the address names, or of the first."""
    named = st.query_params.get("fact", "")
    return int(named) if named.isdecimal() and int(named) in by_number else next(iter(by_number))


def _in_words(cited: CitedProposition, sources: Sources, *, of_text: bool) -> None:
    """Show the same evidence as text, without anything to click."""
    if reason := reason_of(cited.verdict, of_text=of_text):
        st.text(reason)
    for evidence in evidence_of(cited):
        st.text(f"“{evidence.quote}”")
        st.caption(plain(f"{evidence.passage.title} · {evidence_line(evidence, sources)}"))


def show_earlier_texts(collection: CollectionInfo) -> None:
    """List the last cited texts in the sidebar."""
    earlier = session.parts().library.find_answers(collection, questions=False, limit=NUM_EARLIER).items
    if not earlier:
        return
    listed = st.sidebar.container(gap=None)
    listed.caption("Earlier texts")
    for info in earlier:
        listed.button(
            plain(_first_words(session.parts(), info.id)),
            key=f"earlier-{info.id}",
            type="tertiary",
            wrap=False,
            help=f"{info.asked_at.astimezone():%d %b %Y, %H:%M}",
            on_click=open_answer,
            args=(info.id,),
        )


@st.cache_resource(show_spinner=False, max_entries=1000, hash_funcs={Parts: id})
def _first_words(parts: Parts, answer_id: str) -> str:
    """Return how a kept text begins; a text never changes."""
    return short(parts.library.answer(answer_id).text)
