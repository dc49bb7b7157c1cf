"""The commands of drafts under review: `propcite review` cites one, `propcite reviews` decides on its facts."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propcite.app.commands import (
    BELOW,
    AsJson,
    Collection,
    Panel,
    account_name,
    check_file,
    cli,
    find_collection,
    note,
    open_parts,
    record,
    write_file,
    write_json,
)
from propcite.app.errors import AppError
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.library.store import ReviewInfo
    from propcite.app.parts import Parts
    from propcite.app.reviewing.facts import DraftFact

reviews = typer.Typer(no_args_is_help=True, help="Drafts under review: their facts, and what you decide on them.")
cli.add_typer(reviews, name="reviews", rich_help_panel=Panel.ASKING)


class VerdictName(StrEnum):
    supported = "supported"
    partly = "partly"
    unsupported = "unsupported"
    contradicted = "contradicted"
    unchecked = "unchecked"


class ChoiceName(StrEnum):
    accepted = "accepted"
    changed = "changed"
    rejected = "rejected"
    open = "open"


DraftId = Annotated[str, typer.Argument(help="A draft's id: propcite reviews list.", metavar="DRAFT")]
Verdicts = Annotated[
    list[VerdictName] | None, typer.Option("--verdict", help="Only facts with this verdict; repeatable.")
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write the draft here: .docx or .md.")]


@cli.command(rich_help_panel=Panel.ASKING)
def review(
    file: Annotated[Path, typer.Argument(help="A draft: a Word, Markdown, text or other file that can be read.")],
    collection: Collection = "",
    out: Out = None,
    verdict: Verdicts = None,
    as_json: AsJson = False,
) -> None:
    """Cite a long draft over a collection, keep it for review, and write it with comments or footnotes."""
    from propcite.app.ingest.readers import read_bytes
    from propcite.app.library.store import Action, ReviewState
    from propcite.app.reviewing.citing import Unpaced, cite_draft
    from propcite.app.reviewing.drafts import read_draft
    from propcite.app.terminal_progress import sharing

    if out:
        check_file(out, ".docx", ".md")
    parts = open_parts()
    chosen = find_collection(parts, collection)
    pipeline = parts.pipeline(chosen)
    pipeline.retriever()  # an empty collection is refused before the draft is kept
    content = read_bytes(file, parts.settings.max_file_mb * 2**20)
    draft = read_draft(parts.settings, file.name, content)
    info = parts.reviews.add(chosen, file.name, content, len(draft.text), account_name())
    record(parts, Action.BEGAN_REVIEW, chosen.name, info.id)
    with sharing() as report:
        work = Unpaced()
        info = cite_draft(
            parts.reviews,
            info,
            lambda: draft,
            lambda: pipeline,
            work,
            lambda share: report(f"citing {file.name}", share),
        )
    if info.state is ReviewState.FAILED:
        raise PropCiteError(f"{file.name} could not be cited: {info.reason}")
    _show(parts, info, as_json=as_json, verdict=verdict)
    if out:
        _write(parts, info, out, verdict)
    if info.state is not ReviewState.DONE:
        raise typer.Exit(BELOW)


@reviews.command("list")
def list_(
    collection: Annotated[str, typer.Option("--collection", "-c", help="Only drafts of this collection.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the drafts, newest first."""
    from propcite.app.terminal import show_table

    parts = open_parts()
    found = parts.reviews.all([find_collection(parts, collection)] if collection else None)
    if as_json:
        write_json([_as_dict(info) for info in found])
    elif found:
        rows = [
            [i.id, i.name, i.collection, i.state.value, f"{i.share:.0%}", f"{i.num_decided} of {i.num_facts}", i.by]
            for i in found
        ]
        show_table(["id", "draft", "collection", "state", "cited", "decided", "by"], rows)
    else:
        note("no drafts yet: run propcite review FILE")


@reviews.command()
def show(
    draft: DraftId,
    verdict: Verdicts = None,
    choice: Annotated[
        list[ChoiceName] | None, typer.Option("--choice", help="Only facts decided so, or open; repeatable.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List a draft's facts by number, with their verdicts and decisions."""
    parts = open_parts()
    _show(parts, parts.reviews.find(draft), as_json=as_json, verdict=verdict, choice=choice)


@reviews.command()
def decide(
    draft: DraftId,
    fact: Annotated[
        str, typer.Argument(help="The fact's number or id (propcite reviews show DRAFT), or all that are not decided.")
    ],
    choice: Annotated[ChoiceName, typer.Argument(help="accepted, changed, rejected, or open to take it back.")],
    words: Annotated[str, typer.Option(help="With changed: the words that it is to have.")] = "",
    remark: Annotated[str, typer.Option("--note", help="Why.")] = "",
    by: Annotated[str, typer.Option(help="Name of the reader; default: your account.")] = "",
    verdict: Verdicts = None,
) -> None:
    """Accept, change or reject a fact of a draft.  The newest decision counts, earlier ones are kept.

    FACT may be all: propcite reviews decide DRAFT all accepted --verdict supported.
    """
    from propcite.app.library.store import Action
    from propcite.app.reviewing.exports import cited_draft
    from propcite.app.reviewing.facts import decide_open, draft_facts, make_decision
    from propcite.attribution.citations import Label
    from propcite.attribution.formats.reviewed.decisions import Choice

    parts = open_parts()
    info = parts.reviews.find(draft)
    answer, chosen, who = cited_draft(parts, info), Choice(choice.value), by or account_name()
    if fact == "all":
        labels = [Label(one.value) for one in verdict or ()]
        made = decide_open(draft_facts(answer, parts.reviews.decisions(info.id), labels), chosen, note=remark, by=who)
    elif verdict:
        raise AppError("--verdict is for all facts: give all in place of the fact's number")
    else:
        made = [make_decision(answer, fact, chosen, words=words, note=remark, by=who)]
    parts.reviews.decide_all(info.id, made)
    record(parts, Action.DECIDED, info.collection, info.id)
    now = parts.reviews.find(info.id)
    number = f"{len(made):,} " if fact == "all" else ""
    note(f"kept: {number}{choice.value}; {now.num_decided} of {now.num_facts} facts are decided")


@reviews.command()
def export(
    draft: DraftId,
    out: Annotated[Path, typer.Option("--out", "-o", help="Write the draft here: .docx or .md.")],
    verdict: Verdicts = None,
) -> None:
    """Write a draft with a comment (Word) or a footnote (Markdown) at each fact."""
    check_file(out, ".docx", ".md")
    parts = open_parts()
    _write(parts, parts.reviews.find(draft), out, verdict)


@reviews.command()
def remove(draft: DraftId) -> None:
    """Remove a draft with its citations and the decisions on it."""
    from propcite.app.library.store import Action

    parts = open_parts()
    info = parts.reviews.find(draft)
    parts.reviews.remove(info.id)
    record(parts, Action.REMOVED_REVIEW, info.collection, info.id)
    note(f"{info.name} removed")


def _write(parts: Parts, info: ReviewInfo, out: Path, verdict: list[VerdictName] | None) -> None:
    from propcite.app.reviewing.exports import ReviewFormat, export_review
    from propcite.attribution.citations import Label

    form = ReviewFormat.DOCX if out.suffix.lower() == ".docx" else ReviewFormat.MARKDOWN
    written = export_review(parts, info, form, [Label(one.value) for one in verdict or ()])
    write_file(written.data, out)


def _show(
    parts: Parts,
    info: ReviewInfo,
    *,
    as_json: bool,
    verdict: list[VerdictName] | None = None,
    choice: list[ChoiceName] | None = None,
) -> None:
    from propcite.app.reviewing.exports import cited_draft
    from propcite.app.reviewing.facts import counts, draft_facts
    from propcite.app.terminal import show_table
    from propcite.attribution.citations import Label
    from propcite.attribution.formats.reviewed.decisions import Choice
    from propcite.attribution.formats.wording import SIGNS

    answer = cited_draft(parts, info) if info.answer_id or info.state.value == "done" else None
    labels, choices = [Label(one.value) for one in verdict or ()], [Choice(one.value) for one in choice or ()]
    listed = draft_facts(answer, parts.reviews.decisions(info.id), labels, choices) if answer else []
    if as_json:
        write_json({**_as_dict(info), "facts": [_fact_dict(one) for one in listed]})
        return
    rows = [
        [one.number, f"{' '.join(SIGNS[one.label])}", " ".join(one.cited.proposition.text.split()), one.choice.value]
        for one in listed
    ]
    if rows:
        show_table(["", "verdict", "fact", "decision"], rows)
    number = {label: num for label, num in counts(answer).items() if num} if answer else {}
    summary = ", ".join(f"{num} {SIGNS[label][1]}" for label, num in number.items())
    note(
        f"draft {info.id}, {info.state.value}: {summary or 'no facts'}; propcite reviews decide {info.id} FACT accepted"
    )


def _as_dict(info: ReviewInfo) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(info), "begun_at": info.begun_at.isoformat()}


def _fact_dict(one: DraftFact) -> dict[str, Any]:
    from propcite.app.reviewing.facts import fact_values

    return fact_values(one)
