"""How well passages, sentences and facts are ranked on data that a user brings; each run is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import note, open_parts
from propcite.app.lab.commands.evaluating import Format, Limit, New, Offset, Shape, eval_cli

if TYPE_CHECKING:
    from propcite.app.library.store import RunItem

Encoders = Annotated[list[str] | None, typer.Option("--encoder", help="A folder or name; may be given again.")]


@eval_cli.command("beir")
def eval_beir(
    folder: Annotated[Path, typer.Argument(help="corpus.jsonl, queries.jsonl, qrels/*.tsv.", metavar="DIR")],
    split: Annotated[str, typer.Option(help="The judged split; test otherwise, or the only one.")] = "",
    way: Annotated[
        list[str] | None,
        typer.Option(help="bm25, m_q, exact, idf, tokens, xtr, m'_q or m''_q; may be given again."),
    ] = None,
    encoder: Encoders = None,
    bits: Annotated[list[int] | None, typer.Option(help="16, 8, 4, 2 or 1 of the index; may be given again.")] = None,
    alignment: Annotated[
        list[str] | None, typer.Option(help="Which tokens are compared, like top-k=2; may be given again.")
    ] = None,
    not_itself: Annotated[bool, typer.Option("--not-itself", help="No passage answers the query of its id.")] = False,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Rank the passages of a BEIR folder for its queries: nDCG, recall, MRR, P and Success, with intervals."""
    from propcite.app.lab.ranking import passages
    from propcite.app.lab.ranking.encoders import ways_of
    from propcite.app.lab.runs.shares import Share

    share, parts = Share(limit, offset, new, note), open_parts()
    under = alignment or list(filter(None, [parts.settings.alignment]))
    asked = ways_of(way or passages.DEFAULT, passages.WAYS, encoder or (), bits or (), under, passages.ALIGNED)
    items = passages.evaluate(folder, parts, asked, share, split=split, named=bool(way), not_itself=not_itself)
    _show(items, shape)


@eval_cli.command("alignments")
def eval_alignments(
    folders: Annotated[list[Path], typer.Argument(help="BEIR folders, as eval beir reads them.", metavar="DIRS…")],
    strategy: Annotated[
        list[str] | None, typer.Option(help="Only this alignment beside top-k=1; may be given again.")
    ] = None,
    candidates: Annotated[int, typer.Option(min=10, help="Passages of each query that are ranked.")] = 400,
    folds: Annotated[int, typer.Option(min=0, help="Adapt by so many queries, rank the others; 0: not.")] = 0,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Rank the same candidates by every alignment: nDCG@10, recall and MRR a folder and their plain mean."""
    from propcite.app.lab.ranking import alignments
    from propcite.app.lab.runs.measured import as_lines, figures_by_source, source_tables
    from propcite.app.lab.runs.shares import Share

    share = Share(limit, offset, new, note)
    items = alignments.evaluate(folders, open_parts(), strategy or (), share, candidates)
    figures = figures_by_source(items, alignments.MEASURES)
    for told in as_lines(items, figures) if shape is Format.jsonl else [source_tables(items, figures)]:
        typer.echo(told)
    if folds:
        _show_folds(items, folds, shape)


def _show_folds(items: Sequence[RunItem], size: int, shape: Format) -> None:
    from propcite.app.lab import tables
    from propcite.app.lab.ranking.folds import folds_of

    found = folds_of(items, size)
    for told in map(tables.as_line, found) if shape is Format.jsonl else ["\n" + tables.as_table(found)]:
        typer.echo(told)


@eval_cli.command("pruning")
def eval_pruning(
    folders: Annotated[list[Path], typer.Argument(help="BEIR folders, as eval beir reads them.", metavar="DIRS…")],
    kind: Annotated[
        list[str] | None, typer.Option(help="sentences, coverage, salience, idf or random; all where none is named.")
    ] = None,
    weights: Annotated[
        list[str] | None, typer.Option(help="NAME=FILE: the salience of a queries.safetensors; repeatable.")
    ] = None,
    share: Annotated[list[float] | None, typer.Option(help="Of a passage's tokens: 0.4, 0.2, 0.1; repeatable.")] = None,
    refine: Annotated[int, typer.Option(min=100, help="Candidates that are read whole.")] = 400,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Rank by fewer tokens: searched by a share of them, stored at all, asked by a share; quality and size."""
    from propcite.app.errors import AppError
    from propcite.app.lab import tables
    from propcite.app.lab.ranking import pruning
    from propcite.app.lab.runs.measured import as_lines, figures_by_source, source_tables
    from propcite.app.lab.runs.shares import Share

    named = [one.partition("=") for one in weights or ()]
    if wrong := [name for name, sign, file in named if not (name and sign and Path(file).is_file())]:
        raise AppError(f"--weights {wrong[0]!r}: give a name and a file that is there, as mine=queries.safetensors")
    files = {name: Path(file) for name, _, file in named}
    kinds, shares = kind or pruning.KINDS, share or pruning.SHARES
    how = Share(limit, offset, new, note)
    items = pruning.evaluate(folders, open_parts(), kinds, files, shares, how, refine)
    figures, sizes = figures_by_source(items, pruning.MEASURES), pruning.sizes_of(items)
    as_json = shape is Format.jsonl
    for told in as_lines(items, figures) if as_json else [source_tables(items, figures)]:
        typer.echo(told)
    for told in map(tables.as_line, sizes) if as_json else ["\n" + tables.as_table(sizes)]:
        typer.echo(told)


@eval_cli.command("sentences")
def eval_sentences(
    files: Annotated[list[Path], typer.Argument(help="JSON lines of ranked sentences.", metavar="FILES…")],
    way: Annotated[
        list[str] | None,
        typer.Option(help="bm25, m_q, m'_q, m''_q, both also 'without salience', alone or single-vector; repeatable."),
    ] = None,
    encoder: Encoders = None,
    teacher: Annotated[
        list[Path] | None,
        typer.Option(exists=True, file_okay=False, help="What propcite train teacher made; repeatable."),
    ] = None,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Rank sentences within their passages: P@1, R@5 and MRR a source and their plain mean, with intervals."""
    from propcite.app.lab.ranking import sentences
    from propcite.app.lab.ranking.encoders import ways_of
    from propcite.app.lab.ranking.relevance import SENTENCES
    from propcite.app.lab.runs.measured import as_lines, figures_by_source, source_tables
    from propcite.app.lab.runs.shares import Share

    asked = ways_of(way or sentences.WAYS, sentences.WAYS, encoder or ())
    items = sentences.evaluate(
        files, open_parts(), asked, Share(limit, offset, new, note), named=bool(way), teachers=teacher or ()
    )
    figures = figures_by_source(items, SENTENCES)
    for told in as_lines(items, figures) if shape is Format.jsonl else [source_tables(items, figures)]:
        typer.echo(told)


@eval_cli.command("facts")
def eval_facts(
    folder: Annotated[
        Path, typer.Argument(help="propsegment_queries_all.jsonl and propsegment_targets_all.jsonl.", metavar="DIR")
    ],
    way: Annotated[
        list[str] | None, typer.Option(help="bm25, single-vector, m_q, m'_q or m''_q; may be given again.")
    ] = None,
    encoder: Encoders = None,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Find the facts that say the same as a fact: Success@1 and recall at four levels, with intervals."""
    from propcite.app.lab.ranking import facts
    from propcite.app.lab.ranking.encoders import ways_of
    from propcite.app.lab.runs.shares import Share

    asked = ways_of(way or facts.WAYS, facts.WAYS, encoder or ())
    _show(facts.evaluate(folder, open_parts(), asked, Share(limit, offset, new, note), named=bool(way)), shape)


def _show(items: Sequence[RunItem], shape: Format) -> None:
    from propcite.app.lab.runs.measured import as_lines, as_text

    for told in as_lines(items) if shape is Format.jsonl else [as_text(items)]:
        typer.echo(told)
