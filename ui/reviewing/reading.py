"""Read a cited draft part by part: its statements filtered, each beside its source, and decided on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple, TypeVar

import streamlit as st

from propcite.app.library.store import ReviewInfo
from propcite.app.parts import Parts
from propcite.app.reviewing.exports import ReviewFormat, cited_draft, export_review
from propcite.app.reviewing.facts import DraftFact, counts, draft_facts
from propcite.app.reviewing.parts_of_text import part_numbers, part_of, parts_of
from propcite.attribution.citations import CitedAnswer, Label
from propcite.attribution.formats.cited_documents import with_documents
from propcite.attribution.formats.reviewed.decisions import Choice
from propcite.attribution.judges import NOT_JUDGED
from propcite.retrieval.text import Span
from propcite.ui import alternatives, session
from propcite.ui.clickable import show_answer
from propcite.ui.markdown import plain
from propcite.ui.render import payload
from propcite.ui.reviewing import deciding, drafts
from propcite.ui.reviewing.words import (
    CHOICES,
    FORMATS,
    decided_line,
    place_line,
    row,
    unchecked_line,
    verdict_words,
)
from propcite.ui.words import facts, sources_of

Kind = TypeVar("Kind", Label, Choice)
STATEMENT = "statement"  # in the address: the number of the one that is open


class Reading(NamedTuple):
    """A draft that is open: its text, the parts of that, and the statements that the filters leave."""

    info: ReviewInfo
    answer: CitedAnswer
    spans: list[Span]
    shown: list[DraftFact]

    parts: dict[str, int]  # the number of the part that a statement is in, by the statement's id


def _answer_id(info: ReviewInfo) -> str:
    return info.answer_id


@st.cache_resource(show_spinner=False, max_entries=8, hash_funcs={Parts: id, ReviewInfo: _answer_id})
def _kept(
    parts: Parts,
    info: ReviewInfo,
    at: datetime | None,  # noqa: ARG001 - of the key: what is cited again may have the same id and other verdicts
) -> tuple[CitedAnswer, list[Span], dict[str, int]]:
    answer = cited_draft(parts, info)
    spans = parts_of(answer)
    return answer, spans, part_numbers(answer, spans)


def _answer(parts: Parts, info: ReviewInfo) -> tuple[CitedAnswer, list[Span], dict[str, int]]:
    return _kept(parts, info, parts.library.kept_at(info.answer_id))


def unchecked(info: ReviewInfo) -> str:
    """Return a line on statements that the judge could not check, such as while its server was away; empty for none."""
    verdicts = (fact.verdict for fact in _answer(session.parts(), info)[0].facts)
    reasons = [v.reason for v in verdicts if v and v.label is Label.UNCHECKED and v.reason.startswith(NOT_JUDGED)]
    return unchecked_line(reasons)


@st.fragment
def show(info: ReviewInfo) -> None:
    """Show the draft; a click or a decision reruns this fragment only."""
    parts = session.parts()
    session.keep_what_was_typed((), session.DECIDING)
    if not drafts.is_there(info.id):
        session.leave_what_is_gone()
    session.show_kept_error()
    answer, spans, numbers = _answer(parts, info)
    decisions = parts.reviews.decisions(info.id)
    st.caption(decided_line(sum(fact.id in decisions for fact in answer.facts), len(answer.facts)))
    labels, choices = _filters(info, answer)
    shown = draft_facts(answer, decisions, labels, choices)
    reading = Reading(info, answer, spans, shown, numbers)
    if not reading.shown:
        st.info("No statement is left: choose other filters." if answer.facts else "Nothing in it needs a source.")
    else:
        place = _place(reading)
        chosen = reading.shown[place]
        words = answer.words(chosen.cited.proposition.spans) or chosen.cited.proposition.text
        _show_part(reading, chosen)
        with st.container(gap="xsmall", key="reviewing"):
            _steps(reading, place)
            deciding.show(info, chosen, words, partial(go, _next_open(reading, place)))
        alternatives.show(answer, chosen.cited)
        _show_all(reading)
        deciding.show_all(info, shown)
    _downloads(info, labels)


def _filters(info: ReviewInfo, answer: CitedAnswer) -> tuple[list[Label], list[Choice]]:
    """Show the filters and return what they leave; the address names it, so that a reload leaves the same."""
    number = counts(answer)
    with st.container(horizontal=True, gap="medium"):
        labels = [label for label in Label if number[label]]
        chosen = _filter(info, "Verdict", labels, lambda label: verdict_words(label, number))
        return chosen, _filter(info, "Decision", list(Choice)[::-1], CHOICES.__getitem__)


def _filter(info: ReviewInfo, title: str, options: Sequence[Kind], words: Callable[[Kind], str]) -> list[Kind]:
    name = title.lower()  # in the address
    key, first = f"review-{name}-{info.id}", f"review-first-{name}-{info.id}"
    if key not in st.session_state:
        named = st.query_params.get_all(name)
        st.session_state[first] = [option for option in options if option.value in named]

    def keep() -> None:
        if chosen := st.session_state[key]:
            st.query_params[name] = [option.value for option in chosen]
        else:
            st.query_params.pop(name, None)

    return list(
        st.pills(
            title,
            options,
            selection_mode="multi",
            default=st.session_state[first],
            format_func=words,
            key=key,
            on_change=keep,
            wrap=True,
        )
    )


def go(number: int) -> None:
    """Open a statement by its number, from the next run on."""
    st.query_params[STATEMENT] = str(number)


def _place(reading: Reading) -> int:
    """Return the place of the statement in the address among those shown, or of the next one that is."""
    named = st.query_params.get(STATEMENT, "")
    chosen = int(named[:9]) if named.isdecimal() else 1
    numbers = [one.number for one in reading.shown]
    return next((place for place, number in enumerate(numbers) if number >= chosen), len(numbers) - 1)


def _next_open(reading: Reading, place: int) -> int:
    """Return the number of the statement to go to after a decision: the next open one, else the next."""
    later = [*reading.shown[place + 1 :], *reading.shown[:place]]
    following = next((one for one in later if one.choice is Choice.OPEN), None)
    return (following or (later[0] if later else reading.shown[place])).number


def _steps(reading: Reading, place: int) -> None:
    shown = reading.shown
    part = reading.parts[shown[place].cited.id]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        before, behind = shown[max(0, place - 1)], shown[min(len(shown) - 1, place + 1)]
        st.button("Previous", key="previous-fact", disabled=not place, on_click=go, args=(before.number,))
        is_last = place + 1 == len(shown)
        st.button("Next", key="next-fact", disabled=is_last, on_click=go, args=(behind.number,))
        st.caption(place_line(place + 1, len(shown), part + 1, len(reading.spans)), width="content")


def _show_part(reading: Reading, chosen: DraftFact) -> None:
    """Show the part of the draft with the chosen statement, beside the source of that."""
    number = reading.parts[chosen.cited.id]
    shown = {one.cited.id: one.number for one in reading.shown}
    span = reading.spans[number]
    part = part_of(reading.answer, span, shown)
    inside = [one for one in reading.shown if reading.parts[one.cited.id] == number]
    places = dict(zip([fact.number for fact in facts(part)], inside, strict=True))
    selected = next(place for place, one in places.items() if one.number == chosen.number)
    documents = session.parts().library.cited_documents(part)
    gone = {document.id for document in documents.values() if document.status}
    part, clicked = with_documents(part, documents), f"draft-text-{reading.info.id}"

    def select() -> None:
        if one := places.get(st.session_state[clicked]["fact"]):
            go(one.number)

    data = payload(part, sources_of(documents), selected, session.views(documents, gone))
    show_answer(data, key=clicked, on_select=select)


def _show_all(reading: Reading) -> None:
    """List the statements that the filters leave; a chosen row opens its statement."""
    turn = f"review-turn-{reading.info.id}"
    key = f"review-rows-{reading.info.id}-{st.session_state.get(turn, 0)}"

    def pick() -> None:
        chosen: Sequence[int] = st.session_state[key]["selection"]["rows"]
        if chosen:
            go(reading.shown[chosen[0]].number)
            st.session_state[turn] = st.session_state.get(turn, 0) + 1

    with st.expander("All statements as a list"):
        rows = [row(one) for one in reading.shown]
        st.dataframe(rows, key=key, hide_index=True, on_select=pick, selection_mode="single-row")


def _downloads(info: ReviewInfo, labels: Sequence[Label]) -> None:
    """Offer the draft with its remarks; a file is made when its button is pressed."""
    parts = session.parts()

    def write(form: ReviewFormat) -> bytes:
        return export_review(parts, info, form, labels).data

    with st.popover("Download the reviewed draft", icon=":material/download:", key="review-downloads"):
        st.caption("Statements with the chosen verdicts" if labels else "All statements")
        for form, words in FORMATS.items():
            st.download_button(
                plain(words),
                partial(write, form),
                f"{info.name.rpartition('.')[0] or info.name}-reviewed{form.suffix}",
                form.media_type,
                key=f"review-as-{form.value}",
                type="tertiary",
                on_click="ignore",
            )
