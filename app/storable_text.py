"""Text that any database stores and any model reads."""

from __future__ import annotations


def storable(text: str) -> str:
    r"""Return a text without halves of surrogate pairs and zeros, which JSON and command lines may contain.

    >>> storable("high\ud800 \0")
    'high? �'
    """
    return text.encode(errors="replace").decode().replace("\0", "\ufffd")
