"""The files that documents were read from: kept where they have no place of their own, and found again.

| module | what it does |
|---|---|
| `kept` | the folder of kept files, each by its content |
| `finding` | where the file of a document lies, if it is still what was read |
"""

from propcite.app.library.originals.finding import Finder, Original
from propcite.app.library.originals.kept import Keeps, Originals

__all__ = ["Finder", "Keeps", "Original", "Originals"]
