"""The tool that compares two documents, or two groups of them: by one question, or whole."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from propcite.app.server.mcp.addresses import answer_address
from propcite.app.server.mcp.arguments import Arguments, Collection
from propcite.app.server.mcp.results import Quote, Results
from propcite.app.server.mcp.running import Call
from propcite.app.server.mcp.tool import Tool
from propcite.app.server.mcp.wording import indented, source_line
from propcite.app.server.routes.compare import compared, compared_whole
from propcite.app.server.schemas import MAX_TEXT, CompareRequest, Text
from propcite.attribution.citations import Evidence
from propcite.attribution.citing.comparing import ComparedFacts, Comparison, Relation
from propcite.attribution.formats.comparison import RELATION_SIGNS, counts_line, no_answer_line, relation_line, words_of
from propcite.attribution.formats.text_comparison import pair_line, text_counts_line
from propcite.attribution.versions.records import SentencePair, TextComparison
from propcite.retrieval.index import ProgressReport

MAX_ROWS = 200  # of a comparison of whole documents
LEFT_OUT = "{number:,} more rows are left out: ask a question, or compare parts"
MAX_NAME = 200  # characters of the documents' names that stand for a side
Side = Annotated[list[Text], Field(min_length=1, max_length=100)]


class CompareArguments(Arguments):
    question: Text = Field(
        "", max_length=MAX_TEXT, description="One question for both sides; without it all they say is compared."
    )
    left: Side = Field(description="One document, or several, by id, source or file name.")
    right: Side = Field(description="The document, or the documents, of the other side.")
    collection: Collection = ""


class SideResult(BaseModel):
    """What a side says: its fact, empty where it states none of its own, and the words that it rests on."""

    fact: str
    words: list[Quote]


class ComparedRow(BaseModel):
    """What both sides say of the same.  `alone`: the other side does not speak of it."""

    relation: Literal["agrees", "partly", "differs", "alone"]
    meaning: str
    left: SideResult
    right: SideResult


class SideAnswer(BaseModel):
    """The kept answer of a side; `abstained` if its documents hold no answer.  Without a question it is empty."""

    documents: str
    id: str
    uri: str
    text: str
    abstained: bool


class CompareResult(BaseModel):
    question: str
    collection: str
    summary: str = Field(description="how many facts are the same, different, or said by one side alone")
    left: SideAnswer
    right: SideAnswer
    rows: list[ComparedRow]
    notes: list[str]


async def compare(call: Call, given: CompareArguments) -> CompareResult:
    name = await asyncio.to_thread(call.collection, given.collection)
    await call.models()
    body = CompareRequest(collection=name, question=given.question, left=given.left, right=given.right)
    results = Results(call.service.parts.library, name)
    names = _named(given.left), _named(given.right)
    if not given.question.strip():
        texts = await compared_whole(call.access, body, _reporting(call))
        return await asyncio.to_thread(_whole, results, texts, names)
    await call.report(0.0, None, "asking both sides")
    found = await compared(call.access, body)
    return await asyncio.to_thread(_result, results, found, names)


def _reporting(call: Call) -> ProgressReport:
    """Return what a thread may call to report progress to the client."""
    loop = asyncio.get_running_loop()

    def report(step: str, share: float) -> None:
        loop.call_soon_threadsafe(lambda: asyncio.ensure_future(call.report(share, 1.0, step.lower())))

    return report


def compare_text(result: CompareResult) -> str:
    """Return the rows, each with the words of both sides."""
    names = result.left.documents, result.right.documents
    rows = []
    for row in result.rows:
        sides = [_side_text(name, side) for name, side in zip(names, (row.left, row.right), strict=True)]
        rows.append("\n".join([f"{RELATION_SIGNS[Relation(row.relation)]} {row.meaning}", *filter(None, sides)]))
    return "\n\n".join([*filter(None, [result.question]), *rows, result.summary, *result.notes])


def _result(results: Results, found: Comparison, names: tuple[str, str]) -> CompareResult:
    answers = [
        SideAnswer(
            documents=name,
            id=answer.id,
            uri=answer_address(results.collection, answer.id),
            text=answer.text,
            abstained=answer.abstained,
        )
        for name, answer in zip(names, (found.left, found.right), strict=True)
    ]
    silent = no_answer_line(found, names)
    return CompareResult(
        question=found.question,
        collection=results.collection,
        summary=counts_line(found),
        left=answers[0],
        right=answers[1],
        rows=[_row(results, row, names) for row in found.rows],
        notes=[silent] if silent else [],
    )


def _whole(results: Results, found: TextComparison, names: tuple[str, str]) -> CompareResult:
    """Return what differs between whole documents; what is the same is counted."""
    sides = [SideAnswer(documents=name, id="", uri="", text="", abstained=False) for name in names]
    pairs = [pair for pair in found.pairs if not pair.is_copy]
    more = len(pairs) - MAX_ROWS
    return CompareResult(
        question="",
        collection=results.collection,
        summary=text_counts_line(found, names),
        left=sides[0],
        right=sides[1],
        rows=[_changed_row(results, pair, names) for pair in pairs[:MAX_ROWS]],
        notes=[LEFT_OUT.format(number=more)] if more > 0 else [],
    )


def _changed_row(results: Results, pair: SentencePair, names: tuple[str, str]) -> ComparedRow:
    left, right = (
        SideResult(fact="", words=_quotes(results, [sentence] if sentence else []))
        for sentence in (pair.left, pair.right)
    )
    return ComparedRow(relation=pair.relation.value, meaning=pair_line(pair, names), left=left, right=right)


def _row(results: Results, row: ComparedFacts, names: tuple[str, str]) -> ComparedRow:
    left, right = (SideResult(fact=side.fact, words=_quotes(results, side.evidence)) for side in words_of(row))
    return ComparedRow(relation=row.relation.value, meaning=relation_line(row, names), left=left, right=right)


def _quotes(results: Results, evidence: Sequence[Evidence]) -> list[Quote]:
    return [results.quote(one) for one in evidence]


def _side_text(name: str, side: SideResult) -> str:
    lines = [source_line(quote) for quote in side.words]
    if not side.fact and not lines:
        return ""
    return "\n".join([f"   {name}: {side.fact}".rstrip(" :"), *(indented(indented(line)) for line in lines)])


def _named(documents: Sequence[str]) -> str:
    whole = ", ".join(documents)
    return whole if len(whole) <= MAX_NAME else f"{whole[:MAX_NAME]}…"


TOOLS = (
    Tool(
        "compare",
        "Compare documents",
        "Ask two documents, two versions of one, or two groups of documents the same question, and see each fact side"
        " by side: what both say, where they differ, what only one says, with the exact words of both. Use it where the"
        " user wants to know how documents differ. Without a question they are compared whole, sentence by sentence:"
        " for versions of one document. Quote the words of both sides with their sources. Answers are kept.",
        CompareArguments,
        CompareResult,
        compare,
        compare_text,
        changes=True,
    ),
)
