"""Take an answer out of the JSON or the code fence in which some language models wrap it, and name odd replies."""

from __future__ import annotations

import json
import re
from typing import Any

from propcite.attribution.llm.failures import sendable
from propcite.attribution.prose.sentences import sentences_of

FIELDS = ("answer", "response", "text", "output")  # of a JSON object, which hold an answer
PROSE = ("", "text", "txt", "plain", "plaintext", "markdown", "md")  # languages of a fence around prose
MAX_INFO = 20  # characters behind the marks that open a fence around an answer
AGAIN = "ask again, or choose another model"

_OPENING = re.compile(rf"\s*(?P<marks>`{{3,}}|~{{3,}})[ \t]*(?P<language>\w{{0,{MAX_INFO}}})[ \t]*\n")
_FENCE = re.compile(rf"(?<![`~])(?:`{{3,}}+|~{{3,}}+)[ \t]*+\w{{0,{MAX_INFO}}}+[ \t]*+\n")  # anywhere in a text
_OPENS = re.compile(rf"\s*(?:`{{1,2}}|~{{1,2}}|(?:`{{3,}}|~{{3,}})[ \t]*\w{{0,{MAX_INFO}}}[ \t]*)?\Z")
_OBJECT = re.compile(r'\s*\{\s*(?:"|\}|\Z)')
_CUT_FIELD = re.compile(  # in an object that does not end: the field may not end either
    rf'\s*\{{\s*"(?P<name>{"|".join(FIELDS)})"\s*:\s*"(?P<value>(?:[^"\\]|\\u[0-9a-fA-F]{{4}}|\\[^u])*)'
    r'(?:\\(?:u[0-9a-fA-F]{0,3})?|"\s*(?P<others>,\s*(?:".*)?)?)?\Z',
    re.DOTALL,
)


class Unwrapping:
    """Passes a reply on.  One that begins like JSON or a code fence is held back until it shows what it is.

    `note` tells a reader what was left out with the wrapping; it is empty where nothing was.
    """

    def __init__(self) -> None:
        self.note = ""
        self._held, self._is_open = "", False

    def feed(self, text: str) -> str:
        if self._is_open:
            return text
        self._held += text
        return "" if _may_be_wrapped(self._held) else self._pass_on(self._held)

    def finish(self) -> str:
        """Return what was held back, without its wrapping, at the end of the reply."""
        if self._is_open:
            return ""
        inside = _inside_fence(self._held)
        answer, self.note = _answer_in(self._held if inside is None else inside)
        if answer is not None:
            return self._pass_on(answer)
        opening = _OPENING.match(self._held)
        is_prose = opening is not None and opening["language"].lower() in PROSE
        return self._pass_on(inside if inside is not None and is_prose else self._held)

    def _pass_on(self, text: str) -> str:
        self._held, self._is_open = "", True
        return text


def what_it_is(text: str) -> str:
    """Return a note on a reply without a sentence, or one that is JSON; empty for other replies.

    >>> what_it_is("# Costs"), what_it_is("It cost 5 euros.")
    ('the answer is only a heading: ask again, or choose another model', '')
    """
    inside = _inside_fence(text)
    whole = text if inside is None else inside
    if _OBJECT.match(whole) or isinstance(_json(whole), dict | list):
        return f"the answer is JSON, not prose: {AGAIN}"
    if sentences_of(text):
        return ""
    kind = "code" if _FENCE.search(text) else "a heading"
    return f"the answer is only {kind}: {AGAIN}"


def _may_be_wrapped(text: str) -> bool:
    if not text.strip() or _OPENS.match(text):
        return True
    inside = _inside_fence(text)
    if inside is None:
        return _OBJECT.match(text) is not None and not _text_after_object(text)
    opening = _OPENING.match(text)
    return opening is not None and opening["language"].lower() in (*PROSE, "json")


def _inside_fence(text: str) -> str | None:
    """Return what stands in a fence around the whole text, which may not be closed yet; None where there is none."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    closing = re.compile(rf"^[ \t]*{re.escape(opening['marks'])}[ \t]*$", re.MULTILINE).search(text, opening.end())
    if closing is None:
        return text[opening.end() :]
    return None if text[closing.end() :].strip() else text[opening.end() : closing.start()].rstrip("\n")


def _text_after_object(text: str) -> bool:
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return False
    return bool(text.lstrip()[end:].strip())


def _answer_in(text: str) -> tuple[str | None, str]:
    """Return the one field of a JSON object that holds an answer, and a note on its other fields; else None."""
    value = _json(text)
    if isinstance(value, dict):
        names = [name for name in value if name.lower() in FIELDS and isinstance(value[name], str)]
        if len(names) != 1:
            return None, ""
        others = ", ".join(name for name in value if name not in names)
        return sendable(value[names[0]]), _only_shown(names[0], others) if others else ""
    cut = _CUT_FIELD.match(text)
    if value is not None or cut is None:
        return None, ""
    return sendable(_json(f'"{cut["value"]}"')), _only_shown(cut["name"], "what follows") if cut["others"] else ""


def _only_shown(name: str, others: str) -> str:
    return f"the model wrote JSON, of which only {name!r} is shown, without {others}"


def _json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
