"""What is asked of documents, read from one line: `kind=pdf and (author~Rossi or date>=2024-05) and not tags=draft`.

| | |
|---|---|
| `=` `!=` | the whole value, where `*` and `?` stand for anything; of a list, any of it |
| `~` | it holds these words |
| `<` `<=` `>` `>=` | numbers as numbers, dates as dates (a year or a month is all of it), else by letters |
| `in (a, b)` | one of these |
| `is set`, `is missing` | whether it is told at all |
| `and` `or` `not` `( )` | as usual; a value that holds one of these words stands in quotes |

Letters count alike, large or small.  `journal.volume` is what stands in a nested value.
"""

from propcite.app.library.conditions.asked import Condition, Fields
from propcite.app.library.conditions.reading import DEEPEST, EXAMPLE, condition_of

__all__ = ["DEEPEST", "EXAMPLE", "Condition", "Fields", "condition_of"]
