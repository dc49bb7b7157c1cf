"""A library in one file, and back: the database's rows in a form that every database takes, and the indexes.

| module | what it does |
|---|---|
| `archive` | the file: its parts, each with a checksum, and what it says of itself |
| `rows` | the tables as lines of JSON, out of one moment of a database and into another in one transaction |
| `saving` | `propcite backup`, while others read and write |
| `restoring` | `propcite restore`: all, or one collection |
"""

from propcite.app.library.backup.restoring import Restored, restore
from propcite.app.library.backup.saving import Saved, save

__all__ = ["Restored", "Saved", "restore", "save"]
