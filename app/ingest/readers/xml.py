"""XML that comes from anywhere: no entity is resolved, nothing is fetched, a file that defines some is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.archive import damaged

_SAFELY = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}


def parse_xml(name: str, data: bytes) -> Any:
    """The root of a part of the named file."""
    from lxml import etree

    try:
        root = etree.fromstring(data, etree.XMLParser(**_SAFELY, remove_comments=True, remove_pis=True))
    except etree.XMLSyntaxError as error:
        raise damaged(name) from error
    _check_entities(name, root)
    return root


def rows_of_xml(name: str, file: IO[bytes], *tags: str) -> Iterator[Any]:
    """The elements of these names as they end, each forgotten once it was looked at: memory stays small."""
    from lxml import etree

    found = etree.iterparse(file, events=("end",), tag=tags, remove_comments=True, remove_pis=True, **_SAFELY)
    try:
        for number, (_, element) in enumerate(found):
            if not number:
                _check_entities(name, element)
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        raise damaged(name) from error


def local(element: Any) -> str:
    """An element's name without its namespace, whose address two versions of a format may differ in."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Any, name: str, default: str = "") -> str:
    """An attribute by its name without its namespace."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return default


def _check_entities(name: str, element: Any) -> None:
    subset = element.getroottree().docinfo.internalDTD
    if subset is not None and next(iter(subset.iterentities()), None) is not None:
        raise ReadError(f"{name} defines XML entities, as no office program does: save it anew and add that")
