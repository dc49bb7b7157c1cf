"""The reviewed draft as a file: Word with comments, Markdown with footnotes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

from propcite.app.errors import AppError
from propcite.app.ingest.readers.plain_text import decode
from propcite.app.library.store import ReviewInfo
from propcite.app.parts import Parts
from propcite.app.reviewing.citing import kept_draft
from propcite.app.reviewing.drafts import is_markdown, is_word
from propcite.attribution.citations import CitedAnswer, CitedProposition, Label
from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.cited_documents import with_documents
from propcite.attribution.formats.text import utf8
from propcite.attribution.formats.wording import label_of

MARKDOWN_TYPE, WORD_TYPE = FORMATS["markdown"].media_type, FORMATS["docx"].media_type


class ReviewFormat(StrEnum):
    """The formats of a reviewed draft."""

    DOCX = "docx"
    MARKDOWN = "markdown"

    @property
    def media_type(self) -> str:
        return WORD_TYPE if self is ReviewFormat.DOCX else MARKDOWN_TYPE

    @property
    def suffix(self) -> str:
        return ".docx" if self is ReviewFormat.DOCX else ".md"


@dataclass(frozen=True, slots=True)
class ReviewFile:
    """A reviewed draft as the bytes of a file."""

    name: str
    media_type: str
    data: bytes


def export_review(parts: Parts, info: ReviewInfo, form: ReviewFormat, labels: Collection[Label] = ()) -> ReviewFile:
    """Return a draft with a remark at each fact, or at the facts with these verdicts.

    A Word draft keeps its own file, a Markdown draft its own source; others are written from their text.
    """
    from propcite.attribution.formats.reviewed.commented import to_commented_docx
    from propcite.attribution.formats.reviewed.footnoted import to_footnoted_markdown

    answer, decisions = cited_draft(parts, info), parts.reviews.decisions(info.id)
    answer = with_documents(answer, parts.library.cited_documents(answer))

    def chosen(cited: CitedProposition) -> bool:
        return not labels or label_of(cited) in labels

    content = parts.reviews.content(info.id)
    keeps_file = is_word(info.name) if form is ReviewFormat.DOCX else is_markdown(info.name)
    headings = () if keeps_file else kept_draft(parts, info).headings
    if form is ReviewFormat.DOCX:
        data = to_commented_docx(answer, decisions, content if keeps_file else None, headings, chosen)
    else:
        source = decode(info.name, content) if keeps_file else ""
        data = utf8(to_footnoted_markdown(answer, decisions, source, headings, chosen))
    return ReviewFile(f"{PurePath(info.name).stem}-reviewed{form.suffix}", form.media_type, data)


def cited_draft(parts: Parts, info: ReviewInfo) -> CitedAnswer:
    """Return the citations of a draft; AppError while it has none."""
    if not info.answer_id:
        raise AppError(f"the draft {info.id} has no citations yet: wait for its end, or start it again")
    return parts.library.answer(info.answer_id)
