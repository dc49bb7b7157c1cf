"""A group of settings: its fields, and what a press does with what was typed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from propcite.app.configuring.changing import Typed, check_parts, take
from propcite.app.configuring.groups import Group, takes_effect
from propcite.app.configuring.origins import settings_now
from propcite.app.configuring.toml_file import file_place, lines_to_copy, may_write, write_changes
from propcite.app.configuring.trying import CLAIM, SENTENCE
from propcite.app.library.store import Action
from propcite.app.settings import load_settings
from propcite.retrieval.errors import PropCiteError
from propcite.ui import session
from propcite.ui.markdown import plain
from propcite.ui.settings import fields, trials

TRIES = {
    "model": "Try asks the language model one short question with these values, and saves nothing.",
    "judge": "Try checks the claim against the sentence with these values, and saves nothing.",
    "encoder": "Try loads this model and reads a passage with it, and saves nothing.",
    "answers": "Try answers the demo question over the demo's documents with these values, and saves nothing.",
}


@dataclass(frozen=True, slots=True)
class Said:
    """What the last press in a group came to."""

    wrong: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    done: str = ""
    unchanged: bool = False


def show(group: Group) -> None:
    said = _said(group)
    now = {one.name: one for one in settings_now(session.parts().settings, group.settings)}
    with st.form(f"settings-{group.name}", border=False):
        remove = partial(_remove, group)
        fields.show([now[name] for name in group.main], said.wrong, remove)
        if group.more:
            with st.expander("More", expanded=any(name in said.wrong for name in group.more)):
                fields.show([now[name] for name in group.more], said.wrong, remove)
        if group.name == "judge":
            st.text_area("A sentence of a source, to try", SENTENCE, key="try-sentence", height=80)
            st.text_area("A claim, to try", CLAIM, key="try-claim", height=80)
        st.caption(TRIES[group.name])
        with st.container(horizontal=True, gap="small"):
            _button(group, "try", "Try", _try, icon=":material/play_arrow:")
            _button(group, "lines", "Show the lines for propcite.toml", _take)
            if may_write():
                _button(group, "save", "Save in propcite.toml", _save, type="primary", icon=":material/save:")
            _button(group, "forget", "Back to what is saved", _forget, type="tertiary")
    trials.show(group.name)
    _show_said(said)


def _button(group: Group, name: str, label: str, act: Callable[[Group], object], **look: Any) -> None:
    st.form_submit_button(label, key=f"{name}-{group.name}", on_click=_pressed, args=(group, act), **look)


def _pressed(group: Group, act: Callable[[Group], object]) -> None:
    try:
        session.visitor().require_settings()
        act(group)
    except PropCiteError as error:
        _say(group, Said(error=str(error)))


def _take(group: Group) -> Typed:
    """Check what was typed, and say what is wrong with it."""
    typed = take(fields.typed_texts(settings_now(load_settings(), group.settings)))
    _say(group, Said(typed.wrong, typed.changes, unchanged=not (typed.changes or typed.wrong)))
    return typed


def _try(group: Group) -> None:
    typed = _take(group)
    if typed.wrong:
        return
    _say(group, Said(changes=typed.changes))
    given = {name: str(st.session_state.get(f"try-{name}", "")) for name in ("sentence", "claim")}
    parts = session.parts()
    trials.begin(group, parts.changed(typed.settings) if typed.changes else parts, given)


def _save(group: Group) -> None:
    typed = _take(group)
    if typed.wrong or not typed.changes:
        return
    try:
        check_parts(typed.settings)
    except PropCiteError as error:
        _say(group, Said(changes=typed.changes, error=str(error)))
        return
    if _write(group, typed.changes):
        fields.forget(settings_now(load_settings(), group.settings))


def _write(group: Group, changes: Mapping[str, Any]) -> bool:
    """Write changes, and return whether they are written; what went wrong is said."""
    try:
        place = write_changes(changes)
    except PropCiteError as error:
        _say(group, Said(changes=changes, error=str(error)))
        return False
    session.visitor().record(Action.CHANGED_SETTINGS, subject=", ".join(changes))
    session.take_up_settings()
    _say(group, Said(changes=changes, done=f"Saved in {place}. {takes_effect(changes)}"))
    return True


def _remove(group: Group, name: str) -> None:
    """Take a hidden value out of the file; what else was typed stays typed."""

    def act(_: Group) -> None:
        settings = settings_now(load_settings(), [name])
        fields.forget(settings)
        _write(group, {name: None})

    _pressed(group, act)


def _forget(group: Group) -> None:
    fields.forget(settings_now(load_settings(), group.settings))
    trials.forget(group.name)
    _say(group, Said())


def _said(group: Group) -> Said:
    said: Said = st.session_state.get(f"settings-said-{group.name}", Said())
    return said


def _say(group: Group, said: Said) -> None:
    st.session_state[f"settings-said-{group.name}"] = said


def _show_said(said: Said) -> None:
    if said.error:
        st.error(plain(said.error), icon=":material/error:")
    elif said.done:
        st.success(plain(said.done), icon=":material/check:")
    elif said.unchanged:
        st.info("Nothing is changed here.", icon=":material/info:")
    if "encoder" in said.changes:
        _show_reindexing()
    if said.changes:
        st.caption(f"These lines in {plain(str(file_place()))} say the same:")
        st.code(lines_to_copy(said.changes), language=None, wrap_lines=True)


def _show_reindexing() -> None:
    st.warning(
        "Another model cannot read this index: make the index of each collection again, or searches are refused.",
        icon=":material/warning:",
    )
    names = [one.name for one in session.visitor().collections() if one.num_documents]
    commands = [f"propcite reindex --collection {shlex.quote(name)}" for name in names]
    if commands:
        st.code("\n".join(commands), language=None, wrap_lines=True)
