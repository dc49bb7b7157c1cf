"""`propcite eval beir|alignments|pruning|tokens|sentences|facts`: rankings of passages, sentences and facts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import open_parts
from propcite.app.lab.commands.evaluation import Format, Limit, New, Offset, Shape, eval_cli, run_options, show_rows

if TYPE_CHECKING:
    from propcite.app.library.store import RunItem

Encoders = Annotated[list[str] | None, typer.Option("--encoder", help="A folder or name; repeatable.")]


@eval_cli.command("beir")
def eval_beir(
    folders: Annotated[
        list[Path],
        typer.Argument(
            help="corpus.jsonl, queries.jsonl, qrels/*.tsv; or LoTTE's, MIRACL's or DPR's files.", metavar="DIRS…"
        ),
    ],
    split: Annotated[
        str, typer.Option(help="The judged split (default: test, or the only one); search or forum; a questions' file.")
    ] = "",
    way: Annotated[
        list[str] | None,
        typer.Option(help="bm25, m_q, both, words, exact, idf, tokens, xtr, m'_q, m''_q or single-vector; repeatable."),
    ] = None,
    encoder: Encoders = None,
    bits: Annotated[list[int] | None, typer.Option(help="Bits of the index: 16, 8, 4, 2 or 1; repeatable.")] = None,
    alignment: Annotated[
        list[str] | None, typer.Option(help="Which tokens are compared, such as top-k=2; repeatable.")
    ] = None,
    not_itself: Annotated[
        bool, typer.Option("--not-itself", help="Leave out the passage with the query's own id.")
    ] = False,
    depth: Annotated[int, typer.Option(min=10, help="Passages ranked per query; above 100 also recall there.")] = 100,
    contexts: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="Write what one way retrieves for questions with answers: for sentences."),
    ] = None,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Rank the passages of folders for their queries: nDCG, recall, MRR, P and Success, with intervals."""
    from propcite.app.lab.ranking import passages
    from propcite.app.lab.ranking.encoders import ranking_configs

    options, parts = run_options(limit, offset, new), open_parts()
    names = alignment or list(filter(None, [parts.settings.alignment]))
    configs = ranking_configs(
        way or passages.DEFAULT, passages.WAYS, encoder or (), bits or (), names, passages.ALIGNABLE
    )
    items = passages.evaluate(
        folders,
        parts,
        configs,
        options,
        split=split,
        explicit=bool(way),
        not_itself=not_itself,
        depth=depth,
        contexts=contexts,
    )
    _show_folders(folders, items, shape)


@eval_cli.command("alignments")
def eval_alignments(
    folders: Annotated[list[Path], typer.Argument(help="BEIR folders, as eval beir reads them.", metavar="DIRS…")],
    strategy: Annotated[
        list[str] | None, typer.Option(help="Compare only this alignment with top-k=1; repeatable.")
    ] = None,
    candidates: Annotated[int, typer.Option(min=10, help="Passages ranked per query.")] = 400,
    folds: Annotated[
        int, typer.Option(min=0, help="Adapt to folds of this many queries, rank the others; 0: off.")
    ] = 0,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Rank the same candidates by every alignment: nDCG@10, recall and MRR per folder and their mean."""
    from propcite.app.lab.ranking import alignments

    options = run_options(limit, offset, new)
    items = alignments.evaluate(folders, open_parts(), strategy or (), options, candidates)
    _show_by_source(items, alignments.MEASURES, shape)
    if folds:
        from propcite.app.lab.ranking.folds import fold_rows

        show_rows(fold_rows(items, folds), shape, "\n")


@eval_cli.command("pruning")
def eval_pruning(
    folders: Annotated[list[Path], typer.Argument(help="BEIR folders, as eval beir reads them.", metavar="DIRS…")],
    kind: Annotated[
        list[str] | None, typer.Option(help="sentences, coverage, salience, idf or random; repeatable, by default all.")
    ] = None,
    weights: Annotated[
        list[str] | None, typer.Option(help="NAME=FILE: the salience of a queries.safetensors; repeatable.")
    ] = None,
    share: Annotated[
        list[float] | None, typer.Option(help="Of a passage's tokens; repeatable. [0.4, 0.2, 0.1]")
    ] = None,
    refine: Annotated[int, typer.Option(min=100, help="Candidates scored with all their tokens.")] = 400,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Rank with only a share of the tokens searched, stored, or used of the query: quality and size."""
    from propcite.app.errors import AppError
    from propcite.app.lab.ranking import pruning

    pairs = [one.partition("=") for one in weights or ()]
    if wrong := [name for name, sign, file in pairs if not (name and sign and Path(file).is_file())]:
        raise AppError(f"--weights {wrong[0]!r}: give a name and an existing file, as mine=queries.safetensors")
    files = {name: Path(file) for name, _, file in pairs}
    kinds, shares, options = kind or pruning.KINDS, share or pruning.SHARES, run_options(limit, offset, new)
    items = pruning.evaluate(folders, open_parts(), kinds, files, shares, options, refine)
    _show_by_source(items, pruning.MEASURES, shape)
    show_rows(pruning.size_rows(items), shape, "\n")


@eval_cli.command("tokens")
def eval_tokens(
    folders: Annotated[list[Path], typer.Argument(help="Folders as eval beir reads them.", metavar="DIRS…")],
    retrieved: Annotated[
        list[int] | None, typer.Option(min=1, help="Tokens that each query token retrieves; repeatable. [100, 1000]")
    ] = None,
    impute: Annotated[
        list[str] | None,
        typer.Option(help="For similarities not retrieved: floor, zero, mean, none or a number; repeatable."),
    ] = None,
    encoder: Encoders = None,
    split: Annotated[str, typer.Option(help="The judged split, as for eval beir.")] = "",
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Measure the tokens that queries retrieve, and rank by them alone: XTR's analyses."""
    from propcite.app.lab.ranking import token_retrieval as tokens

    numbers, imputed = list(dict.fromkeys(retrieved or tokens.NUMBERS)), list(dict.fromkeys(impute or tokens.IMPUTED))
    options = run_options(limit, offset, new)
    items = tokens.evaluate(folders, open_parts(), numbers, imputed, encoder or (), options, split)
    _show_folders(folders, items, shape)


@eval_cli.command("sentences")
def eval_sentences(
    files: Annotated[
        list[Path],
        typer.Argument(help="JSON lines of sentences, or what DPR or Contriever retrieved.", metavar="FILES…"),
    ],
    way: Annotated[
        list[str] | None,
        typer.Option(help="bm25, m_q, m'_q, m''_q (both also 'without salience'), alone or single-vector; repeatable."),
    ] = None,
    encoder: Encoders = None,
    teacher: Annotated[
        list[Path] | None,
        typer.Option(exists=True, file_okay=False, help="A folder of propcite train teacher; repeatable."),
    ] = None,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Rank sentences within their passages: P@1, R@5 and MRR per source and their mean, with intervals."""
    from propcite.app.lab.ranking import sentences
    from propcite.app.lab.ranking.encoders import ranking_configs

    configs = ranking_configs(way or sentences.WAYS, sentences.WAYS, encoder or ())
    items = sentences.evaluate(
        files, open_parts(), configs, run_options(limit, offset, new), explicit=bool(way), teachers=teacher or ()
    )
    _show_by_source(items, _measured(items), shape)


@eval_cli.command("facts")
def eval_facts(
    folder: Annotated[
        Path, typer.Argument(help="propsegment_queries_all.jsonl and propsegment_targets_all.jsonl.", metavar="DIR")
    ],
    way: Annotated[list[str] | None, typer.Option(help="bm25, single-vector, m_q, m'_q or m''_q; repeatable.")] = None,
    encoder: Encoders = None,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Find facts with the same meaning as a fact: Success@1 and recall at four levels, with intervals."""
    from propcite.app.lab.ranking import facts
    from propcite.app.lab.ranking.encoders import ranking_configs

    configs = ranking_configs(way or facts.WAYS, facts.WAYS, encoder or ())
    options = run_options(limit, offset, new)
    _show(facts.evaluate(folder, open_parts(), configs, options, explicit=bool(way)), shape)


def _show_folders(folders: Sequence[Path], items: Sequence[RunItem], shape: Format) -> None:
    if len(folders) == 1:
        _show(items, shape)
    else:
        _show_by_source(items, _measured(items), shape)


def _measured(items: Sequence[RunItem]) -> list[str]:
    return list(dict.fromkeys(name for item in items for name in item.measures))


def _show(items: Sequence[RunItem], shape: Format) -> None:
    from propcite.app.lab.runs.figures import as_lines, as_text

    for line in as_lines(items) if shape is Format.jsonl else [as_text(items)]:
        typer.echo(line)


def _show_by_source(items: Sequence[RunItem], measures: Sequence[str], shape: Format) -> None:
    from propcite.app.lab.runs.figures import as_lines, figures_by_source, source_tables

    figures = figures_by_source(items, measures)
    for line in as_lines(items, figures) if shape is Format.jsonl else [source_tables(items, figures)]:
        typer.echo(line)
