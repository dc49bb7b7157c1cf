"""Print cited answers, hits and tables.  Data goes to stdout, all else to stderr."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from propcite.attribution.citations import CitedAnswer, CitedProposition, CitedSentence, Evidence, Label
from propcite.attribution.formats.wording import (
    ANSWERED_SIGNS,
    ELSEWHERE,
    answered_line,
    copies_line,
    location_of,
    notices,
    trust_line,
    written_by,
)
from propcite.retrieval.fidelity import Fidelity
from propcite.retrieval.text import Hit

if TYPE_CHECKING:  # the ingester loads the readers
    from propcite.app.ingest.ocr.choosing import Choice
    from propcite.app.ingest.outcomes import Outcome
    from propcite.app.models import Model
    from propcite.attribution.citing.repaired import Repaired
    from propcite.attribution.citing.splitting import SplitSentence

out = Console(highlight=False, soft_wrap=False)
err = Console(stderr=True, highlight=False)

MARKS = {
    Label.SUPPORTED: ("✓", "green"),
    Label.PARTLY: ("◐", "yellow"),
    Label.UNSUPPORTED: ("○", "dim"),
    Label.CONTRADICTED: ("✗", "red"),
    Label.UNCHECKED: ("?", "dim"),
}
REPAIRS = {
    "kept": ("✓", "green"),
    "added": ("+", "cyan"),
    "dropped": ("✗", "red"),
    "no such passage": ("✗", "red"),
    "not checked": ("?", "dim"),
}
STATES = {
    "added": "green", "changed": "cyan", "moved": "cyan", "unchanged": "dim", "duplicate": "yellow", "removed": "dim",
    "failed": "red",
}  # fmt: skip


def show_answer(answer: CitedAnswer, names: dict[str, str]) -> None:
    """Print the answer with its markers, then each fact with its quotes.  `names` maps document ids to names."""
    if answer.question:
        out.print(Text(answer.question, style="bold"))
        show_understood(answer)
        out.print()
    shown = marked_text(answer)
    shown.rstrip()  # a text that was piped ends its line itself
    out.print(shown, soft_wrap=not out.is_terminal)
    show_facts(answer, names)


def show_understood(answer: CitedAnswer) -> None:
    """Print the completed question if it followed up another one."""
    if answer.understood:
        out.print(Text(f"understood as: {answer.understood}", style="dim"), soft_wrap=not out.is_terminal)


def show_piece(text: str, sentence: CitedSentence | None = None) -> None:
    """Print the next piece of an answer, with the markers of the sentence that ends there."""
    markers = "".join(f"[{c.number}]" for c in sentence.citations) if sentence else ""
    out.print(Text.assemble(text, (markers, "bold cyan")), end="", soft_wrap=True)


def show_facts(answer: CitedAnswer, names: dict[str, str]) -> None:
    """Print the notices, then each fact with its quotes."""
    _show_notices(answer)
    if answer.propositions and not answer.is_empty:
        out.print()
        shown = _without_repeated(answer.propositions)
        for proposition, following in zip_longest(shown, shown[1:]):
            _show_proposition(proposition, names, with_source=not _same_source(proposition, following))
    held = sum(bool(fact.citations) for fact in answer.facts)
    spent = sum(answer.timings_ms.values()) / 1000
    if line := answered_line(answer):
        out.print(
            Text(f"{ANSWERED_SIGNS[answer.answered]} {line}" if answer.answered else line),
            soft_wrap=not out.is_terminal,
        )
    facts = "" if answer.is_empty else f"{held} of {len(answer.facts)} facts have support · "
    writer = f"{escape(line)} · " if (line := written_by(answer)) else ""
    trust = f"{escape(line)} · " if facts and (line := trust_line(answer)) else ""
    err.print(f"[dim]{facts}{trust}{writer}answer {answer.id} · {spent:.2f} s[/dim]")


def _show_notices(answer: CitedAnswer) -> None:
    if lines := notices(answer):
        out.print()
        out.print(Text(" ".join(lines), style="yellow"), soft_wrap=not out.is_terminal)


def marked_text(answer: CitedAnswer) -> Text:
    """Return the answer's text with markers after the sentences; uncited text is underlined."""
    text = Text(answer.text)
    for proposition in answer.uncited:
        for span in proposition.proposition.spans:
            text.stylize("underline" if not answer.is_empty else "", span.start, span.end)
    pieces, last = [], 0
    for sentence in answer.sentences:
        pieces.append(text[last : sentence.span.end])
        markers = "".join(f"[{c.number}]" for c in sentence.citations)
        pieces.append(Text(markers, style="bold cyan"))  # no space: a marker never stands alone on a line
        last = sentence.span.end
    return Text.assemble(*pieces, text[last:])


def _show_proposition(proposition: CitedProposition, names: dict[str, str], with_source: bool) -> None:
    """Print a claim with its verdict and quotes; consecutive claims with the same source name it once."""
    if proposition.verdict is None:
        return
    mark, colour = MARKS[proposition.verdict.label]
    label = proposition.verdict.label.value
    indented(f"[{colour}]{mark} {label}[/{colour}]  {escape(proposition.proposition.text)}", 2)
    for citation in proposition.citations if with_source else ():
        indented(f"[bold cyan]\\[{citation.number}][/] {source_line(citation.evidence, names)}", 6)
    if proposition.verdict.reason:
        indented(f"[{colour}]{escape(proposition.verdict.reason)}[/{colour}]", 6)
    if proposition.nearest is not None:
        indented(f"[dim]nearest: {source_line(proposition.nearest, names)}[/dim]", 6)


def _without_repeated(propositions: Sequence[CitedProposition]) -> list[CitedProposition]:
    """Return the propositions without those that say again, word for word, what an earlier one says."""
    first: dict[str, CitedProposition] = {}
    for proposition in propositions:
        first.setdefault(proposition.proposition.text.casefold(), proposition)
    return list(first.values())


def _same_source(one: CitedProposition, other: CitedProposition | None) -> bool:
    if other is None or not one.citations:
        return False
    return [(c.passage.id, c.span) for c in one.citations] == [(c.passage.id, c.span) for c in other.citations]


def indented(markup: str, by: int) -> None:
    """Print markup with all its lines indented; one line where no one reads it on a terminal."""
    if out.is_terminal:
        out.print(Padding(markup, (0, 0, 0, by), expand=False))
    else:
        out.print(" " * by + markup, soft_wrap=True)  # one line, for programs that read the pipe


def source_line(evidence: Evidence, names: Mapping[str, str]) -> str:
    """Return where evidence is and its quote, as markup."""
    said = [_place(evidence, names), "" if evidence.shown else ELSEWHERE, evidence.document_status, evidence.doubt]
    place = ", ".join(filter(None, said))
    also = f" ({line})" if (line := copies_line(evidence, names)) else ""
    return f"{escape(place)}: “{escape(' '.join(evidence.quote.split()))}”{escape(also)}"


def _place(evidence: Evidence, names: Mapping[str, str]) -> str:
    passage = evidence.passage
    name = names.get(passage.document_id) or passage.title or passage.id
    return ", ".join(filter(None, [name, location_of(passage, [evidence.span])]))


def show_claims(parts: Sequence[SplitSentence]) -> None:
    """Print each sentence with its claims below; those that need no support are labelled."""
    for part in parts:
        out.print(Text(" ".join(part.text.split()), style="bold"), soft_wrap=not out.is_terminal)
        for p in part.propositions:
            indented(
                f"• {escape(p.text)}" if p.check_worthy else f"[dim]• {escape(p.text)} (needs no support)[/dim]", 2
            )


def show_repair(repaired: Repaired) -> None:
    """Print the repaired answer, each marker with its state and reason, then the unsupported claims."""
    out.print(Text(repaired.text), soft_wrap=not out.is_terminal)
    out.print()
    for check in repaired.checks:
        mark, colour = REPAIRS[check.state.value]
        claim = " ".join(check.sentence.of(repaired.answer.text).split())
        indented(f"[{colour}]{mark} \\[{check.number}] {check.state.value}[/{colour}]  {escape(claim)}", 2)
        if check.verdict and check.verdict.reason:
            indented(f"[{colour}]{escape(check.verdict.reason)}[/{colour}]", 6)
        if check.evidence:
            indented(f"[dim]{source_line(check.evidence, {})}[/dim]", 6)
    _show_notices(repaired.answer)
    if repaired.checks and repaired.answer.uncited:
        out.print()
    for proposition in repaired.answer.uncited:
        _show_proposition(proposition, {}, with_source=True)
    counts = {state: len(repaired.numbers(state)) for state in dict.fromkeys(c.state for c in repaired.checks)}
    err.print("[dim]" + " · ".join(f"{count} {state.value}" for state, count in counts.items()) + "[/dim]")


def show_hits(hits: Sequence[Hit], names: dict[str, str]) -> None:
    for rank, hit in enumerate(hits, start=1):
        place = _place(Evidence.of(hit), names)
        words = f" [dim](words {hit.words:.3f})[/dim]" if hit.words and hit.similarity else ""
        out.print(f"[bold cyan]{rank:>2}[/]  {hit.score:.3f}{words}  [dim]{escape(place)}[/dim]")
        indented(escape(" ".join(hit.text.split())), 4)
        if also := also_in(hit, names):
            indented(f"[dim]{escape(also)}[/dim]", 4)
        out.print()


def also_in(hit: Hit, names: Mapping[str, str]) -> str:
    """Name the other places of a hit's words; empty where there are none."""
    return copies_line(Evidence.of(hit), names)


def show_outcome(outcome: Outcome, ocr: Choice = "auto") -> None:
    """Print one line.  `ocr` is the setting, on which it depends what is to be done for pages that were not read."""
    if outcome.state == "failed":
        err.print(f"[red]failed   [/red] {escape(outcome.reason)}", soft_wrap=True)
        return
    colour = STATES[outcome.state]
    said = f"[{colour}]{outcome.state:<9}[/{colour}] {escape(outcome.source)} [dim]({escape(_about(outcome))})[/dim]"
    if outcome.fidelity.line:
        said += f": [yellow]{escape(outcome.fidelity.line)}[/yellow]"
    unread = Fidelity(
        pages_without_text=outcome.fidelity.pages_without_text, unchecked_layers=outcome.fidelity.unchecked_layers
    )
    if not unread.is_whole:
        from propcite.app.library.source_findings import next_step

        said += f"; {escape(next_step(unread, ocr))}"
    out.print(said, soft_wrap=True)  # one line per outcome, for programs that read the pipe


def _about(outcome: Outcome) -> str:
    passages = "1 passage" if outcome.num_passages == 1 else f"{outcome.num_passages} passages"
    alike = [f"{one.share:.0%} the same as {one.source}" for one in outcome.alike]
    return ", ".join(filter(None, [passages, outcome.reason, *alike]))


def show_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold", justify="right" if column in ("passages", "documents") else "left")
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    out.print(table)


def show_models(models: Sequence[Model]) -> None:
    """Print one row per model; the models in use are marked."""
    table = Table("setting", box=None, pad_edge=False)
    table.add_column("name", no_wrap=True, overflow="fold")
    for column in ("MB", "what it is", "how it was made"):
        table.add_column(column)
    for model in models:
        name = Text(f"{model.name} ✓" if model.chosen else model.name, style="bold" if model.chosen else "")
        table.add_row(model.setting, name, f"{model.megabytes:.1f}", model.what, model.made)
    out.print(table)
