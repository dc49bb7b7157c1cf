"""The only place that picks concrete parts from the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from app.errors import AppError
from app.settings import Settings
from app.store import CollectionInfo, Feedbacks, Keys, Library, Runs
from retrieval.alignment import NEAREST, Alignment, alignment_of
from retrieval.text import Span

if TYPE_CHECKING:  # what shows a list or a kept answer needs no model: each part is imported when it is built
    from app.generators import Generator
    from app.generators.prompted import Model
    from app.ingester import Ingester
    from app.originals import Finder, Originals
    from app.pipeline import Pipeline
    from app.workspace import Workspace
    from attribution.judges import Judge
    from attribution.judges.published import Published
    from attribution.propcite import PropCite
    from attribution.propositions import PropositionSplitter
    from retrieval.encoder import Encoder
    from retrieval.retriever import Retriever

_BUILDING = Lock()


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

        return Seq2SeqSplitter(_needed(settings, "splitter_model", "splitter"), device=settings.device)
    if settings.splitter == "llm":
        from attribution.propositions.llm import LlmSplitter

        url, model = _needed(settings, "llm_url", "splitter"), _needed(settings, "splitter_model", "splitter")
        with _server_told():
            return LlmSplitter(url, model, api_key=settings.llm_key, timeout=settings.llm_timeout)
    from attribution.propositions.learned import LearnedSplitter

    return LearnedSplitter()


def build_generator(settings: Settings) -> Generator:
    if settings.generator == "extractive":
        from app.generators.extractive import ExtractiveGenerator

        return ExtractiveGenerator()
    from app.generators.prompted import PromptedGenerator
    from app.prompts import ALONE, load_prompt

    name, prompt = _needed(settings, "generator_model", "generator"), load_prompt(settings.prompt)
    alone = load_prompt(settings.follow_up_prompt, ALONE)
    sampling = {"max_tokens": settings.max_tokens, "temperature": settings.temperature, "seed": settings.seed}
    if settings.generator == "vllm":
        shown = Path(name).name if Path(name).is_dir() else name
        return PromptedGenerator(
            f"vllm/{shown}", _vllm(settings, sampling), prompt, alone, num_parallel=settings.vllm_parallel
        )
    from attribution.endpoint import Endpoint

    url = _needed(settings, "llm_url", "generator")
    with _server_told():
        model = Endpoint(url, name, sampling, api_key=settings.llm_key, timeout=settings.llm_timeout)
    return PromptedGenerator(f"openai/{name}", model, prompt, alone, num_parallel=settings.llm_parallel)


def _vllm(settings: Settings, sampling: Mapping[str, Any]) -> Model:
    from app.generators.vllm_engine import EngineOptions, VllmEngine

    options = EngineOptions(
        context=settings.vllm_context,
        dtype=settings.vllm_dtype,
        tensor_parallel=settings.vllm_tensor_parallel,
        gpu_share=settings.vllm_gpu_share,
        prefix_caching=settings.vllm_prefix_caching,
        eager=settings.vllm_eager,
    )
    return VllmEngine(settings.generator_model, options, sampling)


def build_judge(settings: Settings, encoder: Callable[[], Encoder]) -> Judge | None:
    """The judge, or None where similarity decides.  The encoder is asked for only where the judge reads with it."""
    if settings.judge == "none":
        return None
    if settings.judge == "embedded":
        from attribution.judges.embedded import EmbeddedJudge

        return EmbeddedJudge(encoder(), supported_from=settings.supported_from)
    if settings.judge == "cross":
        from attribution.judges.cross import CrossJudge

        return CrossJudge(encoder(), device=settings.device, supported_from=settings.supported_from)
    judge = _outside_judge(settings)
    if not settings.judge_checks:
        return judge
    from attribution.judges.word_checked import WordChecked

    return WordChecked(judge, supported_from=settings.supported_from)


def _outside_judge(settings: Settings) -> Judge:
    """A language model or a published network."""
    if settings.judge == "llm":
        from attribution.judges.llm import LlmJudge

        url, model = _needed(settings, "llm_url", "judge"), _needed(settings, "judge_model", "judge")
        with _server_told():
            return LlmJudge(
                url,
                model,
                api_key=settings.llm_key,
                timeout=settings.llm_timeout,
                supported_from=settings.supported_from,
            )
    from attribution.judges.published import published_judge

    return published_judge(
        cast("Published", settings.judge),
        settings.judge_model,
        labels=[label for label in settings.judge_labels.split(",") if label.strip()],
        device=settings.device,
        precision=settings.precision,
        supported_from=settings.supported_from,
        batch_size=settings.batch_size,
    )


@contextmanager
def _server_told() -> Iterator[None]:
    """An address or key that no client takes is a wrong setting."""
    try:
        yield
    except ValueError as error:
        raise AppError(f"PROPCITE_LLM_URL or PROPCITE_LLM_KEY cannot be used: {error}") from error


def _needed(settings: Settings, name: str, part: str) -> str:
    value: str = getattr(settings, name)
    if not value:
        raise AppError(f"this {part} needs a setting: give PROPCITE_{name.upper()}")
    return value


def build_propcite(
    settings: Settings, encoder: Encoder, splitter: PropositionSplitter, judge: Judge | None
) -> PropCite:
    from attribution.propcite import PropCite

    return PropCite(
        encoder,
        splitter=splitter,
        judge=judge,
        method=settings.method,
        most_citations=settings.most_citations,
        min_score=settings.min_score,
        min_margin=settings.min_margin,
        alignment=settings.alignment or NEAREST,
    )


@dataclass(frozen=True)
class Parts:
    """The parts of one process: the library opens at once, models load when they are first needed."""

    settings: Settings

    @cached_property
    def library(self) -> Library:
        return build_library(self.settings)

    @cached_property
    def keys(self) -> Keys:
        return Keys(self.library.engine, self.library.url)

    @cached_property
    def runs(self) -> Runs:
        return Runs(self.library.engine, self.library.url, self.settings.data_dir / "runs")

    @cached_property
    def feedback(self) -> Feedbacks:
        return Feedbacks(self.library.engine, self.library.url)

    @cached_property
    def originals(self) -> Originals:
        """The files that documents were read from, as far as they are kept."""
        from app.originals import Originals

        return Originals(self.settings.data_dir / "originals", self.library, self.settings.originals)

    @cached_property
    def finder(self) -> Finder:
        from app.originals import Finder

        return Finder(self.originals)

    @cached_property
    def encoder(self) -> Encoder:
        return build_encoder(self.settings)

    @cached_property
    def propcite(self) -> PropCite:
        return build_propcite(self.settings, self.encoder, self.splitter, self.judge)

    @property
    def generator(self) -> Generator:
        with _BUILDING:  # a model that fills a GPU is not loaded twice
            return self._generator

    @cached_property
    def _generator(self) -> Generator:
        return build_generator(self.settings)

    @cached_property
    def judge(self) -> Judge | None:
        return build_judge(self.settings, lambda: self.encoder)

    @cached_property
    def splitter(self) -> PropositionSplitter:
        return build_splitter(self.settings)

    def alignment(self, collection: CollectionInfo | None = None) -> Alignment:
        """The one in force: that of the settings, else the collection's own as it is now, else each token's nearest."""
        own = self.library.alignment(collection) if collection and not self.settings.alignment else ""
        name = self.settings.alignment or own
        return alignment_of(name) if name else NEAREST

    def workspace(self, collection: CollectionInfo) -> Workspace:
        from app.workspace import Workspace

        settings = self.settings
        return Workspace(
            settings.data_dir,
            self.library,
            collection,
            bits=settings.index_bits,
            regime=settings.index,
            exact_up_to=settings.exact_up_to,
            searched_share=settings.searched_share,
            stored_share=settings.stored_share,
            pruning=settings.pruning,
        )

    def remove_collection(self, collection: CollectionInfo) -> None:
        """With its documents, its answers, its index, and the files that were kept for it alone."""
        workspace = self.workspace(collection)
        contents = {info.sha256 for info in self.library.documents(collection)}
        contents |= {info.sha256 for info in self.library.versions(collection)}
        with workspace.writing():
            self.library.remove_collection(collection)
        workspace.remove()
        self.originals.forget(contents)

    def ingester(self, collection: CollectionInfo) -> Ingester:
        from app.ingester import Ingester, Limits

        settings = self.settings
        return Ingester(
            self.library,
            self.workspace(collection),
            lambda: self.encoder,
            passage_words=settings.passage_words,
            most_bytes=settings.max_file_mb * 2**20,
            limits=Limits.of(settings.readers, settings.read_seconds, settings.read_memory_mb),
            originals=self.originals,
        )

    def pipeline(
        self, collection: CollectionInfo, documents: Sequence[str] = (), where: Sequence[str] = ()
    ) -> Pipeline:
        """One collection's parts; with documents or conditions, over what these leave of it."""
        from app.narrowing import passages_within
        from app.pipeline import Pipeline
        from retrieval.retriever import Retriever

        workspace = self.workspace(collection)

        def open_retriever() -> Retriever:
            return Retriever(
                self.encoder,
                workspace.index(self.encoder),
                self.library.passages,
                self.split,
                alignment=self.alignment(collection),
                asking=self.settings.asking_share,
            )

        return Pipeline(
            library=self.library,
            collection=collection,
            open_retriever=open_retriever,
            open_generator=lambda: self.generator,
            propcite=self.propcite,
            num_passages=self.settings.num_passages,
            within=passages_within(self.library, collection, documents, where),
        )

    def split(self, sentences: Sequence[str]) -> list[list[tuple[Span, ...]]]:
        """The propositions of sentences of the collection, as spans."""
        found = self.splitter.split_many(sentences, [()] * len(sentences))
        return [[proposition.spans for proposition in propositions] for propositions in found]
