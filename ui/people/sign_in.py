"""Who asks: the person whom an OpenID provider or a trusted proxy names.  Streamlit's own routes do the signing in."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
import secrets
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from starlette.requests import HTTPConnection
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from propcite.app.library.store import person_name
from propcite.app.settings import Settings

KEY_FILE = "page.key"  # in the data directory: signs the cookies of people who are signed in
NOT_SIGNED_IN = "Sign in to use PropCite."
NOT_VERIFIED = "Your e-mail address is not verified by the provider: verify it there, then sign in again."
NOT_BY_PROXY = "Open this page through the proxy that signs people in."


@dataclass(frozen=True, slots=True)
class SignIn:
    """A person; `id` and `started` are of the cookie, and empty where a proxy names the person with each request."""

    person: str
    id: str = ""
    started: datetime | None = None


class SignInMethod(Protocol):
    """A way to learn who asks."""

    def person_of(self, connection: HTTPConnection) -> SignIn | str:
        """Return who asks, or one line that says why that is not known."""


def sign_in_method(settings: Settings) -> SignInMethod | None:
    """Return how people sign in; None if nobody has to."""
    if settings.page_sign_in == "none":
        return None
    if settings.page_sign_in == "header":
        return ProxySignIn(settings)
    return OpenIdSignIn(settings.page_claim, page_key(settings.data_dir))


class ProxySignIn:
    """Takes the name from a header, if the request comes from the proxy itself."""

    def __init__(self, settings: Settings) -> None:
        self.header = settings.page_user_header
        self.proxies = [ipaddress.ip_network(proxy) for proxy in settings.page_proxies]

    def person_of(self, connection: HTTPConnection) -> SignIn | str:
        names = connection.headers.getlist(self.header)
        if len(names) != 1 or not self._is_proxy(connection.client.host if connection.client else ""):
            return NOT_BY_PROXY
        name = names[0].encode("latin-1").decode("utf-8", "replace")
        person = person_name(name)
        return SignIn(person) if person else NOT_BY_PROXY

    def _is_proxy(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in proxy for proxy in self.proxies)


class OpenIdSignIn:
    """Takes the name from the cookie that Streamlit signs once a provider has named the person."""

    def __init__(self, claim: str, key: str) -> None:
        self.claim, self.key = claim, key

    def person_of(self, connection: HTTPConnection) -> SignIn | str:
        content = self._content(connection.cookies)
        try:
            claims = json.loads(content) if content else {}
            person, started = person_name(claims[self.claim]), datetime.fromtimestamp(claims["iat"], UTC)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError, OSError):
            return NOT_SIGNED_IN
        if not person or not claims.get("is_logged_in"):
            return NOT_SIGNED_IN
        if self.claim == "email" and claims.get("email_verified") is False:
            return NOT_VERIFIED
        return SignIn(person, hashlib.sha256(content).hexdigest(), started)

    def _content(self, cookies: Mapping[str, str]) -> bytes:
        def one(name: str) -> bytes | None:
            return decode_signed_value(self.key, name, cookies.get(name, "").encode("latin-1", "replace"))

        return get_cookie_with_chunks(one, USER_COOKIE_NAME) or b""


def streamlit_secrets(settings: Settings) -> dict[str, Any] | None:
    """Return what Streamlit needs to sign people in; None if it does not."""
    if settings.page_sign_in != "openid":
        return None
    return {
        "auth": {
            "redirect_uri": f"{settings.page_address}/oauth2callback",
            "cookie_secret": page_key(settings.data_dir),
            "client_id": settings.page_client,
            "client_secret": settings.page_secret,
            "server_metadata_url": f"{settings.page_openid.rstrip('/')}/.well-known/openid-configuration",
        }
    }


def page_key(folder: Path) -> str:
    """Return the key of all processes of the page over one data directory; it is made when there is none."""
    path = folder / KEY_FILE
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(dir=folder, prefix=KEY_FILE)  # only its owner may read it
        with open(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(32))
        with suppress(FileExistsError):  # another process was first
            os.link(made, path)
        os.unlink(made)
    return path.read_text("ascii")
