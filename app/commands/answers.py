"""The commands that search, answer and cite, and the demo."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import (
    BELOW,
    AsJson,
    Collection,
    Documents,
    Level,
    Panel,
    SearchWay,
    Where,
    answer_lines,
    cli,
    document_names,
    filter_lines,
    find_collection,
    note,
    open_parts,
    read_text,
    record,
    write_json,
)
from propcite.app.commands.exports import Counted, Export, FormName, Offsets, Out, requested_export
from propcite.app.commands.given import (
    After,
    Batch,
    GeneratorName,
    GoOn,
    JudgeName,
    Margin,
    MethodName,
    ModelName,
    Most,
    PassagesFile,
    Questions,
    Workers,
    check_workers,
    followed_answer,
    read_passages,
    setting_overrides,
)
from propcite.app.commands.ingestion import ingest_and_report
from propcite.app.commands.streams import Streamed, Stripped, cite_stream, print_events
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.timing import Timer

if TYPE_CHECKING:
    from propcite.app.parts import Parts
    from propcite.attribution.citations import CitedAnswer

MAX_QUESTIONS = 256  # questions answered in one batch


@cli.command(rich_help_panel=Panel.ASKING)
def search(
    text: Annotated[str, typer.Argument(help="What to look for.")],
    granularity: Annotated[Level, typer.Option("--granularity", "-g", help="The unit to rank.")] = Level.passage,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of results.")] = 5,
    collection: Collection = "",
    documents: Documents = None,
    where: Where = None,
    alignment: Annotated[
        str, typer.Option(help="Which tokens are compared, e.g. top-k=2 (default: the collection's).")
    ] = "",
    way: Annotated[
        SearchWay | None,
        typer.Option(
            help="What ranks: vectors with exact words beside them, or one of the two alone.", show_default="both"
        ),
    ] = None,
    timings: Annotated[bool, typer.Option("--timings", help="Print how long each stage took.")] = False,
    as_json: AsJson = False,
) -> None:
    """Rank the passages, sentences or propositions of a collection; "words in double quotes" must all be there."""
    from propcite.app.terminal import show_hits
    from propcite.attribution.formats.json.hits import hit_json
    from propcite.retrieval.text import Granularity
    from propcite.retrieval.words.shares import quoted_phrases

    parts = open_parts(alignment=alignment or None, search_way=way.value if way else None)
    chosen = find_collection(parts, collection)
    timer = Timer()
    level = Granularity(granularity.value)
    hits = parts.pipeline(chosen, documents or (), where or ()).search(text, level, k, timer)
    if as_json:
        write_json([hit_json(hit) for hit in hits])
    else:
        show_hits(hits, document_names(parts, chosen))
    if missing := parts.encoder.missing_marker_note(level):
        note(missing)
    if timings:
        note(", ".join(f"{stage} {ms:.1f} ms" for stage, ms in timer.spent.items()))
    if not hits:
        if phrases := [span.of(text) for span in quoted_phrases(text)]:
            quoted = " and ".join(f"“{phrase}”" for phrase in phrases)
            note(f"no {level} here has the words {quoted}: search without quotes for what is near")
        raise typer.Exit(BELOW)


@cli.command(rich_help_panel=Panel.ASKING)
def ask(
    question: Annotated[str, typer.Argument(help="The question.")] = "",
    collection: Collection = "",
    documents: Documents = None,
    where: Where = None,
    batch: Questions = "",
    generator: GeneratorName = None,
    model: ModelName = None,
    as_json: AsJson = False,
    form: FormName = "",
    out: Out = None,
    offsets: Offsets = Counted.code_points,
    stream: Annotated[bool, typer.Option("--stream", help="Print the answer while it is written; JSON lines.")] = False,
    after: After = "",
    go_on: GoOn = False,
    workers: Workers = 1,
) -> None:
    """Answer a question, with a quoted source for each fact.  Exit code 1 if the collection has no answer."""
    if stream and (form or out or offsets is not Counted.code_points):
        raise PropCiteError("--stream writes JSON lines: leave out --format, --out and --offsets")
    if batch and (form or offsets is not Counted.code_points):
        raise PropCiteError("--batch writes JSON lines: leave out --format and --offsets")
    check_workers(workers, bool(batch and out))
    if batch and (stream or question or after or go_on):
        raise PropCiteError(
            "--batch reads its questions from a file: leave out QUESTION, --stream, --after, --continue"
        )
    from propcite.app.library.store import Action

    export = requested_export(as_json, form, None if batch else out, offsets)
    parts = open_parts(generator=generator and generator.value, generator_model=model)
    chosen = find_collection(parts, collection)
    pipeline = parts.pipeline(chosen, documents or (), where or ())
    if batch:
        from propcite.app.bulk import filters
        from propcite.app.bulk.tasks import Task

        record(parts, Action.ASKED, chosen.name, "a batch")
        if out:
            task = Task.of("ask", parts.settings, chosen.name, documents or (), where or ())
            answer_lines(task, batch, out, workers)
            return
        filter_lines(filters.AskLine, lambda lines: filters.ask(pipeline, lines), batch, most=MAX_QUESTIONS)
        return
    after = followed_answer(parts, chosen, after, go_on=go_on)
    if stream:
        with pipeline.answer_stream(question, after) as events:
            answer = print_events(events, document_names(parts, chosen), parts, as_json=as_json)
    else:
        answer = pipeline.answer(question, after)
    record(parts, Action.ASKED, chosen.name, answer.id)
    if not stream:
        _show_answer(answer, parts, export)
    if answer.abstained:
        raise typer.Exit(BELOW)


def _show_answer(answer: CitedAnswer, parts: Parts, export: Export | None = None, *, stored: bool = True) -> None:
    """Print or export an answer; a stored one with the current state of its documents."""
    from propcite.app.ingest.names import file_name
    from propcite.app.terminal import show_answer
    from propcite.attribution.formats.cited_documents import with_documents

    documents = parts.library.cited_documents(answer) if stored else {}
    if export:
        export.write(answer, documents)
    else:
        names = {i: file_name(document.source) for i, document in documents.items() if document.source}
        show_answer(with_documents(answer, documents), names)


@cli.command(rich_help_panel=Panel.ASKING)
def cite(
    file: Annotated[str, typer.Argument(help="A text to cite; - reads standard input.")] = "-",
    passages: PassagesFile = None,
    question: Annotated[str, typer.Option(help="What the text answers; it is said whether it does.")] = "",
    batch: Batch = False,
    fail_under: Annotated[
        float, typer.Option(min=0, max=1, help="Exit with 1 if the share of cited facts is below this.")
    ] = 0.0,
    collection: Collection = "",
    as_json: AsJson = False,
    form: FormName = "",
    out: Out = None,
    offsets: Offsets = Counted.code_points,
    stream: Streamed = False,
    strip_markers: Stripped = False,
    method: MethodName = None,
    judge: JudgeName = None,
    margin: Margin = None,
    most: Most = None,
    workers: Workers = 1,
) -> None:
    """Cite any text from a collection, from a file of passages, or from the passages first and then the collection."""
    from propcite.app.bulk import filters
    from propcite.app.bulk.tasks import Task
    from propcite.app.library.store import Action

    if stream and (batch or form or out):
        raise PropCiteError("--stream writes JSON events: leave out --batch, --format and --out")
    check_workers(workers, bool(batch and out))
    export = requested_export(as_json, form, None if batch else out, offsets)
    parts = open_parts(**setting_overrides(method, judge, margin, most))
    if stream:
        answer = cite_stream(
            parts, file, passages, collection, question=question, as_json=as_json, strip_markers=strip_markers
        )
        if answer.coverage < fail_under:
            raise typer.Exit(BELOW)
        return
    if batch:
        if form or offsets is not Counted.code_points:
            raise PropCiteError("--batch writes JSON lines: leave out --format and --offsets")
        propcite = parts.propcite  # report wrong settings before reading any line
        if out:
            answer_lines(Task.of("cite", parts.settings, collection), file, out, workers)
            return
        rest = parts.pipeline(find_collection(parts, collection)).retriever() if collection else None
        filter_lines(filters.CiteLine, lambda lines: filters.cite(propcite, lines, rest), file)
        return
    text = read_text(file)
    own = read_passages(passages) if passages else ()
    if own and not collection:
        answer = parts.propcite.cite(text, own, question=question)
    else:
        answer = parts.pipeline(find_collection(parts, collection)).cite(text, own, question=question)
        record(parts, Action.CITED, answer.collection, answer.id)
    _show_answer(answer, parts, export, stored=bool(answer.collection))
    if answer.coverage < fail_under:
        raise typer.Exit(BELOW)


@cli.command(rich_help_panel=Panel.ASKING)
def show(
    answer_id: Annotated[str, typer.Argument(help="An answer's id.")],
    as_json: AsJson = False,
    form: FormName = "",
    out: Out = None,
    offsets: Offsets = Counted.code_points,
) -> None:
    """Show a stored answer."""
    export = requested_export(as_json, form, out, offsets)
    parts = open_parts()
    answer = parts.library.answer(answer_id)
    _show_answer(answer, parts, export)


class Shape(StrEnum):
    answer = "answer"
    repair = "repair"
    explanation = "explanation"


@cli.command(rich_help_panel=Panel.LISTS)
def schema(
    of: Annotated[Shape, typer.Argument(help="The output of `cite`, `repair` or `explain`.")] = Shape.answer,
) -> None:
    """Print the JSON schema of a cited answer, a repaired answer or an explanation."""
    from propcite.attribution.formats.json import json_schema
    from propcite.attribution.formats.json.explanations import explanation_schema
    from propcite.attribution.formats.json.repairs import repair_schema

    schemas = {Shape.answer: json_schema, Shape.repair: repair_schema, Shape.explanation: explanation_schema}
    write_json(schemas[of]())


@cli.command(rich_help_panel=Panel.ASKING)
def demo(collection: Collection = "demo") -> None:
    """Build the demo collection and answer its first question."""
    from propcite.app.demo import DOCUMENTS, QUESTIONS

    parts = open_parts()
    outcomes = ingest_and_report(parts, [DOCUMENTS], collection, as_json=False)
    question = json.loads(QUESTIONS.read_text("utf-8").splitlines()[0])["question"]
    chosen = parts.library.collection(collection)
    stored_id = next((a.id for a in parts.library.answers(chosen) if a.question == question), None)
    if stored_id and all(outcome.state == "unchanged" for outcome in outcomes):
        _show_answer(parts.library.answer(stored_id), parts)  # loads no model, so it is fast
        note("stored by an earlier run: propcite ask answers the question again")
    else:
        _show_answer(parts.pipeline(chosen).answer(question), parts)
