"""Explain word by word why a fact has its source: on the terminal, as JSON or as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import (
    AsJson,
    Level,
    Panel,
    cli,
    find_collection,
    note,
    open_input,
    open_parts,
    write_file,
    write_json,
)
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.parts import Parts
    from propcite.attribution.citations import CitedAnswer
    from propcite.attribution.citing.explaining import Explained

LAST = "last"
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page with a heat map of all words.")]


@cli.command(rich_help_panel=Panel.ASKING)
def explain(
    answer: Annotated[
        str, typer.Argument(metavar="ANSWER", help="An answer's id, last, or a file of its JSON; - for standard input.")
    ],
    fact: Annotated[str, typer.Option(help="The fact's number or id: propcite feedback facts ANSWER.")] = "1",
    citation: Annotated[str, typer.Option(help="The citation's marker (default: the first).")] = "",
    granularity: Annotated[
        Level | None,
        typer.Option("--granularity", "-g", help="Compare with the passage, sentence or proposition."),
    ] = None,
    alignment: Annotated[str, typer.Option(help="Which source words count for a word: top-k=2, top-p=5%, …")] = "",
    as_json: AsJson = False,
    html: Html = None,
) -> None:
    """Show which words of a fact match which words of its source, and the weight of each."""
    from propcite.app.terminal_why import show_explained
    from propcite.attribution.formats.json.explanations import explanation_json
    from propcite.retrieval.alignment import alignment_of
    from propcite.retrieval.text import Granularity

    aligned = alignment_of(alignment) if alignment else None
    parts = open_parts()
    found = named_answer(parts, answer)
    level = Granularity(granularity.value) if granularity else None
    explained = parts.propcite.explain(found, fact, citation, granularity=level, alignment=aligned)
    if html:
        _write_page(explained, html)
    if as_json:
        write_json(explanation_json(explained))
    elif not html:
        show_explained(explained, parts.library.sources([explained.evidence.passage.document_id]))
        _tell_more(explained)


@cli.command(rich_help_panel=Panel.ASKING)
def evidence(
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="An answer's id, last, or a file of its JSON.")],
    fact: Annotated[str, typer.Option(help="The fact's number or id: propcite feedback facts ANSWER.")] = "1",
    granularity: Annotated[
        Level, typer.Option("--granularity", "-g", help="Rank passages, sentences or propositions.")
    ] = Level.sentence,
    k: Annotated[int, typer.Option("-k", min=1, max=200, help="Number of results.")] = 8,
    as_json: AsJson = False,
) -> None:
    """Show other text of the collection that is close to a fact: support, near misses and contradictions."""
    from propcite.app.terminal_why import show_alternatives
    from propcite.attribution.formats.json.hits import alternative_json
    from propcite.retrieval.text import Granularity

    parts = open_parts()
    found = named_answer(parts, answer)
    pipeline = parts.pipeline(find_collection(parts, found.collection))
    near = pipeline.alternatives(found, fact, Granularity(granularity.value), k)
    if as_json:
        write_json([alternative_json(one) for one in near])
    else:
        ids = {place.passage.document_id for one in near for place in one.hit.everywhere}
        show_alternatives(near, parts.library.sources(ids))


def named_answer(parts: Parts, name: str) -> CitedAnswer:
    """Load a stored answer by id, the newest one, or one from a file."""
    if name == "-" or Path(name).is_file():
        from propcite.attribution.formats.json.native import from_native

        with open_input(name) as file:
            return from_native(file.read())
    if name != LAST:
        return parts.library.answer(name)
    newest = parts.library.answers(limit=1)
    if not newest:
        raise PropCiteError("no answer is stored yet: run propcite ask QUESTION or propcite cite FILE")
    return parts.library.answer(newest[0].id)


def _write_page(explained: Explained, out: Path) -> None:
    from propcite.attribution.formats.explanations.html import explanation_page
    from propcite.attribution.formats.text import utf8

    write_file(utf8(explanation_page(explained)), out, "--html")


def _tell_more(explained: Explained) -> None:
    """Print the options that explain other parts of the answer."""
    shown = explained.citation.number if explained.citation else 0
    others = [f"--citation {c.id if c.number == shown else c.number}" for c in explained.fact.citations]
    others = [other for other, c in zip(others, explained.fact.citations, strict=True) if c != explained.citation]
    facts = [f"--fact 1 to {len(explained.answer.facts)}"] if len(explained.answer.facts) > 1 else []
    if told := [*others, *facts]:
        note(f"more: {', '.join(told)}")
