"""Cite any text: every fact shows the exact words of a source that support it, or says that nothing does.

    from propcite import PropCite

    answer = PropCite.default().cite("It is 6.4 m high.", ["The barrier is 6.4 m high. It was finished in 2024."])
    for fact in answer.facts:
        print(fact.verdict.label, [citation.quote for citation in fact.citations])

The names below are the public interface.  Everything else may change in any release.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from propcite.app.answering.generators import Draft, GenerationContext, Generator
    from propcite.attribution.citations import (
        Citation,
        CitedAnswer,
        CitedProposition,
        CitedSentence,
        Evidence,
        Label,
        Proposition,
        Verdict,
    )
    from propcite.attribution.citing.alternatives import Alternative
    from propcite.attribution.citing.comparing import ComparedFact, ComparedFacts, Comparison, Relation
    from propcite.attribution.citing.explaining import Explained
    from propcite.attribution.citing.repaired import MarkerCheck, MarkerState, Repaired
    from propcite.attribution.citing.sources import as_passages
    from propcite.attribution.citing.stream import AsyncCitedStream, CitedStream
    from propcite.attribution.events import (
        AnswerDone,
        Event,
        SentenceCited,
        TextDelta,
        event_dict,
        event_json,
        server_sent,
    )
    from propcite.attribution.formats import write
    from propcite.attribution.formats.json import from_dict, from_json, json_schema, to_dict, to_json
    from propcite.attribution.judges import Case, Judge
    from propcite.attribution.propcite import PropCite
    from propcite.attribution.propositions import Splitter
    from propcite.attribution.question_parts import Answered, QuestionPart
    from propcite.attribution.questions.reader import QuestionReader
    from propcite.attribution.versions.records import SentencePair, TextComparison
    from propcite.retrieval.encoding.encoder import Encoder
    from propcite.retrieval.errors import PropCiteError
    from propcite.retrieval.retriever import Retriever
    from propcite.retrieval.text import Document, Granularity, Hit, Passage, Sentence, Span

# Each name is imported when it is first used: `import propcite` itself loads neither PyTorch nor numpy.
_MODULES = {
    "app.answering.generators": ("Draft", "Generator", "GenerationContext"),
    "attribution.citations": (
        *("Citation", "CitedAnswer", "CitedProposition", "CitedSentence"),
        *("Evidence", "Label", "Proposition", "Verdict"),
    ),
    "attribution.citing.alternatives": ("Alternative",),
    "attribution.citing.comparing": ("ComparedFact", "ComparedFacts", "Comparison", "Relation"),
    "attribution.citing.explaining": ("Explained",),
    "attribution.citing.repaired": ("MarkerCheck", "MarkerState", "Repaired"),
    "attribution.citing.sources": ("as_passages",),
    "attribution.citing.stream": ("AsyncCitedStream", "CitedStream"),
    "attribution.events": (
        *("AnswerDone", "Event", "SentenceCited", "TextDelta"),
        *("event_dict", "event_json", "server_sent"),
    ),
    "attribution.formats": ("write",),
    "attribution.formats.json": ("from_dict", "from_json", "json_schema", "to_dict", "to_json"),
    "attribution.judges": ("Case", "Judge"),
    "attribution.propcite": ("PropCite",),
    "attribution.propositions": ("Splitter",),
    "attribution.question_parts": ("Answered", "QuestionPart"),
    "attribution.questions.reader": ("QuestionReader",),
    "attribution.versions.records": ("SentencePair", "TextComparison"),
    "retrieval.encoding.encoder": ("Encoder",),
    "retrieval.errors": ("PropCiteError",),
    "retrieval.retriever": ("Retriever",),
    "retrieval.text": ("Document", "Granularity", "Hit", "Passage", "Sentence", "Span"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Alternative",
    "AnswerDone",
    "Answered",
    "AsyncCitedStream",
    "Case",
    "Citation",
    "CitedAnswer",
    "CitedProposition",
    "CitedSentence",
    "CitedStream",
    "ComparedFact",
    "ComparedFacts",
    "Comparison",
    "Document",
    "Draft",
    "Encoder",
    "Event",
    "Evidence",
    "Explained",
    "GenerationContext",
    "Generator",
    "Granularity",
    "Hit",
    "Judge",
    "Label",
    "MarkerCheck",
    "MarkerState",
    "Passage",
    "PropCite",
    "PropCiteError",
    "Proposition",
    "QuestionPart",
    "QuestionReader",
    "Relation",
    "Repaired",
    "Retriever",
    "Sentence",
    "SentenceCited",
    "SentencePair",
    "Span",
    "Splitter",
    "TextComparison",
    "TextDelta",
    "Verdict",
    "__version__",
    "as_passages",
    "event_dict",
    "event_json",
    "from_dict",
    "from_json",
    "json_schema",
    "server_sent",
    "to_dict",
    "to_json",
    "write",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'propcite' has no attribute {name!r}")
    return getattr(import_module(f"propcite.{_MODULE_OF[name]}"), name)


def _version() -> str:
    """Return the installed version, or "0+unknown" in a source tree that nobody installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("propcite")
    except PackageNotFoundError:
        return "0+unknown"


def __dir__() -> list[str]:
    return sorted(__all__)
