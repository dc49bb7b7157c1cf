"""Sources as text, for clients that drop citations: markers behind sentences, and a list behind the answer."""

from __future__ import annotations

from collections.abc import Sequence

from propcite.attribution.citations import Citation
from propcite.attribution.formats.openai import url_of
from propcite.attribution.formats.text import is_address, one_line
from propcite.attribution.formats.wording import title_of

HEADING = "Sources"
_ESCAPED = str.maketrans({c: f"\\{c}" for c in "\\[]"})


class SourceList:
    """The sources of one answer in Markdown, numbered as its citations are."""

    def __init__(self) -> None:
        self._citations: dict[int, dict[str, Citation]] = {}

    def markers(self, citations: Sequence[Citation]) -> str:
        """Return the markers of a sentence, and list its sources; empty if it has no citations."""
        for citation in citations:
            self._citations.setdefault(citation.number, {}).setdefault(citation.quote, citation)
        return "".join(f"[{number}]" for number in sorted({citation.number for citation in citations}))

    def text(self) -> str:
        """Return the list; empty if nothing is cited."""
        if not self._citations:
            return ""
        lines = [f"{number}. {_entry(list(quotes.values()))}" for number, quotes in sorted(self._citations.items())]
        return "\n\n".join(("", f"**{HEADING}**", "\n".join(lines)))


def _entry(citations: Sequence[Citation]) -> str:
    """Return a source with its quotes; its title is a link if the source has an address."""
    first = citations[0]
    title, url = one_line(title_of(first.passage)).translate(_ESCAPED), url_of(first.passage, first.span)
    name = f"[{title}](<{url}>)" if is_address(url) else title
    return f"{name}: {' … '.join(f'“{one_line(c.quote)}”' for c in citations)}"
