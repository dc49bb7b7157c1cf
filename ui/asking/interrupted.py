"""Questions whose answers are being written, kept in files: after a restart of the server they can be asked again."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from propcite.ui.asking.running import Order, Question

log = logging.getLogger("propcite.page")

FOLDER = "asking"  # in the data directory
MAX_KEPT = 200  # the oldest go


class KeptOrders:
    """A file per order; those of a process that has ended are the interrupted ones."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / FOLDER

    def keep(self, id_: str, order: Order) -> None:
        """Keep an order until its answer has ended; one that cannot be kept is answered all the same."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = self._file(id_)
            file.touch(0o600)
            file.write_text(json.dumps(asdict(order)), "utf-8")
            for old in sorted(self._folder.glob("*.json"), key=lambda one: one.stat().st_mtime)[:-MAX_KEPT]:
                old.unlink(missing_ok=True)
        except OSError as error:
            log.warning("a question is not kept while it is answered: %s", error)

    def drop(self, id_: str) -> None:
        with suppress(OSError):
            self._file(id_).unlink(missing_ok=True)

    def find(self, id_: str, by: str) -> Order | None:
        """Return somebody's order by its id; None for one of another person, and where there is none."""
        if not id_.isalnum():
            return None
        order = _read(self._file(id_))
        return order if order and order.by == by else None

    def of(self, by: str, collections: Collection[str]) -> dict[str, Order]:
        """Return somebody's orders over these collections by id, oldest first."""
        files = sorted(self._folder.glob("*.json"), key=lambda one: one.name)
        found = {file.stem: self.find(file.stem, by) for file in files}
        return {id_: order for id_, order in found.items() if order and order.collection in collections}

    def _file(self, id_: str) -> Path:
        return self._folder / f"{id_}.json"


def _read(file: Path) -> Order | None:
    """Return the order in a file; None if it is gone, or not whole as the server ended while it was written."""
    try:
        data = json.loads(file.read_text("utf-8"))
        return Order(data["by"], data["collection"], Question(**data["question"]), tuple(data["documents"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
