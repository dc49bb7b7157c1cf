"""Options shared by the commands that ask, cite and repair, and the file of passages."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.bulk.filters import PassageLine
    from propcite.app.library.store import CollectionInfo
    from propcite.app.parts import Parts
    from propcite.retrieval.text import Passage


class Generators(StrEnum):
    extractive = "extractive"
    local = "local"
    openai = "openai"
    vllm = "vllm"


class Methods(StrEnum):
    propositions = "propositions"
    paper = "paper"
    alone = "alone"
    sentence = "sentence"
    sentence_2 = "sentence-2"
    postcite = "postcite"
    bm25 = "bm25"


class Judges(StrEnum):
    embedded = "embedded"
    reader = "reader"
    true = "true"
    minicheck = "minicheck"
    nli = "nli"
    factcg = "factcg"
    hhem = "hhem"
    lettucedetect = "lettucedetect"
    llm = "llm"
    none = "none"


PassagesFile = Annotated[
    Path | None, typer.Option(help="The passages that the text was written from: JSON lines of id, title, text.")
]
Batch = Annotated[bool, typer.Option(help="Read JSON lines of question, answer, passages; write one answer per line.")]

Workers = Annotated[
    int,
    typer.Option(
        min=1, max=256, help="With --batch and --out: so many processes, in the setting cluster's if it is set."
    ),
]

MethodName = Annotated[
    Methods | None, typer.Option("--method", help="How evidence is searched (default: PROPCITE_METHOD).")
]
JudgeName = Annotated[Judges | None, typer.Option("--judge", help="The support judge (default: PROPCITE_JUDGE).")]
Margin = Annotated[
    float | None, typer.Option("--margin", min=0, help="Minimum score lead of a fact's best passage over the next.")
]
Most = Annotated[int | None, typer.Option("--most", min=1, help="Maximum number of markers per sentence.")]

Questions = Annotated[
    str,
    typer.Option("--batch", metavar="FILE", help="Answer the questions of a JSON lines file; - for stdin."),
]
GeneratorName = Annotated[
    Generators | None,
    typer.Option("--generator", help="The answer's generator (default: PROPCITE_GENERATOR)."),
]
ModelName = Annotated[
    str | None, typer.Option("--model", help="The language model's name or folder (default: PROPCITE_GENERATOR_MODEL).")
]

After = Annotated[str, typer.Option("--after", help="Id of the answer that the question follows up.")]
GoOn = Annotated[bool, typer.Option("--continue", help="Follow up the newest answer of the collection.")]


def followed_answer(parts: Parts, collection: CollectionInfo, after: str, *, go_on: bool) -> str:
    """Return the id of the answer that a question follows up; empty for an independent question."""
    if not go_on:
        return after
    if after:
        raise PropCiteError("--continue follows up the newest answer, --after a named one: give only one of them")
    newest = parts.library.find_answers(collection, questions=True, limit=1).items
    if not newest:
        raise PropCiteError(f"there is no answer over {collection.name!r} to go on from: ask without --continue")
    return newest[0].id


def check_workers(workers: int, to_file: bool) -> None:
    """Raise an error if several workers were asked for where there is no bulk command for them."""
    if workers > 1 and not to_file:
        raise PropCiteError("--workers goes with --batch and --out FILE, which a later run can resume: give both")


def setting_overrides(
    method: Methods | None, judge: Judges | None, margin: float | None, most: int | None
) -> dict[str, object]:
    """Return the settings that these options override; None keeps a setting."""
    return {
        "method": method and method.value,
        "judge": judge and judge.value,
        "min_margin": margin,
        "most_citations": most,
    }


def read_passages(path: Path) -> list[Passage]:
    """Read passages from a file of JSON lines; one without an id gets its number."""
    from propcite.app.bulk.filters import passages_of

    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise PropCiteError(f"{path} cannot be read ({error}): give a file of JSON lines") from error
    passages = passages_of([_read(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()])
    if not passages:
        raise PropCiteError(f"{path} contains no passage: give a file of JSON lines")
    return passages


def _read(path: Path, number: int, line: str) -> PassageLine:
    from pydantic import TypeAdapter, ValidationError

    from propcite.app.bulk.filters import PassageLine

    try:
        return TypeAdapter(PassageLine).validate_json(line)
    except ValidationError as error:
        form = '{"id": "1", "title": "", "text": "…"}'
        raise PropCiteError(f"{path}, line {number}: each line is an object like {form}") from error
