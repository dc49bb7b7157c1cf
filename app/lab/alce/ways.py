"""Ways of citing that are compared: each adds ALCE's markers to an answer.

`generate` keeps the writer's own markers, `repair` corrects them.  All others cite the text without markers: a method
of `citing.methods` cites the nearest passage whatever its score, `+threshold` only a clear leader, `+judge` only
those that PropCite's judge accepts.  `propcite` is the method that PropCite cites by, `command=PROGRAM` another system.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from propcite.app.errors import AppError
from propcite.app.lab.alce.scores import split_list
from propcite.app.lab.citing.external import COMMAND, named_method
from propcite.app.lab.citing.ways import ANY_SCORE
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.baselines import PostCite
from propcite.attribution.citing.explaining import WITHOUT_TOKENS
from propcite.attribution.citing.methods import METHODS
from propcite.attribution.formats.alce import to_alce
from propcite.attribution.judges import Judge
from propcite.attribution.propcite import PropCite
from propcite.attribution.prose.sentences import sentences_of
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage

GENERATE, REPAIR, PROPCITE = "generate", "repair", "propcite"
JUDGED, CLEAR = "+judge", "+threshold"
WAYS = (GENERATE, "postcite", "sentence", "sentence-2", PROPCITE, f"{PROPCITE}{CLEAR}", f"{PROPCITE}{JUDGED}", REPAIR)
MARGIN = 0.05  # by which a claim's best passage must lead the next

_MARKER = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class CitationInput:
    """An answer to cite: `text` without markers, and the `original` as its writer gave it."""

    question: str
    text: str
    original: str
    passages: tuple[Passage, ...]
    retriever: Retriever


class Citer(Protocol):
    """Adds markers to answers."""

    def cite(self, answers: Sequence[CitationInput]) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class OriginalMarkers:
    """Keeps the writer's own markers."""

    def cite(self, answers: Sequence[CitationInput]) -> list[str]:
        return [answer.original for answer in answers]


@dataclass(frozen=True, slots=True)
class PostHocCiter:
    """Cites answers after they were written."""

    propcite: PropCite

    def cite(self, answers: Sequence[CitationInput]) -> list[str]:
        if isinstance(method := self.propcite.tools.method, PostCite):
            encode_for_postcite(method, answers)
        cited = self.propcite.cite_many([(answer.text, answer.retriever, answer.question) for answer in answers])
        return [to_alce(_checked(one), answer.passages) for one, answer in zip(cited, answers, strict=True)]


@dataclass(frozen=True, slots=True)
class MarkerRepair:
    """Checks the writer's own markers: drops wrong ones, adds missing ones."""

    propcite: PropCite

    def cite(self, answers: Sequence[CitationInput]) -> list[str]:
        return [to_alce(self.propcite.repair(one.original, one.passages).answer, one.passages) for one in answers]


@dataclass(frozen=True, slots=True)
class ListCiter:
    """Cites lists as in QAMPARI: each listed answer behind the question, as ALCE's own POSTCITE does."""

    citer: Citer

    def cite(self, answers: Sequence[CitationInput]) -> list[str]:
        lists = [split_list(answer.original) for answer in answers]
        entries = [_entry(answer, name) for answer, names in zip(answers, lists, strict=True) for name in names]
        cited = iter(self.citer.cite(entries))
        return [", ".join(_with_markers(name, next(cited)) for name in names) + "." for names in lists]


def build_citers(
    shared: PropCite, names: Sequence[str], max_citations: int, margin: float = MARGIN, *, lists: bool = False
) -> dict[str, Citer]:
    """Return the ways of these names; each shows at most `max_citations` per sentence."""
    citers = {name: _citer(shared, name, max_citations, margin) for name in names}
    return {name: ListCiter(citer) if lists and name != GENERATE else citer for name, citer in citers.items()}


def encode_for_postcite(method: PostCite, answers: Sequence[CitationInput]) -> None:
    """Encode the sentences and documents of a batch for POSTCITE."""
    sentences = [span.of(answer.text) for answer in answers for span in sentences_of(answer.text)]
    method.read(sentences, [passage for answer in answers for passage in answer.passages])


def encode_sentences(shared: PropCite, answers: Sequence[CitationInput]) -> None:
    """Encode the sentences of a batch for all other ways: as queries for passages and for sentences."""
    sentences = list(dict.fromkeys(span.of(answer.text) for answer in answers for span in sentences_of(answer.text)))
    for granularity in (Granularity.PASSAGE, Granularity.SENTENCE):
        shared.encoder.encode_queries(sentences, granularity)


def check_ways(names: Sequence[str], *, judged: bool) -> None:
    """Raise if a name is unknown or needs a judge that is not there."""
    for name in names:
        base, suffix = _base_and_suffix(name)
        if base.startswith(COMMAND) and suffix == CLEAR:
            raise AppError(f"a program gives no scores: give {base} alone or with {JUDGED}")
        exists = name in (GENERATE, REPAIR) or base in (*METHODS, PROPCITE) or base.startswith(COMMAND)
        if not exists:
            methods = ", ".join((*METHODS, PROPCITE, f"'{COMMAND}PROGRAM'"))
            raise AppError(
                f"there is no way {name!r} of citing: give {GENERATE}, {REPAIR}, or one of {methods},"
                f" alone or with {CLEAR} or {JUDGED}"
            )
        if not judged and is_judged(name):
            raise AppError(f"{name} needs a judge: set PROPCITE_JUDGE, or leave this way out")


def is_judged(name: str) -> bool:
    """Return whether a way cites by PropCite's judge."""
    return name == REPAIR or name.endswith(JUDGED)


def reads_vectors(name: str) -> bool:
    """Return whether a way compares the vectors of tokens, which are encoded before it cites."""
    base, suffix = _base_and_suffix(name)
    return suffix == JUDGED or not (base in (GENERATE, *WITHOUT_TOKENS) or base.startswith(COMMAND))


def has_markers(text: str) -> bool:
    return _MARKER.search(text) is not None


def _citer(shared: PropCite, name: str, max_citations: int, margin: float) -> Citer:
    base, suffix = _base_and_suffix(name)

    def propcite(judge: Judge | None, **options: Any) -> PropCite:
        return PropCite(
            shared.encoder, splitter=shared.splitter, judge=judge, max_citations=max_citations,
            question_reader=None, **options,
        )  # fmt: skip

    if name == GENERATE:
        return OriginalMarkers()
    if name == REPAIR:
        return MarkerRepair(propcite(shared.judge))
    method = named_method("propositions" if base == PROPCITE else base)
    if suffix == JUDGED:
        return PostHocCiter(propcite(shared.judge, method=method))
    min_margin = margin if suffix else 0.0
    return PostHocCiter(propcite(None, method=method, min_score=ANY_SCORE, candidates=1, min_margin=min_margin))


def _base_and_suffix(name: str) -> tuple[str, str]:
    """
    >>> _base_and_suffix("propcite+judge"), _base_and_suffix("command=g++")
    (('propcite', '+judge'), ('command=g++', ''))
    """
    suffix = next((one for one in (JUDGED, CLEAR) if name.endswith(one)), "")
    return name.removesuffix(suffix), suffix


def _checked(answer: CitedAnswer | PropCiteError) -> CitedAnswer:
    if isinstance(answer, PropCiteError):
        raise answer
    return answer


def _entry(answer: CitationInput, name: str) -> CitationInput:
    """Return one answer of a list as a sentence behind the question."""
    question = answer.question.strip().rstrip("?!. ")
    plain = _MARKER.sub("", name).strip()
    text, original = f"{question}: {plain}", f"{question}: {name}"
    return CitationInput(answer.question, text, original, answer.passages, answer.retriever)


def _with_markers(name: str, cited: str) -> str:
    plain = _MARKER.sub("", name).strip()
    markers = "".join(dict.fromkeys(_MARKER.findall(cited)))
    return f"{plain} {markers}".strip()
