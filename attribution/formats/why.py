"""An explanation as HTML: both texts with the words that met, and the heat map of all pairs; all is escaped here.

Words that met have the same number, colour and line; a heavier word is bolder, a pair that counts more is stronger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from propcite.attribution.citing.explaining import Explained
from propcite.attribution.formats.page import page, safe
from propcite.attribution.formats.plain import one_line
from propcite.attribution.formats.why_words import Met, lines, met
from propcite.attribution.formats.words import place_of, title_of
from propcite.retrieval.alignment.forms import SALIENT
from propcite.retrieval.explanation import Explanation, Word
from propcite.retrieval.text import Span

NUM_COLOURS = 8
STEPS = 10  # of strength
MOST_COLUMNS = 40  # of the heat map: of a longer text those that count for something
LEAST = 0.2  # the similarity of strangers: the heat map begins there
STYLE = Path(__file__).with_name("why.css")
LEGEND = (
    "The same number and colour: words that met. Bolder: it weighs more. Stronger colour: it counts more. "
    "≈: met by another word. Dashed: nothing near."
)
TITLE, MARKS = "its title", "the sentence as such"  # what tokens without a character stand for


def why_html(explained: Explained) -> str:
    """Both texts and the heat map, to be put into a page that has the style."""
    return (
        f'<div class="why"><div class="both">{_fact(explained)}{_source(explained)}</div>'
        f'<p class="legend">{LEGEND}</p>{matrix_html(explained.explanation)}</div>'
    )


def why_page(explained: Explained) -> str:
    """One HTML file, without script."""
    title = f"Why: {one_line(explained.fact.proposition.text)}"
    told = "".join(f"<p>{safe(line)}</p>" for line in lines(explained))
    header = f'<header><p class="kicker">PropCite</p><h1 dir="auto">{escape(title)}</h1></header>'
    body = f'{header}<div class="told">{told}</div>{why_html(explained)}'
    return page(title, body, STYLE.read_text("utf-8"))


# The texts


def _fact(explained: Explained) -> str:
    spans, shift = explained.fact.proposition.spans, explained.start
    own = [Span(0, len(explained.text))] if shift is None else [span.shifted(-shift) for span in spans]
    groups, _ = _groups(explained.explanation)
    found = explained.explanation
    strongest = float(found.contributions.sum(axis=1).max()) or 1.0
    marks = {
        i: _mark(found, i, groups.get(i), float(found.contributions[i].sum()) / strongest)
        for i in range(len(found.query))
    }
    words = _text(explained.text, Span(0, len(explained.text)), own, found.query, marks)
    return _figure(f"Fact {explained.number}", words)


def _source(explained: Explained) -> str:
    found, passage = explained.explanation, explained.evidence.passage
    _, groups = _groups(found)
    counts = found.contributions.sum(axis=0)
    strongest = float(counts.max()) or 1.0
    marks = {i: _source_mark(found, i, groups.get(i), float(counts[i]) / strongest) for i in range(len(found.source))}
    marks = {i: mark for i, mark in marks.items() if mark[0]}
    around = Span(min(s.start for s in explained.unit), max(s.end for s in explained.unit))
    words = _text(passage.text, around, explained.unit, found.source, marks)
    number = f"[{explained.citation.number}] " if explained.citation else "Nearest: "
    titled = "".join(f"<sup>{groups[i]}</sup>" for i, word in enumerate(found.source) if i in groups and not word.span)
    place = ", ".join(filter(None, [one_line(title_of(passage)), place_of(explained.evidence)]))
    return _figure(f"{number}{safe(place)}{titled}", words)


def _figure(caption: str, words: str) -> str:
    return f'<figure><figcaption>{caption}</figcaption><blockquote dir="auto">{words}</blockquote></figure>'


def _groups(found: Explanation) -> tuple[dict[int, int], dict[int, int]]:
    """Numbers from 1 of words that met: of the fact's words, and of the source's that each of them met first."""
    query: dict[int, int] = {}
    source: dict[int, int] = {}
    for i, word in enumerate(found.query):
        if word.speaks and met(found, i) is not Met.NONE:
            best = found.matches(i)[0].source
            query[i] = source.setdefault(best, len(source) + 1)
    return query, source


def _mark(found: Explanation, word: int, group: int | None, strength: float) -> tuple[str, str]:
    """The classes and the number of a word of the fact."""
    bold = _bold(found.query, word)
    if group is None:
        return f"{'unmet' if found.query[word].speaks else ''} {bold}".strip(), ""
    classes, number = _classes(group, strength)
    return f"{classes} {bold}", number if met(found, word) is Met.SAME else f"≈{number}"


def _source_mark(found: Explanation, word: int, group: int | None, strength: float) -> tuple[str, str]:
    """The same of a word of the source, whose weight is not always known."""
    bold = _bold(found.source, word)
    if group is None:
        return bold, ""
    classes, number = _classes(group, strength)
    return f"{classes} {bold}".strip(), number


def _bold(words: Sequence[Word], number: int) -> str:
    heaviest = max(word.weight or 0.0 for word in words) or 1.0
    weight = words[number].weight
    return "" if weight is None else f"w{_step(weight / heaviest, 5)}"


def _classes(group: int, strength: float) -> tuple[str, str]:
    return f"met m{(group - 1) % NUM_COLOURS + 1} s{_step(strength, STEPS)}", str(group)


def _step(share: float, steps: int) -> int:
    """
    >>> _step(0.0, 10), _step(0.55, 10), _step(1.0, 10), _step(-0.2, 10)
    (0, 5, 9, 0)
    """
    return max(0, min(steps - 1, int(share * steps)))


def _text(
    text: str, around: Span, own: Sequence[Span], words: Sequence[Word], marks: Mapping[int, tuple[str, str]]
) -> str:
    """The text around, with its marked words; what was not compared itself is quieter."""
    pieces, last = [], around.start
    for i, word in enumerate(words):
        if word.span is None or i not in marks:
            continue
        classes, number = marks[i]
        pieces.append(_between(text, Span(last, word.span.start), own))
        numbered = f"<sup>{number}</sup>" if number else ""
        pieces.append(f'<span class="{classes}">{safe(word.span.of(text))}{numbered}</span>')
        last = word.span.end
    return "".join(pieces) + _between(text, Span(last, max(last, around.end)), own)


def _between(text: str, span: Span, own: Sequence[Span]) -> str:
    words = safe(span.of(text))
    inside = any(span.overlaps(o) for o in own) or not words.strip()
    return words if inside else f'<span class="around">{words}</span>'


# The heat map


def matrix_html(found: Explanation) -> str:
    """All pairs of words as a table: how near they are, and, where a pair counts, for how much of the score."""
    rows = [i for i, word in enumerate(found.query) if word.speaks or word.span is None]
    columns = _columns(found)
    heads = "".join(f'<th scope="col"><span>{_headed(found.source[j], TITLE)}</span></th>' for j in columns)
    body = "".join(_row(found, i, columns) for i in rows)
    left_out = len(found.source) - len(columns)
    less = f" {left_out} words of the source that count for nothing are left out." if left_out else ""
    if not found.alignment.salient and any(word.weight is not None for word in found.source):
        less += f" The weights across are told, and count under an alignment with {SALIENT}."
    return (
        '<div class="matrix" role="region" aria-label="Heat map of words" tabindex="0"><table><caption>'
        "Down: words of the fact. Across: words of the source. With each its weight, where it is known. "
        "The stronger the colour, the nearer two words are; a number is the pair’s share of the similarity, in percent."
        f"{less}</caption>"
        f'<thead><tr><th scope="col">Word, weight</th>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _columns(found: Explanation) -> list[int]:
    speaking = [j for j, word in enumerate(found.source) if word.speaks or found.contributions[:, j].any()]
    if len(speaking) <= MOST_COLUMNS:
        return speaking
    return [j for j in speaking if abs(found.contributions[:, j]).sum() > 0]


def _row(found: Explanation, i: int, columns: Sequence[int]) -> str:
    cells = "".join(_cell(found, i, j) for j in columns)
    return f'<tr><th scope="row">{_headed(found.query[i], MARKS)}</th>{cells}</tr>'


def _cell(found: Explanation, i: int, j: int) -> str:
    near, counts = float(found.similarities[i, j]), float(found.contributions[i, j])
    share = counts / found.unit_score if found.unit_score else 0.0
    heat = f"h{_step((near - LEAST) / (1.0 - LEAST), STEPS)}"
    said = f"{found.query[i].text or MARKS} and {found.source[j].text or TITLE}: similarity {near:.2f}"
    if not counts:
        return f'<td class="{heat}" title="{safe(said)}"></td>'
    return f'<td class="{heat} counts" title="{safe(said)}, {share:.1%} of the score">{100 * share:.0f}</td>'


def _headed(word: Word, otherwise: str) -> str:
    """A word with its weight, where that is known."""
    weight = "" if word.weight is None else f' <span class="weight">{word.weight:.0%}</span>'
    return f'<span class="word">{safe(word.text) or f"<i>{otherwise}</i>"}</span>{weight}'
