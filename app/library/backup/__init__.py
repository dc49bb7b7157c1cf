"""Back up a library to one file and restore it: database rows in a form that every database reads, and the indexes.

| module | content |
|---|---|
| `archive` | the file: parts with checksums, and a description |
| `rows` | tables as JSON lines, read from a consistent snapshot and loaded in one transaction |
| `creation` | `propcite backup`, while other processes read and write |
| `restoration` | `propcite restore`: everything, or one collection |
"""

from propcite.app.library.backup.creation import BackupSummary, create_backup
from propcite.app.library.backup.restoration import RestoreSummary, restore_backup

__all__ = ["BackupSummary", "RestoreSummary", "create_backup", "restore_backup"]
