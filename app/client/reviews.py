"""Drafts under review, over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from propcite.app.client.calls import AsyncCaller, Call, Caller, Calls, Upload, in_field, part, upload
from propcite.app.server.results import DecidedAtOnce, Review, ReviewFact
from propcite.attribution.citations import Label
from propcite.attribution.formats.reviewed.decisions import Choice


class ReviewCalls:
    """The requests about drafts."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def begin(self, file: Upload, collection: str | None) -> Call[Review]:
        params, files = self._calls.given({}, collection), [("file", upload(file))]
        return Call("POST", "/v1/reviews", Review.model_validate_json, params=params, files=files)

    def all(self, collection: str | None) -> Call[list[Review]]:
        params = self._calls.given({}, collection)
        return Call("GET", "/v1/reviews", in_field("reviews", list[Review]), params=params)

    def get(self, review_id: str) -> Call[Review]:
        return Call("GET", _path(review_id), Review.model_validate_json)

    def cancel(self, review_id: str) -> Call[Review]:
        return Call("POST", _path(review_id, "cancel"), Review.model_validate_json)

    def restart(self, review_id: str) -> Call[Review]:
        return Call("POST", _path(review_id, "restart"), Review.model_validate_json)

    def remove(self, review_id: str) -> Call[None]:
        return Call("DELETE", _path(review_id), lambda _: None)

    def list_facts(
        self, review_id: str, verdicts: Sequence[Label | str], choices: Sequence[Choice | str]
    ) -> Call[list[ReviewFact]]:
        params = {"verdict": [str(one) for one in verdicts], "choice": [str(one) for one in choices]}
        return Call("GET", _path(review_id, "facts"), in_field("facts", list[ReviewFact]), params=params)

    def decide(
        self, review_id: str, fact: str | int, choice: Choice | str, words: str, note: str, by: str
    ) -> Call[ReviewFact]:
        body: dict[str, Any] = {"fact": fact, "choice": str(choice), "words": words, "note": note, "by": by}
        return Call("POST", _path(review_id, "decisions"), ReviewFact.model_validate_json, body)

    def decide_all(
        self, review_id: str, choice: Choice | str, verdicts: Sequence[Label | str], note: str, by: str
    ) -> Call[DecidedAtOnce]:
        body = {"choice": str(choice), "verdicts": [str(one) for one in verdicts], "note": note, "by": by}
        return Call("POST", _path(review_id, "decisions", "all"), DecidedAtOnce.model_validate_json, body)

    def export(self, review_id: str, format_: str, verdicts: Sequence[Label | str]) -> Call[bytes]:
        params = {"format": format_, "verdict": [str(one) for one in verdicts]}
        return Call("GET", _path(review_id, "document"), bytes, params=params)


def _path(review_id: str, *further: str) -> str:
    return "/".join(["/v1/reviews", part(review_id), *further])


class Reviews:
    """Drafts that are cited as a whole and decided on fact by fact."""

    def __init__(self, calls: Calls, call: Caller) -> None:
        self._calls, self._call = ReviewCalls(calls), call

    def begin(self, file: Upload, *, collection: str | None = None) -> Review:
        """Send a draft, by path or with a name; it is cited in the background: `get` says how far it is."""
        return self._call(self._calls.begin(file, collection))

    def all(self, *, collection: str | None = None) -> list[Review]:
        """Return the drafts, the newest first."""
        return self._call(self._calls.all(collection))

    def get(self, review_id: str) -> Review:
        """Return how far a draft is cited, and how many of its facts are decided on."""
        return self._call(self._calls.get(review_id))

    def cancel(self, review_id: str) -> Review:
        """Stop the citing; what was cited until then is kept."""
        return self._call(self._calls.cancel(review_id))

    def restart(self, review_id: str) -> Review:
        """Cite a draft again; decisions on facts that stay the same are kept."""
        return self._call(self._calls.restart(review_id))

    def remove(self, review_id: str) -> None:
        """Remove a draft with its citations and the decisions on it."""
        self._call(self._calls.remove(review_id))

    def list_facts(
        self, review_id: str, *, verdicts: Sequence[Label | str] = (), choices: Sequence[Choice | str] = ()
    ) -> list[ReviewFact]:
        """Return the facts of a draft with their verdicts, quotes and decisions."""
        return self._call(self._calls.list_facts(review_id, verdicts, choices))

    def decide(
        self, review_id: str, fact: str | int, choice: Choice | str, *, words: str = "", note: str = "", by: str = ""
    ) -> ReviewFact:
        """Accept, change or reject a fact, or open it again; `words` are those of a changed fact."""
        return self._call(self._calls.decide(review_id, fact, choice, words, note, by))

    def decide_all(
        self,
        review_id: str,
        choice: Choice | str,
        *,
        verdicts: Sequence[Label | str] = (),
        note: str = "",
        by: str = "",
    ) -> DecidedAtOnce:
        """Accept or reject all facts that nobody decided on, or those of them with one of these verdicts."""
        return self._call(self._calls.decide_all(review_id, choice, verdicts, note, by))

    def export(self, review_id: str, format: str = "docx", *, verdicts: Sequence[Label | str] = ()) -> bytes:  # noqa: A002
        """Return the draft with a comment (docx) or a footnote (markdown) at each fact."""
        return self._call(self._calls.export(review_id, format, verdicts))


class AsyncReviews:
    """Drafts under review: await the methods of `Reviews`."""

    def __init__(self, calls: Calls, call: AsyncCaller) -> None:
        self._calls, self._call = ReviewCalls(calls), call

    async def begin(self, file: Upload, *, collection: str | None = None) -> Review:
        """Send a draft, by path or with a name; it is cited in the background: `get` says how far it is."""
        return await self._call(self._calls.begin(file, collection))

    async def all(self, *, collection: str | None = None) -> list[Review]:
        """Return the drafts, the newest first."""
        return await self._call(self._calls.all(collection))

    async def get(self, review_id: str) -> Review:
        """Return how far a draft is cited, and how many of its facts are decided on."""
        return await self._call(self._calls.get(review_id))

    async def cancel(self, review_id: str) -> Review:
        """Stop the citing; what was cited until then is kept."""
        return await self._call(self._calls.cancel(review_id))

    async def restart(self, review_id: str) -> Review:
        """Cite a draft again; decisions on facts that stay the same are kept."""
        return await self._call(self._calls.restart(review_id))

    async def remove(self, review_id: str) -> None:
        """Remove a draft with its citations and the decisions on it."""
        await self._call(self._calls.remove(review_id))

    async def list_facts(
        self, review_id: str, *, verdicts: Sequence[Label | str] = (), choices: Sequence[Choice | str] = ()
    ) -> list[ReviewFact]:
        """Return the facts of a draft with their verdicts, quotes and decisions."""
        return await self._call(self._calls.list_facts(review_id, verdicts, choices))

    async def decide(
        self, review_id: str, fact: str | int, choice: Choice | str, *, words: str = "", note: str = "", by: str = ""
    ) -> ReviewFact:
        """Accept, change or reject a fact, or open it again; `words` are those of a changed fact."""
        return await self._call(self._calls.decide(review_id, fact, choice, words, note, by))

    async def decide_all(
        self,
        review_id: str,
        choice: Choice | str,
        *,
        verdicts: Sequence[Label | str] = (),
        note: str = "",
        by: str = "",
    ) -> DecidedAtOnce:
        """Accept or reject all facts that nobody decided on, or those of them with one of these verdicts."""
        return await self._call(self._calls.decide_all(review_id, choice, verdicts, note, by))

    async def export(self, review_id: str, format: str = "docx", *, verdicts: Sequence[Label | str] = ()) -> bytes:  # noqa: A002
        """Return the draft with a comment (docx) or a footnote (markdown) at each fact."""
        return await self._call(self._calls.export(review_id, format, verdicts))
