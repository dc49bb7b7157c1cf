"""propcite: the command line.  Exit codes: 0 done, 1 ran but below what was asked, 2 could not run."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

from retrieval.errors import PropCiteError

if TYPE_CHECKING:  # the parts load models and databases: each command imports what it needs
    from app.bootstrap import Parts
    from app.ingester import Outcome
    from app.store import CollectionInfo
    from attribution.citations import CitedAnswer
    from retrieval.text import Hit

BELOW, COULD_NOT, INTERRUPTED = 1, 2, 130

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Answers over your own documents in which every fact shows the words that support it.",
)

train_cli = typer.Typer(no_args_is_help=True, help="Train what is shipped, on data of your own.")
cli.add_typer(train_cli, name="train")
eval_cli = typer.Typer(no_args_is_help=True, help="Measure the parts on data of your own.")
cli.add_typer(eval_cli, name="eval")


class Format(StrEnum):
    table = "table"
    jsonl = "jsonl"


class Level(StrEnum):
    passage = "passage"
    sentence = "sentence"
    proposition = "proposition"


Collection = Annotated[str, typer.Option("--collection", "-c", help="The collection; PROPCITE_COLLECTION otherwise.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


def _parts(**arguments: object) -> Parts:
    from app.bootstrap import Parts
    from app.settings import load_settings

    return Parts(load_settings(**arguments))


def _collection(parts: Parts, name: str) -> CollectionInfo:
    return parts.library.collection(name or parts.settings.collection)


def _names(parts: Parts, collection: CollectionInfo) -> dict[str, str]:
    return {d.id: os.path.basename(d.source) or d.source for d in parts.library.documents(collection)}


def _write(data: object) -> None:
    few_letters = "utf" not in (sys.stdout.encoding or "").lower()  # then JSON escapes what the terminal cannot show
    text = json.dumps(data, ensure_ascii=few_letters, indent=2 if sys.stdout.isatty() else None)
    sys.stdout.write(text + "\n")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"propcite {version('propcite')}")
        raise typer.Exit


@cli.callback()
def common(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")] = False,
) -> None:
    """Answers over your own documents in which every fact shows the words that support it."""


@cli.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders: txt, md, html, pdf.", metavar="PATHS…")],
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Add documents to a collection.  What did not change is skipped; interrupt and run again to go on."""
    parts = _parts()
    outcomes = _ingest(parts, paths, collection or parts.settings.collection, as_json)
    failed = [o for o in outcomes if o.state == "failed"]
    if failed:
        raise typer.Exit(COULD_NOT if len(failed) == len(outcomes) else BELOW)


def _ingest(parts: Parts, paths: list[Path], name: str, as_json: bool) -> list[Outcome]:
    from collections import Counter
    from dataclasses import asdict

    from app.ingester import gather
    from app.terminal import counting, show_outcome

    files, outcomes = gather(paths)
    show: Callable[[Outcome], None] = (lambda o: _write(asdict(o))) if as_json else show_outcome
    for outcome in outcomes:
        show(outcome)
    if files:
        is_new = name not in {c.name for c in parts.library.collections()}
        target = parts.library.create_collection(name)
        try:
            with counting(len(files), "reading") as advance:
                for outcome in parts.ingester(target).ingest(files):
                    show(outcome)
                    outcomes.append(outcome)
                    advance(os.path.basename(outcome.source))
        finally:
            if is_new and parts.library.is_empty(target):
                parts.library.remove_collection(target)  # nothing was read: leave nothing behind
    elif not outcomes:
        raise PropCiteError("no txt, md, html or pdf file there: name one, or a folder that holds some")
    if len(outcomes) > 1:
        counts = Counter(outcome.state for outcome in outcomes)
        _note(f"{name}: {', '.join(f'{n} {state}' for state, n in counts.items())}")
    return outcomes


@cli.command("list")
def list_(
    collection: Collection = "",
    answers: Annotated[bool, typer.Option("--answers", help="List the kept answers instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """List collections, the documents of one (with --collection), or the kept answers."""
    from dataclasses import asdict

    from app.terminal import show_table

    parts = _parts()
    chosen = parts.library.collection(collection) if collection else None
    if answers:
        rows: list[Any] = parts.library.answers(chosen)
        columns = ["id", "question", "collection", "asked_at"]
    elif chosen is not None:
        rows = parts.library.documents(chosen)
        columns = ["id", "title", "source", "num_passages"]
    else:
        rows = parts.library.collections()
        columns = ["name", "num_documents", "num_passages"]
    if as_json:
        _write([{k: v.isoformat() if hasattr(v, "isoformat") else v for k, v in asdict(row).items()} for row in rows])
    elif rows:
        shown = [[_cell(getattr(row, column)) for column in columns] for row in rows]
        show_table([c.removeprefix("num_").replace("_", " ") for c in columns], shown)
        if chosen is not None and not answers:
            _show_stats(parts, chosen)
    else:
        _note("nothing there yet: propcite ingest PATH, or propcite demo")


def _cell(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M}" if hasattr(value, "strftime") else str(value)


def _show_stats(parts: Parts, collection: CollectionInfo) -> None:
    stats = parts.workspace(collection).stats()
    if stats is not None:
        size = f"{stats.tokens:,} tokens, {stats.bytes / 2**20:.1f} MB ({stats.bytes_per_token:.0f} bytes a token)"
        _note(f"{stats.engine} index: {stats.passages:,} passages, {size}, made by {stats.encoder}")


def _note(text: str) -> None:
    from rich.markup import escape

    from app.terminal import err

    err.print(f"[dim]{escape(text)}[/dim]", soft_wrap=True)


@cli.command()
def remove(
    document: Annotated[str, typer.Argument(help="A document's id, path or file name.")] = "",
    collection: Collection = "",
    everything: Annotated[bool, typer.Option("--all", help="Remove the whole collection with its answers.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove a document.  Answers that cite it keep their quotes."""
    parts = _parts()
    chosen = _collection(parts, collection)
    if everything == bool(document):
        raise PropCiteError("name one document, or give --all for the whole collection")
    if everything:
        workspace = parts.workspace(chosen)
        with workspace.writing():
            parts.library.remove_collection(chosen)
        workspace.remove()
        removed = {"collection": chosen.name, "documents": chosen.num_documents}
        said = f"removed the collection {chosen.name} with {chosen.num_documents} documents"
    else:
        found = parts.library.find_document(chosen, document)
        cited = parts.library.answers_citing(found.id)
        parts.ingester(chosen).remove(found.id)
        removed = {"id": found.id, "source": found.source, "answers_citing": cited}
        said = f"removed {found.source}" + (f"; {cited} kept answers still quote it" if cited else "")
    if as_json:
        _write(removed)
    else:
        _note(said)


@cli.command()
def reindex(collection: Collection = "", as_json: AsJson = False) -> None:
    """Build a collection's index anew from the stored passages, for another encoder or after damage."""
    parts = _parts()
    chosen = _collection(parts, collection)
    _note(f"encoding {chosen.num_passages} passages")
    count = parts.workspace(chosen).rebuild(parts.encoder)
    if as_json:
        _write({"collection": chosen.name, "passages": count})
    else:
        _show_stats(parts, chosen)


@cli.command()
def search(
    text: Annotated[str, typer.Argument(help="What to look for.")],
    granularity: Annotated[Level, typer.Option("--granularity", "-g", help="The unit to rank.")] = Level.passage,
    k: Annotated[int, typer.Option("-k", min=1, help="How many.")] = 5,
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Rank passages, sentences or propositions of a collection; all from one encoding of each passage."""
    from app.terminal import show_hits
    from retrieval.text import Granularity

    parts = _parts()
    chosen = _collection(parts, collection)
    hits = parts.pipeline(chosen).search(text, Granularity(granularity.value), k)
    if as_json:
        _write([_hit(hit) for hit in hits])
    else:
        show_hits(hits, _names(parts, chosen))
    if not hits:
        raise typer.Exit(BELOW)


def _hit(hit: Hit) -> dict[str, object]:
    passage = hit.passage
    return {
        "granularity": hit.granularity.value,
        "text": hit.text,
        "spans": [[span.start, span.end] for span in hit.spans],
        "score": round(hit.score, 6),
        "passage_score": round(hit.passage_score, 6),
        "passage_id": passage.id,
        "document_id": passage.document_id,
        "title": passage.title,
        "pages": list(passage.pages_of(hit.spans[0])),
    }


@cli.command()
def ask(
    question: Annotated[str, typer.Argument(help="A question to the collection.")],
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Answer a question, every fact with the words that support it.  Exit code 1 when the collection does not say."""
    parts = _parts()
    chosen = _collection(parts, collection)
    answer = parts.pipeline(chosen).answer(question)
    _show_answer(answer, parts, chosen, as_json)
    if answer.abstained:
        raise typer.Exit(BELOW)


def _show_answer(answer: CitedAnswer, parts: Parts, collection: CollectionInfo | None, as_json: bool) -> None:
    from app.terminal import show_answer
    from attribution.wire import to_dict

    if as_json:
        _write(to_dict(answer))
    else:
        show_answer(answer, _names(parts, collection) if collection else {})


@cli.command()
def cite(
    file: Annotated[str, typer.Argument(help="A text to cite; - reads standard input.")] = "-",
    passages: Annotated[
        Path | None, typer.Option(help="Cite from these passages: JSON lines of id, title, text.")
    ] = None,
    batch: Annotated[
        bool, typer.Option(help="JSON lines of question, answer, passages in; cited answers out.")
    ] = False,
    fail_under: Annotated[
        float, typer.Option(min=0, max=1, help="Exit 1 when a smaller share of facts is cited.")
    ] = 0.0,
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Cite any text over a collection, or over given passages."""
    from app import filters

    parts = _parts()
    if batch:
        _filter(filters.CiteLine, lambda lines: filters.cite(parts.propcite, lines), file)
        return
    text = _read_text(file)
    if passages is not None:
        answer, chosen = parts.propcite.cite(text, _read_passages(passages)), None
    else:
        chosen = _collection(parts, collection)
        answer = parts.pipeline(chosen).cite(text)
    _show_answer(answer, parts, chosen, as_json)
    if answer.coverage < fail_under:
        raise typer.Exit(BELOW)


def _opened(file: str) -> TextIO:
    """A file or standard input, as UTF-8 whatever the locale says; left open, since closing it would wait for input."""
    try:
        return open(os.dup(0) if file == "-" else file, encoding="utf-8-sig", errors="replace", newline="\n")
    except OSError as error:
        name = "standard input" if file == "-" else file
        raise PropCiteError(f"{name} cannot be read ({error.strerror}): give a file or a pipe") from error


def _read_text(file: str) -> str:
    from app.ingest import read_document

    if file != "-":
        return read_document(Path(file)).text
    text = _opened("-").read()
    if not text.strip():
        raise PropCiteError("there is nothing to read on standard input")
    return text


def _read_passages(path: Path) -> list[Any]:
    from pydantic import TypeAdapter, ValidationError

    from app.filters import PassageLine, passage_of

    try:
        lines = [line for line in path.read_text("utf-8-sig").split("\n") if line.strip()]
        adapter: TypeAdapter[PassageLine] = TypeAdapter(PassageLine)
        passages = [passage_of(adapter.validate_json(line), number) for number, line in enumerate(lines, start=1)]
    except (OSError, UnicodeDecodeError) as error:
        raise PropCiteError(f"{path} cannot be read ({error}): give a file of JSON lines") from error
    except ValidationError as error:
        raise PropCiteError(f'{path}: each line is an object like {{"id": "1", "title": "", "text": "…"}}') from error
    if not passages:
        raise PropCiteError(f"{path} holds no passage: give a file of JSON lines")
    return passages


@cli.command()
def show(answer_id: Annotated[str, typer.Argument(help="An answer's id.")], as_json: AsJson = False) -> None:
    """Show a kept answer as it was given."""
    parts = _parts()
    answer = parts.library.answer(answer_id)
    _show_answer(answer, parts, parts.library.collection(answer.collection), as_json)


def _filter(kind: type[Any], work: Callable[[Any], list[dict[str, Any]]], file: str = "-") -> None:
    from app import filters

    def write(line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    if filters.run(_opened(file), write, kind, work):
        raise typer.Exit(BELOW)


@cli.command()
def rank() -> None:
    """Filter: {"query", "title", "sentences"} a line -> {"scores"}."""
    from app import filters

    parts = _parts()
    _filter(filters.RankLine, lambda lines: filters.rank(parts.encoder, lines))


@cli.command()
def split(
    file: Annotated[str, typer.Argument(help="What to split; - reads standard input.")] = "-",
    text: Annotated[bool, typer.Option("--text", help="Plain text in, its claims as text out.")] = False,
) -> None:
    """Filter: {"sentence"} a line -> {"propositions": [{"text", "spans": [[start, end]], "check_worthy"}]}."""
    from app import filters

    parts = _parts()
    splitter = parts.splitter  # a wrong setting is told before any line is read
    if text:
        from app.terminal import show_claims

        show_claims(filters.claims(splitter, _read_text(file)))
        return
    _filter(filters.SplitLine, lambda lines: filters.split(splitter, lines), file)


@cli.command()
def judge() -> None:
    """Filter: {"claim", "evidence": [text…]} a line -> {"support": 0..1, "verdict", "reason"}."""
    from app import filters

    parts = _parts()
    _filter(filters.JudgeLine, lambda lines: filters.judge(parts.propcite, lines))


@eval_cli.command("split")
def eval_split(
    files: Annotated[list[Path], typer.Argument(help="JSON lines of sentence and propositions.", metavar="FILES…")],
    shape: Annotated[Format, typer.Option("--format", help="table or jsonl.")] = Format.table,
    most: Annotated[int, typer.Option(min=1, help="Rows of one source in one file, spread evenly.")] = 1500,
) -> None:
    """Measure the splitters on sentences whose propositions people wrote, all but those that training has seen."""
    from app import evaluate

    told = evaluate.evaluate(files, _parts().settings, most)
    if shape is Format.jsonl:
        for score in told:
            typer.echo(evaluate.as_line(score))
    else:
        typer.echo(evaluate.as_table(list(told)))


@train_cli.command("splitter")
def train_splitter(
    files: Annotated[list[Path], typer.Argument(help="JSON lines of sentence and propositions.", metavar="FILES…")],
    out: Annotated[Path, typer.Option(help="Where the weights go.")] = Path("splitter.safetensors"),
    epochs: Annotated[int, typer.Option(min=1)] = 4,
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Train the learned splitter; a quarter of the sentences with marked words is kept out for measuring."""
    from app.terminal import counting
    from attribution.propositions.training import is_held_out, num_steps, read_examples, train

    read = [example for file in files for example in read_examples(file)]
    examples = [e for e in read if e.style != "span" or not is_held_out(e.sentence)]
    if not examples:
        raise PropCiteError("no sentence with propositions in these files: give JSON lines of both")
    _note(f"{len(examples)} sentences to learn from, {len(read) - len(examples)} kept out")
    with counting(num_steps(examples, epochs), "training") as advance:
        train(examples, out, epochs=epochs, seed=seed, report=lambda *state: advance(f"loss {state[-1]:.2f}"))
    _write({"weights": str(out), "sentences": len(examples)})


@train_cli.command("encoder")
def train_encoder(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="JSON lines of ranked sentences.")],
    out: Annotated[Path, typer.Option(help="A folder for the model.")] = Path("encoder"),
    work: Annotated[Path | None, typer.Option(help="A folder for encoded passages and checkpoints.")] = None,
    base: Annotated[str, typer.Option(help="A folder or hub name; the bundled MiniLM otherwise.")] = "",
    device: Annotated[str, typer.Option(help="cpu, cuda, …")] = "",
    steps: Annotated[int, typer.Option(min=1)] = 300,
    batch_size: Annotated[int, typer.Option(min=2)] = 32,
    learning_rate: Annotated[float, typer.Option(min=0.0)] = 5e-5,
    propositions: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of steps at their level.")] = 0.3,
    claims: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of rows asked by a passage's claim.")] = 0.3,
    k_train: Annotated[int, typer.Option(min=0, help="XTR: tokens of the batch that count; 0: all.")] = 0,
    share: Annotated[float, typer.Option(min=0.0, max=1.0, help="Of the change that is kept.")] = 0.75,
    seed: Annotated[int, typer.Option()] = 0,
    resume: Annotated[bool, typer.Option(help="Go on from the last checkpoint.")] = False,
) -> None:
    """Train the queries' network: rows of {"query", "title", "sentences", "positive_sentence_ids"}."""
    from app import training

    _write(
        training.train_encoder(
            files, out, work, base, device, resume=resume, note=_note, steps=steps, batch_size=batch_size,
            learning_rate=learning_rate, propositions=propositions, claims=claims, k_train=k_train, share=share,
            seed=seed,
        )
    )  # fmt: skip


@cli.command()
def models(as_json: AsJson = False) -> None:
    """List the models that are here without a download; other settings name a folder or a hub name."""
    from dataclasses import asdict

    from app.models import shipped
    from app.terminal import show_models

    found = list(shipped(_parts().settings))
    if as_json:
        _write([asdict(model) for model in found])
    else:
        show_models(found)


@cli.command()
def schema() -> None:
    """Print the JSON schema of a cited answer."""
    from attribution.wire import json_schema

    _write(json_schema())


@cli.command()
def demo(collection: Collection = "demo") -> None:
    """Build the demo collection and answer its first question."""
    from app.demo import DOCUMENTS, QUESTIONS

    parts = _parts()
    outcomes = _ingest(parts, [DOCUMENTS], collection, as_json=False)
    question = json.loads(QUESTIONS.read_text("utf-8").splitlines()[0])["question"]
    chosen = parts.library.collection(collection)
    kept = next((a.id for a in parts.library.answers(chosen) if a.question == question), None)
    if kept and all(outcome.state == "unchanged" for outcome in outcomes):
        _show_answer(parts.library.answer(kept), parts, chosen, as_json=False)  # no model loads: the page comes at once
        _note("kept from an earlier run: propcite ask answers anew")
    else:
        _show_answer(parts.pipeline(chosen).answer(question), parts, chosen, as_json=False)


@cli.command()
def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The page's port.")] = 8501,
    headless: Annotated[bool, typer.Option(help="Do not open a browser.")] = False,
) -> None:
    """Serve the page."""
    import socket
    import subprocess

    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            free.bind(("localhost", port))
        except OSError as error:
            raise PropCiteError(f"port {port} is taken ({error.strerror}): give another with --port") from error
    # A process of its own, named by its file: the application never imports the page that shows it.
    page = Path(__file__).parents[1] / "ui" / "launch.py"
    flags = ["--headless"] if headless else []
    raise typer.Exit(subprocess.call([sys.executable, "-P", str(page), str(port), *flags]))


def main() -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal of few letters loses a sign, not the answer
    try:
        cli(standalone_mode=True)
    except PropCiteError as error:
        _stop(str(error))
    except SystemExit as ended:  # typer has caught the interrupt and says nothing
        if ended.code == INTERRUPTED:
            sys.stderr.write("interrupted: what was finished is kept, run it again to go on\n")
        raise
    except UnicodeEncodeError as error:  # a name on the command line, or a terminal that knows few letters
        _stop(f"{error.object[error.start : error.end]!r} cannot be written in {error.encoding}: give it as UTF-8")
    except OSError as error:
        if os.environ.get("PROPCITE_TRACEBACK"):
            raise
        place = f" ({error.filename})" if error.filename else ""
        _stop(f"{error.strerror or error}{place}: free it or set PROPCITE_DATA_DIR, then try again")
    sys.exit(0)


def _stop(line: str) -> NoReturn:
    sys.stderr.write(f"propcite: {' '.join(line.split())}\n")
    sys.exit(COULD_NOT)


if __name__ == "__main__":
    main()
