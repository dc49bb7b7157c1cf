"""`propcite ingest`: add files, folders, archives and web pages to a collection, once or as they change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import BELOW, COULD_NOT, AsJson, Collection, Panel, cli, note, open_parts, record, write_json
from propcite.app.ingest.readers.kinds import KINDS
from propcite.app.library.fields import parse_change
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.ingest.ingester import Ingester
    from propcite.app.ingest.outcomes import Outcome
    from propcite.app.ingest.sources import Source
    from propcite.app.library.store import CollectionInfo, DetailsChange
    from propcite.app.parts import Parts

PRESENT = ("added", "changed", "moved", "unchanged")  # states of documents that are in the collection
Show = Callable[["Outcome"], None]


@cli.command(rich_help_panel=Panel.DOCUMENTS)
def ingest(
    paths: Annotated[
        list[str] | None, typer.Argument(help=f"Files, folders and web addresses: {KINDS}.", metavar="PATHS…")
    ] = None,
    collection: Collection = "",
    meta: Annotated[
        list[str] | None, typer.Option("--meta", help="Set a field of each document: KEY=VALUE; repeatable.")
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="Add a tag to each document; repeatable.")] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Read unchanged files too; without PATHS, all that an earlier version read."),
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents whose files in these folders are gone.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep running and read files and folders again when they change.")
    ] = False,
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Read links that lead out of a folder too.")
    ] = False,
    timings: Annotated[bool, typer.Option("--timings", help="Show how long each step took.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add documents to a collection.  Unchanged ones are skipped; after an interrupt, run it again to continue."""
    change = parse_change(meta, tags)
    parts = open_parts(follow_links=follow_links or None)
    name = collection or parts.settings.collection
    if paths:
        outcomes = ingest_and_report(parts, paths, name, as_json, change, again=again, prune=prune, timings=timings)
    elif again and not (prune or watch):
        outcomes = _read_again(parts, name, as_json, change)
    else:
        raise PropCiteError("name a file, a folder or a web address; --again alone reads the collection again")
    if paths and watch:
        _watch(parts, paths, name, as_json, change, prune)
        return
    failed = [o for o in outcomes if o.state == "failed"]
    if failed:
        raise typer.Exit(COULD_NOT if len(failed) == len(outcomes) else BELOW)


def ingest_and_report(
    parts: Parts,
    paths: Sequence[Path | str],
    name: str,
    as_json: bool,
    change: DetailsChange | None = None,
    *,
    again: bool = False,
    prune: bool = False,
    timings: bool = False,
) -> list[Outcome]:
    """Ingest paths and addresses into the named collection, printing each outcome.  Return the outcomes."""
    from propcite.app.ingest.sources import gather
    from propcite.app.library.store import Action

    sources, outcomes = gather(paths, follow_links=parts.settings.follow_links, report=note)
    show = _outcome_printer(parts, as_json)
    for outcome in outcomes:
        show(outcome)
    if sources or prune:
        is_new = name not in {c.name for c in parts.library.collections()}
        target = parts.library.create_collection(name)
        with _ingester(parts, target) as ingester:
            try:
                outcomes += _ingest(ingester, sources, show, change, again=again)
                outcomes += _prune(ingester, paths, show) if prune else []
            finally:
                if is_new and parts.library.is_empty(target):
                    parts.library.remove_collection(target)  # nothing was read: do not leave an empty collection
        if any(outcome.state not in ("unchanged", "duplicate", "failed") for outcome in outcomes):
            record(parts, Action.ADDED_DOCUMENTS, name, _counts(outcomes))
        if timings:
            _show_timings(ingester)
    elif not outcomes:
        raise PropCiteError(f"no readable file there: name a file, a folder with files, or a web address ({KINDS})")
    if len(outcomes) > 1:
        note(f"{name}: {_counts(outcomes)}")
    return outcomes


def _read_again(parts: Parts, name: str, as_json: bool, change: DetailsChange) -> list[Outcome]:
    """Read again what an earlier version of the readers read; an interrupt loses nothing, the next run goes on."""
    from propcite.app.library.rereading import sources_to_read_again

    target = parts.library.collection(name)
    sources, outcomes = sources_to_read_again(parts.originals, target, parts.settings.max_file_mb * 2**20)
    show = _outcome_printer(parts, as_json)
    for outcome in outcomes:
        show(outcome)
    with _ingester(parts, target) as ingester:
        outcomes += _ingest(ingester, sources, show, change, again=True)
    note(f"{name}: {_counts(outcomes) or 'nothing was read by an earlier version of the readers'}")
    return outcomes


def _outcome_printer(parts: Parts, as_json: bool) -> Show:
    from dataclasses import asdict

    from propcite.app.terminal import show_outcome

    if as_json:
        return lambda outcome: write_json(asdict(outcome))
    return lambda outcome: show_outcome(outcome, parts.settings.ocr)


@contextmanager
def _ingester(parts: Parts, collection: CollectionInfo) -> Iterator[Ingester]:
    """Open an ingester that shows its progress on stderr."""
    from propcite.app.terminal_progress import sharing

    with sharing() as report:
        yield parts.ingester(collection, progress=lambda progress: report(progress.line, progress.share))


def _ingest(
    ingester: Ingester,
    sources: Sequence[Source],
    show: Show,
    change: DetailsChange | None = None,
    *,
    again: bool = False,
) -> list[Outcome]:
    """Print each outcome once it is safe on disk; apply the change to all documents at the end."""
    outcomes = []
    for outcome in ingester.ingest(sources, again=again):
        show(outcome)
        outcomes.append(outcome)
    if change:
        present = [outcome.document_id for outcome in outcomes if outcome.state in PRESENT]
        ingester.library.describe(present, change)
    return outcomes


def _prune(ingester: Ingester, paths: Iterable[Path | str], show: Show) -> list[Outcome]:
    removed = list(ingester.prune([Path(path) for path in paths]))
    for outcome in removed:
        show(outcome)
    return removed


def _counts(outcomes: Sequence[Outcome]) -> str:
    from collections import Counter

    return ", ".join(f"{n} {state}" for state, n in Counter(outcome.state for outcome in outcomes).items())


def _show_timings(ingester: Ingester) -> None:
    for step, ms in sorted(ingester.timer.spent.items(), key=lambda item: -item[1]):
        note(f"{step:<16} {ms / 1000:8.2f} s")


def _watch(parts: Parts, paths: Sequence[str], name: str, as_json: bool, change: DetailsChange, prune: bool) -> None:
    """Ingest changes until an interrupt.  An error does not end the watch; unchanged documents are not printed."""
    from propcite.app.ingest.sources import gather
    from propcite.app.ingest.watcher import watch

    print_outcome = _outcome_printer(parts, as_json)

    def show(outcome: Outcome) -> None:
        if outcome.state != "unchanged":
            print_outcome(outcome)

    begun = False
    for changes in watch([Path(path) for path in paths], follow_links=parts.settings.follow_links):
        try:
            with _ingester(parts, parts.library.create_collection(name)) as ingester:
                if not begun:  # read what changed between the first ingest and the start of the watch
                    note(f"watching {', '.join(paths)}; interrupt to end")
                    _ingest(ingester, gather(paths, follow_links=parts.settings.follow_links)[0], show, change)
                elif changes.sources:
                    _ingest(ingester, changes.sources, show, change)
                if prune and (changes.deleted or not begun):
                    _prune(ingester, paths, show)
        except PropCiteError as error:
            note(str(error))
        begun = True
