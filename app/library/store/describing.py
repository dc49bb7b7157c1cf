"""What is told of a document: by its file, and above that by people, who may say anything that JSON holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TAGS = "tags"


def details_of(details: Mapping[str, Any], described: Mapping[str, Any]) -> dict[str, Any]:
    """Both together; a tag stands by itself however the file wrote them.

    >>> details_of({"author": "Zoe", "tags": "tides, gates"}, {"author": "Zoë", "year": 2024})
    {'author': 'Zoë', 'tags': ['tides', 'gates'], 'year': 2024}
    """
    told = {**details, **described}
    return {**told, TAGS: tags_of(told[TAGS])} if TAGS in told else told


def title_of(title: str, described: Mapping[str, Any]) -> str:
    return str(described.get("title") or title)


def tags_of(told: Any) -> list[str]:
    """A list of tags, or a line of them."""
    several = told.replace(";", ",").split(",") if isinstance(told, str) else told
    if not isinstance(several, list | tuple):
        return [str(several)]
    return list(dict.fromkeys(tag for one in several if (tag := str(one).strip())))


@dataclass(frozen=True, slots=True)
class Change:
    """What is said anew: values by their keys, None takes back what was said; tags put on and taken off."""

    values: Mapping[str, Any] = field(default_factory=dict)
    tags: Sequence[str] = ()
    without: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.values or self.tags or self.without)

    def of(self, details: Mapping[str, Any], described: Mapping[str, Any]) -> dict[str, Any]:
        """What people say of the document from now on."""
        told = {**described, **self.values}
        told = {key: value for key, value in told.items() if value is not None}
        if self.tags or self.without:
            known = tags_of(details_of(details, told).get(TAGS, []))
            told[TAGS] = [tag for tag in dict.fromkeys([*known, *self.tags]) if tag not in self.without]
        return told
