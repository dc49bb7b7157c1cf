"""Suggest questions over a collection and after an answer, and sum up its documents: made once, then kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from propcite.app.errors import NotFoundError
from propcite.app.library.store import CollectionInfo, Library, OverviewKind, Overviews
from propcite.app.overview.records import Overview, SuggestedQuestion
from propcite.app.overview.summary import line_of, overview_of
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.text import Passage

if TYPE_CHECKING:
    from propcite.app.answering.pipeline import Pipeline
    from propcite.app.overview.suggesting import Answering, Suggestion
    from propcite.app.parts import Parts

VERSION = "4"  # of the way in which overviews are made
MAX_DOCUMENTS, MAX_PASSAGES = 24, 720  # looked at for questions to begin with; the passages of them all
MAX_OF_ONE = 120  # passages of one document, spread over it
MAX_CITED, NUM_AROUND = 4, 8  # documents of an answer, and passages around each cited one
MAX_MADE_FROM = 500


_QUESTIONS, _OVERVIEW = TypeAdapter(list[SuggestedQuestion]), TypeAdapter(Overview)


@dataclass(frozen=True, slots=True)
class Suggester:
    """Questions over one collection.  The pipeline is opened, and its models load, only where none are kept.

    `writer` names what writes answers by the settings: with another one, questions are made again.
    """

    library: Library
    collection: CollectionInfo
    open_pipeline: Callable[[], Pipeline]
    writer: str = ""

    def questions(self, after: CitedAnswer | None = None) -> list[SuggestedQuestion]:
        """Return questions to begin with, or those that follow an answer; empty where nothing is surely answered."""
        kept = self.kept(after)
        return self.make(after) if kept is None else kept

    def kept(self, after: CitedAnswer | None = None) -> list[SuggestedQuestion] | None:
        """Return what was made of the collection as it is now; None if nothing was."""
        body = Overviews(self.library).find(self.collection, *self.place(after))
        return None if body is None else _QUESTIONS.validate_json(body)

    def make(self, after: CitedAnswer | None = None) -> list[SuggestedQuestion]:
        """Make the questions and keep them."""
        kind, of, made_from = self.place(after)  # before documents change
        found = list(map(_suggested, self._following(after) if after else self._first()))
        body = _QUESTIONS.dump_json(found).decode()
        Overviews(self.library).put(self.collection, kind, of, made_from, body)
        return found

    def place(self, after: CitedAnswer | None) -> tuple[OverviewKind, str, str]:
        """Return the kind of the questions, the id of what they follow, and the state that they are made from."""
        made_from = f"{VERSION} {Overviews(self.library).state(self.collection)} {self.writer}"[:MAX_MADE_FROM]
        return (OverviewKind.ANSWER, after.id, made_from) if after else (OverviewKind.COLLECTION, "", made_from)

    def _first(self) -> list[Suggestion]:
        from propcite.app.overview.suggesting import first_questions

        ids = Overviews(self.library).document_ids(self.collection)
        step = max(1.0, len(ids) / MAX_DOCUMENTS)
        chosen = [ids[int(place * step)] for place in range(min(len(ids), MAX_DOCUMENTS))]
        most = min(MAX_OF_ONE, MAX_PASSAGES // max(1, len(chosen)))
        passages = [passage for id_ in chosen for passage in self._passages(id_, most)]
        opened = self._opened(passages)
        return first_questions(passages, *opened) if opened else []

    def _following(self, answer: CitedAnswer) -> list[Suggestion]:
        from propcite.app.overview.suggesting import follow_ups

        cited: dict[str, set[str]] = {}
        for citation in answer.citations:
            cited.setdefault(citation.passage.document_id, set()).add(citation.passage.id)
        passages = [p for id_, ids in list(cited.items())[:MAX_CITED] for p in self._around(id_, ids)]
        opened = self._opened(passages, answer.understood or answer.question)
        return follow_ups(answer, passages, *opened) if opened else []

    def _opened(self, passages: Sequence[Passage], before: str = "") -> tuple[Answering, list[str]] | None:
        """Return what reads candidates, and those that a language model writes; None if there is nothing to read."""
        if not passages:
            return None
        from propcite.app.overview.suggesting import Answering, most_telling
        from propcite.app.overview.writing import written_questions

        pipeline = self.open_pipeline()
        reader = pipeline.propcite.tools.question_reader
        if reader is None:
            return None
        written = written_questions(pipeline.open_generator(), most_telling(passages))
        return Answering(pipeline.retriever(), reader, pipeline.num_passages, before), written

    def _passages(self, document_id: str, number: int | None = None) -> list[Passage]:
        return passages_of(self.library, self.collection, document_id, number)

    def _around(self, document_id: str, ids: Collection[str]) -> list[Passage]:
        """Return the passages of a document around these."""
        everywhere = self.library.passage_ids(self.collection, document_id)
        places = [place for place, id_ in enumerate(everywhere) if id_ in ids]
        near = {at for place in places for at in range(place - NUM_AROUND, place + NUM_AROUND + 1)}
        found = self.library.passages(id_ for place, id_ in enumerate(everywhere) if place in near)
        return [found[id_] for id_ in everywhere if id_ in found]


def suggester_of(
    parts: Parts, collection: CollectionInfo, open_pipeline: Callable[[], Pipeline] | None = None
) -> Suggester:
    """Return what suggests questions over a collection, with the generator of the settings."""
    settings = parts.settings
    opened = open_pipeline or (lambda: parts.pipeline(collection))
    return Suggester(parts.library, collection, opened, f"{settings.generator} {settings.generator_model}".strip())


def document_overview(library: Library, collection: CollectionInfo, document_id: str) -> Overview:
    """Return the summary and the outline of a document; NotFoundError if the collection does not have it."""
    infos = library.documents(collection, [document_id])
    if not infos:
        raise NotFoundError(f"no document {document_id[:40]!r} in {collection.name!r}", ": propcite list shows them")
    kept, made_from = Overviews(library), f"{VERSION} {infos[0].added_at.isoformat()} {infos[0].num_passages}"
    place = collection, OverviewKind.DOCUMENT, document_id, made_from
    if (body := kept.find(*place)) is not None:
        return _OVERVIEW.validate_json(body)
    made = overview_of(passages_of(library, collection, document_id), library.headings(document_id))
    kept.put(*place, _OVERVIEW.dump_json(made).decode())
    return made


def passages_of(
    library: Library, collection: CollectionInfo, document_id: str, number: int | None = None
) -> list[Passage]:
    """Return the passages of a document in order, or this many of them, spread over it."""
    ids = library.passage_ids(collection, document_id)
    if number is not None and len(ids) > number:
        ids = [ids[place * (len(ids) - 1) // max(1, number - 1)] for place in range(number)]
    found = library.passages(ids)
    return [found[id_] for id_ in ids if id_ in found]


def _suggested(one: Suggestion) -> SuggestedQuestion:
    title = one.passage.title.split(" › ")[0]
    return SuggestedQuestion(one.question, one.passage.document_id, title, line_of(one.passage, one.span, one.quote))
