"""Parse untrusted XML: without network access, and with an error for files that define entities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.archive import damaged

_SAFE_OPTIONS = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}


def parse_xml(name: str, data: bytes) -> Any:
    """Parse a part of the named file and return its root."""
    from lxml import etree

    try:
        root = etree.fromstring(data, etree.XMLParser(**_SAFE_OPTIONS, remove_comments=True, remove_pis=True))
    except etree.XMLSyntaxError as error:
        raise damaged(name) from error
    _check_entities(name, root)
    return root


def iterate_elements(name: str, file: IO[bytes], *tags: str) -> Iterator[Any]:
    """Yield the elements with these tags one by one, and delete each afterwards, so that memory stays small."""
    from lxml import etree

    elements = etree.iterparse(file, events=("end",), tag=tags, remove_comments=True, remove_pis=True, **_SAFE_OPTIONS)
    try:
        for number, (_, element) in enumerate(elements):
            if not number:
                _check_entities(name, element)
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        raise damaged(name) from error


def local_name(element: Any) -> str:
    """Return an element's name without its namespace, which differs between versions of a format."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Any, name: str, default: str = "") -> str:
    """Return an attribute by its name without the namespace."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return default


def _check_entities(name: str, element: Any) -> None:
    subset = element.getroottree().docinfo.internalDTD
    if subset is not None and next(iter(subset.iterentities()), None) is not None:
        raise ReadError(f"{name} defines XML entities, which office programs never do: save it again and add that")
