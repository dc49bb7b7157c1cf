"""Settings: what holds now and why, with a try, the lines for propcite.toml, and saving."""

from __future__ import annotations

import streamlit as st

from propcite.app.configuring.groups import GROUPS
from propcite.ui import session
from propcite.ui.settings import form

ABOUT = (
    "What is changed here holds for everybody who uses this installation. Keys are never shown again. "
    "`propcite settings` lists all settings. What you type is kept once a button of its group is pressed, until "
    "this page is loaded again: save before that."
)


def show() -> None:
    session.visitor().require_settings()
    st.title("Settings", anchor=False)
    with st.container(width=800):
        st.caption(ABOUT)
        for tab, group in zip(st.tabs([group.title for group in GROUPS], key="settings-tab"), GROUPS, strict=True):
            with tab:
                form.show(group)


if __name__ == "__main__":
    with session.showing_errors():
        show()
