"""Ways of citing that are compared: each gives an answer ALCE's markers, after it was written or before.

`generate` is the writer's own markers, `repair` these checked and mended.  All others cite the text without them: a
method of `citing.methods` that takes the nearest whatever its score, `+threshold` only where it leads clearly,
`+judge` only what PropCite's judge accepts.  `propcite` is the method that PropCite cites by.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from propcite.app.errors import AppError
from propcite.app.lab.alce.scores import listed
from propcite.app.lab.citing.ways import ALWAYS, Remembering
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.baselines import PostCite
from propcite.attribution.citing.methods import METHODS, method_of
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
MARGIN = 0.05  # by how much a claim's best passage must lead the next
TOKENS = 262_144  # remembered from answer to answer

_MARKER = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Written:
    """An answer as it was written: `text` without markers, `given` with those that its writer typed, if any."""

    question: str
    text: str
    given: str
    passages: tuple[Passage, ...]
    retriever: Retriever

    @property
    def marks(self) -> bool:
        return has_markers(self.given)


class Way(Protocol):
    """Answers in, the same answers with markers out."""

    def outputs(self, written: Sequence[Written]) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class AsWritten:
    """The writer's own markers."""

    def outputs(self, written: Sequence[Written]) -> list[str]:
        return [one.given for one in written]


@dataclass(frozen=True, slots=True)
class Cited:
    """Cited after it was written."""

    propcite: PropCite

    def outputs(self, written: Sequence[Written]) -> list[str]:
        if isinstance(method := self.propcite.tools.method, PostCite):
            read_together(method, written)
        cited = self.propcite.cite_many([(one.text, one.retriever) for one in written])
        return [to_alce(_answer(answer), one.passages) for answer, one in zip(cited, written, strict=True)]


@dataclass(frozen=True, slots=True)
class Mended:
    """The writer's own markers, checked: the wrong ones go, missing ones come."""

    propcite: PropCite

    def outputs(self, written: Sequence[Written]) -> list[str]:
        return [to_alce(self.propcite.repair(one.given, one.passages).answer, one.passages) for one in written]


@dataclass(frozen=True, slots=True)
class Listed:
    """Lists, as QAMPARI's: each of their answers is cited behind the question, as ALCE's own POSTCITE does."""

    way: Way

    def outputs(self, written: Sequence[Written]) -> list[str]:
        rows = [listed(one.given or one.text) for one in written]
        each = [_behind(one, name) for one, row in zip(written, rows, strict=True) for name in row]
        cited = iter(self.way.outputs(each))
        return [", ".join(_marked(name, next(cited)) for name in row) + "." for row in rows]


def sharing(parts: Parts) -> PropCite:
    """The parts with one memory for all ways, so that what one has read none reads again."""
    return PropCite(parts.encoder, splitter=Remembering(parts.splitter), judge=parts.judge).cached(TOKENS)


def ways_of(
    shared: PropCite, names: Sequence[str], most: int, margin: float = MARGIN, *, lists: bool = False
) -> dict[str, Way]:
    """The ways of these names, each showing `most` citations of a sentence."""
    found = {name: _way(shared, name, most, margin) for name in names}
    return {name: Listed(way) if lists and name != GENERATE else way for name, way in found.items()}


def read_together(method: PostCite, written: Sequence[Written]) -> None:
    """All sentences and documents of a batch as POSTCITE reads them."""
    sentences = [span.of(one.text) for one in written for span in sentences_of(one.text)]
    method.read(sentences, [passage for one in written for passage in one.passages])


def read_ahead(shared: PropCite, written: Sequence[Written]) -> None:
    """The sentences of a batch as all other ways read them: as queries for passages and for sentences."""
    sentences = list(dict.fromkeys(span.of(one.text) for one in written for span in sentences_of(one.text)))
    for granularity in (Granularity.PASSAGE, Granularity.SENTENCE):
        shared.encoder.encode_queries(sentences, granularity)


def check_ways(names: Sequence[str], *, judged: bool) -> None:
    """What is wrong with these names, told before anything is read."""
    for name in names:
        base, plus, more = name.partition("+")
        known = name in (GENERATE, REPAIR) or (base in (*METHODS, PROPCITE) and plus + more in ("", JUDGED, CLEAR))
        if not known:
            methods = ", ".join((*METHODS, PROPCITE))
            raise AppError(
                f"there is no way {name!r} of citing: give {GENERATE}, {REPAIR}, or one of {methods},"
                f" alone or with {CLEAR} or {JUDGED}"
            )
        if not judged and is_judged(name):
            raise AppError(f"{name} needs a judge: set PROPCITE_JUDGE, or leave this way out")


def is_judged(name: str) -> bool:
    """Whether a way cites by PropCite's judge."""
    return name == REPAIR or name.endswith(JUDGED)


def has_markers(text: str) -> bool:
    return _MARKER.search(text) is not None


def _way(shared: PropCite, name: str, most: int, margin: float) -> Way:
    base, _, more = name.partition("+")

    def made(judge: Judge | None, **options: Any) -> PropCite:
        return PropCite(shared.encoder, splitter=shared.splitter, judge=judge, max_citations=most, **options)

    if name == GENERATE:
        return AsWritten()
    if name == REPAIR:
        return Mended(made(shared.judge))
    method = method_of("propositions" if base == PROPCITE else base)
    if more == JUDGED[1:]:
        return Cited(made(shared.judge, method=method))
    lead = margin if more else 0.0
    return Cited(made(None, method=method, min_score=ALWAYS, candidates=1, min_margin=lead))


def _answer(cited: CitedAnswer | PropCiteError) -> CitedAnswer:
    if isinstance(cited, PropCiteError):
        raise cited
    return cited


def _behind(one: Written, name: str) -> Written:
    """One of a list as a sentence: what it is an answer to stands in front."""
    question = one.question.strip().rstrip("?!. ")
    plain = _MARKER.sub("", name).strip()
    return Written(one.question, f"{question}: {plain}", f"{question}: {name}", one.passages, one.retriever)


def _marked(name: str, cited: str) -> str:
    plain = _MARKER.sub("", name).strip()
    markers = "".join(dict.fromkeys(_MARKER.findall(cited)))
    return f"{plain} {markers}".strip()
