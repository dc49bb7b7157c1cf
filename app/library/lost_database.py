"""Tell a data directory whose database was lost from a new one: its indexes are still there."""

from __future__ import annotations

from pathlib import Path

from propcite.app.errors import StoreError
from propcite.app.settings import DATABASE_FILE
from propcite.retrieval.index.manifest import MANIFEST_FILE
from propcite.retrieval.sharding.layout import LAYOUT_FILE


def check_not_lost(data_dir: Path) -> None:
    """Raise StoreError if the database of a data directory is empty or gone while indexes of its collections exist."""
    file = data_dir / DATABASE_FILE
    if file.exists() and file.stat().st_size:
        return
    num = len({path.parent for name in (MANIFEST_FILE, LAYOUT_FILE) for path in data_dir.glob(f"indexes/*/{name}")})
    if num:
        state = "is empty" if file.exists() else "is gone"
        raise StoreError(
            f"{file} {state}, and the indexes of {num} collections are still there: propcite restore FILE brings a "
            f"backup back; to begin again, move {data_dir / 'indexes'} away"
        )
