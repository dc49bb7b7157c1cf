"""Links that open the words of a document in a browser: signed, and for a time where keys are required."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from itsdangerous import BadData, BadSignature, URLSafeSerializer
from itsdangerous.encoding import base64_decode, base64_encode
from starlette.types import ASGIApp, Receive, Scope, Send

from propcite.app.library.store import Scope as Needed
from propcite.app.parts import Parts
from propcite.app.server.errors import RequestError
from propcite.app.server.problems import LINKS
from propcite.attribution.formats.links import MakeLink, linked_by
from propcite.retrieval.text import Passage, Span

DAY_S = 86_400
KEPT_S = 5.0  # that secrets and the collections of a document are remembered, by what makes links
MAX_KEPT = 10_000  # documents
CHANGED = "this link is none of this server's, or it was changed: open it as it was given"
ENDED = "this link has ended: ask again for a new one"


@dataclass(frozen=True, slots=True)
class Place:
    """The words of a document that a link opens."""

    document_id: str
    cited: Span


class Links:
    """Makes and reads the links of one server; they end if `expire`.  Without a public address none are made."""

    def __init__(self, parts: Parts, *, expire: bool) -> None:
        self._parts, self._expire = parts, expire
        self._lock, self._read_at = Lock(), 0.0
        self._signer: URLSafeSerializer | None = None
        self._collections: dict[str, frozenset[str]] = {}

    def maker(self, allowed: Callable[[str], bool]) -> MakeLink:
        """Return what makes links to documents of the collections that are allowed."""

        def make(passage: Passage, span: Span) -> str:
            settings, document = self._parts.settings, passage.document_id
            if not settings.public_address or passage.id.rpartition(":")[0] != document or not document:
                return ""
            signer, collections = self._known(document)
            if not any(map(allowed, collections)):
                return ""
            words = passage.in_document(span)
            until = int(time.time() + settings.link_days * DAY_S) if self._expire else 0
            token = signer.dumps([document, words.start, words.end, until])
            return f"{settings.public_address}{LINKS}/{token}#cited"

        return make

    def open(self, token: str) -> Place:
        """Return the words that a link opens; RequestError if it was changed or has ended."""
        try:
            signature = token.rpartition(".")[2]
            if base64_encode(base64_decode(signature)).decode() != signature:  # its last letter has bits to spare
                raise BadSignature(CHANGED)
            document, start, end, until = self._new_signer().loads(token)
        except (BadData, TypeError, ValueError):
            raise RequestError(403, CHANGED) from None
        if until < time.time() if until else self._expire:
            raise RequestError(403, ENDED)
        return Place(document, Span(start, end))

    def _known(self, document: str) -> tuple[URLSafeSerializer, frozenset[str]]:
        """Return what signs, and the collections that have a document, as they were a moment ago."""
        with self._lock:
            if self._signer is None or time.monotonic() - self._read_at > KEPT_S or len(self._collections) > MAX_KEPT:
                self._signer, self._read_at, self._collections = self._new_signer(), time.monotonic(), {}
            if document not in self._collections:
                self._collections[document] = frozenset(self._parts.library.collections_with(document))
            return self._signer, self._collections[document]

    def _new_signer(self) -> URLSafeSerializer:
        own = self._parts.settings.link_secret
        secrets = [own] if own else self._parts.link_secrets.all()
        return URLSafeSerializer(secrets, salt="link", signer_kwargs={"digest_method": hashlib.sha256})


class Linking:
    """Middleware that lets whatever answers a request link to the documents that its sender may read."""

    def __init__(self, app: ASGIApp, links: Links) -> None:
        self.app = app
        self.links = links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        def allowed(collection: str) -> bool:
            access = scope.get("state", {}).get("access")  # known once the route has checked the key
            return access is not None and access.rights.allow(Needed.READ, collection)

        with linked_by(self.links.maker(allowed)):
            await self.app(scope, receive, send)
