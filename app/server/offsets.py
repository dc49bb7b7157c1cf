"""The unit that offsets of a response count: what the body says, else the header PropCite-Offsets."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request

from propcite.app.server.errors import RequestError
from propcite.app.server.schemas import OffsetUnit
from propcite.attribution.formats.offsets import Unit

HEADER = "propcite-offsets"


def unit_for(request: Request, body: OffsetUnit) -> Unit:
    """Return the unit for a response to this request."""
    if "offsets" in body.model_fields_set:
        return body.offsets
    return asked_unit(request.headers) or body.offsets


def asked_unit(headers: Mapping[str, str]) -> Unit | None:
    """Return the unit that the header names; None without the header."""
    name = headers.get(HEADER)
    if name is None:
        return None
    if name not in set(Unit):
        raise RequestError(422, f"PropCite-Offsets: {name[:40]!r} is no unit: send one of {', '.join(Unit)}")
    return Unit(name)
