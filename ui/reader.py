"""Reading a kept answer: which one is open, its facts with their evidence, and the answers given before."""

from __future__ import annotations

from functools import partial

import streamlit as st

from propcite.app.library.store import CollectionInfo
from propcite.attribution.citations import CitedAnswer, CitedProposition
from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.cited_documents import Documents
from propcite.ui import near, opinions, session, why
from propcite.ui.clickable import show_answer
from propcite.ui.render import payload, plain
from propcite.ui.sources import Views
from propcite.ui.words import (
    Sources,
    coverage_line,
    evidence_line,
    evidence_of,
    fact_line,
    facts,
    notices,
    sources_told,
    written_by,
)

NUM_EARLIER = 12


def open_answer(answer_id: str) -> None:
    """From the next run on, this answer stands in the address and on the page."""
    st.query_params.from_dict({"answer": answer_id})


def opened() -> CitedAnswer | None:
    """The answer that the address names, just as it was given."""
    with session.told():
        if wanted := st.query_params.get("answer"):
            return session.parts().library.answer(wanted)
    return None


def show(answer: CitedAnswer) -> None:
    tell_how(answer)
    documents = session.parts().library.cited_documents(answer)
    gone = {document.id for document in documents.values() if document.status}
    _read(answer, sources_told(documents), session.views(documents, gone))
    _downloads(answer, documents)


def tell_how(answer: CitedAnswer) -> None:
    """How well the answer is supported, what wrote it, and what else a reader must know of that."""
    facts_held = "" if answer.abstained else coverage_line(answer)
    st.caption(plain(" · ".join(filter(None, [facts_held, written_by(answer)]))))
    for notice in notices(answer):
        st.warning(plain(notice), icon=":material/info:")


def _downloads(answer: CitedAnswer, documents: Documents) -> None:
    """A menu of the formats; a file is made only when it is asked for."""
    with st.popover("Download", type="tertiary", icon=":material/download:", key="downloads"), st.container(gap=None):
        for form in FORMATS.values():
            st.download_button(
                f"**{form.name}** · {plain(form.description)}",
                partial(form.write, answer, documents=documents),
                f"propcite-{answer.id}{form.suffix}",
                form.media_type,
                key=f"download-{form.name}",
                type="tertiary",
                on_click="ignore",
                disabled=bool(lacking := form.missing_program()),
                help=f"needs {lacking}" if lacking else None,
            )


@st.fragment
def _read(answer: CitedAnswer, sources: Sources, views: Views) -> None:
    """The answer beside its evidence.  A click runs this part of the page again, not the question."""
    known = dict(facts(answer))
    chosen, clicked, lists = f"fact-{answer.id}", f"clicked-{answer.id}", f"lists-{answer.id}"
    if known and st.session_state.get(chosen) not in known:
        st.session_state[chosen] = _named(known)
    # With whatever is pressed, the browser sends back what it shows in every list.  Of one that was set here a moment
    # ago that is what it showed before: so each click in the answer brings a new list, and the former one is deaf.
    turn, begun = st.session_state.setdefault(lists, (0, st.session_state.get(chosen)))
    listed = f"listed-{answer.id}-{turn}"

    def select() -> None:
        fact = st.session_state[clicked]["fact"]
        st.session_state[lists] = (turn + 1, fact)
        keep(fact)

    def pick() -> None:
        if st.session_state[lists][0] == turn:
            keep(st.session_state[listed])

    def keep(fact: int) -> None:
        st.session_state[chosen] = fact
        st.query_params["fact"] = str(fact)

    show_answer(payload(answer, sources, st.session_state.get(chosen, 0), views), key=clicked, on_select=select)
    if known:
        opinions.ask(answer, known[st.session_state[chosen]])
        near.show(answer, known[st.session_state[chosen]])
        why.show(answer, known[st.session_state[chosen]])
        with st.expander("The facts as a list"):
            number = st.selectbox(
                "Fact",
                list(known),
                index=list(known).index(begun if begun in known else st.session_state[chosen]),
                format_func=lambda n: fact_line(known[n]),
                key=listed,
                on_change=pick,
            )
            _in_words(known[number], sources)


def _named(known: dict[int, CitedProposition]) -> int:
    """The fact that the address names, or the first."""
    named = st.query_params.get("fact", "")
    return int(named) if named.isdecimal() and int(named) in known else next(iter(known))


def _in_words(cited: CitedProposition, sources: Sources) -> None:
    """The same evidence without anything to click."""
    if cited.verdict and cited.verdict.reason:
        st.text(cited.verdict.reason)
    for evidence in evidence_of(cited):
        st.text(f"“{evidence.quote}”")
        st.caption(plain(f"{evidence.passage.title} · {evidence_line(evidence, sources)}"))


def show_earlier_texts(collection: CollectionInfo) -> None:
    """In the sidebar, the last texts that were given to be cited."""
    earlier = session.parts().library.find_answers(collection, asked=False, limit=NUM_EARLIER).items
    if not earlier:
        return
    listed = st.sidebar.container(gap=None)
    listed.caption("Earlier texts")
    for info in earlier:
        listed.button(
            f"Text of {info.asked_at.astimezone():%d %b %Y, %H:%M}",
            key=f"earlier-{info.id}",
            type="tertiary",
            wrap=False,
            on_click=open_answer,
            args=(info.id,),
        )
