"""Rights: what a key or a person may do with which collections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Scope(StrEnum):
    """What a key or a role allows; each scope includes those before it."""

    READ = "read"  # search, ask, cite, list; keep answers, notes and drafts and give feedback in one's own name
    WRITE = "write"  # add and remove documents, create collections
    ADMIN = "admin"  # remove and share collections, read the audit log and the server's metrics

    def covers(self, other: Scope) -> bool:
        return list(Scope).index(self) >= list(Scope).index(other)


def _lesser(one: Scope, other: Scope) -> Scope:
    return other if one.covers(other) else one


@dataclass(frozen=True, slots=True)
class Rights:
    """The scope that is allowed in all collections, None for none, and those in some collections by name."""

    everywhere: Scope | None = None
    by_name: Mapping[str, Scope] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.everywhere is not None or bool(self.by_name)

    def scope(self, collection: str) -> Scope | None:
        """Return what is allowed in a collection; None if it must not even be seen."""
        found = [scope for scope in (self.everywhere, self.by_name.get(collection)) if scope]
        return max(found, key=list(Scope).index, default=None)

    def allow(self, needed: Scope, collection: str) -> bool:
        scope = self.scope(collection)
        return scope is not None and scope.covers(needed)

    def allow_everywhere(self, needed: Scope) -> bool:
        return self.everywhere is not None and self.everywhere.covers(needed)

    def allow_somewhere(self, needed: Scope) -> bool:
        return self.allow_everywhere(needed) or any(scope.covers(needed) for scope in self.by_name.values())

    def at_most(self, scope: Scope) -> Rights:
        """Return these rights without what exceeds a scope."""
        everywhere = _lesser(self.everywhere, scope) if self.everywhere else None
        return Rights(everywhere, {name: _lesser(own, scope) for name, own in self.by_name.items()})

    def include(self, others: Rights) -> bool:
        """Return whether these rights allow all that the others allow."""
        if others.everywhere and not self.allow_everywhere(others.everywhere):
            return False
        return all(self.allow(scope, name) for name, scope in others.by_name.items())
