"""LangChain's values and messages as they come, and with citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.runnables.utils import AddableDict

from propcite.attribution.adapters.citations import all_citations, citations_of, summary
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.errors import AttributionError
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta

ANSWER = ("answer", "output", "result")
DOCUMENTS = ("documents", "context", "source_documents")
QUESTION = ("question", "input", "query")


class Values:
    """What has come of the values: the answer's texts, the documents, the question; the rest is passed on."""

    def __init__(self) -> None:
        self.others: list[dict[str, Any]] = []  # to be passed on
        self.question = ""
        self._texts: list[str] = []
        self._documents: Iterable[object] | None = None
        self._message: str | None = None  # the message's id
        self._answered = False

    def add(self, chunk: object) -> list[dict[str, Any]]:
        """Take in some values, and give what is not the answer's text."""
        if not isinstance(chunk, Mapping):
            raise AttributionError(
                f"there is a {type(chunk).__name__} to cite: give a dict of the answer and documents"
            )
        rest = {name: value for name, value in chunk.items() if name not in ANSWER}
        for name, value in rest.items():
            self._documents = value if name in DOCUMENTS and value is not None else self._documents
            self.question = value if name in QUESTION and isinstance(value, str) else self.question
        others: list[dict[str, Any]] = [AddableDict(rest)] if rest else []
        for answer in (chunk[name] for name in ANSWER if name in chunk):
            self._answered = True
            self._texts.append(text_of(answer))
            if isinstance(answer, BaseMessage):
                self._message = answer.id or self._message
                if isinstance(answer, AIMessageChunk) and (answer.response_metadata or answer.usage_metadata):
                    others.append(AddableDict(answer=answer.model_copy(update={"content": ""})))
        return others

    @property
    def has_begun(self) -> bool:
        return self._answered and self._documents is not None

    @property
    def documents(self) -> Iterable[object]:
        """What was given to cite from, once there is also an answer to cite."""
        if not self._answered:
            raise AttributionError(f"there is no answer to cite: give it as one of {', '.join(ANSWER)}")
        if self._documents is None:
            raise AttributionError(f"no documents came with the answer: give them as one of {', '.join(DOCUMENTS)}")
        return self._documents

    def taken(self) -> list[str]:
        texts, self._texts = self._texts, []
        return texts

    def told(self, event: Event) -> Iterator[dict[str, Any]]:
        """An event as values that add up to what `invoke` gives."""
        others, self.others = self.others, []
        yield from others
        match event:
            case TextDelta(text):
                yield AddableDict(answer=AIMessageChunk(content=text, id=self._message))
            case SentenceCited() if event.citations:
                told = {"citations": citations_of(event)}
                yield AddableDict(answer=AIMessageChunk(content="", id=self._message, additional_kwargs=told))
            case AnswerDone(answer):
                of_all = {"propcite": summary(answer)}
                message = AIMessageChunk(content="", id=self._message, response_metadata=of_all)
                yield AddableDict(answer=message, cited=answer)


def text_of(answer: object) -> str:
    if isinstance(answer, BaseMessage):
        blocks = [answer.content] if isinstance(answer.content, str) else answer.content
        return "".join(b if isinstance(b, str) else str(b.get("text") or "") for b in blocks)
    if answer is None or isinstance(answer, str):
        return answer or ""
    raise AttributionError(f"the answer is a {type(answer).__name__}: give a text or a message")


def cited_values(values: Mapping[str, Any], answer: CitedAnswer) -> dict[str, Any]:
    """The values with the answer as a message that carries its citations."""
    name = next(name for name in ANSWER if name in values)
    given = values[name]
    message = given if isinstance(given, AIMessage) else AIMessage(content=text_of(given))
    new: dict[str, Any] = {
        "additional_kwargs": {**message.additional_kwargs, "citations": all_citations(answer)},
        "response_metadata": {**message.response_metadata, "propcite": summary(answer)},
    }
    if text_of(message) != answer.text:
        new["content"] = answer.text
    return {**values, "answer": message.model_copy(update=new), "cited": answer}
