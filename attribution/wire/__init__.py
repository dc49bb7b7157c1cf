"""CitedAnswer as JSON and back."""

from attribution.wire.reading import from_dict, from_json
from attribution.wire.schema import SCHEMA, AnswerJson, json_schema
from attribution.wire.writing import to_dict, to_json

__all__ = ["SCHEMA", "AnswerJson", "from_dict", "from_json", "json_schema", "to_dict", "to_json"]
