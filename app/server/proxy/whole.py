"""A completion that came whole: each choice's text with `annotations`, and the cited answer under `propcite`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from propcite.app.server.errors import RequestError
from propcite.app.server.proxy.asked import OURS
from propcite.app.server.proxy.citing import Citing, is_text
from propcite.attribution.formats.json import to_dict
from propcite.attribution.formats.openai import chat_annotations
from propcite.attribution.prose.unmarking import unmarked

NO_JSON = "the model's server answered with something else than JSON: correct PROPCITE_LLM_URL"


async def cited_completion(body: bytes, citing: Citing) -> bytes:
    """All else in it stays as it came."""
    try:
        completion = json.loads(body)
    except (ValueError, RecursionError):
        completion = None
    if not isinstance(completion, dict):
        raise RequestError(502, NO_JSON)
    choices = completion.get("choices")
    choices = [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []
    cited = [c for c in choices if isinstance(c.get("message"), dict) and is_text(c["message"].get("content"))]
    if not cited:
        return body
    await asyncio.gather(*(_cite(choice, citing) for choice in cited))
    return json.dumps(completion).encode()


async def _cite(choice: Mapping[str, Any], citing: Citing) -> None:
    message = choice["message"]
    if citing.asked.extension.strip_markers:
        message["content"] = unmarked(message["content"])
    answer = await citing.whole(message["content"], choice.get("finish_reason"))
    message["annotations"] = [*(message.get("annotations") or []), *chat_annotations(answer)]
    message[OURS] = to_dict(answer)
