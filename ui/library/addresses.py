"""Read web addresses as people type and paste them."""

from __future__ import annotations

import re

from propcite.app.errors import AppError

MOST, LONGEST = 100, 2000  # at once, and characters of each
_WEB = re.compile(r"https?://[^/?#@\s]", re.IGNORECASE)
# A host with a dot, which people type without https://
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.[^\W\d_]{2,}\.?(:\d+)?([/?#].*)?", re.IGNORECASE)


def addresses_in(typed: str) -> list[str]:
    """Return the web addresses of a text, each once; AppError if some words are none, or there are too many.

    >>> addresses_in("https://example.org/a.pdf  example.org/b?c=d\\n<http://example.org>, https://example.org/a.pdf")
    ['https://example.org/a.pdf', 'https://example.org/b?c=d', 'http://example.org']
    """
    words = [word.strip("<>\"'“”").rstrip(",;").strip("<>\"'“”") for word in typed.split()]
    wrong = [word for word in words if word and not _is_web(word)]
    if wrong:
        raise AppError(f"{_named(wrong)}: write each as https://example.org/page")
    found = [word if _WEB.match(word) else f"https://{word}" for word in words if word]
    if len(found) > MOST:
        raise AppError(f"these are {len(found):,} addresses: add up to {MOST} at once")
    return list(dict.fromkeys(found))


def _is_web(word: str) -> bool:
    return bool(_WEB.match(word) or _HOST.fullmatch(word)) and word.isprintable() and len(word) <= LONGEST


def _named(wrong: list[str]) -> str:
    named = ", ".join(f"“{word[:60]}”" for word in wrong[:3])
    more = f" and {len(wrong) - 3:,} more" if len(wrong) > 3 else ""
    return f"{named}{more} {'is no web address' if len(wrong) == 1 else 'are no web addresses'}"
