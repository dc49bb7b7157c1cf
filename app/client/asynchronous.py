"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from propcite.app.client.calls import Call, Calls, Upload
from propcite.app.client.errors import unreachable, unreadable
from propcite.app.client.notes import AsyncNotes
from propcite.app.client.reviews import AsyncReviews
from propcite.app.client.sending import Retrying, error_of, headers
from propcite.app.client.streams import AsyncAnswerStream
from propcite.app.library.records import AnswerInfo, DocumentInfo, Feedback, Opinion, ResultPage
from propcite.app.overview.records import SuggestedQuestion
from propcite.app.server.results import Collection, DocumentOverview, ReadingJob, RemovedAnswers, RemovedDocument
from propcite.attribution.citations import CitedAnswer, Verdict
from propcite.attribution.citing.comparing import Comparison
from propcite.attribution.citing.repaired import Repaired
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json.explanations import ExplanationJson
from propcite.attribution.judges import Case
from propcite.attribution.versions.records import TextComparison
from propcite.retrieval.text import Granularity, Hit, Span

T = TypeVar("T")


class AsyncClient:
    """Calls a PropCite server from asyncio: await the methods of `Client`, and read its streams by `async for`."""

    def __init__(
        self,
        address: str = "http://127.0.0.1:8600",
        key: str = "",
        *,
        collection: str | None = None,
        timeout: float = 120.0,
        retries: int = 3,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.address = address.rstrip("/")
        self._calls = Calls(collection)
        self.notes = AsyncNotes(self._calls, self._call)
        self.reviews = AsyncReviews(self._calls, self._call)
        self._retrying, self._headers = Retrying(retries), headers(key)
        self._http = http or httpx.AsyncClient(timeout=timeout)

    async def ask(
        self,
        question: str,
        *,
        collection: str | None = None,
        documents: Sequence[str] = (),
        where: Sequence[str] = (),
        after: str = "",
    ) -> CitedAnswer:
        """Answer a question; `after` is the id of the answer that it follows."""
        return await self._call(self._calls.ask(question, collection, documents, where, after))

    def ask_stream(
        self,
        question: str,
        *,
        collection: str | None = None,
        documents: Sequence[str] = (),
        where: Sequence[str] = (),
        after: str = "",
    ) -> AsyncAnswerStream:
        """Answer a question while the answer is written."""
        return self._stream(self._calls.ask(question, collection, documents, where, after))

    async def compare(
        self, question: str, left: Sequence[str], right: Sequence[str], *, collection: str | None = None
    ) -> Comparison:
        """Ask two documents, or two versions of one, the same: what both say, where they differ, what one says."""
        return await self._call(self._calls.compare(question, left, right, collection))

    async def compare_documents(
        self, left: Sequence[str], right: Sequence[str], *, collection: str | None = None
    ) -> TextComparison:
        """Compare two documents whole, sentence by sentence: what is the same, what changed, what only one says."""
        return await self._call(self._calls.compare_documents(left, right, collection))

    async def cite(
        self,
        answer: str,
        passages: Iterable[object] | None = None,
        *,
        collection: str | None = None,
        question: str = "",
        keep: bool = False,
    ) -> CitedAnswer:
        """Cite a text over passages, given as the library takes them, over a collection, or over both.

        Without passages the client's collection is searched; an empty list says that nothing was shown.
        """
        return await self._call(self._calls.cite(answer, passages, collection, question, keep))

    def cite_stream(
        self,
        answer: str,
        passages: Iterable[object] | None = None,
        *,
        collection: str | None = None,
        question: str = "",
        keep: bool = False,
    ) -> AsyncAnswerStream:
        """Cite a text, and return each sentence once it is cited; a long text shows its first citations at once."""
        return self._stream(self._calls.cite(answer, passages, collection, question, keep))

    async def repair(
        self, answer: str, passages: Iterable[object], *, collection: str | None = None, question: str = ""
    ) -> Repaired:
        """Check a text's own markers [n], which number the passages from 1: which are right, dropped or missing.

        What no passage supports is looked for in a collection that the call names.
        """
        return await self._call(self._calls.repair(answer, passages, collection, question))

    async def judge(self, cases: Iterable[Case]) -> list[Verdict]:
        """Return one verdict per claim with its evidence."""
        return await self._call(self._calls.judge(cases))

    async def search(
        self,
        query: str,
        *,
        granularity: Granularity | str = Granularity.PASSAGE,
        k: int = 10,
        collection: str | None = None,
        documents: Sequence[str] = (),
        where: Sequence[str] = (),
    ) -> list[Hit]:
        """Rank passages, sentences or propositions; the best first."""
        return await self._call(self._calls.search(query, granularity, k, collection, documents, where))

    async def list_documents(self, *, collection: str | None = None, where: Sequence[str] = ()) -> list[DocumentInfo]:
        return await self._call(self._calls.list_documents(collection, where))

    async def add_documents(
        self, *files: Upload, addresses: Sequence[str] = (), collection: str | None = None, wait: bool = False
    ) -> ReadingJob:
        """Upload files, or name web addresses; with `wait` return when all are read."""
        return await self._call(self._calls.add_documents(files, addresses, collection, wait))

    async def remove_document(self, document_id: str, *, collection: str | None = None) -> RemovedDocument:
        return await self._call(self._calls.remove_document(document_id, collection))

    async def read_document(self, document_id: str, *, cited: Span | None = None, collection: str | None = None) -> str:
        """Return a document as HTML; `cited` are characters of the document to mark."""
        return await self._call(self._calls.read_document(document_id, cited, collection))

    async def get_overview(self, document_id: str, *, collection: str | None = None) -> DocumentOverview:
        """Return a document's most telling sentences and its headings, each with its place."""
        return await self._call(self._calls.get_overview(document_id, collection))

    async def suggest_questions(self, *, collection: str | None = None) -> list[SuggestedQuestion]:
        """Return questions that the collection answers, each with the sentence that does."""
        return await self._call(self._calls.suggest_questions(collection))

    async def suggest_follow_ups(self, answer_id: str) -> list[SuggestedQuestion]:
        """Return questions on what stands near a stored answer; ask them with `after`."""
        return await self._call(self._calls.suggest_follow_ups(answer_id))

    async def list_jobs(
        self, *, first: int = 0, limit: int = 100, collection: str | None = None
    ) -> ResultPage[ReadingJob]:
        """Return the jobs of a collection, the newest first, without their outcomes."""
        return await self._call(self._calls.list_jobs(first, limit, collection))

    async def get_job(self, job_id: str) -> ReadingJob:
        return await self._call(self._calls.get_job(job_id))

    async def cancel_job(self, job_id: str) -> ReadingJob:
        """End a job after the document in work; what was read stays."""
        return await self._call(self._calls.cancel_job(job_id))

    async def list_collections(self) -> list[Collection]:
        return await self._call(self._calls.list_collections())

    async def create_collection(self, name: str) -> Collection:
        return await self._call(self._calls.create_collection(name))

    async def remove_collection(self, name: str) -> Collection:
        return await self._call(self._calls.remove_collection(name))

    async def list_answers(
        self, search: str = "", *, first: int = 0, limit: int = 100, collection: str | None = None
    ) -> ResultPage[AnswerInfo]:
        """Return stored answers, the newest first; `search` are words in the question or answer."""
        return await self._call(self._calls.list_answers(search, first, limit, collection))

    async def get_answer(self, answer_id: str) -> CitedAnswer:
        return await self._call(self._calls.get_answer(answer_id))

    async def remove_answer(self, answer_id: str) -> RemovedAnswers:
        return await self._call(self._calls.remove_answer(answer_id))

    async def get_record(self, answer_id: str) -> str:
        """Return the record of a stored answer as HTML to print: sources, models, versions, who asked and when."""
        return await self._call(self._calls.get_record(answer_id))

    async def explain(self, answer_id: str, fact: str | int = 1, citation: str | int = "") -> ExplanationJson:
        """Return which words of a stored answer's fact matched which words of its source."""
        return await self._call(self._calls.explain(answer_id, fact, citation))

    async def give_feedback(
        self,
        answer_id: str,
        fact: str | int,
        opinion: Opinion | str,
        *,
        citation: str | int = "",
        words: str = "",
        note: str = "",
        by: str = "",
    ) -> Feedback:
        """Say whether a citation of a stored answer is right."""
        return await self._call(self._calls.give_feedback(answer_id, fact, opinion, citation, words, note, by))

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _call(self, call: Call[T]) -> T:
        response = await self._send(call)
        try:
            return call.read(response.content)
        except (AttributionError, LookupError, TypeError, ValueError) as error:
            raise unreadable(error) from error

    def _stream(self, call: Call[CitedAnswer]) -> AsyncAnswerStream:
        return AsyncAnswerStream(lambda: self._send(call.streamed, stream=True))

    async def _send(self, call: Call[Any], *, stream: bool = False) -> httpx.Response:
        """Send a request, again while the server is busy; return its response, whose body of a stream is not read."""
        tried = 0
        while True:
            request = self._http.build_request(
                call.method, self.address + call.path, headers=self._headers, **call.options
            )
            try:
                response = await self._http.send(request, stream=stream)
                if response.is_success:
                    return response
                await response.aread()
            except httpx.HTTPError as error:
                raise unreachable(self.address, error) from error
            if (wait := self._retrying.wait(response, tried)) is None:
                raise error_of(response)
            tried += 1
            await asyncio.sleep(wait)
