"""Load the spaCy pipeline that parses sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from propcite.attribution.errors import AttributionError
from propcite.retrieval.extras import install_command

if TYPE_CHECKING:
    from spacy.language import Language

PARTS = ("tagger", "parser", "ner", "lemmatizer")


def load_parser(name: str) -> Language:
    """Load a spaCy pipeline by its name or folder; one that is missing or incomplete raises one line."""
    try:
        import lemminflect  # noqa: F401
        import spacy
    except ImportError as error:
        raise AttributionError(f"{error.name} is not installed: {install_command('train')}") from error
    try:
        pipeline = spacy.load(name)
    except (OSError, ValueError) as error:
        raise AttributionError(
            f"there is no spaCy pipeline {name!r}: python -m spacy download en_core_web_sm, or give the folder of one"
        ) from error
    missing = [part for part in PARTS if part not in pipeline.pipe_names]
    if missing:
        raise AttributionError(
            f"the spaCy pipeline {name!r} has no {', '.join(missing)}: en_core_web_sm has all it needs"
        )
    return pipeline
