"""The only place that picks concrete parts from the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from app.errors import AppError
from app.settings import Settings
from app.store import CollectionInfo, Library
from retrieval.text import Span

if TYPE_CHECKING:  # what shows a list or a kept answer needs no model: each part is imported when it is built
    from app.ingester import Ingester
    from app.pipeline import Pipeline
    from app.workspace import Workspace
    from attribution.propcite import PropCite
    from attribution.propositions import PropositionSplitter
    from retrieval.encoder import Encoder
    from retrieval.retriever import Retriever


def build_library(settings: Settings) -> Library:
    return Library(settings.database_url)


def build_encoder(settings: Settings) -> Encoder:
    from retrieval.encoder import Encoder

    return Encoder(
        settings.encoder, device=settings.device, batch_size=settings.batch_size, precision=settings.precision
    )


def build_splitter(settings: Settings) -> PropositionSplitter:
    if settings.splitter == "rules":
        from attribution.propositions.rules import RuleSplitter

        return RuleSplitter()
    if settings.splitter == "seq2seq":
        from attribution.propositions.seq2seq import Seq2SeqSplitter

        return Seq2SeqSplitter(_needed(settings.splitter_model, "splitter_model"), device=settings.device)
    if settings.splitter == "llm":
        from attribution.propositions.llm import LlmSplitter

        url, model = _needed(settings.llm_url, "llm_url"), _needed(settings.splitter_model, "splitter_model")
        return LlmSplitter(url, model, api_key=settings.llm_key)
    from attribution.propositions.learned import LearnedSplitter

    return LearnedSplitter()


def _needed(value: str, name: str) -> str:
    if not value:
        raise AppError(f"this splitter needs a setting: give PROPCITE_{name.upper()}")
    return value


def build_propcite(settings: Settings, encoder: Encoder, splitter: PropositionSplitter) -> PropCite:
    from attribution.judges.embedded import EmbeddedJudge
    from attribution.propcite import PropCite

    judge = EmbeddedJudge(encoder, supported_from=settings.supported_from) if settings.judge == "embedded" else None
    return PropCite(
        encoder,
        splitter=splitter,
        judge=judge,
        most_citations=settings.most_citations,
        min_score=settings.min_score,
    )


@dataclass(frozen=True)
class Parts:
    """The parts of one process: the library opens at once, models load when they are first needed."""

    settings: Settings

    @cached_property
    def library(self) -> Library:
        return build_library(self.settings)

    @cached_property
    def encoder(self) -> Encoder:
        return build_encoder(self.settings)

    @cached_property
    def propcite(self) -> PropCite:
        return build_propcite(self.settings, self.encoder, self.splitter)

    @cached_property
    def splitter(self) -> PropositionSplitter:
        return build_splitter(self.settings)

    def workspace(self, collection: CollectionInfo) -> Workspace:
        from app.workspace import Workspace

        return Workspace(self.settings.data_dir, self.library, collection)

    def ingester(self, collection: CollectionInfo) -> Ingester:
        from app.ingester import Ingester

        settings = self.settings
        return Ingester(
            self.library,
            self.workspace(collection),
            lambda: self.encoder,
            passage_words=settings.passage_words,
            most_bytes=settings.max_file_mb * 2**20,
        )

    def pipeline(self, collection: CollectionInfo) -> Pipeline:
        from app.generators.extractive import ExtractiveGenerator
        from app.pipeline import Pipeline
        from retrieval.retriever import Retriever

        workspace = self.workspace(collection)

        def open_retriever() -> Retriever:
            return Retriever(self.encoder, workspace.index(self.encoder), self.library.passages, self.split)

        return Pipeline(
            library=self.library,
            collection=collection,
            open_retriever=open_retriever,
            generator=ExtractiveGenerator(),
            propcite=self.propcite,
            num_passages=self.settings.num_passages,
        )

    def split(self, sentences: Sequence[str]) -> list[list[tuple[Span, ...]]]:
        """The propositions of sentences of the collection, as spans."""
        found = self.splitter.split_many(sentences, [()] * len(sentences))
        return [[proposition.spans for proposition in propositions] for propositions in found]
