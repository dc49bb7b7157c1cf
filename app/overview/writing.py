"""Questions that a language model writes, where one is set; they are read like all others before they are offered."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

from propcite.app.answering.generators import Generator
from propcite.app.answering.generators.prompted import PromptedGenerator
from propcite.app.answering.prompts import SUGGEST, load_prompt
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.text import Passage

log = logging.getLogger("propcite.overview")
MAX_PASSAGES = 6  # shown to the model
MAX_QUESTION = 160  # characters
MAX_QUESTIONS = 6
_MARK = re.compile(r"^\W*(?:\d{1,2}[.):]\s*|question\s*\d*\s*:\s*)?\W*", re.IGNORECASE)


def written_questions(generator: Generator, passages: Sequence[Passage]) -> list[str]:
    """Return the questions that a language model writes of passages.

    Empty where the generator is no language model, and where that fails: the log then says why.
    """
    if not isinstance(generator, PromptedGenerator) or not passages:
        return []
    messages = load_prompt("suggest", SUGGEST).suggest_messages(passages[:MAX_PASSAGES])
    try:
        return questions_in(generator.reply(messages))
    except PropCiteError as error:
        log.warning("no questions were written: %s", error)
        return []


def questions_in(reply: str) -> list[str]:
    r"""Return the questions of a reply, one per line, without numbers and marks.

    >>> questions_in("Here they are:\n1. When was it opened?\n- **Who paid for the bridge?**")
    ['When was it opened?', 'Who paid for the bridge?']
    """
    lines = (_MARK.sub("", line, count=1).rstrip(" *_\"“”'’") for line in reply.splitlines())
    kept = (line for line in lines if line.endswith(("?", "？")) and len(line) <= MAX_QUESTION)
    return list(dict.fromkeys(kept))[:MAX_QUESTIONS]
