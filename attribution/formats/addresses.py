"""Addresses of the web that lead a browser to the very words."""

from __future__ import annotations

from urllib.parse import quote, urldefrag

FEW = 5  # words that tell a place; of a longer quote as many of its beginning and of its end


def is_address(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))


def words_at(address: str, words: str) -> str:
    """The page with these words marked, as browsers read text fragments.

    >>> words_at("https://example.org/a#top", "It cost 5-6 million.")
    'https://example.org/a#:~:text=It%20cost%205%2D6%20million.'
    >>> words_at("https://example.org/a", "one two three four five six seven eight nine ten eleven")
    'https://example.org/a#:~:text=one%20two%20three%20four%20five,seven%20eight%20nine%20ten%20eleven'
    """
    said = words.split()
    ends = [said] if len(said) <= 2 * FEW else [said[:FEW], said[-FEW:]]
    return f"{urldefrag(address).url}#:~:text={','.join(map(_spelt, ends))}"


def _spelt(words: list[str]) -> str:
    # A dash and a comma have a meaning of their own here.
    return quote(" ".join(words), safe="", errors="replace").replace("-", "%2D")
