"""Ask the reader about a fact's citations, one click each; a better sentence can be chosen."""

from __future__ import annotations

from functools import partial

import streamlit as st

from propcite.app.library.feedback import export_feedback, make_feedback, quoted_span
from propcite.app.library.store import Action, CollectionInfo, Opinion, QuotedSpan, Scope
from propcite.attribution.citations import CitedAnswer, CitedProposition
from propcite.retrieval.text import Granularity
from propcite.ui import session
from propcite.ui.markdown import plain
from propcite.ui.words import NEITHER, counted, opinion_words

NUM_OFFERED = 8  # sentences to choose a better one from


def ask(answer: CitedAnswer, fact: CitedProposition) -> None:
    """Show one row of choices per citation, or one for a fact without citations."""
    me = session.visitor().name
    saved = {(one.fact, one.citation): one for one in session.parts().feedback.of(answer.id) if one.by == me}
    for citation in fact.citations or (None,):
        id_ = citation.id if citation else ""
        opinion_before = saved.get((fact.id, id_))
        key = f"opinion-{answer.id}-{fact.id}-{id_}"
        opinion = st.segmented_control(
            _question(fact, citation.number if citation else 0),
            list(Opinion) if citation else [Opinion.RIGHT, Opinion.WRONG, Opinion.BETTER],
            default=opinion_before.opinion if opinion_before else None,
            format_func=partial(opinion_words, cited=citation is not None),
            key=key,
            on_change=partial(_keep, answer, fact, id_, key, opinion_before.id if opinion_before else ""),
        )
        if opinion is Opinion.BETTER:
            _offer(answer, fact, id_, opinion_before.better if opinion_before else None)


def offer(collection: CollectionInfo) -> None:
    """Offer a download of the opinions on a collection's answers, if there are any."""
    parts = session.parts()
    if number := len(parts.feedback.all(collection)):
        st.download_button(
            f"Download {counted(number, 'opinion')} on its answers",
            lambda: export_feedback(parts, collection),
            f"propcite-{collection.name}-opinions.jsonl",
            "application/jsonl",
            key="opinions",
            on_click="ignore",
            icon=":material/download:",
            type="tertiary",
            help="Statements with their sources and what people said of them, as `propcite eval cite` reads them",
        )


def _question(fact: CitedProposition, number: int) -> str:
    if not number:
        return "Is it right that no source supports this statement?"
    several = len(fact.citations) > 1
    return f"Does the source support this statement? \\[{number}\\]" if several else "Is this citation right?"


def _keep(answer: CitedAnswer, fact: CitedProposition, citation: str, key: str, before: str) -> None:
    opinion = st.session_state[key]
    with session.keeping_errors():
        if opinion is None:
            session.visitor().require(Scope.READ, answer.collection)
            session.parts().feedback.remove([before])
            session.visitor().record(Action.REMOVED_FEEDBACK, answer.collection, answer.id)
        elif opinion is not Opinion.BETTER:
            _save(answer, fact, opinion, citation)


def _save(
    answer: CitedAnswer, fact: CitedProposition, opinion: Opinion, citation: str, better: QuotedSpan | None = None
) -> None:
    asking = session.visitor()
    asking.require(Scope.READ, answer.collection)
    given = make_feedback(answer, fact.id, opinion, citation=citation, better=better, by=asking.name)
    session.parts().feedback.save(given)
    asking.record(Action.GAVE_FEEDBACK, answer.collection, answer.id)


def _offer(answer: CitedAnswer, fact: CitedProposition, citation: str, chosen: QuotedSpan | None) -> None:
    """Offer the nearest sentences of the collection, one of which may be better."""
    parts = session.parts()
    with session.showing_errors(), st.spinner("Searching other sentences…"):
        pipeline = session.pipeline(parts.library.collection(answer.collection))
        hits = pipeline.search(fact.proposition.text, Granularity.SENTENCE, NUM_OFFERED)
        cited = {(c.passage.id, c.span.start) for c in fact.citations}
        offered = {hit.text: quoted_span(hit.passage, hit.spans[0]) for hit in hits}
        offered = {text: words for text, words in offered.items() if (words.passage_id, words.start) not in cited}
        if chosen:
            offered.setdefault(chosen.quote, chosen)
        key = f"better-{answer.id}-{fact.id}-{citation}"

        def keep() -> None:
            with session.keeping_errors():
                _save(answer, fact, Opinion.BETTER, citation, offered[st.session_state[key]])

        place = list(offered).index(chosen.quote) if chosen else None
        st.radio("Which words are better?", list(offered), index=place, key=key, format_func=plain, on_change=keep)
        if not offered:
            st.caption(NEITHER)
