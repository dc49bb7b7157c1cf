"""What a reader decided on a fact of a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Choice(StrEnum):
    """What a reader may decide; `open` takes an earlier decision back."""

    ACCEPTED = "accepted"
    CHANGED = "changed"  # other words are proposed
    REJECTED = "rejected"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision on a fact, which its id names.  `words` replace those of a changed fact, `note` says why.

    >>> Decision("1f2e", Choice.CHANGED, words="It opens on 14 May.", by="ada").choice.value
    'changed'
    """

    fact: str
    choice: Choice
    words: str = ""
    note: str = ""
    by: str = ""
    at: datetime | None = None


Decisions = Mapping[str, Decision]  # by the id of the fact; those that are open are missing
