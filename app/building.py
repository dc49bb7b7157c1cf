"""Build the parts that the settings name.  Models are imported only when they are built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from propcite.app.errors import AppError
from propcite.app.library.lost_database import check_not_lost
from propcite.app.library.store import Library
from propcite.app.setting_values import SAMPLING
from propcite.app.settings import Settings
from propcite.retrieval.alignment import NEAREST

if TYPE_CHECKING:
    from propcite.app.answering.generators import Generator
    from propcite.app.answering.generators.prompted import Model
    from propcite.attribution.judges import Judge
    from propcite.attribution.judges.published_judges import PublishedName
    from propcite.attribution.propcite import PropCite
    from propcite.attribution.propositions import Splitter
    from propcite.attribution.questions.reader import QuestionReader
    from propcite.retrieval.encoding.encoder import Encoder

SERVER = ("PROPCITE_LLM_URL", "PROPCITE_LLM_KEY")  # what messages of the model's server tell people to correct
NOT_OPENAI = ("repetition_penalty",)  # fields of sampling that only some servers know


def build_library(settings: Settings) -> Library:
    """Open the library; StoreError if the data directory has indexes and its own database is empty or gone."""
    if not settings.database:
        check_not_lost(settings.data_dir)
    return Library(settings.database_url)


def build_encoder(settings: Settings) -> Encoder:
    from propcite.retrieval.encoding.encoder import Encoder

    return Encoder(
        settings.encoder, device=settings.device, batch_size=settings.batch_size, precision=settings.precision
    )


def build_splitter(settings: Settings) -> Splitter:
    if settings.splitter == "rules":
        from propcite.attribution.propositions.rules import RuleSplitter

        return RuleSplitter()
    if settings.splitter == "seq2seq":
        from propcite.attribution.propositions.seq2seq import Seq2SeqSplitter

        return Seq2SeqSplitter(_needed(settings, "splitter_model", "splitter"), device=settings.device)
    if settings.splitter == "llm":
        from propcite.attribution.llm.endpoint import EndpointNames
        from propcite.attribution.propositions.llm import LlmSplitter

        url, model = _needed(settings, "llm_url", "splitter"), _needed(settings, "splitter_model", "splitter")
        with _server_errors():
            return LlmSplitter(
                url, model, api_key=settings.llm_key, timeout=settings.llm_timeout, names=EndpointNames(*SERVER)
            )
    from propcite.attribution.propositions.learned import LearnedSplitter

    return LearnedSplitter()


def build_question_reader(settings: Settings) -> QuestionReader:
    from propcite.attribution.questions.reader import QuestionReader

    file = Path(settings.question_model).expanduser() if settings.question_model else None
    return QuestionReader(file, device=settings.device, precision=settings.precision)


def build_generator(settings: Settings) -> Generator:
    if settings.generator == "extractive":
        from propcite.app.answering.generators.extractive import ExtractiveGenerator

        return ExtractiveGenerator(build_question_reader(settings))
    from propcite.app.answering.generators.prompted import PromptedGenerator
    from propcite.app.answering.prompts import STANDALONE, load_prompt

    name, prompt = _model_name(settings), load_prompt(chosen_prompt(settings))
    alone = load_prompt(settings.follow_up_prompt, STANDALONE)
    shown = Path(name).name if settings.generator != "openai" and Path(name).is_dir() else name
    num_parallel = {"local": 1, "vllm": settings.vllm_parallel}.get(settings.generator, settings.llm_parallel)
    model = build_model(settings)
    return PromptedGenerator(f"{settings.generator}/{shown}", model, prompt, alone, num_parallel=num_parallel)


def build_model(settings: Settings) -> Model:
    """Build the language model that the generator asks; there is one for every generator but `extractive`."""
    sampling = _sampling(settings)
    if settings.generator == "local":
        return _local(settings, {**sampling, **settings.extra_body})
    if settings.generator == "vllm":
        return _vllm(settings, {**sampling, **settings.extra_body})
    from propcite.attribution.llm.endpoint import Endpoint, EndpointNames

    url, model = _needed(settings, "llm_url", "generator"), _model_name(settings)
    with _server_errors():
        extra = {**{name: sampling.pop(name) for name in NOT_OPENAI if name in sampling}, **settings.extra_body}
        return Endpoint(
            url,
            model,
            sampling,
            extra=extra,
            api_key=settings.llm_key,
            timeout=settings.llm_timeout,
            names=EndpointNames(*SERVER),
        )


def chosen_prompt(settings: Settings) -> str:
    """Return the name of the prompt that a language model gets, or its file."""
    from propcite.app.answering.prompts.choosing import prompt_for

    model = _model_name(settings) if settings.generator == "local" else settings.generator_model
    return prompt_for(settings.prompt, model)


def _sampling(settings: Settings) -> dict[str, Any]:
    """Return how a language model samples, without what is not set."""
    values = {name: getattr(settings, name) for name in SAMPLING}
    return {name: value for name, value in values.items() if value not in (None, [])}


def _model_name(settings: Settings) -> str:
    if settings.generator == "local" and not settings.generator_model:
        from propcite.app.answering.generators.smollm2 import NAME

        return NAME
    return _needed(settings, "generator_model", "generator")


def _local(settings: Settings, sampling: Mapping[str, Any]) -> Model:
    from propcite.app.answering.generators.local_model import LocalModel
    from propcite.app.answering.generators.smollm2 import check_smollm2, smollm2_folder

    if not settings.generator_model:
        check_smollm2(settings.data_dir)
    return LocalModel(
        lambda: settings.generator_model or str(smollm2_folder(settings.data_dir)),
        sampling,
        device=settings.device,
        precision=settings.precision,
    )


def _vllm(settings: Settings, sampling: Mapping[str, Any]) -> Model:
    from propcite.app.answering.generators.vllm_engine import EngineOptions, VllmEngine

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
    """Build the judge; None if similarity decides.  `encoder` is called only if the judge uses it."""
    if settings.judge == "none":
        return None
    if settings.judge == "embedded":
        from propcite.attribution.judges.embedded import EmbeddedJudge

        return EmbeddedJudge(encoder(), supported_from=settings.supported_from)
    if settings.judge == "reader":
        from propcite.attribution.judges.reader import ReaderJudge
        from propcite.attribution.judges.reader_files import READER

        return ReaderJudge(
            encoder(),
            folder=Path(settings.judge_model).expanduser() if settings.judge_model else READER,
            device=settings.device,
            precision=settings.precision,
            supported_from=settings.supported_from,
        )
    judge = _outside_judge(settings)
    if not settings.judge_checks:
        return judge
    from propcite.attribution.judges.word_checks import WordCheckedJudge

    return WordCheckedJudge(judge, supported_from=settings.supported_from)


def reading_precision(settings: Settings) -> str:
    """Return the precision that passages are encoded with on this machine, without loading the encoder."""
    from propcite.retrieval.encoding.precision import resolve_precision

    return resolve_precision(settings.precision, _device(settings))


def could_read_faster(settings: Settings) -> bool:
    from propcite.retrieval.encoding.precision import openvino_would_help

    return openvino_would_help(settings.precision, _device(settings))


def _device(settings: Settings) -> str:
    """The kind of device that networks are put on."""
    import torch

    best = torch.accelerator.current_accelerator(check_available=True)
    return str(settings.device or best or "cpu").split(":")[0]


def _outside_judge(settings: Settings) -> Judge:
    """A language model or a published network."""
    if settings.judge == "llm":
        from propcite.attribution.judges.llm import LlmJudge
        from propcite.attribution.llm.endpoint import EndpointNames

        url, model = _needed(settings, "llm_url", "judge"), _needed(settings, "judge_model", "judge")
        with _server_errors():
            return LlmJudge(
                url,
                model,
                api_key=settings.llm_key,
                timeout=settings.llm_timeout,
                supported_from=settings.supported_from,
                names=EndpointNames(*SERVER),
            )
    from propcite.attribution.judges.entailment import BATCH_SIZE
    from propcite.attribution.judges.published_judges import published_judge

    return published_judge(
        cast("PublishedName", settings.judge),
        settings.judge_model,
        labels=[label for label in settings.judge_labels.split(",") if label.strip()],
        device=settings.device,
        precision=settings.precision,
        supported_from=settings.supported_from,
        batch_size=settings.batch_size or BATCH_SIZE,
    )


@contextmanager
def _server_errors() -> Iterator[None]:
    """Report an invalid server address or key as a wrong setting."""
    try:
        yield
    except ValueError as error:
        raise AppError(f"PROPCITE_LLM_URL or PROPCITE_LLM_KEY cannot be used: {error}") from error


def _needed(settings: Settings, name: str, part: str) -> str:
    value: str = getattr(settings, name)
    if not value:
        raise AppError(f"this {part} needs a setting: give PROPCITE_{name.upper()}")
    return value


def build_propcite(settings: Settings, encoder: Encoder, splitter: Splitter, judge: Judge | None) -> PropCite:
    from propcite.attribution.propcite import PropCite

    return PropCite(
        encoder,
        splitter=splitter,
        judge=judge,
        method=settings.method,
        max_citations=settings.most_citations,
        min_score=settings.min_score,
        min_margin=settings.min_margin,
        alignment=settings.alignment or NEAREST,
        question_reader=build_question_reader(settings),
    )
