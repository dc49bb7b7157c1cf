"""The person who has the page open, and what they may do now."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from propcite.app.errors import AppError, NotFoundError
from propcite.app.library.store import Action, CollectionInfo, Rights, Scope, Via
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer

PERSON_HEADER = "X-PropCite-Person"  # set by the gate alone, which takes it from all requests that bring it


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person with their rights; `name` is empty where nobody has to sign in, and then everything is allowed."""

    name: str
    rights: Rights
    parts: Parts

    @property
    def may_create(self) -> bool:
        """Return whether the person may create collections."""
        return self.rights.allow_everywhere(Scope.WRITE)

    @property
    def may_add(self) -> bool:
        """Return whether the person may add documents to some collection."""
        return self.rights.allow_somewhere(Scope.WRITE)

    @property
    def may_measure(self) -> bool:
        """Return whether the person may see and start measurements, which read files and concern no collection."""
        return self.rights.allow_everywhere(Scope.ADMIN)

    @property
    def may_set(self) -> bool:
        """Return whether the person may see and change settings: an admin of all, or the user of this machine.

        Where nobody signs in and a proxy hands on requests, nobody may: it could be anybody.
        """
        return self.rights.allow_everywhere(Scope.ADMIN) and bool(self.name or not self.parts.settings.hosts)

    def may(self, scope: Scope, collection: str) -> bool:
        return self.rights.allow(scope, collection)

    def require(self, scope: Scope, collection: str) -> None:
        """Raise AppError unless the person may do this in a collection."""
        if not self.may(scope, collection):
            raise AppError(f"you need the role {scope} in {collection!r}: ask one of its admins")

    def require_everywhere(self, scope: Scope) -> None:
        if not self.rights.allow_everywhere(scope):
            raise AppError(f"you need the role {scope} over all collections: ask whoever runs this page")

    def require_settings(self) -> None:
        """Raise AppError unless the person may see and change settings."""
        self.require_everywhere(Scope.ADMIN)
        if not self.may_set:
            raise AppError("settings are shown to admins who sign in alone: set PROPCITE_PAGE_SIGN_IN")

    def collections(self, scope: Scope = Scope.READ) -> list[CollectionInfo]:
        """Return the collections in which the person has a role that covers the scope."""
        return [info for info in self.parts.library.collections() if self.may(scope, info.name)]

    def answer(self, answer_id: str) -> CitedAnswer:
        """Return a stored answer by its id or a unique start of it.

        NotFoundError for one of a collection that is not theirs, in the words for one that never was.
        """
        missing = NotFoundError(f"no answer {answer_id[:40]!r}: it was deleted, or is not shared with you")
        try:
            found = self.parts.library.answer(answer_id)
        except NotFoundError as error:
            raise missing from error
        if not self.may(Scope.READ, found.collection):
            raise missing
        return found

    def may_see_document(self, document_id: str) -> bool:
        """Return whether a collection of the person's has a document, or had it."""
        names = self.parts.library.collections_with(document_id)
        return any(self.may(Scope.READ, name) for name in names)

    def record(self, action: Action, collection: str = "", subject: str = "") -> None:
        self.parts.audit.record(self.name, Via.PAGE, action, collection, subject)


def visitor_of(parts: Parts, header: str | None) -> Visitor:
    """Return who asks, by the header that the gate sets; without sign-in everybody may do everything."""
    if parts.settings.page_sign_in == "none":
        return Visitor("", Rights(Scope.ADMIN), parts)
    name = unquote(header or "")
    return Visitor(name, parts.people.rights(name), parts)
