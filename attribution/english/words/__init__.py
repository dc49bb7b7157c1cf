"""What plain words tell about a claim and its evidence: numbers, units, negation, overlap.  No model."""

from propcite.attribution.english.words.content import FUNCTION_WORDS, WORD, content_words, stem
from propcite.attribution.english.words.derived import underived_numbers
from propcite.attribution.english.words.measures import NUMBER_WITH_UNIT, other_unit
from propcite.attribution.english.words.named_numbers import without_titled
from propcite.attribution.english.words.numerals import missing_numbers, numbers, without_list_number
from propcite.attribution.english.words.opposites import (
    NEGATIONS,
    denial_in_other_words,
    negation_differs,
    opposed_words,
)
from propcite.attribution.english.words.overlap import plain_share, share_found, stands_in
from propcite.attribution.english.words.spellings import DAY_NAMES, MONTH_NAMES, MONTHS, NUMBER_WORDS, SCALES

__all__ = [
    "DAY_NAMES",
    "FUNCTION_WORDS",
    "MONTHS",
    "MONTH_NAMES",
    "NEGATIONS",
    "NUMBER_WITH_UNIT",
    "NUMBER_WORDS",
    "SCALES",
    "WORD",
    "content_words",
    "denial_in_other_words",
    "missing_numbers",
    "negation_differs",
    "numbers",
    "opposed_words",
    "other_unit",
    "plain_share",
    "share_found",
    "stands_in",
    "stem",
    "underived_numbers",
    "without_list_number",
    "without_titled",
]
