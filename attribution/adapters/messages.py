"""Collect the values of a LangChain chain as they arrive, and add citations to its messages."""

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


class ChainValues:
    """The values of a chain so far: texts of the answer, the documents, the question, and others to pass on."""

    def __init__(self) -> None:
        self.others: list[dict[str, Any]] = []  # to be passed on before the next event
        self.question = ""
        self._texts: list[str] = []
        self._documents: Iterable[object] | None = None
        self._message_id: str | None = None
        self._has_answer = False

    def add(self, chunk: object) -> list[dict[str, Any]]:
        """Add some values; return those that are not text of the answer, which can be passed on."""
        if not isinstance(chunk, Mapping):
            raise AttributionError(
                f"the input is a {type(chunk).__name__}: pass a dict with the answer and its documents"
            )
        rest = {name: value for name, value in chunk.items() if name not in ANSWER}
        for name, value in rest.items():
            self._documents = value if name in DOCUMENTS and value is not None else self._documents
            self.question = value if name in QUESTION and isinstance(value, str) else self.question
        others: list[dict[str, Any]] = [AddableDict(rest)] if rest else []
        for answer in (chunk[name] for name in ANSWER if name in chunk):
            self._has_answer = True
            self._texts.append(text_of(answer))
            if isinstance(answer, BaseMessage):
                self._message_id = answer.id or self._message_id
                if isinstance(answer, AIMessageChunk) and (answer.response_metadata or answer.usage_metadata):
                    others.append(AddableDict(answer=answer.model_copy(update={"content": ""})))
        return others

    @property
    def has_begun(self) -> bool:
        return self._has_answer and self._documents is not None

    @property
    def documents(self) -> Iterable[object]:
        """Return the documents; raise AttributionError if there are none or there is no answer."""
        if not self._has_answer:
            raise AttributionError(f"there is no answer to cite: pass it as one of {', '.join(ANSWER)}")
        if self._documents is None:
            raise AttributionError(f"no documents came with the answer: pass them as one of {', '.join(DOCUMENTS)}")
        return self._documents

    def take_texts(self) -> list[str]:
        """Return the texts of the answer since the last call."""
        texts, self._texts = self._texts, []
        return texts

    def with_event(self, event: Event) -> Iterator[dict[str, Any]]:
        """Yield the other values, then an event as values; all values added up are what `invoke` returns."""
        others, self.others = self.others, []
        yield from others
        match event:
            case TextDelta(text):
                yield AddableDict(answer=AIMessageChunk(content=text, id=self._message_id))
            case SentenceCited() if event.citations:
                kwargs = {"citations": citations_of(event)}
                yield AddableDict(answer=AIMessageChunk(content="", id=self._message_id, additional_kwargs=kwargs))
            case AnswerDone(answer):
                metadata = {"propcite": summary(answer)}
                message = AIMessageChunk(content="", id=self._message_id, response_metadata=metadata)
                yield AddableDict(answer=message, cited=answer)


def text_of(answer: object) -> str:
    if isinstance(answer, BaseMessage):
        blocks = [answer.content] if isinstance(answer.content, str) else answer.content
        return "".join(b if isinstance(b, str) else str(b.get("text") or "") for b in blocks)
    if answer is None or isinstance(answer, str):
        return answer or ""
    raise AttributionError(f"the answer is a {type(answer).__name__}: pass a text or a message")


def cited_values(values: Mapping[str, Any], answer: CitedAnswer) -> dict[str, Any]:
    """Return the values with the answer as a message that carries its citations."""
    original = next(values[name] for name in ANSWER if name in values)
    message = original if isinstance(original, AIMessage) else AIMessage(content=text_of(original))
    new: dict[str, Any] = {
        "additional_kwargs": {**message.additional_kwargs, "citations": all_citations(answer)},
        "response_metadata": {**message.response_metadata, "propcite": summary(answer)},
    }
    if text_of(message) != answer.text:
        new["content"] = answer.text
    return {**values, "answer": message.model_copy(update=new), "cited": answer}
