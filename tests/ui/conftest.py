"""What all tests of the page share."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner


@pytest.fixture(scope="session", autouse=True)
def packages_are_searched_once() -> Iterator[None]:
    """AppTest searches the metadata of all installed packages for components, 0.3 s for each test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="module", autouse=True)
def what_stays_is_no_garbage() -> None:
    """Streamlit searches for garbage after each run of a page: with the models among what it goes through, 0.4 s."""
    gc.collect()
    gc.freeze()
