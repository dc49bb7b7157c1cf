"""A cited answer as Markdown with footnotes; every word shows as it was written, whatever it looks like."""

from __future__ import annotations

import re

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition, Evidence
from propcite.attribution.formats.addresses import words_at
from propcite.attribution.formats.pieces import Piece, Source, pieces, sources
from propcite.attribution.formats.plain import one_line, printable
from propcite.attribution.formats.words import (
    NEAREST,
    NOT_NEAR,
    NOTHING_NEAR,
    SIGNS,
    coverage_line,
    label_of,
    notices,
    place_of,
    title_of,
)

_SPECIAL = re.compile(r"[\\`*_\[\]<>{}|~$#^]|&(?=#|\w)|:(?=\w+:|//)|(?<=www)\.")
_FIRST = re.compile(r"^(\d{1,9}(?=[.)])|(?=[-+=:]))")  # would begin a list, or underline a heading
_OPENS = re.compile(r"^[(:]")  # behind a marker it would be read as part of it


def to_markdown(answer: CitedAnswer) -> str:
    """The answer with `[^n]` behind its sentences, what stayed without support, then the sources' words."""
    parts = [f"# {inline(answer.question)}"] if answer.question.strip() else []
    parts += [f"> {inline(notice)}" for notice in notices(answer)]
    parts += [_text(answer), f"*{inline(coverage_line(answer))}*"]
    if answer.uncited:
        parts.append("## Without support\n\n" + "\n".join(_bare(cited) for cited in answer.uncited))
    if unmarked := _unmarked(answer):
        parts.append("## Further support\n\n" + "\n".join(unmarked))
    parts.append("\n".join(_footnote(source) for source in sources(answer)))
    return "\n\n".join(filter(None, parts)) + "\n"


def inline(text: str) -> str:
    """Any text on one line, shown as it is."""
    return _FIRST.sub(r"\1\\", _SPECIAL.sub(r"\\\g<0>", one_line(text)))


def _text(answer: CitedAnswer) -> str:
    text = printable(answer.text)
    written = ""
    for piece in pieces(answer):
        words = _SPECIAL.sub(r"\\\g<0>", piece.span.of(text))
        written += (_OPENS.sub(r"\\\g<0>", words) if written.endswith("]") else words) + _behind(piece)
    return _broken(written)


def _behind(piece: Piece) -> str:
    notes = "".join(f" `{' '.join(SIGNS[label_of(cited)])}`" for cited in piece.bare)
    return "".join(f"[^{c.number}]" for c in piece.markers) + notes


def _broken(text: str) -> str:
    """Lines and paragraphs where the text has them; white space that Markdown would read or drop is spelt out."""
    paragraphs = re.split(r"\n(?:[^\S\n]*\n)+", text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))
    lines = [[_line(line) for line in paragraph.split("\n") if line.strip()] for paragraph in paragraphs]
    return "\n\n".join("\\\n".join(several) for several in lines if several)


def _line(line: str) -> str:
    words = line.strip()
    before, after = line[: line.index(words)], line[line.index(words) + len(words) :]
    spelt = ["".join(f"&#{ord(c)};" for c in space) for space in (before, after)]
    return spelt[0] + _FIRST.sub(r"\1\\", words) + spelt[1]


# Sources


def _footnote(source: Source) -> str:
    """The title, and each place with the words that stand there."""
    quotes = "; ".join(_quote(citation.evidence) for citation in source.citations)
    return f"[^{source.number}]: {_title(source.citations[0].evidence)}, {quotes}"


def _title(evidence: Evidence) -> str:
    """It leads to the words themselves where these are on the web."""
    title = f"*{inline(title_of(evidence.passage))}*"
    return f"[{title}](<{words_at(evidence.address, evidence.quote)}>)" if evidence.address else title


def _quote(evidence: Evidence) -> str:
    place = place_of(evidence)
    return (f"{inline(place)}: " if place else "") + f"“{inline(evidence.quote)}”"


def _bare(cited: CitedProposition) -> str:
    sign, words = SIGNS[label_of(cited)]
    reason = f" ({inline(cited.verdict.reason)})" if cited.verdict and cited.verdict.reason else ""
    line = f"- {sign} {inline(cited.proposition.text)}\\\n  **{words}**{reason}.\\\n  "
    if cited.nearest is None:
        return f"{line}{NOTHING_NEAR}."
    said = NEAREST.get(label_of(cited), NOT_NEAR)
    return f"{line}{said}: {_title(cited.nearest)}, {_quote(cited.nearest)}"


def _unmarked(answer: CitedAnswer) -> list[str]:
    """Facts whose source has no marker in the text, since a sentence has at most so many: their footnotes stay."""
    marked = {c.number for sentence in answer.sentences for c in sentence.citations}
    left: dict[int, Citation] = {c.number: c for c in answer.citations if c.number not in marked}
    facts = [(p, [c.number for c in p.citations if left.pop(c.number, None)]) for p in answer.propositions]
    return [f"- {inline(p.proposition.text)}{''.join(f'[^{n}]' for n in numbers)}" for p, numbers in facts if numbers]
