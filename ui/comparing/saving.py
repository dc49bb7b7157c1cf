"""The line above a comparison: its counts, and the files that it can be saved as."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import streamlit as st

from propcite.ui.markdown import plain

Compared = TypeVar("Compared")
Write = Callable[[Compared, tuple[str, str]], str]


def offer(
    counts: str,
    comparison: Compared,
    names: tuple[str, str],
    to_markdown: Write[Compared],
    to_html: Write[Compared],
) -> None:
    """Show the counts, and a button per form; a file is made when its button is pressed."""
    offered = (("Markdown", "md", "text/markdown", to_markdown), ("HTML", "html", "text/html", to_html))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(counts), width="content")
        for name, suffix, kind, write in offered:
            file = f"comparison.{suffix}"
            data = partial(write, comparison, names)
            st.download_button(name, data, file, kind, key=f"save-{file}", type="tertiary", on_click="ignore")
