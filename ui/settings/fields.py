"""One setting on the page: its value, where that comes from, and what is wrong with what was typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from propcite.app.configuring.origins import Origin, Setting
from propcite.app.settings import hides
from propcite.ui import session
from propcite.ui.markdown import plain
from propcite.ui.settings.words import LABELS, choice_line

TYPED = "settings-typed"  # hidden values that were typed; they leave this process in the request of a try alone
BASE = "settings-base"  # what each field showed before anybody typed


def key(name: str) -> str:
    return f"{session.SETTING}{name}"


def show(settings: Sequence[Setting], wrong: Mapping[str, str], remove: Callable[[str], None]) -> None:
    """Show a field for each; `remove` is called with the name of a hidden value that is to go."""
    for setting in settings:
        _refresh(setting)
        with st.container(gap="small"):
            _box(setting)
            if setting.hidden and setting.is_set and not setting.fixed:
                label = f"Remove the saved value: {LABELS[setting.name]}"
                st.form_submit_button(
                    plain(label), key=f"remove-{setting.name}", type="tertiary", on_click=remove, args=(setting.name,)
                )
            if setting.name in wrong:
                st.markdown(f":small[:red[{plain(wrong[setting.name])}]]")
            if setting.fixed:
                st.caption(plain(f"{setting.fixed[0].upper()}{setting.fixed[1:]}."))


def _refresh(setting: Setting) -> None:
    """Show a value that was changed elsewhere, unless somebody is changing it here."""
    base = st.session_state.setdefault(BASE, {})
    before, place = base.get(setting.name, setting.text), key(setting.name)
    if before != setting.text and place in st.session_state and _text(st.session_state[place]) == before:
        st.session_state[place] = _widget_value(setting)
    base[setting.name] = setting.text


def _box(setting: Setting) -> None:
    place, fixed = key(setting.name), bool(setting.fixed)
    text = "" if place in st.session_state else setting.text  # what is kept is set in every run, beside no default
    label = f"**{LABELS[setting.name]}** `{setting.name}` {plain(setting.explanation)} *({plain(_origin(setting))})*"
    if setting.hidden or hides(setting.name, "") or setting.name in st.session_state.get(TYPED, {}):
        st.text_input(
            label,
            type="password",
            key=place,
            disabled=fixed,
            autocomplete="new-password",
            placeholder=_hidden_line(setting),
        )
    elif setting.choices == ("true", "false"):
        st.checkbox(label, text == "true", key=place, disabled=fixed)
    elif setting.choices:
        index = setting.choices.index(text) if text else 0
        st.selectbox(label, setting.choices, index, key=place, disabled=fixed, format_func=choice_line)
    else:
        st.text_input(label, text, key=place, disabled=fixed, placeholder=setting.default)


def _hidden_line(setting: Setting) -> str:
    if setting.name in st.session_state.get(TYPED, {}):
        return "typed, not saved yet"
    return "set; type a new one to replace it" if setting.is_set else "not set"


def _origin(setting: Setting) -> str:
    if setting.origin is Origin.DEFAULT:
        return "default"
    return f"from {setting.origin}" + (f", default {setting.default}" if setting.default else "")


def _widget_value(setting: Setting) -> str | bool:
    return setting.text == "true" if setting.choices == ("true", "false") else setting.text


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value or "")


def typed_texts(settings: Sequence[Setting]) -> dict[str, str]:
    """Return what stands in the fields that can be changed, and the hidden values that were typed.

    A hidden value is taken out of its field at once, so that no browser receives it again.  Call it in a callback.
    """
    texts, hidden = {}, st.session_state.setdefault(TYPED, {})
    for setting in settings:
        place = key(setting.name)
        if setting.fixed or place not in st.session_state:
            continue
        text = _text(st.session_state[place])
        if text.strip() and hides(setting.name, text):
            hidden[setting.name] = text
            st.session_state[place] = ""
        elif text.strip():
            hidden.pop(setting.name, None)
        if setting.name in hidden:
            texts[setting.name] = hidden[setting.name]
        elif text.strip() or not (setting.hidden or hides(setting.name, "")):
            texts[setting.name] = text
    return texts


def forget(settings: Sequence[Setting]) -> None:
    """Show the present values again.  Call it in a callback."""
    for setting in settings:
        st.session_state.get(TYPED, {}).pop(setting.name, None)
        if key(setting.name) in st.session_state:
            st.session_state[key(setting.name)] = _widget_value(setting)
