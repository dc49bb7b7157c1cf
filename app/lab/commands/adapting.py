"""A collection's own alignment: chosen by examples, set by hand, taken away."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propcite.app.commands import AsJson, Collection, cli, find_collection, note, open_parts, write_json
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.lab.adapting.adapt import Adaptation
    from propcite.app.lab.adapting.examples import Example
    from propcite.app.library.store import CollectionInfo
    from propcite.app.parts import Parts


@cli.command()
def adapt(
    collection: Collection = "",
    examples: Annotated[
        Path | None,
        typer.Option(
            help="JSON lines of question and passages (ids), or question, document and quote.", metavar="FILE"
        ),
    ] = None,
    from_feedback: Annotated[
        bool, typer.Option("--from-feedback", help="Questions with what people marked right, or as better.")
    ] = False,
    strategy: Annotated[
        list[str] | None, typer.Option(help="Only this alignment beside top-k=1; may be given again.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what each would give, keep nothing.")] = False,
    keep: Annotated[str, typer.Option(help="Keep this one, whatever examples say.", metavar="NAME")] = "",
    reset: Annotated[bool, typer.Option("--reset", help="Take the collection's own away.")] = False,
    as_json: AsJson = False,
) -> None:
    """Choose which tokens of a question and of a passage are compared in a collection, by two examples or more.

    Every alignment ranks the same candidates; the best by nDCG@10 is kept where its gain is more than noise.
    """
    by_examples = bool(examples or from_feedback)
    if [by_examples, bool(keep), reset].count(True) != 1:
        raise PropCiteError("give --examples FILE, --from-feedback or both; or --keep NAME, or --reset, alone")
    parts = open_parts()
    chosen = find_collection(parts, collection)
    if by_examples:
        _adapt(parts, chosen, _given(parts, chosen, examples, from_feedback), strategy or [], dry_run, as_json)
        return
    if dry_run or strategy:
        raise PropCiteError("--dry-run and --strategy belong to --examples FILE or --from-feedback")
    _keep(parts, chosen, keep)
    told = parts.library.alignment(chosen)
    if as_json:
        write_json({"collection": chosen.name, "alignment": told})
    else:
        note(f"{chosen.name}: {told or 'no alignment of its own'}{_overruled(parts)}")


def _given(parts: Parts, collection: CollectionInfo, file: Path | None, from_feedback: bool) -> list[Example]:
    from propcite.app.answering.pipeline import refuse_empty
    from propcite.app.lab.adapting.examples import joined_examples, marked_in, read_examples

    refuse_empty(parts.library, collection)
    read = read_examples(file, parts.library, collection) if file else []
    return joined_examples(read, marked_in(parts, collection) if from_feedback else [])


def _adapt(
    parts: Parts, collection: CollectionInfo, examples: list[Example], names: list[str], dry_run: bool, as_json: bool
) -> None:
    from propcite.app.lab.adapting.adapt import adapt
    from propcite.app.terminal import counting

    with counting(len(examples), "ranking") as advance:
        found = adapt(parts, collection, examples, names, lambda _: advance("ranking"))
    if not dry_run:
        _keep(parts, collection, "" if found.is_default else found.kept)
    if as_json:
        write_json(_as_dict(collection, found, kept=not dry_run))
    else:
        _show(collection, found, dry_run, _overruled(parts))


def _keep(parts: Parts, collection: CollectionInfo, name: str) -> None:
    from propcite.retrieval.alignment import alignment_of

    parts.library.keep_alignment(collection, str(alignment_of(name)) if name else "")


def _overruled(parts: Parts) -> str:
    setting = parts.settings.alignment
    return f" (the setting alignment, {setting}, stands above it)" if setting else ""


def _as_dict(collection: CollectionInfo, found: Adaptation, *, kept: bool) -> dict[str, Any]:
    from dataclasses import asdict

    return {"collection": collection.name, **asdict(found), "said": found.words, "changed": kept}


def _show(collection: CollectionInfo, found: Adaptation, dry_run: bool, overruled: str) -> None:
    from propcite.app.lab.adapting.examples import ENOUGH
    from propcite.app.terminal import out, show_table

    rows = found.rows
    show_table(list(rows[0]), [list(row.values()) for row in rows])
    out.print()
    out.print(found.words, markup=False, soft_wrap=not out.is_terminal)
    for line in found.left_out:
        note(line)
    if found.examples < ENOUGH:
        note(f"{found.examples} examples are few: {ENOUGH} or more are better")
    if dry_run:
        note("nothing was changed")
    else:
        undo = f"propcite adapt --reset --collection {shlex.quote(collection.name)} takes it away"
        note(f"{collection.name} has " + ("no alignment of its own" if found.is_default else f"{found.kept}: {undo}"))
        if overruled:
            note(overruled.strip())
