"""Fetch web pages and files, within limits on size and time, and from the local network only if that is allowed."""

from __future__ import annotations

import asyncio
import re
import socket
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import one_line
from propcite.app.ingest.readers.files import MAX_BYTES, check_size
from propcite.app.ingest.readers.kinds import KINDS, is_supported, suffix_of_type
from propcite.app.ingest.readers.public_networks import is_public

if TYPE_CHECKING:
    import httpx

_MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_FILE_NAME = re.compile(r"filename\s*=\s*\"?([^\";]+)", re.IGNORECASE)
_GZIP = 16 + zlib.MAX_WBITS  # bits of the window by which zlib expects gzip
_UNSPECIFIC = (".txt", "")  # suffixes of plain text or an unknown type, for which the name says more


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A fetched file; its name has the suffix by which it is read, `url` is where redirects ended."""

    name: str
    data: bytes
    url: str


def fetch(url: str, *, max_bytes: int = MAX_BYTES, timeout: float = 30, private: bool = False) -> FetchedFile:
    """Fetch the file at an http or https address; `private` allows those of this machine and its network.

    The timeout covers everything: looking names up, connecting, redirects, headers and body.
    """
    return asyncio.run(_fetch(url, max_bytes, monotonic() + timeout, private))


async def _fetch(url: str, max_bytes: int, deadline: float, private: bool) -> FetchedFile:
    import httpx

    try:
        async with (
            asyncio.timeout(deadline - monotonic()),
            httpx.AsyncClient(timeout=None, follow_redirects=False, trust_env=False) as client,
        ):
            for _ in range(_MAX_REDIRECTS + 1):
                parts = _parts(url)
                pinned = await _pinned(parts, private)
                async with client.stream("GET", pinned, **_request_options(parts)) as response:
                    if response.status_code not in _REDIRECTS or "location" not in response.headers:
                        return await _received(url, response, max_bytes)
                    url = urljoin(url, response.headers["location"])
    except TimeoutError as error:
        raise ReadError(f"{_short(url)} takes too long to download: save it and add the file", _short(url)) from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        reason = one_line(str(error)) or type(error).__name__
        raise ReadError(f"{_short(url)} cannot be reached ({reason}): try again later", _short(url)) from error
    raise ReadError(f"{_short(url)} redirects more than {_MAX_REDIRECTS} times: use the final address", _short(url))


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        _ = parts.port  # raises an error only now if it is invalid
    except ValueError as error:
        raise ReadError(f"{one_line(url)[:200]} is not a web address: check it") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ReadError(f"{one_line(url)[:200]} is not a web address: begin it with https:// or http://")
    if parts.username or parts.password:
        raise ReadError(f"{parts.hostname} is given with a password: save the file and add it", _short(url))
    return parts


async def _pinned(parts: SplitResult, private: bool) -> str:
    """Return the address with the IP address that was checked, since a second lookup could give another."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = await _address(parts.hostname or "", port, private)
    netloc = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    return parts._replace(netloc=netloc, fragment="").geturl()


def _request_options(parts: SplitResult) -> Any:
    headers = {"Host": parts.netloc, "User-Agent": "propcite", "Accept": "*/*", "Accept-Encoding": "identity"}
    return {"headers": headers, "extensions": {"sni_hostname": parts.hostname}}


async def _address(host: str, port: int, private: bool) -> str:
    try:
        addresses = await _lookup(host, port)
    except (OSError, UnicodeError) as error:
        raise ReadError(f"{host} was not found: check the address", host) from error
    if not private and not all(map(is_public, addresses)):
        raise ReadError(
            f"{host} is inside this network, from which nothing is fetched: save the file and add it,"
            " or set PROPCITE_FETCH_INSIDE=true",
            host,
        )
    return addresses[0]


async def _lookup(host: str, port: int) -> list[str]:
    """Return the IP addresses of a host.

    A lookup cannot be stopped.  It has a thread of its own, for which nobody waits after the deadline.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[list[str]] = loop.create_future()

    def settle(result: list[str] | Exception) -> None:
        if found.done():
            return
        if isinstance(result, Exception):
            found.set_exception(result)
        else:
            found.set_result(result)

    def look_up() -> None:
        result: list[str] | Exception
        try:
            result = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        except (OSError, UnicodeError) as error:
            result = error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, result)

    Thread(target=look_up, name="propcite-lookup", daemon=True).start()
    return await found


async def _received(url: str, response: httpx.Response, max_bytes: int) -> FetchedFile:
    place = _short(url)
    if response.status_code != 200:
        raise ReadError(f"{place} answered {response.status_code}: open it in a browser and save it", place)
    name = _name(url, response)
    length = response.headers.get("content-length", "")
    check_size(name, int(length) if length.isdecimal() and len(length) < 16 else 0, max_bytes)
    data = bytearray()
    async for piece in response.aiter_raw():
        data += piece
        check_size(name, len(data), max_bytes)
    return FetchedFile(name, _decoded(name, bytes(data), response, max_bytes), place)


def _decoded(name: str, data: bytes, response: httpx.Response, max_bytes: int) -> bytes:
    """Return the file's bytes; nothing compressed was asked for, but some servers send it."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return data
    if encoding not in ("gzip", "x-gzip"):
        raise ReadError(f"{name} comes in an encoding that was not asked for ({encoding[:40]}): save it and add it")
    try:
        decoded = zlib.decompressobj(_GZIP).decompress(data, max_bytes + 1)
    except zlib.error as error:
        raise ReadError(f"{name} is damaged ({error}): save it and add it") from error
    check_size(name, len(decoded), max_bytes)
    return decoded


def _name(url: str, response: httpx.Response) -> str:
    """Return the file's own name, with the suffix of its content type if that is more specific."""
    declared = _FILE_NAME.search(response.headers.get("content-disposition", ""))
    path = unquote(urlsplit(url).path).rstrip("/")
    full_name = one_line(declared[1] if declared else path).replace("\\", "/")
    name = PurePosixPath(full_name).name[-120:] or urlsplit(url).hostname or "page"
    suffix = suffix_of_type(response.headers.get("content-type", ""))
    supported = is_supported(name)
    if supported and (suffix in _UNSPECIFIC or PurePosixPath(name).suffix.lower() == suffix or suffix == ".json"):
        return name
    if not suffix and not supported:
        content_type = response.headers.get("content-type", "no content type")[:80]
        message = f"{_short(url)} has an unsupported type ({content_type}): use an address of {KINDS}"
        raise ReadError(message, _short(url))
    return (PurePosixPath(name).stem if supported else name) + suffix


def _short(url: str) -> str:
    return one_line(url)[:500]
