"""Hold the library, models and stores of one process, each opened on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from propcite.app.building import (
    build_encoder,
    build_generator,
    build_judge,
    build_library,
    build_propcite,
    build_splitter,
)
from propcite.app.library.store import (
    AuditLog,
    CollectionInfo,
    FeedbackStore,
    Jobs,
    Keys,
    Library,
    LinkSecrets,
    Notes,
    People,
    Reviews,
    Runs,
    SignIns,
)
from propcite.app.settings import Settings
from propcite.retrieval.alignment import NEAREST, Alignment, alignment_of
from propcite.retrieval.garbage import no_garbage_collection
from propcite.retrieval.text import Span

if TYPE_CHECKING:  # what shows a list or a kept answer needs no model: each part is imported when it is built
    from propcite.app.answering.generators import Generator
    from propcite.app.answering.pipeline import Pipeline
    from propcite.app.ingest.ingester import Ingester
    from propcite.app.ingest.outcomes import Progress
    from propcite.app.ingest.uploaded_files import UploadedFiles
    from propcite.app.library.originals import Finder, Originals
    from propcite.app.library.workspace import Workspace
    from propcite.attribution.judges import Judge
    from propcite.attribution.judges.remembering import VerdictMemory
    from propcite.attribution.propcite import PropCite
    from propcite.attribution.propositions import Splitter
    from propcite.retrieval.encoding.encoder import Encoder
    from propcite.retrieval.index import ProgressReport
    from propcite.retrieval.remote.objects import ObjectStore
    from propcite.retrieval.retriever import Retriever

_BUILDING = Lock()
_NETWORKS = ("device", "precision")
_SERVER = ("llm_url", "llm_key", "llm_timeout")
SHARED = {  # by part, the settings that it is built from
    "library": ("database", "data_dir"),
    "encoder": ("encoder", "batch_size", *_NETWORKS),
    "splitter": ("splitter", "splitter_model", *_NETWORKS, *_SERVER),
    "judge": (
        *("judge", "judge_model", "judge_labels", "judge_checks", "supported_from"),
        *("encoder", "batch_size", *_NETWORKS, *_SERVER),
    ),
}


@dataclass(frozen=True)
class Parts:
    """The library, models and stores of one process; each opens or loads on first use."""

    settings: Settings

    @cached_property
    def library(self) -> Library:
        return build_library(self.settings)

    @cached_property
    def keys(self) -> Keys:
        return Keys(self.library)

    @cached_property
    def people(self) -> People:
        return People(self.library)

    @cached_property
    def sign_ins(self) -> SignIns:
        idle, longest = self.settings.page_idle_minutes, self.settings.page_sign_in_hours
        return SignIns(self.library, timedelta(minutes=idle), timedelta(hours=longest))

    @cached_property
    def link_secrets(self) -> LinkSecrets:
        return LinkSecrets(self.library)

    @cached_property
    def audit(self) -> AuditLog:
        return AuditLog(self.library, self.settings.audit_days)

    @cached_property
    def runs(self) -> Runs:
        return Runs(self.library, self.settings.data_dir / "runs")

    @cached_property
    def feedback(self) -> FeedbackStore:
        return FeedbackStore(self.library)

    @cached_property
    def notes(self) -> Notes:
        return Notes(self.library)

    @cached_property
    def reviews(self) -> Reviews:
        """The drafts under review."""
        return Reviews(self.library)

    @cached_property
    def jobs(self) -> Jobs:
        """The queue of jobs that read documents."""
        return Jobs(self.library)

    @cached_property
    def originals(self) -> Originals:
        """The stored original files of documents."""
        from propcite.app.library.originals import Originals

        folder = self.settings.data_dir / "originals"
        return Originals(folder, self.library, self.settings.originals, self._stored("originals"))

    @property
    def uploaded_files(self) -> UploadedFiles:
        """The bytes of jobs that wait."""
        from propcite.app.ingest.uploaded_files import UploadedFiles

        return UploadedFiles(self.settings.data_dir / "uploads", self._stored("uploads"))

    def _stored(self, folder: str) -> ObjectStore | None:
        """Return a folder of the storage that machines share; None where there is none."""
        from propcite.retrieval.remote.objects import ObjectStore

        return ObjectStore(self.settings.storage).below(folder) if self.settings.storage else None

    @cached_property
    def finder(self) -> Finder:
        from propcite.app.library.originals import Finder

        return Finder(self.originals)

    @cached_property
    def encoder(self) -> Encoder:
        return build_encoder(self.settings)

    @cached_property
    def propcite(self) -> PropCite:
        with no_garbage_collection():
            return build_propcite(self.settings, self.encoder, self.splitter, self.judge)

    @cached_property
    def shared_propcite(self) -> PropCite:
        """The same for many requests: they share one cache of vectors, and verdicts by content."""
        from propcite.attribution.judges.remembering import remembering

        shared = copy(self.propcite)
        decider = shared.tools.decider
        if decider.judge:
            judge = remembering(decider.judge, self.verdicts)
            shared.tools = replace(shared.tools, decider=replace(decider, judge=judge))
        return shared.cached()

    @cached_property
    def verdicts(self) -> VerdictMemory:
        """The verdicts of this process's judge, which all requests share."""
        from propcite.attribution.judges.remembering import VerdictMemory

        return VerdictMemory()

    @property
    def generator(self) -> Generator:
        with _BUILDING:  # a model that fills a GPU is not loaded twice
            return self._generator

    @cached_property
    def _generator(self) -> Generator:
        return build_generator(self.settings)

    @cached_property
    def extractive(self) -> Generator:
        """The generator that answers in the sources' own words, whichever the settings name."""
        return build_generator(self.settings.model_copy(update={"generator": "extractive"}))

    @cached_property
    def judge(self) -> Judge | None:
        return build_judge(self.settings, lambda: self.encoder)

    @cached_property
    def splitter(self) -> Splitter:
        return build_splitter(self.settings)

    def changed(self, settings: Settings) -> Parts:
        """Return the parts for other settings, with what is open or loaded here and stays the same."""
        others = Parts(settings)
        for name, needed in SHARED.items():
            if name in self.__dict__ and all(getattr(settings, one) == getattr(self.settings, one) for one in needed):
                others.__dict__[name] = self.__dict__[name]  # where the cached property stores it
        return others

    def alignment(self, collection: CollectionInfo | None = None) -> Alignment:
        """Return the alignment of the settings, else the collection's current one, else the nearest token."""
        own = self.library.alignment(collection) if collection and not self.settings.alignment else ""
        name = self.settings.alignment or own
        return alignment_of(name) if name else NEAREST

    def workspace(self, collection: CollectionInfo, progress: ProgressReport | None = None) -> Workspace:
        from propcite.app.library.open_indexes import ClusterUse
        from propcite.app.library.workspace import Workspace
        from propcite.retrieval.index import ignore_progress

        settings = self.settings
        cluster = ClusterUse(
            settings.cluster,
            settings.cluster_replicas,
            settings.cluster_wait,
            settings.cluster_missing == "name",
        )
        return Workspace(
            settings.data_dir,
            self.library,
            collection,
            progress=progress or ignore_progress,
            bits=settings.index_bits,
            regime=settings.index,
            exact_up_to=settings.exact_up_to,
            cluster=cluster if settings.cluster else None,
            storage=settings.storage,
            searched_share=settings.searched_share,
            stored_share=settings.stored_share,
            pruning=settings.pruning,
        )

    def remove_collection(self, collection: CollectionInfo) -> None:
        """Remove a collection with its documents, answers, index, and the stored files that only it uses."""
        workspace = self.workspace(collection)
        contents = {info.sha256 for info in self.library.documents(collection)}
        contents |= {info.sha256 for info in self.library.versions(collection)}
        with workspace.exclusive():
            self.library.remove_collection(collection)
        workspace.remove()
        self.originals.remove_unused(contents)

    def ingester(self, collection: CollectionInfo, progress: Callable[[Progress], None] | None = None) -> Ingester:
        """Build an ingester; `progress` is called after each document, and while the index does long work."""
        from propcite.app.ingest.ingester import Ingester
        from propcite.app.ingest.outcomes import Progress
        from propcite.app.ingest.reader_pool import ReaderLimits

        settings = self.settings

        def report_index(step: str, share: float) -> None:
            if progress:
                progress(Progress(share, step=step))

        return Ingester(
            self.library,
            self.workspace(collection, report_index),
            lambda: self.encoder,
            passage_words=settings.passage_words,
            max_bytes=settings.max_file_mb * 2**20,
            limits=ReaderLimits.of(settings.readers, settings.read_seconds, settings.read_memory_mb, settings.ocr),
            originals=self.originals,
            progress=progress,
        )

    def pipeline(
        self, collection: CollectionInfo, documents: Sequence[str] = (), where: Sequence[str] = ()
    ) -> Pipeline:
        """Build the pipeline of a collection, limited to the given documents and conditions, if any."""
        from propcite.app.answering.pipeline import Pipeline
        from propcite.app.library.selection import selected_passages
        from propcite.retrieval.retriever import Retriever

        workspace = self.workspace(collection)

        def open_retriever() -> Retriever:
            return Retriever(
                self.encoder,
                workspace.index(self.encoder),
                self.library.passages,
                self.split,
                alignment=self.alignment(collection),
                asking_share=self.settings.asking_share,
                way=self.settings.search_way,
                dates=self.library.document_dates,
                reopen=lambda: workspace.index(self.encoder),
            )

        return Pipeline(
            library=self.library,
            collection=collection,
            open_retriever=open_retriever,
            open_generator=lambda: self.generator,
            propcite=self.propcite,
            num_passages=self.settings.num_passages,
            within=selected_passages(self.library, collection, documents, where),
        )

    def split(self, sentences: Sequence[str]) -> list[list[tuple[Span, ...]]]:
        """Split sentences into propositions, as spans."""
        found = self.splitter.split_many(sentences, [()] * len(sentences))
        return [[proposition.spans for proposition in propositions] for propositions in found]
