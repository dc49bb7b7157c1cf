"""What the page keeps between two tests that run it in this process."""

from __future__ import annotations

import streamlit

from propcite.app.parts import Parts
from propcite.ui import session

MODELS = ("encoder", "splitter", "judge")
_loaded: list[Parts] = []


def clear_page() -> None:
    """Clear all that the page keeps, but for the shipped models once they are loaded.

    The page takes models up from the parts before if the settings name the same ones.
    """
    for parts in session._newest():
        if not _loaded and all(parts.__dict__.get(name) for name in MODELS):
            _loaded.append(Parts(parts.settings))
            _loaded[0].__dict__.update({name: parts.__dict__[name] for name in MODELS})
    streamlit.cache_resource.clear()
    session._newest()[:] = _loaded
