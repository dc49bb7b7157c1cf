"""The record of a kept answer, as a section of its report."""

from __future__ import annotations

from datetime import UTC, datetime

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.record.values import AnswerRecord, Asking, SourceVersion
from propcite.attribution.formats.text import safe
from propcite.attribution.formats.wording import ANSWERED_LINES, ANSWERED_SIGNS


def record_html(answer: CitedAnswer, record: AnswerRecord) -> str:
    """Return who asked and when, how the question was understood, and the version of each source."""
    rows = {
        "Question": answer.question,
        "Searched for": answer.understood,
        "Follows the answer": answer.after,
        "Kept": _time(record.kept_at),
        "Record written": " by ".join(filter(None, [_time(record.written_at), record.made_by])),
    }
    listed = "".join(f"<div><dt>{safe(k)}</dt><dd>{safe(v)}</dd></div>\n" for k, v in rows.items() if v)
    return (
        f'<section class="record">\n<h2>Record</h2>\n<dl>\n{listed}</dl>\n{_askings(record)}{_parts(answer)}'
        f"{_sources(record.sources)}</section>\n"
    )


def _askings(record: AnswerRecord) -> str:
    lines = [_asking(one) for one in record.askings]
    if record.num_hidden:
        lines.append(f"{record.num_hidden} by others, whom an admin of the collection may see")
    if not lines:
        lines = ["The audit log has no entry of it."]
    return f"<h3>Asked</h3>\n<ul>\n{''.join(f'<li>{safe(line)}</li>' for line in lines)}</ul>\n"


def _asking(one: Asking) -> str:
    return f"{_time(one.at)} by {one.who}, through {one.via}"


def _parts(answer: CitedAnswer) -> str:
    if not answer.parts:
        return ""
    lines = [f"{ANSWERED_SIGNS[p.answered]} {p.question} {ANSWERED_LINES[p.answered]}." for p in answer.parts]
    return f"<h3>Does it answer?</h3>\n<ul>\n{''.join(f'<li>{safe(line)}</li>' for line in lines)}</ul>\n"


def _sources(sources: tuple[SourceVersion, ...]) -> str:
    if not sources:
        return ""
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Document", "From", "Read", "SHA-256"))
    rows = "".join(f"<tr>{''.join(f'<td>{safe(cell)}</td>' for cell in _cells(one))}</tr>\n" for one in sources)
    return f"<h3>Versions of the documents</h3>\n<table>\n<tr>{head}</tr>\n{rows}</table>\n"


def _cells(one: SourceVersion) -> tuple[str, ...]:
    return " · ".join(filter(None, [one.title, one.status])), one.source, _time(one.read_at), one.digest


def _time(at: datetime | None) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at else ""
