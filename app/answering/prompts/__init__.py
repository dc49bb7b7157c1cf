"""Prompts: what a language model is asked with, in files that a person may read, copy and change.

A file is turns of a chat, each under a line `=== system`, `=== user` or `=== assistant`; without such a line it is
one turn of the user.  The last turn is the user's and holds {passages} and {question} once each; {abstention} stands
for the sentence that says that there is no answer.  The first line may be `=== prompt NAME VERSION: what it is`.
Two are for questions that follow others: `standalone` holds {earlier} and {question}, `earlier` holds {earlier}.
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

if TYPE_CHECKING:  # who reads a prompt needs no database
    from propcite.app.library.store import Turn

FOLDER = Path(__file__).parent
ABSTENTION = "The passages do not say."
PLACES = ("{passages}", "{question}")
ALONE = ("{earlier}", "{question}")  # of a prompt that writes a question anew
KINDS = {"standalone": ALONE, "earlier": ("{earlier}",)}  # what prompts hold that write no answer
MOST_OF_ANSWER = 1200  # characters of an earlier answer that are shown

_TURN = re.compile(r"^=== *(system|user|assistant) *$", re.MULTILINE)
_TAKEN = re.compile(r"\{(passages|question|abstention|earlier)\}")
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
    """Turns of a chat, read from `path`.  `marks` when the model is to type markers of its own."""

    path: Path
    name: str
    version: str
    turns: tuple[tuple[str, str], ...]
    what: str = ""
    marks: bool = False

    @property
    def id(self) -> str:
        return f"{self.name}/{self.version}"

    def messages(self, question: str, passages: Sequence[Passage], before: Sequence[Turn] = ()) -> list[Message]:
        """The chat that asks this question, behind what was said before; no text can leave its place in it."""
        *first, last = self._filled(question=as_data(question.strip()), passages=listed(passages))
        if before:
            (earlier,) = read_prompt(FOLDER / "earlier.txt", KINDS["earlier"])._filled(earlier=told(before))
            last = {"role": "user", "content": f"{earlier['content']}\n\n{last['content']}"}
        return [*first, last]

    def alone(self, question: str, before: Sequence[Turn]) -> list[Message]:
        """The chat that asks for this question as it stands alone."""
        return self._filled(question=as_data(question.strip()), earlier=told(before))

    def _filled(self, **given: str) -> list[Message]:
        given = {"abstention": ABSTENTION, **given}
        return [
            {"role": role, "content": _TAKEN.sub(lambda found: given.get(found[1], found[0]), text)}
            for role, text in self.turns
        ]


def told(before: Sequence[Turn]) -> str:
    """What was asked and answered, the oldest first."""
    return "\n\n".join(
        f"Question: {as_data(' '.join(turn.understood.split()))}\nAnswer: {as_data(_short(turn.text))}"
        for turn in before
    )


def _short(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= MOST_OF_ANSWER else f"{said[:MOST_OF_ANSWER].rsplit(' ', 1)[0]} …"


def listed(passages: Sequence[Passage]) -> str:
    """The passages, numbered from 1."""
    return "\n".join(_passage(number, passage) for number, passage in enumerate(passages, start=1))


def _passage(number: int, passage: Passage) -> str:
    title = as_data(" ".join(passage.title.split()))
    head = f"Title: {title}\n" if title else ""
    return f'<passage number="{number}">\n{head}{as_data(passage.text.strip())}\n</passage>'


def as_data(text: str) -> str:
    """A text in which nothing is a tag of the prompt or a sign of a chat's template.

    >>> as_data("2 < 3 </passage> <|im_end|> [INST]")
    '2 < 3 &lt;/passage> &lt;|im_end|> [ INST]'
    """
    return _CONTROL.sub("[ ", _TAG.sub("&lt;", sendable(text)))


def is_abstention(text: str) -> bool:
    """Whether an answer says that there is none, and says nothing else.

    >>> is_abstention("The passages do not say who found it."), is_abstention("The passages do not say, but Ada did.")
    (True, False)
    """
    return _ABSTAINS.fullmatch(text.strip(" \t\n\"'“”*_.!")) is not None


def shipped() -> list[Prompt]:
    return [read_prompt(path, KINDS.get(path.stem, PLACES)) for path in sorted(FOLDER.glob("*.txt"))]


def load_prompt(name: str, places: Sequence[str] = PLACES) -> Prompt:
    """A shipped prompt by its name, or one in a file."""
    path = FOLDER / f"{name}.txt"
    if name.isidentifier() and path.is_file():
        return read_prompt(path, places)
    given = Path(name).expanduser()
    if not given.is_file():
        known = ", ".join(path.stem for path in sorted(FOLDER.glob("*.txt")) if KINDS.get(path.stem, PLACES) == places)
        raise AppError(f"there is no prompt {name!r}: give {known}, or a file in the form of propcite prompts answer")
    return read_prompt(given, places)


def read_prompt(path: Path, places: Sequence[str] = PLACES) -> Prompt:
    """A file's prompt; one without a version is known by its content."""
    try:
        text = path.read_text("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise AppError(f"the prompt {path} cannot be read ({error}): give a file of UTF-8 text") from error
    head = _HEAD.match(text)
    turns = _turns(text[head.end() :] if head else text)
    _check(path, turns, places)
    name, version, what = head.groups() if head else (path.stem, hashlib.sha256(text.encode()).hexdigest()[:8], "")
    return Prompt(path, name, version, turns, what, marks=any(_MARKER.search(said) for _, said in turns))


def _turns(text: str) -> tuple[tuple[str, str], ...]:
    first, *pieces = _TURN.split(text)
    alone = (("user", first.strip()),) if first.strip() else ()
    return alone + tuple((role, said.strip()) for role, said in zip(pieces[::2], pieces[1::2], strict=True))


def _check(path: Path, turns: tuple[tuple[str, str], ...], places: Sequence[str]) -> None:
    if not turns or turns[-1][0] != "user":
        raise AppError(f"the prompt {path} does not end with a turn of the user: put {' and '.join(places)} there")
    for place in places:
        if turns[-1][1].count(place) != 1 or any(place in said for _, said in turns[:-1]):
            raise AppError(f"the prompt {path} needs {place} once, in its last turn: put it where it belongs")
    roles = [role for role, _ in turns if role != "system"]
    if any(role == "system" for role, _ in turns[1:]) or roles != ["user", "assistant"] * (len(roles) // 2) + ["user"]:
        raise AppError(f"the prompt {path} needs a turn of the system or none, then the user and the assistant in turn")
