"""Watch settings being tried; nobody waits: the page looks whether the trial has ended."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from propcite.app.configuring import trying
from propcite.app.configuring.groups import Group
from propcite.app.parts import Parts
from propcite.ui import session
from propcite.ui.markdown import plain

EVERY_S = 0.5  # between two looks
PATIENCE_S = 3.0  # after which Stop is offered


def begin(group: Group, parts: Parts, given: Mapping[str, str]) -> None:
    """Try the settings of these parts, in place of what is being tried, unless that is the same."""
    trial, given_now = st.session_state.get(_key(group.name)), (parts.settings, dict(given))
    if trial is not None and not trial.ended and trial.of == given_now:
        return
    forget(group.name)
    work = {
        "model": lambda: trying.language_model(parts.settings),
        "judge": lambda: trying.judge(parts, given["sentence"], given["claim"]),
        "encoder": lambda: trying.encoder(parts),
        "answers": lambda: trying.demo(parts.settings, group.settings),
    }[group.name]()
    st.session_state[_key(group.name)] = trying.Trial(parts.settings, work, given_now)


def forget(name: str) -> None:
    trial = st.session_state.pop(_key(name), None)
    if trial is not None and not trial.ended:
        trial.stop()


def show(name: str) -> None:
    trial: trying.Trial | None = st.session_state.get(_key(name))
    if trial is None:
        return
    if trial.ended:
        _show(trial)
    else:
        st.fragment(_wait, run_every=EVERY_S)(name, trial)


def _wait(name: str, trial: trying.Trial) -> None:
    if trial.ended or trial.stopped:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", key=f"trying-{name}"):
        st.caption(f"Trying for {trial.waited_s:.0f} s…", width="content")
        if trial.waited_s > PATIENCE_S:
            st.button("Stop", key=f"stop-try-{name}", on_click=_stop, args=(name,))


def _stop(name: str) -> None:
    with session.showing_errors():
        session.visitor().require_settings()
        forget(name)


def _show(trial: trying.Trial) -> None:
    seconds = f"{trial.seconds:.1f} s"
    if trial.error:
        st.error(plain(f"{trial.error} ({seconds})"), icon=":material/error:")
    else:
        st.info(plain(f"{trial.result} ({seconds})"), icon=":material/science:")


def _key(name: str) -> str:
    return f"settings-trial-{name}"
