"""Run a language model in this process by vLLM; all questions, streamed or not, share one engine."""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from uuid import uuid4

from propcite.app.errors import AppError
from propcite.attribution.llm.endpoint import Message, without_system
from propcite.attribution.llm.failures import NoAnswerError, TooLongError, is_too_long, one_line
from propcite.attribution.llm.reasoning import START_TAGS
from propcite.attribution.llm.server_events import StreamEnd
from propcite.attribution.llm.usage import Usage, record_usage
from propcite.retrieval.extras import install_command

QUIET = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1"}  # unless the user has set them
LAST = 8  # tokens at the end of the prompt that may open the reasoning


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

    `sampling` holds vLLM's sampling parameters: max_tokens, temperature, seed.
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
        opening = self.engine.get_tokenizer().decode(tokens[-LAST:]).rstrip()
        if opening.endswith(START_TAGS):
            yield START_TAGS[0]  # the chat template has begun the reasoning
        async with aclosing(self._written(tokens)) as pieces:
            async for piece in pieces:
                yield piece

    async def _written(self, tokens: list[int]) -> AsyncGenerator[str | StreamEnd, None]:
        """Raise an error before the first word; after it, report the error as the end of the stream."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        params = SamplingParams(**self._sampling, output_kind=RequestOutputKind.DELTA)
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
        from vllm import AsyncEngineArgs, AsyncLLMEngine

        options = self.options
        try:
            self.engine = AsyncLLMEngine.from_engine_args(  # in no local variable: vLLM keeps the frames that load it
                AsyncEngineArgs(
                    model=self.model,
                    max_model_len=options.context or None,
                    dtype=options.dtype,
                    tensor_parallel_size=options.tensor_parallel,
                    gpu_memory_utilization=options.gpu_share,
                    enable_prefix_caching=options.prefix_caching,
                    enforce_eager=options.eager,
                )
            )
        except Exception as error:
            raise AppError(
                f"vLLM cannot load {self.model!r} ({one_line(str(error))}): PROPCITE_GENERATOR_MODEL names a folder or "
                "a hub name, PROPCITE_VLLM_CONTEXT and PROPCITE_VLLM_GPU_SHARE how much memory it may use"
            ) from error
        atexit.register(self.close)  # while everything it needs to shut down still exists

    def close(self) -> None:
        """End the engine's processes; the next question loads it again."""
        if self.engine is not None:
            self.engine.shutdown()
            self.engine = None

    def _tokens(self, messages: list[Message]) -> list[int]:
        """Return the chat as the model's template writes it; special tokens in a text are broken up first."""
        tokenizer = self.engine.get_tokenizer()
        special = [s for s in tokenizer.all_special_tokens if len(s) > 2 and not s.isalnum()]
        turns = [{**turn, "content": _without(turn["content"], special)} for turn in messages]
        try:
            chat = _templated(tokenizer, turns)
        except Exception:  # the template may know no system turn
            try:
                chat = _templated(tokenizer, without_system(turns))
            except Exception as error:
                raise AppError(
                    f"the chat template of {self.model!r} cannot be used ({one_line(str(error))}): choose a model that "
                    "was trained to chat"
                ) from error
        return list(chat["input_ids"] if hasattr(chat, "keys") else chat)


def _templated(tokenizer: Any, turns: list[Message]) -> Any:
    return tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=True)


def _without(text: str, special: list[str]) -> str:
    for token in special:
        text = text.replace(token, f"{token[0]} {token[1:]}")
    return text
