"""The tools.  Their descriptions are written for the language model that chooses among them.

Those of comparisons, notes and drafts are in modules of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from propcite.app.library.store import Action
from propcite.app.server.errors import RequestError
from propcite.app.server.mcp import compare_tool, note_tools, review_tools, wording
from propcite.app.server.mcp.arguments import (
    AskArguments,
    CiteArguments,
    EvidenceArguments,
    ExplainArguments,
    SearchArguments,
    TextArguments,
)
from propcite.app.server.mcp.results import (
    AskResult,
    CheckResult,
    CitedText,
    EvidenceResult,
    ExplainResult,
    Results,
    SearchResult,
)
from propcite.app.server.mcp.running import Call
from propcite.app.server.mcp.tool import Tool
from propcite.app.server.routes.shared import keep_cited
from propcite.app.turns.costs import SEARCHES, Kind
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.lookup import fact_of
from propcite.attribution.citing.sources import as_passages
from propcite.retrieval.text import Granularity


async def search(call: Call, given: SearchArguments) -> SearchResult:
    name = await asyncio.to_thread(call.collection, given.collection)
    granularity = Granularity(given.granularity)
    await call.models()

    def work() -> SearchResult:
        hits = call.service.pipeline(name, given.documents, given.where).search(given.query, granularity, given.k)
        note = call.service.parts.encoder.missing_marker_note(granularity)
        return _results(call, name).hits(hits, [note] if note else [])

    return await call.work(work, SEARCHES[granularity])


async def check(call: Call, given: TextArguments) -> CheckResult:
    name, answer = await _cite(call, given)
    return await asyncio.to_thread(_results(call, name).check, answer)


async def cite(call: Call, given: CiteArguments) -> CitedText:
    if given.keep and given.passages and not given.collection:
        raise RequestError(422, "keep: a text is kept in a collection: name one, or leave keep out")
    name, answer = await _cite(call, given)
    if given.keep:
        answer = await asyncio.to_thread(_store, call, name, answer)
    await asyncio.to_thread(call.access.record, Action.CITED, name, answer.id if given.keep else "")
    return await asyncio.to_thread(lambda: _results(call, name).cited(answer, is_kept=given.keep))


async def ask(call: Call, given: AskArguments) -> AskResult:
    name = await asyncio.to_thread(call.collection, given.collection)
    await call.models()
    pipeline = await asyncio.to_thread(call.service.pipeline, name, given.documents, given.where)
    answer = await call.ask(pipeline, given.question, given.after)
    await asyncio.to_thread(call.access.record, Action.ASKED, name, answer.id)
    return await asyncio.to_thread(_results(call, name).asked, answer)


async def evidence(call: Call, given: EvidenceArguments) -> EvidenceResult:
    answer = await _answer(call, given)

    def work() -> EvidenceResult:
        near = call.service.pipeline(answer.collection).alternatives(
            answer, given.fact, Granularity(given.granularity), given.k
        )
        return _results(call, answer.collection).evidence(fact_of(answer, given.fact), near)

    return await call.work(work, Kind.EVIDENCE)


async def explain(call: Call, given: ExplainArguments) -> ExplainResult:
    answer = await _answer(call, given)

    def work() -> ExplainResult:
        results = _results(call, answer.collection)
        known = results.with_documents(answer)
        first = next((citation.number for citation in fact_of(known, given.fact).citations), "")
        return results.explanation(call.service.parts.propcite.explain(known, given.fact, given.citation or first))

    return await call.work(work, Kind.EXPLAIN)


async def _cite(call: Call, given: TextArguments) -> tuple[str, CitedAnswer]:
    """Return the name of the collection, empty for passages alone, and the cited text."""
    passages = as_passages([one.model_dump(exclude_defaults=True) for one in given.passages])
    if passages and not given.collection:
        await call.models()
        return "", await call.cite(given.text, passages, None, given.question)
    name = await asyncio.to_thread(call.collection, given.collection)
    await call.models()
    retriever = await asyncio.to_thread(lambda: call.service.pipeline(name).retriever())
    source, collection = (passages, retriever) if passages else (retriever, None)
    cited = await call.cite(given.text, source, collection, given.question)
    return name, replace(cited, collection=name)


async def _answer(call: Call, given: EvidenceArguments | ExplainArguments) -> CitedAnswer:
    """Return the kept answer that is named, or the claim as a cited text."""
    if bool(given.claim.strip()) == bool(given.answer):
        raise RequestError(422, "give either a claim or the id of a kept answer")
    if given.answer:
        answer = await asyncio.to_thread(call.kept_answer, given.answer)
        await call.models()
    else:
        _, answer = await _cite(
            call, TextArguments.model_validate({"text": given.claim, "collection": given.collection})
        )
    if not answer.facts:
        raise RequestError(422, "there is no fact in it that needs support: give a statement that is true or false")
    return answer


def _store(call: Call, name: str, answer: CitedAnswer) -> CitedAnswer:
    return keep_cited(call.access, call.service.pipeline(name), answer)


def _results(call: Call, collection: str) -> Results:
    return Results(call.service.parts.library, collection)


TOOLS: Sequence[Tool] = (
    Tool(
        "search",
        "Search documents",
        "Search the user's documents and get the exact words that answer, each with its title, place (page, slide or"
        " row), passage and link. Use it before you state anything about the user's documents, and again for each part"
        " of a question. Write from the hits alone, and name the source behind every fact that you take from them. If"
        " no hit says it, say that the documents do not say it.",
        SearchArguments,
        SearchResult,
        search,
        wording.search_text,
    ),
    Tool(
        "check",
        "Check the facts of a text",
        "Check a text fact by fact against the user's documents, or against passages that you give. Each fact gets a"
        " verdict (supported, partly, unsupported, contradicted), what differs, and the exact words of the source. Call"
        " it with your whole draft before you show the draft to the user; correct or remove each fact that is not"
        " supported, and check again until `passes` is true. It stores nothing.",
        TextArguments,
        CheckResult,
        check,
        wording.check_text,
    ),
    Tool(
        "cite",
        "Add citations to a text",
        "Add the citations to a finished text: it returns `cited_text`, your words with a marker [n] at each supported"
        " sentence, and the numbered `sources` with the exact words, place and link. Type no markers yourself. Show the"
        " user `cited_text` and the list of sources unchanged, and say which facts stayed without support. With `keep`"
        " the text is stored in the collection.",
        CiteArguments,
        CitedText,
        cite,
        wording.cited_text,
        changes=True,
    ),
    Tool(
        "evidence",
        "Find evidence for and against a claim",
        "Rank what the documents have nearest to one claim, or to one fact of a kept answer, and judge each piece: does"
        " it support the claim, a part of it, or contradict it? Use it when `check` found no support, to see what the"
        " documents say instead. Quote the words that it returns with their source.",
        EvidenceArguments,
        EvidenceResult,
        evidence,
        wording.evidence_text,
    ),
    Tool(
        "explain",
        "Explain a citation",
        "Show why a fact got its source: which words of the fact met which words of the source, how the score is made"
        " up, and what the judge decided. Use it when the user doubts a citation.",
        ExplainArguments,
        ExplainResult,
        explain,
        wording.explanation_text,
    ),
    Tool(
        "ask",
        "Ask the documents",
        "Let the server answer a question from the user's documents, with a citation for every fact; the answer is kept"
        " there. Show the user `cited_text` and the list of sources unchanged. `answered` and `parts` say what the"
        " documents leave open. To write the answer yourself, use `search`, `check` and `cite` instead.",
        AskArguments,
        AskResult,
        ask,
        wording.ask_text,
        changes=True,
    ),
    *compare_tool.TOOLS,
    *note_tools.TOOLS,
    *review_tools.TOOLS,
)
BY_NAME = {tool.name: tool for tool in TOOLS}
