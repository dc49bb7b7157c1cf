"""Names that come from elsewhere, in uploads, folders and archives: what of them is kept, and what is left out."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

from propcite.app.errors import ReadError
from propcite.attribution.formats.text import is_address

MAX_NAME, MAX_PATH = 200, 400  # characters, of a name and of a path
# How names begin of what systems and programs keep for themselves.
HIDDEN = (".", "__MACOSX", "__pycache__")


def parts_of(path: str) -> tuple[str, ...]:
    """Return the folders and the name of a relative path; empty if it is none, or leads out of its folder.

    >>> parts_of("papers\\\\2024/./tides.pdf"), parts_of("2024/../../up.txt"), parts_of("C:/up.txt")
    (('papers', '2024', 'tides.pdf'), (), ())
    """
    slashed = path.replace("\\", "/")
    parts = tuple(filter(None, map(_printable, PurePosixPath(slashed).parts)))
    leads_out = slashed.startswith("/") or ".." in parts or any(part.endswith(":") for part in parts[:1])
    return () if leads_out else parts


def is_hidden(path: str) -> bool:
    """Return whether a path is, or lies in, what systems and programs keep for themselves.

    >>> is_hidden("notes/.git/config.txt"), is_hidden("__MACOSX/a.txt"), is_hidden("../a.txt"), is_hidden("a/b.txt")
    (True, True, False, False)
    """
    parts = path.replace("\\", "/").split("/")
    return any(part.startswith(HIDDEN) for part in parts if part not in (".", ".."))


def safe_name(name: str | None) -> str:
    """Return a file's name without folders and unprintable characters.

    >>> safe_name("../../etc/passwd.txt"), safe_name("C:\\\\notes\\\\a\\x00b.md")
    ('passwd.txt', 'ab.md')
    """
    printable = _printable(PurePosixPath((name or "").replace("\\", "/")).name)[-MAX_NAME:]
    if not printable.strip("."):
        raise ReadError("a file has no name: send each with its file name")
    return printable


def safe_path(name: str | None) -> str:
    """Return a file's name with the folders that it was sent with; without them where they lead out of their own.

    >>> safe_path("notes/2024/a.md"), safe_path("../../etc/passwd.txt"), safe_path("C:\\\\notes\\\\a.md")
    ('notes/2024/a.md', 'passwd.txt', 'a.md')
    """
    path = safe_name(name)
    for folder in reversed(parts_of(name or "")[:-1]):  # of too many the outer ones are left out
        if len(longer := f"{folder[-MAX_NAME:]}/{path}") > MAX_PATH:
            break
        path = longer
    return path


def file_name(source: str) -> str:
    """Return how people know a file: its name, with the folders that it was sent with or has in its archive.

    >>> file_name("/srv/papers/tides.pdf"), file_name("C:\\\\papers\\\\tides.pdf"), file_name("2024/tides.pdf")
    ('tides.pdf', 'tides.pdf', '2024/tides.pdf')
    >>> file_name("/srv/papers.zip!/2024/tides.pdf"), file_name("https://example.org/papers/tides.pdf")
    ('2024/tides.pdf', 'tides.pdf')
    """
    archive, _, inside = source.rpartition("!/")
    if archive:
        return inside
    path = PureWindowsPath(source)
    return source.rstrip("/") if not path.anchor and not is_address(source) else path.name or source


def _printable(name: str) -> str:
    return "".join(c for c in name if c.isprintable()).strip()
