"""Run a language model in this process by vLLM; all questions, streamed or not, share one engine."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import signature
from typing import Any
from uuid import uuid4

from propcite.app.answering.generators.chat_tokens import chat_tokens, opened_reasoning
from propcite.app.answering.generators.vllm_failures import GUARD, ProcessLog, texts_of, why_not_started
from propcite.app.errors import AppError
from propcite.attribution.llm.endpoint import Message
from propcite.attribution.llm.failures import NoAnswerError, TooLongError, is_too_long, one_line
from propcite.attribution.llm.server_events import StreamEnd
from propcite.attribution.llm.usage import Usage, record_usage
from propcite.retrieval.encoding.loading import hub_revision
from propcite.retrieval.extras import install_command

QUIET = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1"}  # unless the user has set them


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How vLLM runs a model.  `context` is the longest prompt plus answer in tokens; 0 takes the model's own limit."""

    context: int = 0
    dtype: str = "auto"
    tensor_parallel: int = 1
    gpu_share: float = 0.8
    prefix_caching: bool = True
    eager: bool = False


class VllmEngine:
    """Loads `model` at the first request; everything runs in the event loop of the caller.

    `sampling` holds vLLM's sampling parameters: max_tokens, temperature, seed and others.
    """

    def __init__(self, model: str, options: EngineOptions, sampling: Mapping[str, Any]) -> None:
        if find_spec("vllm") is None:
            raise AppError(f"vllm is not installed: {install_command('gpu')}, or set another PROPCITE_GENERATOR")
        self.model, self.options = model, options
        self.engine: Any = None  # vLLM's types exist only where vLLM is installed
        self._sampling = dict(sampling)
        self._loading = asyncio.Lock()

    async def stream(self, messages: list[Message]) -> AsyncGenerator[str | StreamEnd, None]:
        """Yield the text as it is written, then why it ended; closing it removes the request from the batch."""
        async with self._loading:
            if self.engine is None:
                self._load()
        tokens = self._tokens(messages)
        room = self.engine.model_config.max_model_len - self._sampling["max_tokens"]
        if len(tokens) > room:
            raise TooLongError(f"{len(tokens):,} tokens where {max(0, room):,} fit beside the answer")
        if opening := opened_reasoning(self.engine.get_tokenizer(), tokens):
            yield opening
        async with aclosing(self._written(tokens)) as pieces:
            async for piece in pieces:
                yield piece

    def _params(self) -> Any:
        """Return the sampling parameters as vLLM's own object; what vLLM does not know or accept raises AppError."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        known = signature(SamplingParams).parameters
        if unknown := sorted(name for name in self._sampling if name not in known or name.startswith("_")):
            raise AppError(
                f"PROPCITE_EXTRA_BODY has {unknown[0]!r}, which is no sampling parameter of vLLM in this process: "
                "leave it out, or use vLLM's server (PROPCITE_GENERATOR=openai)"
            )
        try:
            return SamplingParams(**{**self._sampling, "output_kind": RequestOutputKind.DELTA})
        except Exception as error:  # vLLM's exceptions differ between releases
            raise AppError(f"vLLM refuses how it should sample: {one_line(str(error))}") from error

    async def _written(self, tokens: list[int]) -> AsyncGenerator[str | StreamEnd, None]:
        """Raise an error before the first word; after it, report the error as the end of the stream."""
        params = self._params()
        begun, reason, num_written = False, "", 0
        try:
            async with aclosing(self.engine.generate({"prompt_token_ids": tokens}, params, uuid4().hex)) as outputs:
                async for output in outputs:
                    delta = output.outputs[0]
                    reason = delta.finish_reason or reason
                    begun, num_written = begun or bool(delta.text), num_written + len(delta.token_ids)
                    yield delta.text
        except Exception as error:  # vLLM's exceptions differ between releases
            if not begun:
                kind = TooLongError if is_too_long(str(error)) else NoAnswerError
                raise kind("vLLM stopped", one_line(str(error))) from error
            yield StreamEnd(error="vLLM stopped in the middle of the answer", usage=Usage(len(tokens), num_written))
        else:
            yield StreamEnd(reason, usage=Usage(len(tokens), num_written))
        finally:
            record_usage(Usage(len(tokens), num_written))

    def _load(self) -> None:
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        log = ProcessLog()
        try:
            with log.kept():
                self._params()  # a wrong one is refused at once
                self._start()
        except AppError:
            raise
        except Exception as error:
            why = why_not_started(self.model, [*texts_of(error), log.text])
            if GUARD in why and not log.text:  # here the script runs again: its first process reads this
                logging.getLogger("vllm").error(str(error))
            raise AppError(why) from error
        atexit.register(self.close)  # while everything it needs to shut down still exists

    def _start(self) -> None:
        from vllm import AsyncEngineArgs, AsyncLLMEngine

        options = self.options
        name, revision = hub_revision(self.model)
        self.engine = AsyncLLMEngine.from_engine_args(  # in no local variable: vLLM keeps the frames that load it
            AsyncEngineArgs(
                model=name,
                revision=revision or None,
                tokenizer_revision=revision or None,
                max_model_len=options.context or None,
                dtype=options.dtype,
                tensor_parallel_size=options.tensor_parallel,
                gpu_memory_utilization=options.gpu_share,
                enable_prefix_caching=options.prefix_caching,
                enforce_eager=options.eager,
            )
        )

    def close(self) -> None:
        """End the engine's processes; the next question loads it again."""
        if self.engine is not None:
            self.engine.shutdown()
            self.engine = None

    def _tokens(self, messages: list[Message]) -> list[int]:
        return chat_tokens(self.engine.get_tokenizer(), messages, self.model)
