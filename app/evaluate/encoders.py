"""The encoders that a measurement names, each loaded once, and what a run tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.bootstrap import Parts, build_encoder
from app.errors import AppError
from app.evaluate.about import about_run, model
from app.settings import Settings
from retrieval.encoder import Encoder
from retrieval.text import Granularity

MARKERS = {
    "m_q": Granularity.PASSAGE,
    "m'_q": Granularity.SENTENCE,
    "m''_q": Granularity.PROPOSITION,
}  # how queries are marked that ask for these


class Encoders:
    """By name; the empty name is the settings' encoder."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._loaded: dict[str, Encoder] = {}

    def __getitem__(self, name: str) -> Encoder:
        if name not in self._loaded:
            own = not name or name == self._parts.settings.encoder
            self._loaded[name] = self._parts.encoder if own else build_encoder(self._settings(name))
        return self._loaded[name]

    def lacks(self, name: str, marker: str, *, named: bool) -> bool:
        """Whether an encoder has no such marker; where somebody has named it, that is refused."""
        lacking = not self[name].knows(MARKERS[marker])
        if lacking and named:
            encoder = self[name].query_name
            raise AppError(f"{encoder} has no marker of its own for {marker}: give other ways or another encoder")
        return lacking

    def settings(self, names: Sequence[str]) -> dict[str, Any]:
        """What of encoders changes a figure; nothing where words alone rank."""
        if not names:
            return {}
        return {"encoders": [self[n].query_name for n in names], "precision": self._parts.settings.precision}

    def about(self, names: Sequence[str]) -> dict[str, Any]:
        models = {f"encoder {name}".strip(): model(self._settings(name), "encoder") for name in names}
        return {**about_run(self._parts.settings), "models": models}

    def _settings(self, name: str) -> Settings:
        settings = self._parts.settings
        return settings.model_copy(update={"encoder": name}) if name else settings
