"""Access control: a key's scope and collections, or anyone if the server requires no keys."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from propcite.app.library.store import Action, CollectionInfo, Key, Rights, Scope, Via
from propcite.app.library.store.people.audit import BY_KEY
from propcite.app.server.errors import RequestError, no_collection
from propcite.app.server.service import Service
from propcite.app.turns.workers import Asking

ANYONE = "anyone"
_bearer = HTTPBearer(
    auto_error=False, description="A key made by `propcite keys create`; on loopback none is required."
)


@dataclass(frozen=True, slots=True)
class Access:
    """What a request may do: `key` is None if the server requires no keys, `needed` is the scope of the route.

    `account` is who started this process, where it serves them alone.
    """

    service: Service
    asking: Asking
    key: Key | None = None
    needed: Scope = Scope.READ
    via: Via = Via.HTTP
    account: str = ""

    @property
    def rights(self) -> Rights:
        return self.key.rights if self.key else Rights(Scope.ADMIN)

    def count(self) -> None:
        """Count a request; RequestError if it is one too many of this minute."""
        self.service.rate_limiter.count(self.key.id if self.key else ANYONE)

    def require_scope(self) -> None:
        if self.key and not self.key.scope.covers(self.needed):
            raise RequestError(
                403, f"this key has the scope {self.key.scope}: use one of `propcite keys create --scope {self.needed}`"
            )

    def require_all_collections(self) -> None:
        """Refuse a key that opens some collections only, since what is asked for tells of all."""
        if not self.rights.allow_everywhere(self.needed):
            raise RequestError(403, "this key opens some collections only: use one that opens all of the server's")

    def collections(self) -> list[CollectionInfo]:
        """Return the collections in which the key allows what the route needs."""
        infos = self.service.parts.library.collections()
        return [info for info in infos if self.rights.allow(self.needed, info.name)]

    def may_read(self, collection: str) -> bool:
        return self.rights.allow(Scope.READ, collection)

    def opens(self, collection: str) -> bool:
        """Return whether the key opens a collection; 403 if what the route needs is not allowed there."""
        scope = self.rights.scope(collection)
        if scope and not scope.covers(self.needed):
            raise RequestError(403, f"the owner of this key may {scope} in {collection!r}, not {self.needed}")
        return scope is not None

    def record(self, action: Action, collection: str = "", subject: str = "") -> None:
        """Record in the audit log what the key's owner did."""
        who = f"{self.key.speaker}{BY_KEY}{self.key.id})" if self.key else self.account
        self.service.parts.audit.record(who, self.via, action, collection, subject)

    def speaker(self, named: str = "") -> str:
        """Return who speaks; a key of scope read speaks for its owner alone, others may name somebody."""
        if self.key is None or (named and self.key.scope.covers(Scope.WRITE)):
            return named
        if named not in ("", self.key.speaker):
            raise RequestError(403, f"by: this key speaks for {self.key.speaker!r} alone: leave it out")
        return self.key.speaker

    def collection_name(self, collection: str | None) -> str:
        """Return the name of the requested or default collection; a 404 hides one that the key does not open."""
        name = collection or self.service.settings.collection
        if not self.opens(name):
            raise no_collection(name)
        return name


_scopes: dict[object, Scope] = {}  # of the dependencies that give a route its access


class CheckedRoute(APIRoute):
    """A route that checks the key, its rate and its scope before the body is read."""

    counts = True

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        needed = next((_scopes[one.call] for one in self.dependant.dependencies if one.call in _scopes), None)

        async def checked(request: Request) -> Response:
            if needed:
                access = request.state.access = await _access(request, needed)
                if self.counts:
                    access.count()
                access.require_scope()
            return await handle(request)

        return checked


class UncountedRoute(CheckedRoute):
    """A route whose body holds the requests that are counted."""

    counts = False


async def _access(request: Request, needed: Scope) -> Access:
    service: Service = request.app.state.service
    route = getattr(request.scope.get("route"), "path", "none")
    if not service.requires_keys:
        return Access(service, Asking(network_of(request.client.host if request.client else ""), route), needed=needed)
    credentials = await _bearer(request)
    secret = credentials.credentials if credentials else request.headers.get("x-api-key")  # as Anthropic's clients do
    key = await asyncio.to_thread(service.parts.keys.find, secret) if secret else None
    if key is None:
        what = "this key is unknown or revoked" if secret else "a key is required"
        raise RequestError(401, f"{what}: send `Authorization: Bearer KEY`", WWW_Authenticate="Bearer")
    request.state.key = key.id
    return Access(service, Asking(f"key {key.id}", route), key, needed)


def network_of(address: str) -> str:
    """Return the address whose requests take turns with others': of IPv6 the network, of which one client has all.

    >>> network_of("::ffff:192.0.2.7"), network_of("2001:db8:1:2:3:4:5:6"), network_of("")
    ('192.0.2.7', '2001:db8:1:2::/64', 'anyone')
    """
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return ANYONE
    known = getattr(known, "ipv4_mapped", None) or known
    return str(known if known.version == 4 else ipaddress.ip_network((known, 64), strict=False))


def _with_scope(scope: Scope) -> object:
    async def checked_access(request: Request, _: Annotated[object, Depends(_bearer)]) -> Access:
        access: Access = request.state.access  # an error in a route that is no CheckedRoute
        return access

    _scopes[checked_access] = scope
    return Depends(checked_access)


ReadAccess = Annotated[Access, _with_scope(Scope.READ)]
WriteAccess = Annotated[Access, _with_scope(Scope.WRITE)]
AdminAccess = Annotated[Access, _with_scope(Scope.ADMIN)]
