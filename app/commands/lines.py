"""The filter commands: one JSON object per line in and out."""

from __future__ import annotations

from typing import Annotated

import typer

from propcite.app.commands import Panel, cli, filter_lines, note, open_parts, read_text


@cli.command(rich_help_panel=Panel.FILTERS)
def rank() -> None:
    r"""Filter: {"query", "title", "sentences"} per line -> {"scores"}; or {"query", "query_spans", "text", "spans"}."""
    from propcite.app.commands import rank_lines
    from propcite.retrieval.text import Granularity

    parts = open_parts()
    encoder, alignment = parts.encoder, parts.alignment()  # report wrong settings before reading any line
    if missing := encoder.missing_marker_note(Granularity.SENTENCE):
        note(missing)
    filter_lines(rank_lines.RankLine, lambda lines: rank_lines.rank(encoder, lines, alignment))


@cli.command(rich_help_panel=Panel.FILTERS)
def split(
    file: Annotated[str, typer.Argument(help="The file to split; - reads standard input.")] = "-",
    text: Annotated[bool, typer.Option("--text", help="Plain text in, its claims as text out.")] = False,
) -> None:
    r"""Filter: {"sentence"} per line -> {"propositions": \[{"text", "spans": \[\[start, end]], "check_worthy"}]}."""
    from propcite.app.bulk import filters

    parts = open_parts()
    splitter = parts.splitter  # report wrong settings before reading any line
    if text:
        from propcite.app.terminal import show_claims
        from propcite.attribution.citing.splitting import split_answer

        show_claims(split_answer(read_text(file), splitter))
        return
    filter_lines(filters.SplitLine, lambda lines: filters.split(splitter, lines), file)


@cli.command(rich_help_panel=Panel.FILTERS)
def judge() -> None:
    r"""Filter: {"claim", "evidence": \[text…]} per line -> {"support": 0..1, "verdict", "reason"}."""
    from propcite.app.bulk import filters

    parts = open_parts()
    judge = parts.judge  # report wrong settings before reading any line
    filter_lines(filters.JudgeLine, lambda lines: filters.judge(judge, lines))
