"""Links to the words of a source, which open in a browser."""

from __future__ import annotations

from propcite.attribution.citations import Evidence
from propcite.attribution.formats.text import is_address, link_to_words


class Links:
    """Makes a link for the words of a source: the web page that it is from."""

    def to_words(self, source: str, words: str) -> str:
        """Return a link to the words; empty where the source is no web page."""
        return link_to_words(source, words) if is_address(source) else ""

    def to_evidence(self, evidence: Evidence) -> str:
        return self.to_words(evidence.address, evidence.quote)
