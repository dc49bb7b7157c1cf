"""What happens to answers that wait to be cited when the work itself goes wrong."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from word_encoder import WordEncoder

from propcite.app.server.citing_queue import CitingQueue, Limits
from propcite.app.turns.costs import Costs, Kind, Size
from propcite.app.turns.turns import Turns
from propcite.app.turns.workers import Asking, Workers
from propcite.attribution import PropCite
from propcite.retrieval.encoding.base import Mask
from propcite.retrieval.index.segment import Segment
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import passage_from_text

ASKING = Asking("somebody", "/v1/cite")
LIMITS = Limits(100_000, 100)


@dataclass
class Unhashable:
    """A limit that no batch can be grouped by."""

    def mask(self, segment: Segment) -> Mask:
        return np.ones(len(segment), bool)


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers(Turns(1, 60.0), Costs(), 60.0)
    yield workers
    workers.close()


def test_an_error_of_the_work_itself_reaches_who_waits_and_frees_the_turn(workers: Workers) -> None:
    queue = CitingQueue(PropCite.default, workers, LIMITS, lambda _: None)
    collection = Retriever.over(WordEncoder(), [passage_from_text("p", "The barrier is high.")])

    async def cite() -> None:
        async with asyncio.timeout(60):
            await queue.cite(ASKING, "It is high.", [], collection=replace(collection, allow=Unhashable()))

    with pytest.raises(TypeError, match="unhashable"):
        asyncio.run(cite())
    assert workers.turns.running == 0


def test_an_error_that_is_handed_to_nobody_is_logged(workers: Workers, caplog: pytest.LogCaptureFixture) -> None:
    def work(_: object) -> None:
        raise ValueError("broken")

    with caplog.at_level(logging.ERROR, "propcite.work"):
        workers.place(ASKING, Kind.EXPLAIN, Size(), work).enter()
        workers.close()
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["broken"]
