"""The tools of drafts under review: list, begin, read, decide on facts, cancel."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from propcite.app.library.records import ReviewState
from propcite.app.library.store import ReviewInfo
from propcite.app.reviewing.drafts import MARKDOWN
from propcite.app.reviewing.exports import cited_draft
from propcite.app.reviewing.facts import MAX_WORDS, DraftFact, draft_facts
from propcite.app.server.errors import RequestError
from propcite.app.server.mcp.addresses import review_address
from propcite.app.server.mcp.arguments import Arguments, Collection
from propcite.app.server.mcp.results import Fact, Label, Results
from propcite.app.server.mcp.running import Call
from propcite.app.server.mcp.tool import Tool
from propcite.app.server.mcp.wording import fact_lines, indented
from propcite.app.server.routes.reviews import (
    cite_again,
    find_draft,
    keep_decision,
    keep_decisions,
    open_drafts,
    send_draft,
    stop_citing,
)
from propcite.app.server.schemas import Name, Text
from propcite.attribution import citations
from propcite.attribution.formats.reviewed.decisions import Choice

NAMES = (*MARKDOWN, ".txt", ".text", ".html", ".htm")  # drafts that are text
LOOK_S = 0.5  # between two looks at a draft that is being cited
ChoiceName = Literal["open", "accepted", "changed", "rejected"]
ReviewId = Annotated[Text, Field(min_length=1, max_length=100, description="The draft's id.")]


class ReviewsArguments(Arguments):
    collection: Annotated[Name | Literal[""], Field(description="Only drafts of this collection.")] = ""


class BeginArguments(Arguments):
    text: Text = Field("", description="The whole draft, as Markdown or plain text.")
    name: Text = Field("draft.md", max_length=200, description=f"Its file name, with one of {', '.join(NAMES)}.")
    review: Text = Field("", max_length=100, description="Instead of a text: cite this draft again, by its id.")
    collection: Collection = ""


class ReadArguments(Arguments):
    review: ReviewId
    verdicts: list[Label] = Field([], max_length=4, description="Only facts with one of these verdicts.")
    choices: list[ChoiceName] = Field([], max_length=4, description="Only facts decided so, or open.")
    first: int = Field(0, ge=0, le=2**31 - 1, description="How many of these facts to skip.")
    limit: int = Field(50, ge=1, le=200, description="How many facts to return.")
    wait: int = Field(0, ge=0, le=60, description="Seconds to wait for the end of the citing.")


class DecideArguments(Arguments):
    review: ReviewId
    fact: int = Field(ge=1, description="The fact's number.")
    choice: ChoiceName = Field(description="What is decided; `open` takes an earlier decision back.")
    words: Text = Field("", max_length=MAX_WORDS, description="With `changed`: the words that the fact is to have.")
    note: Text = Field("", max_length=MAX_WORDS, description="Why.")


class DecideAllArguments(Arguments):
    review: ReviewId
    choice: Literal["accepted", "rejected"] = Field(description="What is decided on each of them.")
    verdicts: list[Label] = Field([], max_length=len(citations.Label), description="Only facts with these verdicts.")
    note: Text = Field("", max_length=MAX_WORDS, description="Why.")


class CancelArguments(Arguments):
    review: ReviewId


class ReviewResult(BaseModel):
    """A draft: how far it is cited, and how many of its facts are decided on."""

    id: str
    uri: str = Field(description="the resource with the draft's text and a footnote at each fact")
    collection: str
    name: str
    by: str
    state: ReviewState
    reason: str = Field(description="why the citing failed; else empty")
    share: float = Field(description="how much of it is cited, 0 to 1")
    begun_at: datetime
    num_facts: int
    num_decided: int


class ReviewsResult(BaseModel):
    reviews: list[ReviewResult]


class ReviewedFact(Fact):
    """A fact of a draft with the decision that counts."""

    choice: ChoiceName
    words: str = Field(description="the words that a changed fact is to have")
    note: str
    by: str = Field(description="who decided")


class ReviewFacts(ReviewResult):
    """A draft with its facts; `total` counts those that were chosen, also beyond `limit`."""

    total: int
    facts: list[ReviewedFact]


class Decided(BaseModel):
    fact: ReviewedFact
    num_facts: int
    num_decided: int


class DecidedAll(BaseModel):
    decided: int = Field(description="how many facts the decision was kept on")
    num_facts: int
    num_decided: int


async def list_reviews(call: Call, given: ReviewsArguments) -> ReviewsResult:
    def listed() -> ReviewsResult:
        name = call.collection(given.collection) if given.collection else None
        return ReviewsResult(reviews=list(map(_review, open_drafts(call.access, name))))

    return await asyncio.to_thread(listed)


async def begin_review(call: Call, given: BeginArguments) -> ReviewResult:
    if bool(given.text.strip()) == bool(given.review):
        raise RequestError(422, "give either the text of a draft or the id of one that is to be cited again")
    if not given.name.lower().endswith(NAMES):
        raise RequestError(422, f"name: {given.name!r} is no name of a text: let it end in one of {', '.join(NAMES)}")
    await call.models()

    def begin() -> ReviewInfo:
        if not given.review:
            name = call.collection(given.collection)
            return send_draft(call.access, given.name, given.text.encode, name)
        cite_again(call.access, _find(call, given.review))
        return _find(call, given.review)

    return _review(await asyncio.to_thread(begin))


async def read_review(call: Call, given: ReadArguments) -> ReviewFacts:
    until = time.monotonic() + given.wait
    info = await asyncio.to_thread(_find, call, given.review)
    while info.state is ReviewState.CITING and time.monotonic() < until:
        await call.report(info.share, 1.0, f"{info.share:.0%} cited")
        await asyncio.sleep(LOOK_S)
        info = await asyncio.to_thread(_find, call, given.review)
    return await asyncio.to_thread(_facts, call, info, given)


async def decide(call: Call, given: DecideArguments) -> Decided:
    def keep() -> Decided:
        info = _find(call, given.review)
        kept = keep_decision(call.access, info, str(given.fact), Choice(given.choice), given.words, given.note)
        now = _find(call, given.review)
        [fact] = _shown(call, info, [one for one in _draft_facts(call, info) if one.number == kept.number])
        return Decided(fact=fact, num_facts=now.num_facts, num_decided=now.num_decided)

    return await asyncio.to_thread(keep)


async def decide_all(call: Call, given: DecideAllArguments) -> DecidedAll:
    def keep() -> DecidedAll:
        info, verdicts = _find(call, given.review), list(map(citations.Label, given.verdicts))
        number = keep_decisions(call.access, info, Choice(given.choice), verdicts, given.note)
        now = _find(call, given.review)
        return DecidedAll(decided=number, num_facts=now.num_facts, num_decided=now.num_decided)

    return await asyncio.to_thread(keep)


async def cancel_review(call: Call, given: CancelArguments) -> ReviewResult:
    return _review(await asyncio.to_thread(lambda: stop_citing(call.access, _find(call, given.review))))


def reviews_text(result: ReviewsResult) -> str:
    return "\n".join(map(review_text, result.reviews)) or "No drafts: begin_review begins one."


def review_text(result: ReviewResult) -> str:
    """Return a draft in one line."""
    how = f"{result.state.value}, {result.share:.0%} cited" + (f" ({result.reason})" if result.reason else "")
    decided = f"{result.num_decided} of {result.num_facts} facts decided on"
    return f"Draft {result.id}, {result.name} over {result.collection!r}: {how}; {decided} <{result.uri}>"


def facts_text(result: ReviewFacts) -> str:
    count = [f"{len(result.facts)} of {result.total} facts."] if result.total else []
    return "\n\n".join([review_text(result), *count, *map(_fact_text, result.facts)])


def decided_text(result: Decided) -> str:
    return f"{_fact_text(result.fact)}\n\n{result.num_decided} of {result.num_facts} facts are decided on."


def decided_all_text(result: DecidedAll) -> str:
    return f"{result.decided} more decided. {result.num_decided} of {result.num_facts} facts are decided on."


def _fact_text(fact: ReviewedFact) -> str:
    if fact.choice == "open":
        return fact_lines(fact)
    said = [f"“{fact.words}”" if fact.words else "", fact.note, f"by {fact.by}" if fact.by else ""]
    return "\n".join([fact_lines(fact), indented(f"{fact.choice}: {', '.join(filter(None, said))}".rstrip(": "))])


def _facts(call: Call, info: ReviewInfo, given: ReadArguments) -> ReviewFacts:
    labels, choices = list(map(citations.Label, given.verdicts)), list(map(Choice, given.choices))
    chosen = _draft_facts(call, info, labels, choices) if info.answer_id else []
    shown = _shown(call, info, chosen[given.first : given.first + given.limit])
    return ReviewFacts(**_review(info).model_dump(), total=len(chosen), facts=shown)


def _draft_facts(
    call: Call, info: ReviewInfo, labels: Sequence[citations.Label] = (), choices: Sequence[Choice] = ()
) -> list[DraftFact]:
    parts = call.service.parts
    answer = Results(parts.library, info.collection).with_documents(cited_draft(parts, info))
    return draft_facts(answer, parts.reviews.decisions(info.id), labels, choices)


def _shown(call: Call, info: ReviewInfo, facts: list[DraftFact]) -> list[ReviewedFact]:
    results = Results(call.service.parts.library, info.collection)
    numbered = results.numbered([(one.number, one.cited) for one in facts])
    return [_with_decision(fact, one) for fact, one in zip(numbered, facts, strict=True)]


def _with_decision(fact: Fact, one: DraftFact) -> ReviewedFact:
    decision = one.decision
    words, note, by = (decision.words, decision.note, decision.by) if decision else ("", "", "")
    return ReviewedFact(**fact.model_dump(), choice=one.choice.value, words=words, note=note, by=by)


def _review(info: ReviewInfo) -> ReviewResult:
    named = {"id", "collection", "name", "by", "state", "reason", "share", "begun_at", "num_facts", "num_decided"}
    fields = {name: getattr(info, name) for name in named}
    return ReviewResult(uri=review_address(info.collection, info.id), **fields)


def _find(call: Call, review_id: str) -> ReviewInfo:
    return find_draft(call.access, review_id, "list_reviews")


TOOLS = (
    Tool(
        "list_reviews",
        "List drafts under review",
        "List the user's drafts under review, the newest first: how far each is cited over its collection, and how many"
        " of its facts are decided on.",
        ReviewsArguments,
        ReviewsResult,
        list_reviews,
        reviews_text,
    ),
    Tool(
        "begin_review",
        "Begin to review a draft",
        "Keep a long text as a draft under review, which people see on their page, and cite it over a collection in the"
        " background. It returns at once: read_review with `wait` shows the verdicts. For a text that you only want to"
        " check, use `check`. With `review` a draft is cited again, such as after its documents have changed.",
        BeginArguments,
        ReviewResult,
        begin_review,
        review_text,
        changes=True,
        adds=True,
    ),
    Tool(
        "read_review",
        "Read a draft under review",
        "Read the facts of a draft under review: each with its verdict, the exact words of its sources, and what was"
        " decided on it. Filter them by verdict and decision. The draft's own text is the resource `uri`.",
        ReadArguments,
        ReviewFacts,
        read_review,
        facts_text,
    ),
    Tool(
        "decide",
        "Decide on a fact of a draft",
        "Keep a decision on one fact of a draft under review: accepted, changed (with the new words), rejected, or open"
        " again. The newest decision counts, earlier ones are kept. Decide only what the user has decided, or asked you"
        " to propose.",
        DecideArguments,
        Decided,
        decide,
        decided_text,
        changes=True,
    ),
    Tool(
        "decide_all",
        "Decide on all open facts of a draft",
        "Accept or reject at once all facts of a draft under review that nobody decided on, or those of them with some"
        " verdicts, such as all that are supported. Each can be decided again by `decide`. Use it only where the user"
        " has decided so.",
        DecideAllArguments,
        DecidedAll,
        decide_all,
        decided_all_text,
        changes=True,
    ),
    Tool(
        "cancel_review",
        "Stop the citing of a draft",
        "Stop the citing of a draft; what was cited until then is kept. Without effect on a draft that is done.",
        CancelArguments,
        ReviewResult,
        cancel_review,
        review_text,
        changes=True,
    ),
)
