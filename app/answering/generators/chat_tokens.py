"""Turn a chat into the tokens that a model's own template makes of it."""

from __future__ import annotations

from typing import Any

from propcite.app.errors import AppError
from propcite.attribution.llm.endpoint import Message, without_system
from propcite.attribution.llm.failures import one_line
from propcite.attribution.llm.reasoning import START_TAGS

LAST = 8  # tokens at the end of the prompt that may open the reasoning


def chat_tokens(tokenizer: Any, messages: list[Message], model: str) -> list[int]:
    """Return the chat as the model's template writes it; special tokens in a text are broken up first."""
    special = [s for s in tokenizer.all_special_tokens if len(s) > 2 and not s.isalnum()]
    turns = [{**turn, "content": _without(turn["content"], special)} for turn in messages]
    try:
        chat = _templated(tokenizer, turns)
    except Exception:  # the template may know no system turn
        try:
            chat = _templated(tokenizer, without_system(turns))
        except Exception as error:
            raise AppError(
                f"the chat template of {model!r} cannot be used ({one_line(str(error))}): choose a model that "
                "was trained to chat"
            ) from error
    return list(chat["input_ids"] if hasattr(chat, "keys") else chat)


def opened_reasoning(tokenizer: Any, tokens: list[int]) -> str:
    """Return the tag of the reasoning where the chat template has opened it at the end of the prompt, else nothing."""
    return START_TAGS[0] if tokenizer.decode(tokens[-LAST:]).rstrip().endswith(START_TAGS) else ""


def _templated(tokenizer: Any, turns: list[Message]) -> Any:
    return tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=True)


def _without(text: str, special: list[str]) -> str:
    for token in special:
        text = text.replace(token, f"{token[0]} {token[1:]}")
    return text
