"""What each method of a client sends, and how the response becomes values of the library."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import quote

from pydantic import TypeAdapter

from propcite.app.errors import AppError
from propcite.app.library.records import AnswerInfo, DocumentInfo, Feedback, ResultPage
from propcite.app.overview.records import SuggestedQuestion
from propcite.app.server.results import (
    Collection,
    DocumentOverview,
    JobList,
    ReadingJob,
    RemovedAnswers,
    RemovedDocument,
)
from propcite.attribution.citations import CitedAnswer, Label, Verdict
from propcite.attribution.citing.comparing import Comparison
from propcite.attribution.citing.repaired import Repaired
from propcite.attribution.citing.sources import as_counted, as_passages
from propcite.attribution.formats.json import from_json
from propcite.attribution.formats.json.comparisons import read_comparison
from propcite.attribution.formats.json.explanations import ExplanationJson
from propcite.attribution.formats.json.reading import read_passage
from propcite.attribution.formats.json.repairs import read_repair
from propcite.attribution.formats.json.text_comparisons import read_text_comparison
from propcite.attribution.judges import Case
from propcite.attribution.versions.records import TextComparison
from propcite.retrieval.text import Granularity, Hit, Passage, Span

T = TypeVar("T")
Upload = str | Path | tuple[str, bytes]  # a path, or a file name with the content


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request; `read` makes a value of the body of its response."""

    method: str
    path: str
    read: Callable[[bytes], T]
    body: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    files: Sequence[tuple[str, tuple[str, bytes, str]]] = ()
    form: Mapping[str, Any] | None = None

    @property
    def streamed(self) -> Call[T]:
        """Return the same request for a stream of events."""
        return replace(self, body={**(self.body or {}), "stream": True})

    @property
    def options(self) -> dict[str, Any]:
        """Return what httpx takes."""
        options = {"json": self.body, "params": self.params, "files": self.files or None, "data": self.form}
        return {name: value for name, value in options.items() if value}


class Caller(Protocol):
    """Sends a request and returns the value of its response."""

    def __call__(self, call: Call[T], /) -> T: ...


class AsyncCaller(Protocol):
    """Sends a request; what is awaited is the value of its response."""

    def __call__(self, call: Call[T], /) -> Awaitable[T]: ...


class Calls:
    """The requests of a client; `collection` is where a request names none."""

    def __init__(self, collection: str | None) -> None:
        self.collection = collection

    def ask(
        self, question: str, collection: str | None, documents: Sequence[str], where: Sequence[str], after: str
    ) -> Call[CitedAnswer]:
        body = {"question": question, "documents": list(documents), "where": list(where), "after": after}
        return Call("POST", "/v1/ask", _answer, self.given(body, collection))

    def compare(
        self, question: str, left: Sequence[str], right: Sequence[str], collection: str | None
    ) -> Call[Comparison]:
        if not question.strip():
            raise AppError("the question is empty: ask one, or compare whole documents by compare_documents")
        body = {"question": question, "left": list(left), "right": list(right)}
        return Call("POST", "/v1/compare", read_comparison, self.given(body, collection))

    def compare_documents(
        self, left: Sequence[str], right: Sequence[str], collection: str | None
    ) -> Call[TextComparison]:
        body = {"left": list(left), "right": list(right)}
        return Call("POST", "/v1/compare", read_text_comparison, self.given(body, collection))

    def cite(
        self, answer: str, passages: Iterable[object] | None, collection: str | None, question: str, keep: bool
    ) -> Call[CitedAnswer]:
        body: dict[str, Any] = {"answer": answer, "question": question, "keep": keep}
        if passages is None:
            body = self.given(body, collection)
        else:  # the client's collection is not searched beside what was shown, unless the call says so
            body |= {"passages": [_passage(p) for p in as_passages(passages)]}
            body |= {"collection": collection} if collection else {}
        return Call("POST", "/v1/cite", _answer, body)

    def repair(self, answer: str, passages: Iterable[object], collection: str | None, question: str) -> Call[Repaired]:
        given = as_counted(passages)
        body = {"answer": answer, "passages": [_passage(p) for p in given], "question": question}
        body |= {"collection": collection} if collection else {}
        return Call("POST", "/v1/repair", lambda content: read_repair(content, answer, given), body)

    def judge(self, cases: Iterable[Case]) -> Call[list[Verdict]]:
        sent = [{"claim": c.claim, "evidence": list(c.evidence), "context": c.context} for c in cases]
        return Call("POST", "/v1/judge", _verdicts, {"cases": sent})

    def search(
        self,
        query: str,
        granularity: Granularity | str,
        k: int,
        collection: str | None,
        documents: Sequence[str],
        where: Sequence[str],
    ) -> Call[list[Hit]]:
        body = {"query": query, "granularity": str(granularity), "k": k, "passages": True}
        body |= {"documents": list(documents), "where": list(where)}
        return Call("POST", "/v1/search", _hits, self.given(body, collection))

    def list_documents(self, collection: str | None, where: Sequence[str]) -> Call[list[DocumentInfo]]:
        params = self.given({"where": list(where)}, collection)
        return Call("GET", "/v1/documents", in_field("documents", list[DocumentInfo]), params=params)

    def add_documents(
        self, files: Sequence[Upload], addresses: Sequence[str], collection: str | None, wait: bool
    ) -> Call[ReadingJob]:
        params = self.given({"wait": str(wait).lower()}, collection)
        uploads = [("files", upload(file)) for file in files]
        form = {"addresses": list(addresses)} if addresses else None
        return Call("POST", "/v1/documents", ReadingJob.model_validate_json, params=params, files=uploads, form=form)

    def remove_document(self, document_id: str, collection: str | None) -> Call[RemovedDocument]:
        params = self.given({}, collection)
        return Call("DELETE", f"/v1/documents/{part(document_id)}", RemovedDocument.model_validate_json, params=params)

    def read_document(self, document_id: str, cited: Span | None, collection: str | None) -> Call[str]:
        marked = {"cited": f"{cited.start}-{cited.end}"} if cited else {}
        return Call(
            "GET", f"/v1/documents/{part(document_id)}/reading", bytes.decode, params=self.given(marked, collection)
        )

    def get_overview(self, document_id: str, collection: str | None) -> Call[DocumentOverview]:
        path = f"/v1/documents/{part(document_id)}/overview"
        return Call("GET", path, DocumentOverview.model_validate_json, params=self.given({}, collection))

    def suggest_questions(self, collection: str | None) -> Call[list[SuggestedQuestion]]:
        read = in_field("questions", list[SuggestedQuestion])
        return Call("GET", "/v1/suggestions", read, params=self.given({}, collection))

    def suggest_follow_ups(self, answer_id: str) -> Call[list[SuggestedQuestion]]:
        return Call("GET", f"/v1/answers/{part(answer_id)}/follow-ups", in_field("questions", list[SuggestedQuestion]))

    def list_jobs(self, first: int, limit: int, collection: str | None) -> Call[ResultPage[ReadingJob]]:
        params = self.given({"first": first, "limit": limit}, collection)
        return Call("GET", "/v1/jobs", _jobs, params=params)

    def get_job(self, job_id: str) -> Call[ReadingJob]:
        return Call("GET", f"/v1/jobs/{part(job_id)}", ReadingJob.model_validate_json)

    def cancel_job(self, job_id: str) -> Call[ReadingJob]:
        return Call("POST", f"/v1/jobs/{part(job_id)}/cancel", ReadingJob.model_validate_json)

    def list_collections(self) -> Call[list[Collection]]:
        return Call("GET", "/v1/collections", in_field("collections", list[Collection]))

    def create_collection(self, name: str) -> Call[Collection]:
        return Call("POST", "/v1/collections", Collection.model_validate_json, {"name": name})

    def remove_collection(self, name: str) -> Call[Collection]:
        return Call("DELETE", f"/v1/collections/{part(name)}", Collection.model_validate_json)

    def list_answers(self, search: str, first: int, limit: int, collection: str | None) -> Call[ResultPage[AnswerInfo]]:
        params = self.given({"search": search, "first": first, "limit": limit}, collection)
        return Call("GET", "/v1/answers", _answers, params=params)

    def get_answer(self, answer_id: str) -> Call[CitedAnswer]:
        return Call("GET", f"/v1/answers/{part(answer_id)}", _answer)

    def remove_answer(self, answer_id: str) -> Call[RemovedAnswers]:
        return Call("DELETE", f"/v1/answers/{part(answer_id)}", RemovedAnswers.model_validate_json)

    def get_record(self, answer_id: str) -> Call[str]:
        return Call("GET", f"/v1/answers/{part(answer_id)}/record", bytes.decode)

    def explain(self, answer_id: str, fact: str | int, citation: str | int) -> Call[ExplanationJson]:
        params = {"fact": str(fact), "citation": str(citation)}
        return Call(
            "GET", f"/v1/answers/{part(answer_id)}/explain", TypeAdapter(ExplanationJson).validate_json, params=params
        )

    def give_feedback(
        self, answer_id: str, fact: str | int, opinion: str, citation: str | int, words: str, note: str, by: str
    ) -> Call[Feedback]:
        body = {"fact": fact, "opinion": str(opinion), "citation": citation, "words": words, "note": note, "by": by}
        return Call("POST", f"/v1/answers/{part(answer_id)}/feedback", TypeAdapter(Feedback).validate_json, body)

    def given(self, values: Mapping[str, Any], collection: str | None) -> dict[str, Any]:
        name = collection or self.collection
        return {**values, **({"collection": name} if name else {})}


def part(name: str) -> str:
    """Return a name as one part of a path."""
    return quote(name, safe="")


def _passage(passage: Passage) -> dict[str, str]:
    return {"id": passage.id, "text": passage.text, "title": passage.title, "document_id": passage.document_id}


def upload(file: Upload) -> tuple[str, bytes, str]:
    name, content = file if isinstance(file, tuple) else (Path(file).name, Path(file).read_bytes())
    return name, content, mimetypes.guess_type(name)[0] or "application/octet-stream"


def in_field(name: str, kind: type[T]) -> Callable[[bytes], T]:
    """Return what reads the value of one field of the response."""
    adapter, fields = TypeAdapter(kind), TypeAdapter(dict[str, Any])
    return lambda body: adapter.validate_python(fields.validate_json(body)[name])


def _answer(body: bytes) -> CitedAnswer:
    return from_json(body.decode())


def _answers(body: bytes) -> ResultPage[AnswerInfo]:
    data = TypeAdapter(dict[str, Any]).validate_json(body)
    return ResultPage(TypeAdapter(list[AnswerInfo]).validate_python(data["answers"]), data["total"])


def _jobs(body: bytes) -> ResultPage[ReadingJob]:
    listed = JobList.model_validate_json(body)
    return ResultPage(listed.jobs, listed.total)


def _verdicts(body: bytes) -> list[Verdict]:
    data = TypeAdapter(dict[str, Any]).validate_json(body)
    return [Verdict(Label(v["label"]), v["probability"], v["reason"]) for v in data["verdicts"]]


def _hits(body: bytes) -> list[Hit]:
    data = TypeAdapter(dict[str, Any]).validate_json(body)
    passages = {p["id"]: read_passage(p) for p in data["passages"]}
    return [
        Hit(
            passages[hit["passage_id"]],
            Granularity(hit["granularity"]),
            tuple(Span(*span) for span in hit["spans"]),
            hit["score"],
            hit["passage_score"],
            hit["words"],
            _copies(hit, passages),
        )
        for hit in data["hits"]
    ]


def _copies(hit: Mapping[str, Any], passages: Mapping[str, Passage]) -> tuple[Hit, ...]:
    """Return the other places of a hit's words, each as a hit with the same scores."""
    level, scores = Granularity(hit["granularity"]), (hit["score"], hit["passage_score"], hit["words"])
    return tuple(
        Hit(passages[copy["passage_id"]], level, (Span(copy["start"], copy["end"]),), *scores)
        for copy in hit.get("copies", ())
    )
