"""The published schemas by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from propcite.attribution.formats.json.explanations import explanation_schema
from propcite.attribution.formats.json.repairs import repair_schema
from propcite.attribution.formats.json.schema import json_schema

SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "answer": json_schema,
    "repair": repair_schema,
    "explanation": explanation_schema,
}
