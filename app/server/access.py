"""Who may do what: a key's scope and its collections, or anyone where no keys are asked for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from propcite.app.library.store import Key, Scope
from propcite.app.server.errors import RequestError, hidden
from propcite.app.server.service import Service

ANYONE = "anyone"
_bearer = HTTPBearer(auto_error=False, description="A key of `propcite keys create`; none is asked for on loopback.")


@dataclass(frozen=True, slots=True)
class Access:
    """What this request may do.  `key` is None where no keys are asked for."""

    service: Service
    key: Key | None = None

    def allow(self, scope: Scope) -> None:
        if self.key and not self.key.scope.covers(scope):
            raise RequestError(
                403, f"this key may {self.key.scope}: ask for one with `propcite keys create --scope {scope}`"
            )

    def name(self, collection: str | None) -> str:
        """The collection that is meant.  One that the key does not open is told as one that is not there."""
        name = collection or self.service.settings.collection
        if self.key and not self.key.opens(name):
            raise hidden(name)
        return name


async def access(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None
) -> Access:
    """The key that comes with a request; refused where keys are asked for and it is none of them."""
    service: Service = request.app.state.service
    if not service.asks_for_keys:
        service.rates.come(ANYONE)
        return Access(service)
    key = await asyncio.to_thread(service.parts.keys.find, credentials.credentials) if credentials else None
    if key is None:
        what = "this key is not known or was revoked" if credentials else "a key is needed"
        raise RequestError(401, f"{what}: send `Authorization: Bearer KEY`", WWW_Authenticate="Bearer")
    request.state.key = key.id
    service.rates.come(key.id)
    return Access(service, key)


def _scoped(scope: Scope) -> object:
    async def allowed(given: Annotated[Access, Depends(access)]) -> Access:
        given.allow(scope)
        return given

    return Depends(allowed)


Reader = Annotated[Access, _scoped(Scope.READ)]
Writer = Annotated[Access, _scoped(Scope.WRITE)]
Admin = Annotated[Access, _scoped(Scope.ADMIN)]
