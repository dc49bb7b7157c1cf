"""Conditions on documents, parsed from one line: `kind=pdf and (author~Rossi or date>=2024-05) and not tags=draft`.

| syntax | true if |
|---|---|
| `=` `!=` | the whole value equals, `*` and `?` being wildcards; of a list, any element |
| `~` | the value contains these words |
| `<` `<=` `>` `>=` | it compares as a number, as a date (a year or month covers all its days), else alphabetically |
| `in (a, b)` | the value is one of these |
| `is set`, `is missing` | the field has a value, or none |
| `and` `or` `not` `( )` | as usual; a value that contains one of these words needs quotes |

Case is ignored.  `journal.volume` names a field of a nested value.
"""

from propcite.app.library.conditions.parser import EXAMPLE, MAX_DEPTH, parse_condition
from propcite.app.library.conditions.predicates import Condition, Fields

__all__ = ["EXAMPLE", "MAX_DEPTH", "Condition", "Fields", "parse_condition"]
