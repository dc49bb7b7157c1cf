"""Citations of a text as the annotations of the Responses API."""

from __future__ import annotations

from typing import Any

from propcite.app.server.proxy.citing import Citer
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.openai import to_openai, to_openai_files


def annotations_of(answer: CitedAnswer, citer: Citer) -> list[dict[str, Any]]:
    """Return the annotations of an answer; empty where the client wants its sources in the text."""
    if citer.client.sources_as_text:
        return []
    write = to_openai_files if citer.call.extension.citation_type == "file_citation" else to_openai
    annotations: list[dict[str, Any]] = write(answer, citer.client.unit)["content"][0]["annotations"]
    return annotations
