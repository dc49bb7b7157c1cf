"""Documents in: files, folders, archives and addresses, once or as they change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import BELOW, COULD_NOT, AsJson, Collection, cli, note, open_parts, write_json
from propcite.app.ingest.readers.kinds import KINDS
from propcite.app.library.fields import change_of
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.ingest.ingester import Ingester
    from propcite.app.ingest.outcomes import Outcome
    from propcite.app.ingest.sources import Source
    from propcite.app.library.store import Change
    from propcite.app.parts import Parts

THERE = ("added", "changed", "moved", "unchanged")
Show = Callable[["Outcome"], None]


@cli.command()
def ingest(
    paths: Annotated[list[str], typer.Argument(help=f"Files, folders and web addresses: {KINDS}.", metavar="PATHS…")],
    collection: Collection = "",
    meta: Annotated[
        list[str] | None, typer.Option("--meta", help="Say this of each document: KEY=VALUE; repeatable.")
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="Put this tag on each document; repeatable.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Read what is unchanged too, as after an update.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents whose files lay in these folders and are gone.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on: what changes in these files and folders is read anew.")
    ] = False,
    timings: Annotated[bool, typer.Option("--timings", help="Tell where the time went.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add documents to a collection.  What did not change is skipped; interrupt and run again to go on."""
    change = change_of(meta, tags)
    parts = open_parts()
    name = collection or parts.settings.collection
    outcomes = ingest_shown(parts, paths, name, as_json, change, again=again, prune=prune, timings=timings)
    if watch:
        _watch(parts, paths, name, as_json, change, prune)
        return
    failed = [o for o in outcomes if o.state == "failed"]
    if failed:
        raise typer.Exit(COULD_NOT if len(failed) == len(outcomes) else BELOW)


def ingest_shown(
    parts: Parts,
    paths: Sequence[Path | str],
    name: str,
    as_json: bool,
    change: Change | None = None,
    *,
    again: bool = False,
    prune: bool = False,
    timings: bool = False,
) -> list[Outcome]:
    from propcite.app.ingest.sources import gather

    sources, outcomes = gather(paths)
    show = _shower(as_json)
    for outcome in outcomes:
        show(outcome)
    if sources or prune:
        is_new = name not in {c.name for c in parts.library.collections()}
        target = parts.library.create_collection(name)
        ingester = parts.ingester(target)
        try:
            outcomes += _read(ingester, sources, show, change, again=again)
            outcomes += _prune(ingester, paths, show) if prune else []
        finally:
            if is_new and parts.library.is_empty(target):
                parts.library.remove_collection(target)  # nothing was read: leave nothing behind
        if timings:
            _show_spent(ingester)
    elif not outcomes:
        raise PropCiteError(
            f"nothing there that can be read: name a file, a folder that holds some, or a web address ({KINDS})"
        )
    if len(outcomes) > 1:
        note(f"{name}: {_counted(outcomes)}")
    return outcomes


def _shower(as_json: bool) -> Show:
    from dataclasses import asdict

    from propcite.app.terminal import show_outcome

    return (lambda outcome: write_json(asdict(outcome))) if as_json else show_outcome


def _read(
    ingester: Ingester, sources: Sequence[Source], show: Show, change: Change | None = None, *, again: bool = False
) -> list[Outcome]:
    """Each outcome is shown when it is safe on disk; what is said of the documents is said when all are."""
    from propcite.app.terminal import sharing

    outcomes = []
    with sharing() as told:
        ingester.workspace.told = told
        ingester.progress = lambda progress: told(progress.line, progress.share)
        for outcome in ingester.ingest(sources, again=again):
            show(outcome)
            outcomes.append(outcome)
    if change:
        there = [outcome.document_id for outcome in outcomes if outcome.state in THERE]
        ingester.library.describe(there, change)
    return outcomes


def _prune(ingester: Ingester, paths: Iterable[Path | str], show: Show) -> list[Outcome]:
    removed = list(ingester.prune([Path(path) for path in paths]))
    for outcome in removed:
        show(outcome)
    return removed


def _counted(outcomes: Sequence[Outcome]) -> str:
    from collections import Counter

    return ", ".join(f"{n} {state}" for state, n in Counter(outcome.state for outcome in outcomes).items())


def _show_spent(ingester: Ingester) -> None:
    spent = ingester.spent.spent
    for step, ms in sorted(spent.items(), key=lambda item: -item[1]):
        note(f"{step:<16} {ms / 1000:8.2f} s")


def _watch(parts: Parts, paths: Sequence[str], name: str, as_json: bool, change: Change, prune: bool) -> None:
    """Until an interrupt; what is wrong with one change does not end it.  What turns out the same is not told."""
    from propcite.app.ingest.sources import gather
    from propcite.app.ingest.watching import changes

    tell = _shower(as_json)

    def show(outcome: Outcome) -> None:
        if outcome.state != "unchanged":
            tell(outcome)

    begun = False
    for changed in changes([Path(path) for path in paths]):
        try:
            ingester = parts.ingester(parts.library.create_collection(name))
            if not begun:  # what changed since it was read, and before it was watched
                note(f"watching {', '.join(paths)}; interrupt to end")
                _read(ingester, gather(paths)[0], show, change)
            elif changed.sources:
                _read(ingester, changed.sources, show, change)
            if prune and (changed.gone or not begun):
                _prune(ingester, paths, show)
        except PropCiteError as error:
            note(str(error))
        begun = True
