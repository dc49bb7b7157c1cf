"""What a client needs without asking: the unit of its offsets, and the forms of citations that its SDK keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from propcite.app.server.errors import RequestError
from propcite.app.server.offsets import asked_unit
from propcite.attribution.formats.offsets import Unit

SOURCES = "propcite-sources"
AS_ANNOTATIONS, AS_TEXT = "annotations", "text"
SourceForm = Literal["annotations", "text"]

_AI_SDK = re.compile(r"\bai-sdk/")


@dataclass(frozen=True, slots=True)
class Client:
    """How one client reads answers.

    `sources_as_text`: markers in the text, and a list of sources behind it.  `keeps_last_list`: its stream helper
    replaces a list by the next one.  `reads_web_results`: it knows Anthropic's citations of documents that it sent and
    of web pages, and fails at others.
    """

    unit: Unit = Unit.CODE_POINTS
    sources_as_text: bool = False
    keeps_last_list: bool = False
    reads_web_results: bool = False


def client_of(
    headers: Mapping[str, str],
    offsets: Unit | None = None,
    sources: SourceForm | None = None,
    default: SourceForm = "annotations",
) -> Client:
    """Return what a client needs; what the body says counts first, then the headers, then what is known of the SDK.

    >>> client_of({"user-agent": "ai/6.0 ai-sdk/openai/3.0"}).unit, client_of({"propcite-offsets": "bytes"}).unit
    (<Unit.UTF_16: 'utf-16'>, <Unit.BYTES: 'bytes'>)
    """
    is_js = headers.get("x-stainless-lang", "").lower() == "js"
    is_ai_sdk = bool(_AI_SDK.search(headers.get("user-agent", "")))
    default_unit = Unit.UTF_16 if is_js or is_ai_sdk else Unit.CODE_POINTS
    return Client(
        offsets or asked_unit(headers) or default_unit,
        sources_as_text=(sources or _asked_sources(headers) or default) == AS_TEXT,
        keeps_last_list=is_js and headers.get("x-stainless-helper-method") == "stream",
        reads_web_results=is_ai_sdk,
    )


def _asked_sources(headers: Mapping[str, str]) -> str | None:
    name = headers.get(SOURCES)
    if name not in (None, AS_ANNOTATIONS, AS_TEXT):
        raise RequestError(422, f"PropCite-Sources: {name[:40]!r} is no form: send {AS_ANNOTATIONS} or {AS_TEXT}")
    return name
