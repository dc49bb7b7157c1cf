"""Answers and passages that a caller gives: the options that name them, and a file of passages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from retrieval.text import Passage

PassagesFile = Annotated[
    Path | None, typer.Option(help="The passages that the text was written from: JSON lines of id, title, text.")
]
Batch = Annotated[bool, typer.Option(help="JSON lines of question, answer, passages in; an answer a line out.")]


def read_passages(path: Path) -> list[Passage]:
    """The passages of a file, each known by its id or its line."""
    from pydantic import TypeAdapter, ValidationError

    from app.filters import PassageLine, passage_of

    try:
        lines = [line for line in path.read_text("utf-8-sig").split("\n") if line.strip()]
        adapter: TypeAdapter[PassageLine] = TypeAdapter(PassageLine)
        passages = [passage_of(adapter.validate_json(line), number) for number, line in enumerate(lines, start=1)]
    except (OSError, UnicodeDecodeError) as error:
        raise PropCiteError(f"{path} cannot be read ({error}): give a file of JSON lines") from error
    except ValidationError as error:
        raise PropCiteError(f'{path}: each line is an object like {{"id": "1", "title": "", "text": "…"}}') from error
    if not passages:
        raise PropCiteError(f"{path} holds no passage: give a file of JSON lines")
    return passages
