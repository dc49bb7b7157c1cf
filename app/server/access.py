"""Access control: a key's scope and collections, or anyone if the server requires no keys."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from propcite.app.library.store import Key, Scope
from propcite.app.server.errors import RequestError, no_collection
from propcite.app.server.service import Service

ANYONE = "anyone"
_bearer = HTTPBearer(
    auto_error=False, description="A key made by `propcite keys create`; on loopback none is required."
)


@dataclass(frozen=True, slots=True)
class Access:
    """What a request may do; `key` is None if the server requires no keys."""

    service: Service
    key: Key | None = None

    def require(self, scope: Scope) -> None:
        if self.key and not self.key.scope.covers(scope):
            raise RequestError(
                403, f"this key has the scope {self.key.scope}: use one of `propcite keys create --scope {scope}`"
            )

    def collection_name(self, collection: str | None) -> str:
        """Return the name of the requested or default collection; a 404 hides one that the key does not open."""
        name = collection or self.service.settings.collection
        if self.key and not self.key.opens(name):
            raise no_collection(name)
        return name


async def get_access(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None
) -> Access:
    """Check the request's key and rate."""
    service: Service = request.app.state.service
    if not service.requires_keys:
        service.rate_limiter.count(ANYONE)
        return Access(service)
    key = await asyncio.to_thread(service.parts.keys.find, credentials.credentials) if credentials else None
    if key is None:
        what = "this key is unknown or revoked" if credentials else "a key is required"
        raise RequestError(401, f"{what}: send `Authorization: Bearer KEY`", WWW_Authenticate="Bearer")
    request.state.key = key.id
    service.rate_limiter.count(key.id)
    return Access(service, key)


def _with_scope(scope: Scope) -> object:
    async def scoped(access: Annotated[Access, Depends(get_access)]) -> Access:
        access.require(scope)
        return access

    return Depends(scoped)


ReadAccess = Annotated[Access, _with_scope(Scope.READ)]
WriteAccess = Annotated[Access, _with_scope(Scope.WRITE)]
AdminAccess = Annotated[Access, _with_scope(Scope.ADMIN)]
