"""Split with a sequence-to-sequence checkpoint: SegmenT5 or the Dense X Propositionizer, local or from the hub.

The model's texts are aligned to the sentence; if it writes none, the sentence is its own proposition.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from propcite.attribution.checkpoints import load_seq2seq
from propcite.attribution.citations import Proposition
from propcite.attribution.errors import AttributionError
from propcite.attribution.propositions.alignment import propositions_from_texts
from propcite.attribution.propositions.sentence import trivial_split, without_markup

Style = Literal["auto", "segment", "propositionizer"]

BATCH = 8
WINDOW = 512  # tokens that both models were trained to read
MAX_NEW_TOKENS = {"segment": 256, "propositionizer": 512}  # as published
MIN_LENGTH = {"segment": 10, "propositionizer": 0}

_SEPARATOR = re.compile(r"\[\s*sep\s*\]", re.IGNORECASE)
_BETWEEN = re.compile(r'(?<!\\)"\s*,\s*"')
_ESCAPED = re.compile(r'\\(["\\/])')


class Seq2SeqSplitter:
    """Asks a checkpoint for the claims of each English sentence, in the checkpoint's own format.

    `model` is a folder or a hub name.  With the style "auto" its name must contain "segment" or "propositionizer".
    The Propositionizer reads `title` and `section` before each sentence.  Safe to share among threads.
    """

    def __init__(
        self,
        model: str,
        *,
        style: Style = "auto",
        title: str = "",
        section: str = "",
        device: str = "",
        batch_size: int = BATCH,
    ) -> None:
        if style not in ("auto", "segment", "propositionizer") or batch_size < 1:
            raise ValueError(
                f"expected style auto, segment or propositionizer and batch_size >= 1, got {style!r}, {batch_size}"
            )
        self._model, self._tokenizer = load_seq2seq(model, device)
        self.style = _style_of(model) if style == "auto" else style
        self.name = f"seq2seq/{Path(model).name}"
        self.title, self.section = title, section
        self.max_tokens = _window(self._model, self._tokenizer)
        self._batch_size = batch_size
        self._lock = threading.Lock()  # a fast tokenizer cannot be shared by two threads at once

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        return self.split_many([sentence], [context])[0]

    def split_many(
        self, sentences: Sequence[str], contexts: Sequence[Sequence[str]] | None = None
    ) -> list[list[Proposition]]:
        """Return the propositions per sentence; sentences of similar length share a batch."""
        contexts = [()] * len(sentences) if contexts is None else contexts
        if len(contexts) != len(sentences):
            raise ValueError(f"expected a context for each of {len(sentences)} sentences, got {len(contexts)}")
        blanks = [without_markup(sentence) for sentence in sentences]
        splits = [trivial_split(sentence, blank) for sentence, blank in zip(sentences, blanks, strict=True)]
        todo = [i for i, split in enumerate(splits) if split is None]
        for i, texts in zip(todo, self._texts([blanks[i] for i in todo]), strict=True):
            before = [self.title, *contexts[i]] if self.title else contexts[i]
            splits[i] = propositions_from_texts(sentences[i], texts, before)
        return [split or [] for split in splits]

    def _texts(self, sentences: Sequence[str]) -> list[list[str]]:
        """Return the model's propositions per sentence; none for a sentence that exceeds its window."""
        prompts = [self._prompt(sentence) for sentence in sentences]
        with self._lock:
            ids = [self._tokenizer(prompt, verbose=False)["input_ids"] for prompt in prompts]
            fitting = sorted((i for i in range(len(ids)) if len(ids[i]) <= self.max_tokens), key=lambda i: len(ids[i]))
            outputs: dict[int, tuple[str, bool]] = {}
            for first in range(0, len(fitting), self._batch_size):
                batch = fitting[first : first + self._batch_size]
                outputs.update(zip(batch, self._generate([ids[i] for i in batch]), strict=True))
        parse = parse_list if self.style == "propositionizer" else parse_segments
        return [parse(*outputs[i]) if i in outputs else [] for i in range(len(sentences))]

    def _prompt(self, sentence: str) -> str:
        text = " ".join(sentence.encode("utf-8", "replace").decode().split())  # no tokenizer accepts lone surrogates
        if self.style == "propositionizer":
            return f"Title: {self.title}. Section: {self.section}. Content: {text}"
        return f"segment sentence: {text}"

    def _generate(self, ids: Sequence[Sequence[int]]) -> list[tuple[str, bool]]:
        """Return one batch's outputs, each with whether the model ended it by itself."""
        import torch

        batch = self._tokenizer.pad({"input_ids": [list(row) for row in ids]}, return_tensors="pt")
        with torch.inference_mode():
            rows = self._model.generate(
                input_ids=batch["input_ids"].to(self._model.device),
                attention_mask=batch["attention_mask"].to(self._model.device),
                max_new_tokens=MAX_NEW_TOKENS[self.style],
                min_length=MIN_LENGTH[self.style],
                num_beams=1,
                do_sample=False,
                no_repeat_ngram_size=0,
            ).tolist()
        return [self._decoded(row) for row in rows]

    def _decoded(self, row: Sequence[int]) -> tuple[str, bool]:
        """Return the text without padding and the like; [sep] is kept even if it is a special token."""
        t, config = self._tokenizer, self._model.config
        skipped = {t.pad_token_id, t.eos_token_id, t.bos_token_id, t.unk_token_id, config.decoder_start_token_id}
        text = t.decode([token for token in row if token not in skipped], skip_special_tokens=False)
        return str(text), t.eos_token_id in row[1:]


def parse_segments(output: str, is_finished: bool = True) -> list[str]:
    """Return the propositions between SegmenT5's separators, except an unfinished last one.

    >>> parse_segments("Ada wrote.[sep]Ada sang.")
    ['Ada wrote.', 'Ada sang.']
    """
    texts = _SEPARATOR.split(output)
    return _stripped(texts if is_finished else texts[:-1])


def parse_list(output: str, is_finished: bool = True) -> list[str]:
    """Return the propositions of the Propositionizer's JSON list, even if it is cut off or has unescaped quotes.

    >>> parse_list('["Ada wrote.", "Ada sang."]'), parse_list('["Ada wrote "It".", "Ada sa', is_finished=False)
    (['Ada wrote.', 'Ada sang.'], ['Ada wrote "It".'])
    """
    body = output[output.find("[") :].strip() if "[" in output else ""
    try:
        value = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return _stripped(_parse_invalid(body, is_finished))
    return _stripped([text for text in value if isinstance(text, str)]) if isinstance(value, list) else []


def _parse_invalid(body: str, is_finished: bool) -> list[str]:
    """Return the texts of a list that is not valid JSON, split where one quotation ends and the next begins."""
    if not re.match(r'\[\s*"', body):
        return []
    inner = re.sub(r'^\[\s*"', "", body)
    whole_list = re.sub(r'"\s*,?\s*\]?\s*$', "", inner)
    texts = _BETWEEN.split(whole_list)
    if whole_list == inner and not is_finished:
        texts = texts[:-1]
    return [_ESCAPED.sub(r"\1", text) for text in texts]


def _stripped(texts: Sequence[str]) -> list[str]:
    return [text.strip() for text in texts if any(char.isalnum() for char in text)]


def _style_of(model: str) -> Literal["segment", "propositionizer"]:
    name = model.lower()
    if "propositionizer" in name:
        return "propositionizer"
    if "segment" in name:
        return "segment"
    raise AttributionError(f"the name {model} does not show its format: set style to segment or propositionizer")


def _window(model: Any, tokenizer: Any) -> int:
    """Return how many tokens the model may read; T5 itself has no limit, its training had."""
    limits = (
        getattr(tokenizer, "model_max_length", None),
        getattr(model.config, "n_positions", None),
        getattr(model.config, "max_position_embeddings", None),
    )
    return min([WINDOW, *(int(limit) for limit in limits if limit)])
