"""Read what is over a PDF's pages, too: the values of form fields, typed notes and stamps, each beside its label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pypdfium2 import raw

from propcite.app.ingest.readers.pdf.layout import split
from propcite.app.ingest.readers.pdf.lines import Line

_WITH_WORDS = (raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP, raw.FPDF_ANNOT_WIDGET)
_MAX_BESIDE = 20.0  # letter sizes from a label to its value
_MAX_BELOW = 2.5  # letter sizes from a label above a value to the value's foot
_TICKED = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
_TICKS = "☐☒"
_MARKS = " ✔✖●◆■★"
_SAME_ROW = 0.6  # letter sizes between the middles of a label and its value


def has_words_over_it(page: Any) -> bool:
    """Whether a page has fields, typed notes or stamps, which are no part of its text."""
    return any(_has_words(page, number) for number in range(raw.FPDFPage_GetAnnotCount(page)))


def put_on_page(page: Any) -> None:
    """Make fields, typed notes and stamps a part of their page, which must be opened again.

    Hidden ones are left out, and so are comments, which are only shown on a click.
    """
    raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)


def ticks(pdf: Any, page: Any, number: int) -> Iterator[Line]:
    """Yield a line for each box to tick and button to choose of a page, whose marks are no words."""
    if not pdf.formenv or page.get_rotation():
        return
    left, bottom, right, top = page.get_bbox()
    for at in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation, edges = raw.FPDFPage_GetAnnot(page, at), raw.FS_RECTF()
        kind = raw.FPDFAnnot_GetFormFieldType(pdf.formenv, annotation) if annotation else None
        is_hidden = annotation and raw.FPDFAnnot_GetFlags(annotation) & raw.FPDF_ANNOT_FLAG_HIDDEN
        if kind in _TICKED and not is_hidden and raw.FPDFAnnot_GetRect(annotation, edges):
            yield Line(
                text=_TICKS[bool(raw.FPDFAnnot_IsChecked(pdf.formenv, annotation))],
                page=number,
                left=edges.left - left,
                right=edges.right - left,
                bottom=edges.bottom - bottom,
                top=edges.top - bottom,
                size=edges.top - edges.bottom,
                page_height=top - bottom,
                page_width=right - left,
            )
        raw.FPDFPage_CloseAnnot(annotation)


def _has_words(page: Any, number: int) -> bool:
    annotation = raw.FPDFPage_GetAnnot(page, number)
    if not annotation:
        return False
    subtype = raw.FPDFAnnot_GetSubtype(annotation)
    raw.FPDFPage_CloseAnnot(annotation)
    return subtype in _WITH_WORDS


def with_values(lines: Sequence[Line], without: Sequence[Line], ticked: Sequence[Line]) -> list[Line]:
    """Return the lines of a page with each of those after its own ones in the line of its label, or below it.

    A tick is beside the nearer of the words on its left and right.
    """
    num_own = len(without)
    if [line.text for line in lines[:num_own]] != [line.text for line in without]:
        return list(lines)
    own = [split(line) for line in without]
    rest: list[Line] = []
    changed: set[int] = set()
    values = [piece for line in lines[num_own:] for piece in split(line)]
    if ticked:  # whose marks may be letters, also at the end of other values
        values = [replace(value, text=value.text.strip(_MARKS)) for value in values]
        values = [value for value in values if value.text and not any(_is_in(value, box) for box in ticked)]
    for value in (*values, *ticked):
        places = [(at, inner) for at, pieces in enumerate(own) for inner in range(len(pieces))]
        beside = [place for place in places if _is_beside(own[place[0]][place[1]], value)]
        above = [place for place in places if _is_below(own[place[0]][place[1]], value)]
        if value in ticked:
            beside += [place for place in places if _is_beside(value, own[place[0]][place[1]])]
        if beside:
            at, inner = min(beside, key=lambda place: _gap(own[place[0]][place[1]], value))
            own[at][inner] = _joined(own[at][inner], value)
        elif above:
            at, inner = min(above, key=lambda place: own[place[0]][place[1]].bottom)
            own[at].insert(inner + 1, replace(value, cells=(), is_row=True))
        else:
            rest.append(value)
            continue
        changed.add(at)
    return [line for at, pieces in enumerate(own) for line in (pieces if at in changed else [lines[at]])] + rest


def _is_in(value: Line, box: Line) -> bool:
    return box.left < (value.left + value.right) / 2 < box.right and box.bottom < _middle(value) < box.top


def _is_beside(label: Line, value: Line) -> bool:
    is_level = abs(_middle(label) - _middle(value)) < _SAME_ROW * max(label.size, value.size)
    return is_level and -0.5 * value.size < value.left - label.right < _MAX_BESIDE * value.size


def _is_below(label: Line, value: Line) -> bool:
    is_close = 0 < label.bottom - value.bottom < _MAX_BELOW * value.size
    return is_close and label.left < value.right and value.left < label.right


def _gap(one: Line, other: Line) -> float:
    return max(one.left, other.left) - min(one.right, other.right)


def _middle(line: Line) -> float:
    return (line.top + line.bottom) / 2


def _joined(label: Line, value: Line) -> Line:
    first, last = sorted((label, value), key=lambda line: line.left)
    return replace(
        label,
        text=f"{first.text} {last.text}",
        left=first.left,
        right=last.right,
        bottom=min(label.bottom, value.bottom),
        top=max(label.top, value.top),
        cells=(),
        stretch=None,
        number_end=None,
        is_row=True,
    )
