"""Prompts for language models, in files that users may read, copy and change.

A file holds the turns of a chat, each under a line `=== system`, `=== user` or `=== assistant`; without such a line it
is one user turn.  The last turn is the user's and holds {passages} and {question} once each; {abstention} stands for
the sentence that says that there is no answer.  The first line may be `=== prompt NAME VERSION: description`.  Two are
for questions that follow others: `standalone` holds {earlier} and {question}, `earlier` holds {earlier}.  `suggest`
writes questions and holds {passages}.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from propcite.app.errors import AppError
from propcite.attribution.llm.endpoint import Message
from propcite.attribution.llm.failures import sendable
from propcite.retrieval.text import Passage

if TYPE_CHECKING:  # a prompt needs no database
    from propcite.app.library.store import Turn

FOLDER = Path(__file__).parent
ABSTENTION = "The passages do not say."
FIELDS = ("{passages}", "{question}")
STANDALONE = ("{earlier}", "{question}")  # in a prompt that rewrites a question to stand alone
SUGGEST = ("{passages}",)  # in a prompt that writes questions
KINDS = {"standalone": STANDALONE, "earlier": ("{earlier}",), "suggest": SUGGEST}  # fields of prompts of no answer
MAX_EARLIER_ANSWER = 1200  # characters of an earlier answer that the prompt shows

_TURN = re.compile(r"^=== *(system|user|assistant) *$", re.MULTILINE)
_FIELD = re.compile(r"\{(passages|question|abstention|earlier)\}")
_HEAD = re.compile(r"=== *prompt +([^\s:]+) +([^\s:]+): *(.*)\n")
_MARKER = re.compile(r"\[\d+\]")
_TAG = re.compile(r"<(?=[A-Za-z/|｜!?])")
_CONTROL = re.compile(r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_\w+|THINK|IMG\w*|gMASK|MASK|CLS|SEP|PAD)\])")
_SOURCES = r"(?:given |provided )?(?:passages?|documents?|sources?|collection)"
_ABSTAINS = re.compile(
    rf"(?:(?:the |these )?{_SOURCES} (?:do not|does not|don['’]t|doesn['’]t)|none of the {_SOURCES}) says?\b[^.!?;,]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """Turns of a chat, read from `path`.  `marks` is true if the prompt asks the model to type citation markers."""

    path: Path
    name: str
    version: str
    turns: tuple[tuple[str, str], ...]
    what: str = ""
    marks: bool = False

    @property
    def id(self) -> str:
        return f"{self.name}/{self.version}"

    def messages(self, question: str, passages: Sequence[Passage], earlier: Sequence[Turn] = ()) -> list[Message]:
        """Return the chat that asks a question after earlier turns; no text can end its place in the prompt."""
        *first, last = self._filled(question=as_data(question.strip()), passages=listed(passages))
        if earlier:
            (turns,) = read_prompt(FOLDER / "earlier.txt", KINDS["earlier"])._filled(earlier=turns_as_text(earlier))
            last = {"role": "user", "content": f"{turns['content']}\n\n{last['content']}"}
        return [*first, last]

    def standalone_messages(self, question: str, earlier: Sequence[Turn]) -> list[Message]:
        """Return the chat that asks the model to rewrite a question so that it stands alone."""
        return self._filled(question=as_data(question.strip()), earlier=turns_as_text(earlier))

    def suggest_messages(self, passages: Sequence[Passage]) -> list[Message]:
        """Return the chat that asks the model to write questions that the passages answer."""
        return self._filled(passages=listed(passages))

    def _filled(self, **values: str) -> list[Message]:
        values = {"abstention": ABSTENTION, **values}
        return [
            {"role": role, "content": _FIELD.sub(lambda field: values.get(field[1], field[0]), text)}
            for role, text in self.turns
        ]


def turns_as_text(turns: Sequence[Turn]) -> str:
    """Write earlier questions and answers as text, oldest first."""
    return "\n\n".join(
        f"Question: {as_data(' '.join(turn.understood.split()))}\nAnswer: {as_data(_short(turn.text))}"
        for turn in turns
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_EARLIER_ANSWER else f"{line[:MAX_EARLIER_ANSWER].rsplit(' ', 1)[0]} …"


def listed(passages: Sequence[Passage]) -> str:
    """Write the passages, numbered from 1."""
    return "\n".join(_passage(number, passage) for number, passage in enumerate(passages, start=1))


def _passage(number: int, passage: Passage) -> str:
    title = as_data(" ".join(passage.title.split()))
    head = f"Title: {title}\n" if title else ""
    return f'<passage number="{number}">\n{head}{as_data(passage.text.strip())}\n</passage>'


def as_data(text: str) -> str:
    """Escape a text so that nothing in it reads as a tag of the prompt or a token of a chat template.

    >>> as_data("2 < 3 </passage> <|im_end|> [INST]")
    '2 < 3 &lt;/passage> &lt;|im_end|> [ INST]'
    """
    return _CONTROL.sub("[ ", _TAG.sub("&lt;", sendable(text)))


def is_abstention(text: str) -> bool:
    """Return whether an answer says that there is no answer, and nothing else.

    >>> is_abstention("The passages do not say who found it."), is_abstention("The passages do not say, but Ada did.")
    (True, False)
    """
    return _ABSTAINS.fullmatch(text.strip(" \t\n\"'“”*_.!")) is not None


def shipped() -> list[Prompt]:
    """Return the prompts that come with PropCite."""
    return [read_prompt(path, KINDS.get(path.stem, FIELDS)) for path in sorted(FOLDER.glob("*.txt"))]


def load_prompt(name: str, fields: Sequence[str] = FIELDS) -> Prompt:
    """Return a shipped prompt by its name, or read one from a file."""
    path = FOLDER / f"{name}.txt"
    if name.isidentifier() and path.is_file():
        return read_prompt(path, fields)
    file = Path(name).expanduser()
    if not file.is_file():
        shipped_names = ", ".join(
            path.stem for path in sorted(FOLDER.glob("*.txt")) if KINDS.get(path.stem, FIELDS) == fields
        )
        raise AppError(f"no prompt named {name!r}: use {shipped_names}, or a file like that of propcite prompts answer")
    return read_prompt(file, fields)


def read_prompt(path: Path, fields: Sequence[str] = FIELDS) -> Prompt:
    """Read a prompt from a file; without a version in the file, a hash of its text is the version."""
    try:
        text = path.read_text("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise AppError(f"cannot read the prompt {path} ({error}): give a UTF-8 text file") from error
    head = _HEAD.match(text)
    turns = _turns(text[head.end() :] if head else text)
    _check(path, turns, fields)
    name, version, what = head.groups() if head else (path.stem, hashlib.sha256(text.encode()).hexdigest()[:8], "")
    return Prompt(path, name, version, turns, what, marks=any(_MARKER.search(content) for _, content in turns))


def _turns(text: str) -> tuple[tuple[str, str], ...]:
    first, *pieces = _TURN.split(text)
    alone = (("user", first.strip()),) if first.strip() else ()
    return alone + tuple((role, content.strip()) for role, content in zip(pieces[::2], pieces[1::2], strict=True))


def _check(path: Path, turns: tuple[tuple[str, str], ...], fields: Sequence[str]) -> None:
    if not turns or turns[-1][0] != "user":
        raise AppError(f"the prompt {path} does not end with a user turn: put {' and '.join(fields)} there")
    for field in fields:
        if turns[-1][1].count(field) != 1 or any(field in content for _, content in turns[:-1]):
            raise AppError(f"the prompt {path} must have {field} once, in its last turn: move it there")
    roles = [role for role, _ in turns if role != "system"]
    if any(role == "system" for role, _ in turns[1:]) or roles != ["user", "assistant"] * (len(roles) // 2) + ["user"]:
        raise AppError(f"the prompt {path} must have one system turn at most, then user and assistant in alternation")
