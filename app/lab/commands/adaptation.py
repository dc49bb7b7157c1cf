"""A collection's own alignment: choose it by examples, set it or remove it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propcite.app.commands import AsJson, Collection, Panel, cli, find_collection, note, open_parts, write_json
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.lab.adaptation.adapt import Adaptation
    from propcite.app.lab.adaptation.examples import Example
    from propcite.app.library.store import CollectionInfo
    from propcite.app.parts import Parts


@cli.command(rich_help_panel=Panel.MEASURING)
def adapt(
    collection: Collection = "",
    examples: Annotated[
        Path | None,
        typer.Option(
            help="JSON lines of question and passages (ids), or question, document and quote.", metavar="FILE"
        ),
    ] = None,
    from_feedback: Annotated[
        bool, typer.Option("--from-feedback", help="Use questions with citations that people marked right or improved.")
    ] = False,
    strategy: Annotated[
        list[str] | None, typer.Option(help="Try only this alignment, beside top-k=1; repeatable.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the result of each alignment, keep none.")] = False,
    keep: Annotated[str, typer.Option(help="Keep this alignment without examples.", metavar="NAME")] = "",
    reset: Annotated[bool, typer.Option("--reset", help="Remove the collection's own alignment.")] = False,
    as_json: AsJson = False,
) -> None:
    """Choose by two or more examples which tokens of a question and a passage are compared in a collection.

    Every alignment ranks the same candidates; the best by nDCG@10 is kept if its gain is more than noise.
    """
    by_examples = bool(examples or from_feedback)
    if [by_examples, bool(keep), reset].count(True) != 1:
        raise PropCiteError("give --examples FILE, --from-feedback or both, or only --keep NAME, or only --reset")
    parts = open_parts()
    chosen = find_collection(parts, collection)
    if by_examples:
        _adapt(parts, chosen, _examples(parts, chosen, examples, from_feedback), strategy or [], dry_run, as_json)
        return
    if dry_run or strategy:
        raise PropCiteError("--dry-run and --strategy need --examples FILE or --from-feedback")
    _keep(parts, chosen, keep)
    alignment = parts.library.alignment(chosen)
    if as_json:
        write_json({"collection": chosen.name, "alignment": alignment})
    else:
        note(f"{chosen.name}: {alignment or 'no alignment of its own'}{_overruled(parts)}")


def _examples(parts: Parts, collection: CollectionInfo, file: Path | None, from_feedback: bool) -> list[Example]:
    from propcite.app.answering.pipeline import refuse_empty
    from propcite.app.lab.adaptation.examples import feedback_examples, merge_examples, read_examples

    refuse_empty(parts.library, collection)
    from_file = read_examples(file, parts.library, collection) if file else []
    return merge_examples(from_file, feedback_examples(parts, collection) if from_feedback else [])


def _adapt(
    parts: Parts, collection: CollectionInfo, examples: list[Example], names: list[str], dry_run: bool, as_json: bool
) -> None:
    from propcite.app.lab.adaptation.adapt import adapt
    from propcite.app.terminal_progress import counting

    with counting(len(examples), "ranking") as advance:
        adaptation = adapt(parts, collection, examples, names, lambda _: advance("ranking"))
    if not dry_run:
        _keep(parts, collection, "" if adaptation.is_default else adaptation.kept)
    if as_json:
        write_json(_as_dict(collection, adaptation, kept=not dry_run))
    else:
        _show(collection, adaptation, dry_run, _overruled(parts))


def _keep(parts: Parts, collection: CollectionInfo, name: str) -> None:
    from propcite.retrieval.alignment import alignment_of

    parts.library.set_alignment(collection, str(alignment_of(name)) if name else "")


def _overruled(parts: Parts) -> str:
    setting = parts.settings.alignment
    return f" (the setting alignment, {setting}, overrules it)" if setting else ""


def _as_dict(collection: CollectionInfo, adaptation: Adaptation, *, kept: bool) -> dict[str, Any]:
    from dataclasses import asdict

    return {"collection": collection.name, **asdict(adaptation), "said": adaptation.summary, "changed": kept}


def _show(collection: CollectionInfo, adaptation: Adaptation, dry_run: bool, overruled: str) -> None:
    from propcite.app.lab.adaptation.examples import ENOUGH_EXAMPLES
    from propcite.app.terminal import out, show_table

    rows = adaptation.rows
    show_table(list(rows[0]), [list(row.values()) for row in rows])
    out.print()
    out.print(adaptation.summary, markup=False, soft_wrap=not out.is_terminal)
    for line in adaptation.left_out:
        note(line)
    if adaptation.examples < ENOUGH_EXAMPLES:
        note(f"{adaptation.examples} examples are few: give {ENOUGH_EXAMPLES} or more")
    if dry_run:
        note("nothing was changed")
    else:
        undo = f"propcite adapt --reset --collection {shlex.quote(collection.name)} removes it"
        own = "no alignment of its own" if adaptation.is_default else f"{adaptation.kept}: {undo}"
        note(f"{collection.name} has {own}")
        if overruled:
            note(overruled.strip())
