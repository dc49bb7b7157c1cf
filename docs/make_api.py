"""Write docs/api.md from the docstrings of the public names: python docs/make_api.py"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import propcite

PAGE = Path(__file__).with_name("api.md")
SECTIONS = {
    "Citing": ("PropCite", "CitedStream", "AsyncCitedStream", "QuestionReader", "as_passages"),
    "Answers": (
        *("CitedAnswer", "CitedSentence", "CitedProposition", "Citation", "Evidence"),
        *("Proposition", "Verdict", "Label", "QuestionPart", "Answered"),
    ),
    "Repairing, explaining, alternatives": ("Repaired", "MarkerCheck", "MarkerState", "Explained", "Alternative"),
    "Comparing": ("Comparison", "ComparedFacts", "ComparedFact", "Relation", "TextComparison", "SentencePair"),
    "Events of a stream": (
        *("Event", "TextDelta", "SentenceCited", "AnswerDone"),
        *("event_dict", "event_json", "server_sent"),
    ),
    "Files and JSON": ("write", "to_json", "from_json", "to_dict", "from_dict", "json_schema"),
    "Sources": ("Passage", "Document", "Sentence", "Span", "Granularity", "Hit", "Encoder", "Retriever"),
    "Parts of your own": ("Judge", "Case", "Splitter", "Generator", "GenerationContext", "Draft"),
    "Errors and version": ("PropCiteError", "__version__"),
}
HEAD = """# The public interface

`from propcite import …` gives these names; everything else may change in any release. This page is made from the
docstrings (`python docs/make_api.py`), and every example on it is run by the tests.

PropCite follows semantic versions: before 1.0 a minor release may change these names, and says so in the
[changelog](../CHANGELOG.md); from 1.0 on only a major release may. Indexes, databases, exports and kept answers of an
older release are read by every newer one.
"""


def page() -> str:
    """Return the whole page."""
    toc = [
        f"- {title}: {', '.join(f'[{name}](#{name.lower()})' for name in names)}" for title, names in SECTIONS.items()
    ]
    parts = [HEAD, "\n".join(toc)]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}")
        parts += [entry(name, getattr(propcite, name)) for name in names]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def entry(name: str, value: Any) -> str:
    """Return the section of one public name."""
    if name == "__version__":
        return f"### {name}\n\nThe version that is installed, as a text."
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        members = " | ".join(one.__name__ for one in value.__args__)
        return f"### {name}\n\nAny event of a stream: `{members}`."
    bare = is_protocol(value) or is_enum(value) or (isinstance(value, type) and issubclass(value, Exception))
    signature = "" if bare else f"\n\n```python\n{name}{signature_of(value)}\n```"
    members = "\n\n".join(f"{shown(label)}{prose(text)}" for label, text in members_of(value))
    return f"### {name}{signature}\n\n{prose(inspect.getdoc(value) or '')}\n\n{members}".strip()


def is_protocol(value: Any) -> bool:
    return bool(getattr(value, "_is_protocol", False))


def is_enum(value: Any) -> bool:
    return hasattr(value, "__members__")


def signature_of(value: Any, width: int = 90) -> str:
    """Return a signature without `self`, on one line or with a line per parameter."""
    signature = inspect.signature(value)
    parameters, starred = [], False
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parameters.append("*")
            starred = True
        parameters.append(written(parameter))
    returns = "" if inspect.isclass(value) else f" -> {plain(signature.return_annotation)}"
    line = f"({', '.join(parameters)}){returns}"
    return line if len(line) < width else "(\n    " + ",\n    ".join(parameters) + f",\n){returns}"


def written(parameter: inspect.Parameter) -> str:
    text = f"{parameter.name}: {plain(parameter.annotation)}"
    default = parameter.default
    if default is parameter.empty:
        return text
    if isinstance(default, Enum):
        return f"{text} = {type(default).__name__}.{default.name}"
    if repr(default).startswith("<factory>"):
        return f"{text} = {{}}"
    if inspect.isroutine(default):
        return f"{text} = {default.__name__}"
    return f"{text} = {repr(default) if isinstance(default, str | int | float | tuple | None) else repr(str(default))}"


def plain(annotation: Any) -> str:
    return str(annotation if isinstance(annotation, str) else getattr(annotation, "__name__", annotation))


def members_of(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the documented methods and properties of a class, in the order of its source."""
    if not inspect.isclass(value):
        return
    if is_enum(value):
        for member in value.__members__.values():
            yield f"{value.__name__}.{member.name}", f'`"{member.value}"`'
        return
    for name, member in vars(value).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        text = inspect.getdoc(function)
        if not text and not is_protocol(value):
            continue
        yield (name if isinstance(member, property) else f"{name}{signature_of(function)}"), text or ""


def shown(label: str) -> str:
    """Return a member as a code line with its text beside it, or as a block where it has a signature."""
    return f"```python\n{label}\n```\n\n" if "(" in label else f"`{label}`: "


def prose(text: str) -> str:
    """Return a docstring as Markdown: its examples become blocks of code."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        example = line.startswith((">>>", "...")) or (inside and bool(line.strip()))
        if example and not inside:
            lines += ["", "```python"]
        elif inside and not example:
            lines += ["```"]
        inside = example
        lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join([*lines, "```"] if inside else lines)).strip()


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
