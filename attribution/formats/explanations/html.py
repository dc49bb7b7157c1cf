"""Show an explanation as HTML: both texts with their matched words, and a heat map of all pairs of words.

Matched words have the same number, colour and line.  Words with more weight are bolder, and words that contribute more
have a stronger colour.  All text is escaped here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from propcite.attribution.citing.explaining import Explained
from propcite.attribution.formats.explanations.text import WordMatch, explanation_lines, word_match
from propcite.attribution.formats.html import page
from propcite.attribution.formats.text import one_line, safe
from propcite.attribution.formats.wording import place_of, title_of
from propcite.retrieval.alignment.forms import SALIENT
from propcite.retrieval.explanation import Explanation, Word
from propcite.retrieval.text import Span

STYLE = Path(__file__).with_name("why.css")  # a page that contains `explanation_html` needs it
NUM_COLOURS = 8
NUM_STRENGTHS, NUM_WEIGHTS = 10, 5  # steps of colour and of boldness that the style has
MAX_COLUMNS = 40  # of the heat map; in a longer text only words that contribute get a column
MIN_SIMILARITY = 0.2  # where the colours of the heat map begin: the similarity of unrelated words
LEGEND = (
    "The same number and colour: words that met. Bolder: it weighs more. Stronger colour: it counts more. "
    "≈: met by another word. Dashed: nothing near."
)
TITLE_NAME, SENTENCE_NAME = "its title", "the sentence as such"  # names of tokens that have no characters in the text

Mark = tuple[str, str]  # the classes of a word, and its number


def explanation_html(explained: Explained) -> str:
    """Return both texts and the heat map, as a part of a page that has the STYLE."""
    return (
        f'<div class="why"><div class="both">{_fact(explained)}{_source(explained)}</div>'
        f'<p class="legend">{LEGEND}</p>{heat_map_html(explained.explanation)}</div>'
    )


def explanation_page(explained: Explained) -> str:
    """Return an HTML file without script."""
    title = f"Why: {one_line(explained.fact.proposition.text)}"
    lines = "".join(f"<p>{safe(line)}</p>" for line in explanation_lines(explained))
    header = f'<header><p class="kicker">PropCite</p><h1 dir="auto">{escape(title)}</h1></header>'
    body = f'{header}<div class="told">{lines}</div>{explanation_html(explained)}'
    return page(title, body, STYLE.read_text("utf-8"))


# Texts


def _fact(explained: Explained) -> str:
    spans, shift = explained.fact.proposition.spans, explained.start
    own = [Span(0, len(explained.text))] if shift is None else [span.shifted(-shift) for span in spans]
    explanation = explained.explanation
    groups, _ = _groups(explanation)
    contributions = explanation.contributions.sum(axis=1)
    strongest = float(contributions.max()) or 1.0
    marks = {
        i: _query_mark(explanation, i, groups.get(i), float(contributions[i]) / strongest)
        for i in range(len(explanation.query))
    }
    words = _text(explained.text, Span(0, len(explained.text)), own, explanation.query, marks)
    return _figure(f"Fact {explained.number}", words)


def _source(explained: Explained) -> str:
    explanation, passage = explained.explanation, explained.evidence.passage
    _, groups = _groups(explanation)
    contributions = explanation.contributions.sum(axis=0)
    strongest = float(contributions.max()) or 1.0
    marks = {
        i: _mark(explanation.source, i, groups.get(i), float(contributions[i]) / strongest)
        for i in range(len(explanation.source))
    }
    marks = {i: mark for i, mark in marks.items() if mark[0]}
    around = Span(min(s.start for s in explained.unit), max(s.end for s in explained.unit))
    words = _text(passage.text, around, explained.unit, explanation.source, marks)
    number = f"[{explained.citation.number}] " if explained.citation else "Nearest: "
    title_numbers = "".join(
        f"<sup>{groups[i]}</sup>" for i, word in enumerate(explanation.source) if i in groups and not word.span
    )
    place = ", ".join(filter(None, [one_line(title_of(passage)), place_of(explained.evidence)]))
    return _figure(f"{number}{safe(place)}{title_numbers}", words)


def _figure(caption: str, words: str) -> str:
    return f'<figure><figcaption>{caption}</figcaption><blockquote dir="auto">{words}</blockquote></figure>'


def _groups(explanation: Explanation) -> tuple[dict[int, int], dict[int, int]]:
    """Number from 1 the matched words of the fact, and their best matches in the source."""
    query: dict[int, int] = {}
    source: dict[int, int] = {}
    for i, word in enumerate(explanation.query):
        if word.has_content and word_match(explanation, i) is not WordMatch.NONE:
            best = explanation.matches(i)[0].source
            query[i] = source.setdefault(best, len(source) + 1)
    return query, source


def _query_mark(explanation: Explanation, word: int, group: int | None, strength: float) -> Mark:
    """Return the mark of a word of the fact; unlike the source's, it shows whether the match is another word."""
    classes, number = _mark(explanation.query, word, group, strength)
    if group is None:
        return f"{'unmet' if explanation.query[word].has_content else ''} {classes}".strip(), ""
    return classes, number if word_match(explanation, word) is WordMatch.SAME else f"≈{number}"


def _mark(words: Sequence[Word], word: int, group: int | None, strength: float) -> Mark:
    """Return the mark of a word: boldness if its weight is known, and colour and number if it has a match."""
    heaviest = max(one.weight or 0.0 for one in words) or 1.0
    weight = words[word].weight
    bold = "" if weight is None else f"w{_step(weight / heaviest, NUM_WEIGHTS)}"
    if group is None:
        return bold, ""
    colour = f"met m{(group - 1) % NUM_COLOURS + 1} s{_step(strength, NUM_STRENGTHS)}"
    return f"{colour} {bold}".strip(), str(group)


def _step(share: float, num_steps: int) -> int:
    """Return the step of a share between 0 and 1.

    >>> _step(0.0, 10), _step(0.55, 10), _step(1.0, 10), _step(-0.2, 10)
    (0, 5, 9, 0)
    """
    return max(0, min(num_steps - 1, int(share * num_steps)))


def _text(text: str, around: Span, own: Sequence[Span], words: Sequence[Word], marks: Mapping[int, Mark]) -> str:
    """Return the text of `around` with its marked words; characters outside `own` were not compared and are paler."""
    pieces, last = [], around.start
    for i, word in enumerate(words):
        if word.span is None or i not in marks:
            continue
        classes, number = marks[i]
        pieces.append(_between(text, Span(last, word.span.start), own))
        superscript = f"<sup>{number}</sup>" if number else ""
        pieces.append(f'<span class="{classes}">{safe(word.span.of(text))}{superscript}</span>')
        last = word.span.end
    return "".join(pieces) + _between(text, Span(last, max(last, around.end)), own)


def _between(text: str, span: Span, own: Sequence[Span]) -> str:
    words = safe(span.of(text))
    inside = any(span.overlaps(o) for o in own) or not words.strip()
    return words if inside else f'<span class="around">{words}</span>'


# Heat map


def heat_map_html(explanation: Explanation) -> str:
    """Return all pairs of words as a table: colours are similarities, numbers are shares of the score."""
    rows = [i for i, word in enumerate(explanation.query) if word.has_content or word.span is None]
    columns = _columns(explanation)
    heads = "".join(f'<th scope="col"><span>{_head(explanation.source[j], TITLE_NAME)}</span></th>' for j in columns)
    body = "".join(_row(explanation, i, columns) for i in rows)
    num_omitted = len(explanation.source) - len(columns)
    note = f" {num_omitted} words of the source that count for nothing are left out." if num_omitted else ""
    if not explanation.alignment.salient and any(word.weight is not None for word in explanation.source):
        note += f" The weights across are shown, and count under an alignment with {SALIENT}."
    return (
        '<div class="matrix" role="region" aria-label="Heat map of words" tabindex="0"><table><caption>'
        "Down: words of the fact. Across: words of the source. With each its weight, where it is known. "
        "The stronger the colour, the nearer two words are; a number is the pair’s share of the similarity, in percent."
        f"{note}</caption>"
        f'<thead><tr><th scope="col">Word, weight</th>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _columns(explanation: Explanation) -> list[int]:
    source, contributions = explanation.source, explanation.contributions
    columns = [j for j, word in enumerate(source) if word.has_content or contributions[:, j].any()]
    if len(columns) <= MAX_COLUMNS:
        return columns
    return [j for j in columns if abs(contributions[:, j]).sum() > 0]


def _row(explanation: Explanation, i: int, columns: Sequence[int]) -> str:
    cells = "".join(_cell(explanation, i, j) for j in columns)
    return f'<tr><th scope="row">{_head(explanation.query[i], SENTENCE_NAME)}</th>{cells}</tr>'


def _cell(explanation: Explanation, i: int, j: int) -> str:
    similarity, contribution = float(explanation.similarities[i, j]), float(explanation.contributions[i, j])
    heat = f"h{_step((similarity - MIN_SIMILARITY) / (1.0 - MIN_SIMILARITY), NUM_STRENGTHS)}"
    words = f"{explanation.query[i].text or SENTENCE_NAME} and {explanation.source[j].text or TITLE_NAME}"
    title = safe(f"{words}: similarity {similarity:.2f}")
    if not contribution:
        return f'<td class="{heat}" title="{title}"></td>'
    share = contribution / explanation.unit_score if explanation.unit_score else 0.0
    return f'<td class="{heat} counts" title="{title}, {share:.1%} of the score">{100 * share:.0f}</td>'


def _head(word: Word, otherwise: str) -> str:
    """Return a word with its weight, if that is known."""
    weight = "" if word.weight is None else f' <span class="weight">{word.weight:.0%}</span>'
    return f'<span class="word">{safe(word.text) or f"<i>{otherwise}</i>"}</span>{weight}'
