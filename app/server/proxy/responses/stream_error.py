"""The event by which a streamed response ends with an error."""

from __future__ import annotations

from typing import Any

from propcite.app.server.problems import openai_error


def stream_error(detail: str, status: int = 502) -> dict[str, Any]:
    """Return the event in both forms that OpenAI's API has: clients raise `error`, helpers read the rest."""
    error = openai_error(status, detail, code="server_error" if status >= 500 else "invalid_prompt")["error"]
    return {"type": "error", "code": error["code"], "message": detail, "param": None, "error": error}
