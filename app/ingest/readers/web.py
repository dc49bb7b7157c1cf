"""Pages and files of the web: fetched within bounds, and never from inside the network unless that is allowed."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import PurePosixPath
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import one_line
from propcite.app.ingest.readers.files import MOST_BYTES, check_size
from propcite.app.ingest.readers.kinds import KINDS, is_known, suffix_of_type

if TYPE_CHECKING:
    import httpx

_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_FILE_NAME = re.compile(r"filename\s*=\s*\"?([^\";]+)", re.IGNORECASE)
_NAT64 = ip_network("64:ff9b::/96")
_LOOSE = (".txt", "")  # what a content type of plain text or none says less of than a name does


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file of the web; `name` has the suffix that says how to read it, `url` is where it was in the end."""

    name: str
    data: bytes
    url: str


def fetch(url: str, *, most_bytes: int = MOST_BYTES, timeout: float = 30, private: bool = False) -> Fetched:
    """The file at an address of http or https; `private` allows those of this machine and its network."""
    import httpx

    deadline = monotonic() + timeout
    with httpx.Client(timeout=timeout, follow_redirects=False, trust_env=False) as client:
        for _ in range(_MOST_REDIRECTS + 1):
            parts = _parts(url)
            try:
                with client.stream("GET", _pinned(parts, private), **_asking(parts)) as response:
                    if response.status_code not in _REDIRECTS or "location" not in response.headers:
                        return _fetched(url, response, most_bytes, deadline)
                    url = urljoin(url, response.headers["location"])
            except httpx.TimeoutException as error:
                raise _too_slow(url) from error
            except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
                reason = one_line(str(error)) or type(error).__name__
                raise ReadError(f"{_shown(url)} cannot be reached ({reason}): try again later", _shown(url)) from error
    raise ReadError(f"{_shown(url)} leads on more than {_MOST_REDIRECTS} times: name where it ends", _shown(url))


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        _ = parts.port  # told only now where it is none
    except ValueError as error:
        raise ReadError(f"{one_line(url)[:200]} is no web address: check it") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ReadError(f"{one_line(url)[:200]} is no web address: begin it with https:// or http://")
    if parts.username or parts.password:
        raise ReadError(f"{parts.hostname} is named with a password: save the file and add that", _shown(url))
    return parts


def _pinned(parts: SplitResult, private: bool) -> str:
    """The address with the very machine that was checked: looked up again, the name could lead elsewhere."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = _address(parts.hostname or "", port, private)
    netloc = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    return parts._replace(netloc=netloc, fragment="").geturl()


def _asking(parts: SplitResult) -> Any:
    headers = {"Host": parts.netloc, "User-Agent": "propcite", "Accept": "*/*", "Accept-Encoding": "identity"}
    return {"headers": headers, "extensions": {"sni_hostname": parts.hostname}}


def _address(host: str, port: int, private: bool) -> str:
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as error:
        raise ReadError(f"{host} was not found: check the address", host) from error
    if not private and not all(map(_is_public, found)):
        raise ReadError(
            f"{host} is inside this network, where nothing is fetched from: save the file and add that,"
            " or set PROPCITE_FETCH_INSIDE=true",
            host,
        )
    return found[0]


def _is_public(address: str) -> bool:
    """Whether anyone may reach it; an IPv6 address may carry one of IPv4 that nobody may."""
    ip = ip_address(address.partition("%")[0])
    inner = getattr(ip, "ipv4_mapped", None) or getattr(ip, "sixtofour", None)
    teredo = getattr(ip, "teredo", None)
    if inner is not None:
        return _is_public(str(inner))
    nat64 = ip.version == 6 and ip in _NAT64
    return ip.is_global and not ip.is_multicast and teredo is None and not nat64


def _fetched(url: str, response: httpx.Response, most_bytes: int, deadline: float) -> Fetched:
    place = _shown(url)
    if response.status_code != 200:
        raise ReadError(f"{place} answered {response.status_code}: open it in a browser and save it", place)
    name = _name(url, response)
    stated = response.headers.get("content-length", "")
    check_size(name, int(stated) if stated.isdecimal() and len(stated) < 16 else 0, most_bytes)
    data = bytearray()
    for piece in response.iter_bytes():
        data += piece
        check_size(name, len(data), most_bytes)
        if monotonic() > deadline:
            raise _too_slow(url)
    return Fetched(name, bytes(data), place)


def _name(url: str, response: httpx.Response) -> str:
    """The file's own name, with the suffix of its content type where the name says less."""
    given = _FILE_NAME.search(response.headers.get("content-disposition", ""))
    path = unquote(urlsplit(url).path).rstrip("/")
    named = one_line(given[1] if given else path).replace("\\", "/")
    name = PurePosixPath(named).name[-120:] or urlsplit(url).hostname or "page"
    suffix = suffix_of_type(response.headers.get("content-type", ""))
    known = is_known(name)
    if known and (suffix in _LOOSE or PurePosixPath(name).suffix.lower() == suffix or suffix == ".json"):
        return name
    if not suffix and not known:
        kind = response.headers.get("content-type", "no content type")[:80]
        raise ReadError(f"{_shown(url)} is not of a kind that can be read ({kind}): name one of {KINDS}", _shown(url))
    return (PurePosixPath(name).stem if known else name) + suffix


def _too_slow(url: str) -> ReadError:
    return ReadError(f"{_shown(url)} takes too long: save it and add the file", _shown(url))


def _shown(url: str) -> str:
    return one_line(url)[:500]
