"""Write a cited answer as Markdown with footnotes; syntax inside texts is escaped, so they show as written."""

from __future__ import annotations

import re

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence
from propcite.attribution.formats.links import link_to
from propcite.attribution.formats.pieces import CitedPassage, Piece, cited_passages, pieces
from propcite.attribution.formats.text import one_line, printable
from propcite.attribution.formats.wording import (
    SIGNS,
    copies_line,
    label_of,
    nearest_line,
    notices,
    place_of,
    summary_line,
    title_of,
)

_SPECIAL = re.compile(r"[\\`*_\[\]<>{}|~$#^]|&(?=#|\w)|:(?=\w+:|//)|(?<=www)\.")
_LINE_START = re.compile(r"^(\d{1,9}(?=[.)])|(?=[-+=:]))")  # would begin a list, or underline a heading
_LINK_START = re.compile(r"^[(:]")  # behind a marker these would make a link or a definition of it


def to_markdown(answer: CitedAnswer) -> str:
    """Return the answer with `[^n]` behind its sentences, then unsupported facts, then the quotes as footnotes."""
    parts = [f"# {inline(answer.question)}"] if answer.question.strip() else []
    parts += [f"> {inline(notice)}" for notice in notices(answer)]
    parts += [_text(answer), f"*{inline(summary_line(answer))}*"]
    if answer.uncited:
        parts.append("## Without support\n\n" + "\n".join(map(_unsupported, answer.uncited)))
    if further := _further_support(answer):
        parts.append("## Further support\n\n" + "\n".join(further))
    parts.append("\n".join(map(_footnote, cited_passages(answer))))
    return "\n\n".join(filter(None, parts)) + "\n"


def inline(text: str) -> str:
    """Escape any text for one line of Markdown."""
    return _LINE_START.sub(r"\1\\", escaped(one_line(text)))


def escaped(words: str) -> str:
    """Escape what Markdown would read as syntax inside a line."""
    return _SPECIAL.sub(r"\\\g<0>", words)


def _text(answer: CitedAnswer) -> str:
    text = printable(answer.text)
    written = ""
    for piece in pieces(answer):
        words = escaped(piece.span.of(text))
        written += (_LINK_START.sub(r"\\\g<0>", words) if written.endswith("]") else words) + _marks(piece)
    return kept_lines(written)


def _marks(piece: Piece) -> str:
    notes = "".join(f" `{' '.join(SIGNS[label_of(cited)])}`" for cited in piece.unsupported)
    return "".join(f"[^{c.number}]" for c in piece.markers) + notes


def kept_lines(text: str) -> str:
    """Keep line and paragraph breaks; write white space that Markdown would interpret or drop as references."""
    paragraphs = re.split(r"\n(?:[^\S\n]*\n)+", text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))
    lines = [[_line(line) for line in paragraph.split("\n") if line.strip()] for paragraph in paragraphs]
    return "\n\n".join("\\\n".join(several) for several in lines if several)


def _line(line: str) -> str:
    words = line.strip()
    before, after = line[: line.index(words)], line[line.index(words) + len(words) :]
    references = ["".join(f"&#{ord(c)};" for c in space) for space in (before, after)]
    return references[0] + _LINE_START.sub(r"\1\\", words) + references[1]


# Sources


def _footnote(source: CitedPassage) -> str:
    """Return the title, and each quote with its place."""
    quotes = "; ".join(_quote(citation.evidence) for citation in source.citations)
    return f"[^{source.number}]: {_title(source.citations[0].evidence)}, {quotes}"


def _title(evidence: Evidence) -> str:
    title = f"*{inline(title_of(evidence.passage))}*"
    link = link_to(evidence)
    return f"[{title}](<{link}>)" if link else title


def _quote(evidence: Evidence) -> str:
    place = place_of(evidence)
    also = f" ({inline(line)})" if (line := copies_line(evidence)) else ""
    return (f"{inline(place)}: " if place else "") + f"“{inline(evidence.quote)}”{also}"


def _unsupported(cited: CitedProposition) -> str:
    sign, words = SIGNS[label_of(cited)]
    reason = f" ({inline(cited.verdict.reason)})" if cited.verdict and cited.verdict.reason else ""
    line = f"- {sign} {inline(cited.proposition.text)}\\\n  **{words}**{reason}.\\\n  "
    if cited.nearest is None:
        return f"{line}{nearest_line(cited)}."
    return f"{line}{nearest_line(cited)}: {_title(cited.nearest)}, {_quote(cited.nearest)}"


def _further_support(answer: CitedAnswer) -> list[str]:
    """List facts whose source has no marker in the text, because a sentence shows at most `max_citations`."""
    marked = {c.number for sentence in answer.sentences for c in sentence.citations}
    rest: dict[int, Citation] = {c.number: c for c in answer.citations if c.number not in marked}
    facts = [(p, [c.number for c in p.citations if rest.pop(c.number, None)]) for p in answer.propositions]
    return [f"- {inline(p.proposition.text)}{''.join(f'[^{n}]' for n in numbers)}" for p, numbers in facts if numbers]
