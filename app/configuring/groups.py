"""The settings that the page offers, by group; `more` has those that few people need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """Settings that are tried and changed together."""

    name: str
    title: str
    main: tuple[str, ...]
    more: tuple[str, ...] = ()

    @property
    def settings(self) -> tuple[str, ...]:
        return self.main + self.more


GROUPS = (
    Group(
        "model",
        "Language model",
        ("generator", "generator_model", "llm_url", "llm_key", "temperature", "max_tokens", "llm_timeout"),
        (
            *("prompt", "follow_up_prompt", "seed", "stop", "top_p"),
            *("frequency_penalty", "presence_penalty", "repetition_penalty", "extra_body", "llm_parallel"),
            *("vllm_context", "vllm_dtype", "vllm_gpu_share", "vllm_tensor_parallel", "vllm_prefix_caching"),
            *("vllm_eager", "vllm_parallel"),
        ),
    ),
    Group(
        "judge",
        "Checking",
        ("judge", "judge_model", "supported_from", "min_score"),
        ("judge_checks", "judge_labels"),
    ),
    Group("encoder", "Searching", ("encoder", "device", "precision", "batch_size")),
    Group(
        "answers",
        "Answers",
        ("num_passages", "most_citations", "min_margin", "search_way"),
        ("alignment", "asking_share", "splitter", "splitter_model", "question_model", "method"),
    ),
)


def takes_effect(names: Iterable[str]) -> str:
    """Say when changed settings take effect.

    >>> takes_effect(["hosts"])
    'Commands use it from now on; a running page, propcite serve or mcp when it is started again.'
    """
    at_once = {name for group in GROUPS for name in group.settings}
    if set(names) <= at_once:
        return "Commands and the page use it from now on; a running propcite serve or mcp when it is started again."
    return "Commands use it from now on; a running page, propcite serve or mcp when it is started again."
