"""Convert a CitedAnswer to JSON and back."""

from propcite.attribution.formats.json.reading import from_dict, from_json
from propcite.attribution.formats.json.schema import SCHEMA, AnswerJson, json_schema
from propcite.attribution.formats.json.writing import to_dict, to_json

__all__ = ["SCHEMA", "AnswerJson", "from_dict", "from_json", "json_schema", "to_dict", "to_json"]
