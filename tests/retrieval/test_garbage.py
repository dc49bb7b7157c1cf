"""The search for garbage pauses while models load, and goes on as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.garbage import no_garbage_collection


@pytest.fixture(autouse=True)
def _on_again() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.parametrize("is_on", [True, False])
def test_it_pauses_and_goes_on_as_it_was(is_on: bool) -> None:
    if not is_on:
        gc.disable()
    with no_garbage_collection(), no_garbage_collection():
        assert not gc.isenabled()
    assert gc.isenabled() == is_on
    with pytest.raises(RuntimeError), no_garbage_collection():
        raise RuntimeError
    assert gc.isenabled() == is_on


def test_a_model_loads_without_it() -> None:
    searched: list[str] = []

    def note(phase: str, _: dict[str, int]) -> None:
        searched.append(phase)

    gc.callbacks.append(note)
    try:
        Encoder()
    finally:
        gc.callbacks.remove(note)
    assert len(searched) < 20  # as it goes on after; over 2,000 where it does not pause
    assert gc.isenabled()
