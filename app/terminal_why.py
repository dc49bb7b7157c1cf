"""Print an explanation: the fact, its source, and a table of the matched words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from propcite.app.ingest.names import file_name
from propcite.app.terminal import MARKS, also_in, out
from propcite.attribution.citing.alternatives import Alternative
from propcite.attribution.citing.explaining import Explained
from propcite.attribution.formats.explanations.html import SENTENCE_NAME, TITLE_NAME
from propcite.attribution.formats.explanations.text import WordMatch, explanation_lines, word_match
from propcite.attribution.formats.wording import SIGNS as SIGNS_OF
from propcite.attribution.formats.wording import label_of, location_of
from propcite.retrieval.explanation import Explanation

MAX_MATCHES = 4  # source words shown per word of the fact
NAMED_FROM = 0.02  # the share of what a word counted from which a match is named
SIGNS = {WordMatch.SAME: ("✓", "green"), WordMatch.OTHER: ("≈", "yellow"), WordMatch.NONE: ("○", "dim")}


def show_explained(explained: Explained, sources: Mapping[str, str]) -> None:
    """Print an explanation.  `sources` maps document ids to paths; removed documents are missing."""
    mark, colour = MARKS[label_of(explained.fact)]
    out.print(f"[{colour}]{mark}[/{colour}] [bold]{escape(explained.fact.proposition.text)}[/bold]")
    number = f"[bold cyan]\\[{explained.citation.number}][/]" if explained.citation else "nearest:"
    quote = " ".join(explained.unit_text.split())
    out.print(f"{number} {escape(_place(explained, sources))}: “{escape(quote)}”\n")
    out.print(_table(explained.explanation))
    out.print()
    for line in explanation_lines(explained):
        out.print(Text(line), soft_wrap=not out.is_terminal)


def show_alternatives(near: Sequence[Alternative], sources: Mapping[str, str]) -> None:
    """Print each alternative with its verdict on the fact, and its marker if it is cited."""
    for rank, one in enumerate(near, start=1):
        mark, colour = MARKS[one.label]
        cited = f" [bold cyan]\\[{one.number}][/]" if one.number else ""
        name = file_name(sources.get(one.hit.passage.document_id, "")) or one.hit.passage.title
        place = ", ".join(filter(None, [name, location_of(one.hit.passage, one.hit.spans)]))
        likely = f"[{colour}]{mark} {SIGNS_OF[one.label][1]}, {one.verdict.probability:.0%}[/{colour}]"
        out.print(f"[bold cyan]{rank:>2}[/]  {one.hit.score:.3f}  {likely}{cited}  [dim]{escape(place)}[/]")
        out.print(Padding(escape(" ".join(one.hit.text.split())), (0, 0, 0, 4)))
        if also := also_in(one.hit, {id_: file_name(source) for id_, source in sources.items()}):
            out.print(Padding(escape(also), (0, 0, 0, 4)), style="dim")
        if one.verdict.reason:
            out.print(Padding(escape(one.verdict.reason), (0, 0, 0, 4)), style="dim")
        out.print()


def _place(explained: Explained, sources: Mapping[str, str]) -> str:
    evidence = explained.evidence
    id_, stands = evidence.passage.document_id, location_of(evidence.passage, [evidence.span])
    title = evidence.passage.title or evidence.passage.id
    gone = " (no longer in the library)" if id_ and explained.answer.collection else ""
    name = file_name(sources[id_]) if id_ in sources else f"{title}{gone}"
    return ", ".join(filter(None, [name, stands]))


def _table(found: Explanation) -> Table:
    """A word a row: what it weighs, how near it came, and to which words of the source, with their shares."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", width=1)
    table.add_column("word", overflow="fold")
    for name in ("weight", "near"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("in the source", overflow="fold")
    for i, word in enumerate(found.query):
        if word.has_content or word.span is None:
            sign, colour = SIGNS[word_match(found, i)]
            said = Text(word.text or SENTENCE_NAME, style=colour if colour == "dim" else "")
            weight = f"{word.weight or 0.0:.0%}"
            table.add_row(Text(sign, colour), said, weight, f"{found.nearness[i]:.2f}", _matched(found, i))
    return table


def _matched(found: Explanation, word: int) -> Text:
    matches = [m for m in found.matches(word)[:MAX_MATCHES] if m.share >= NAMED_FROM]
    named = [(found.source[m.source].text or TITLE_NAME, m.share) for m in matches]
    alone = len(named) == 1
    return Text(", ".join(name if alone else f"{name} {share:.0%}" for name, share in named))
