"""A language model in this process by vLLM: all questions, streamed or in batches, share one engine and its batches."""

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
from propcite.attribution.llm.server_events import Ended
from propcite.attribution.llm.thoughts import OPENS
from propcite.attribution.llm.usage import Usage, spend

QUIET = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1"}  # where a person has not set them
LAST = 8  # tokens of the prompt that may open thoughts


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How vLLM runs a model.  `context` is the longest prompt with its answer in tokens, 0 for the model's own."""

    context: int = 0
    dtype: str = "auto"
    tensor_parallel: int = 1
    gpu_share: float = 0.8
    prefix_caching: bool = True
    eager: bool = False


class VllmEngine:
    """Loads `model` when it is first asked; everything runs in the event loop that asks.

    `sampling` is vLLM's: max_tokens, temperature, seed.
    """

    def __init__(self, model: str, options: EngineOptions, sampling: Mapping[str, Any]) -> None:
        if find_spec("vllm") is None:
            raise AppError("vllm is not installed: pip install 'propcite[gpu]', or set PROPCITE_GENERATOR to another")
        self.model, self.options = model, options
        self.engine: Any = None  # vLLM's types are there only where vLLM is
        self._sampling = dict(sampling)
        self._loading = asyncio.Lock()

    async def stream(self, messages: list[Message]) -> AsyncGenerator[str | Ended, None]:
        """The text as it is written, in the end why it ended; closing it takes the request out of the batch."""
        async with self._loading:
            if self.engine is None:
                self._load()
        tokens = self._tokens(messages)
        room = self.engine.model_config.max_model_len - self._sampling["max_tokens"]
        if len(tokens) > room:
            raise TooLongError(f"{len(tokens):,} tokens where {max(0, room):,} have room beside the answer")
        opening = self.engine.get_tokenizer().decode(tokens[-LAST:]).rstrip()
        if opening.endswith(OPENS):
            yield OPENS[0]  # the template has begun the thoughts
        async with aclosing(self._written(tokens)) as pieces:
            async for piece in pieces:
                yield piece

    async def _written(self, tokens: list[int]) -> AsyncGenerator[str | Ended, None]:
        """Trouble is raised before the first word, and told as the end after it."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        params = SamplingParams(**self._sampling, output_kind=RequestOutputKind.DELTA)
        begun, reason, num_written = False, "", 0
        try:
            async with aclosing(self.engine.generate({"prompt_token_ids": tokens}, params, uuid4().hex)) as outputs:
                async for output in outputs:
                    said = output.outputs[0]
                    reason = said.finish_reason or reason
                    begun, num_written = begun or bool(said.text), num_written + len(said.token_ids)
                    yield said.text
        except Exception as error:  # vLLM's own, which differ from release to release
            if not begun:
                kind = TooLongError if is_too_long(str(error)) else NoAnswerError
                raise kind("vLLM stopped", one_line(str(error))) from error
            yield Ended(trouble="vLLM stopped in the middle of the answer", usage=Usage(len(tokens), num_written))
        else:
            yield Ended(reason, usage=Usage(len(tokens), num_written))
        finally:
            spend(Usage(len(tokens), num_written))

    def _load(self) -> None:
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        from vllm import AsyncEngineArgs, AsyncLLMEngine

        options = self.options
        try:
            self.engine = AsyncLLMEngine.from_engine_args(  # in no local name: vLLM keeps the frames that loaded it
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
                "a hub name, PROPCITE_VLLM_CONTEXT and PROPCITE_VLLM_GPU_SHARE how much memory it may take"
            ) from error
        atexit.register(self.close)  # while all that it needs for that is still there

    def close(self) -> None:
        """The engine's own processes end; the next question loads it anew."""
        if self.engine is not None:
            self.engine.shutdown()
            self.engine = None

    def _tokens(self, messages: list[Message]) -> list[int]:
        """The chat as the model's template writes it; a text cannot speak as one of the tokenizer's own signs."""
        tokenizer = self.engine.get_tokenizer()
        signs = [s for s in tokenizer.all_special_tokens if len(s) > 2 and not s.isalnum()]
        turns = [{**turn, "content": _without(turn["content"], signs)} for turn in messages]
        try:
            found = _templated(tokenizer, turns)
        except Exception:  # of the template: it may know no system
            try:
                found = _templated(tokenizer, without_system(turns))
            except Exception as error:
                raise AppError(
                    f"the chat template of {self.model!r} cannot be used ({one_line(str(error))}): take a model that "
                    "was trained to chat"
                ) from error
        return list(found["input_ids"] if hasattr(found, "keys") else found)


def _templated(tokenizer: Any, turns: list[Message]) -> Any:
    return tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=True)


def _without(text: str, signs: list[str]) -> str:
    for sign in signs:
        text = text.replace(sign, f"{sign[0]} {sign[1:]}")
    return text
