"""The answers without a language model: are they right, from the right document, and missing where nothing answers?

    python -m tests.benchmarks.answers documents CACHE          two sets of 50 questions over Debian's documents
    python -m tests.benchmarks.answers conversations CACHE      60 follow-ups over the first set and the demo
    python -m tests.benchmarks.answers asqa FILE                ALCE's ASQA
    python -m tests.benchmarks.answers unanswerable FILE...     rows with passages that may hold no answer

Documents are fetched into the folder CACHE by apt-get, once; everything else is in a temporary data directory.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.benchmarks.answers import asqa, conversations, documents, report, unanswerable
from tests.benchmarks.answers.questions import SETS

from propcite.retrieval.errors import PropCiteError


def main() -> None:
    given = _options()
    try:
        given.measure(given)
    except PropCiteError as error:
        sys.exit(str(error))


def _documents(given: argparse.Namespace) -> None:
    cache = given.cache.absolute()
    content = {}
    for name in [given.set] if given.set else SETS:
        measured = documents.measure(cache, name)
        print(f"The {name} set")
        if given.all:
            report.show_answers(measured.asked)
        report.show_documents(measured)
        content[name] = report.as_json(measured, cache)
    if given.json:
        report.write_json(given.json, content)


def _conversations(given: argparse.Namespace) -> None:
    followed = conversations.measure(given.cache.absolute())
    rows = list(conversations.figures(followed))
    report.show(conversations.HEAD, rows)
    if given.json:
        named = [dict(zip(conversations.HEAD, row, strict=True)) for row in rows]
        report.write_json(given.json, {"figures": named, "answers": conversations.answers(followed)})


def _asqa(given: argparse.Namespace) -> None:
    scored = asqa.measure(given.file, given.context, given.limit)
    row = asqa.figures(given.context, scored)
    report.show(asqa.HEAD, [row])
    if given.json:
        report.write_json(
            given.json, {"figures": dict(zip(asqa.HEAD, row, strict=True)), "answers": asqa.answers(scored)}
        )


def _unanswerable(given: argparse.Namespace) -> None:
    judged = unanswerable.measure(given.files, given.source or unanswerable.SOURCES, given.title, given.limit)
    rows = list(unanswerable.figures(judged))
    report.show(unanswerable.HEAD, rows)
    if given.json:
        named = [dict(zip(unanswerable.HEAD, row, strict=True)) for row in rows]
        report.write_json(given.json, {"figures": named, "answers": unanswerable.answers(judged)})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.answers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_subparsers(required=True)

    one = parts.add_parser("documents", help="two sets of 50 questions over documents of Debian's packages")
    one.add_argument("cache", type=Path, help="a folder for the packages; those in it are not fetched again")
    one.add_argument("--set", choices=SETS, help="only these questions; both sets without it")
    one.add_argument("--all", action="store_true", help="print every answer")
    one.set_defaults(measure=_documents)

    talk = parts.add_parser("conversations", help="60 follow-ups over the first set's and the demo's documents")
    talk.add_argument("cache", type=Path, help="a folder for the packages; those in it are not fetched again")
    talk.set_defaults(measure=_conversations)

    two = parts.add_parser("asqa", help="ALCE's ASQA")
    two.add_argument("file", type=Path, help="asqa_dev.json.gz")
    two.add_argument("--context", type=int, default=5, help="passages per question")
    two.add_argument("--limit", type=int, default=0, help="only the first questions")
    two.set_defaults(measure=_asqa)

    three = parts.add_parser("unanswerable", help="rows with passages that may hold no answer")
    three.add_argument("files", type=Path, nargs="+", help="answerability_*.jsonl.gz")
    three.add_argument("--source", action="append", help=f"only this one; {', '.join(unanswerable.SOURCES)} without it")
    three.add_argument(
        "--title",
        nargs="*",
        default=unanswerable.TITLES,
        help=f"rows of {unanswerable.SQUAD} with these titles; all without a name. {'; '.join(unanswerable.TITLES)}",
    )
    three.add_argument("--limit", type=int, default=0, help="a sample of so many rows per source, always the same")
    three.set_defaults(measure=_unanswerable)

    for part in (one, talk, two, three):
        part.add_argument("--json", type=Path, help="every answer, so that two runs can be compared")
    return parser.parse_args()


if __name__ == "__main__":
    main()
