"""The commands that give, list, remove and export feedback on citations."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propcite.app.commands import (
    AsJson,
    Panel,
    cli,
    find_collection,
    note,
    open_parts,
    record,
    write_file,
    write_json,
)
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.library.store import Feedback
    from propcite.app.parts import Parts

feedback = typer.Typer(no_args_is_help=True, help="Feedback on citations: labels to evaluate a judge with.")
cli.add_typer(feedback, name="feedback", rich_help_panel=Panel.ASKING)


class OpinionName(StrEnum):
    right = "right"
    wrong = "wrong"
    too_broad = "too-broad"
    better = "better"


AnswerId = Annotated[str, typer.Argument(help="An answer's id: propcite list --answers.", metavar="ANSWER")]
OfCollection = Annotated[str, typer.Option("--collection", "-c", help="Only answers of this collection.")]


@feedback.command()
def facts(answer: AnswerId, as_json: AsJson = False) -> None:
    """List an answer's facts by number, with their citations and feedback."""
    from propcite.app.terminal import show_table

    parts = open_parts()
    found = parts.library.answer(answer)
    said = parts.feedback.of(found.id)
    rows: list[dict[str, Any]] = [
        {
            "number": number,
            "id": fact.id,
            "fact": " ".join(fact.proposition.text.split()),
            "verdict": fact.verdict.label.value if fact.verdict else "",
            "citations": [c.number for c in fact.citations],
            "said": [one.opinion.value for one in said if one.fact == fact.id],
        }
        for number, fact in enumerate(found.facts, start=1)
    ]
    if as_json:
        write_json(rows)
    else:
        cells = [[r["number"], r["fact"], r["verdict"], _markers(r["citations"]), ", ".join(r["said"])] for r in rows]
        show_table(["", "fact", "verdict", "cites", "said"], cells)


def _markers(numbers: Sequence[int]) -> str:
    return " ".join(f"[{number}]" for number in numbers)


@feedback.command()
def give(
    answer: AnswerId,
    fact: Annotated[str, typer.Argument(help="The fact's number or id: propcite feedback facts ANSWER.")],
    opinion: Annotated[OpinionName, typer.Argument(help="right, wrong, too-broad or better.")],
    citation: Annotated[str, typer.Option(help="The citation's marker, if the fact has several.")] = "",
    words: Annotated[str, typer.Option(help="With better: words of a source that support the fact better.")] = "",
    remark: Annotated[str, typer.Option("--note", help="Why.")] = "",
    by: Annotated[str, typer.Option(help="Name of the reviewer.")] = "",
    as_json: AsJson = False,
) -> None:
    """Rate a citation.  For a fact without citations, rate whether it is right that nothing supports it."""
    from propcite.app.library.feedback import find_quote, make_feedback
    from propcite.app.library.store import Action, Opinion

    if words and opinion is not OpinionName.better:
        raise PropCiteError("--words belong to better: propcite feedback give ANSWER FACT better --words '…'")
    parts = open_parts()
    found = parts.library.answer(answer)
    better = find_quote(parts.pipeline(parts.library.collection(found.collection)), words) if words else None
    given = make_feedback(found, fact, Opinion(opinion.value), citation=citation, better=better, note=remark, by=by)
    kept = parts.feedback.save(given)
    record(parts, Action.GAVE_FEEDBACK, found.collection, found.id)
    if as_json:
        write_json(_as_dict(kept))
    else:
        note(f"kept as {kept.id}: {kept.opinion.value}")


@feedback.command("list")
def list_(collection: OfCollection = "", as_json: AsJson = False) -> None:
    """List the feedback, oldest first."""
    from propcite.app.terminal import show_table

    found = _feedback_rows(open_parts(), collection)
    if as_json:
        write_json([_as_dict(one) for one in found])
    elif found:
        rows = [[o.id, o.answer_id, o.fact, o.opinion.value, o.better.quote if o.better else o.note] for o in found]
        show_table(["id", "answer", "fact", "said", "better words, or why"], rows)
    else:
        note("no feedback yet: run propcite feedback give ANSWER FACT right")


@feedback.command()
def remove(ids: Annotated[list[str], typer.Argument(help="Ids: propcite feedback list.")]) -> None:
    """Remove feedback."""
    from propcite.app.library.store import Action

    parts = open_parts()
    if removed := parts.feedback.remove(ids):
        record(parts, Action.REMOVED_FEEDBACK, subject=", ".join(ids))
    if removed < len(set(ids)):
        raise PropCiteError(f"{len(set(ids)) - removed} of these are not there: propcite feedback list shows the ids")
    note(f"{removed} taken back")


@feedback.command()
def export(
    collection: OfCollection = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.")] = None,
) -> None:
    """Export feedback as JSON lines of claim, evidence and label, as propcite eval cite reads them."""
    from propcite.app.commands.exports import show_data
    from propcite.app.library.feedback import export_feedback

    parts = open_parts()
    lines = export_feedback(parts, find_collection(parts, collection) if collection else None)
    if out is None:
        show_data(lines.encode())
        return
    write_file(lines.encode(), out, what=f"{lines.count(chr(10))} rows")


def _feedback_rows(parts: Parts, collection: str) -> list[Feedback]:
    return parts.feedback.all(find_collection(parts, collection) if collection else None)


def _as_dict(given: Feedback) -> dict[str, object]:
    from dataclasses import asdict

    at = given.given_at.isoformat() if given.given_at else ""
    return {**asdict(given), "opinion": given.opinion.value, "given_at": at}
