"""Details of a document: those its file states, and above them those that users set, which may be any JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TAGS = "tags"


def merge_details(details: Mapping[str, Any], described: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the file's details with the users', which come first; tags become a list however the file wrote them.

    >>> merge_details({"author": "Zoe", "tags": "tides, gates"}, {"author": "Zoë", "year": 2024})
    {'author': 'Zoë', 'tags': ['tides', 'gates'], 'year': 2024}
    """
    merged = {**details, **described}
    return {**merged, TAGS: tag_list(merged[TAGS])} if TAGS in merged else merged


def merge_title(title: str, described: Mapping[str, Any]) -> str:
    return str(described.get("title") or title)


def tag_list(tags: Any) -> list[str]:
    """Return tags as a list, from a list or from one line."""
    values = tags.replace(";", ",").split(",") if isinstance(tags, str) else tags
    if not isinstance(values, list | tuple):
        return [str(values)]
    return list(dict.fromkeys(tag for value in values if (tag := str(value).strip())))


@dataclass(frozen=True, slots=True)
class DetailsChange:
    """A change to what users say of a document: values by key (None removes one), tags to add and to remove."""

    values: Mapping[str, Any] = field(default_factory=dict)
    tags: Sequence[str] = ()
    without: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.values or self.tags or self.without)

    def apply(self, details: Mapping[str, Any], described: Mapping[str, Any]) -> dict[str, Any]:
        """Return the users' details after the change, given the file's and the users' so far."""
        changed = {**described, **self.values}
        changed = {key: value for key, value in changed.items() if value is not None}
        if self.tags or self.without:
            current = tag_list(merge_details(details, changed).get(TAGS, []))
            changed[TAGS] = [tag for tag in dict.fromkeys([*current, *self.tags]) if tag not in self.without]
        return changed
