"""The order in which work goes: fair between clients, short before long within one, and nobody waits for ever."""

from __future__ import annotations

import itertools

from propcite.app.turns.fair_queue import FairQueue, Waiting


def put(queue: FairQueue, client: str, seconds: float, shares: object = None) -> Waiting:
    one = Waiting(client, seconds, seconds, lambda: None, shares, size=seconds)
    queue.put(one)
    return one


def order(queue: FairQueue) -> str:
    return "".join(one.client for one in iter(queue.take, None) if one)


def test_a_flood_delays_another_client_by_no_more_than_what_is_running() -> None:
    queue = FairQueue()
    for _ in range(100):
        put(queue, "f", 1.0)
    assert [one.client for one in (queue.take(), queue.take()) if one] == ["f", "f"]
    put(queue, "a", 1.0)
    assert order(queue)[:2] == "af"


def test_clients_share_seconds_and_not_requests() -> None:
    queue = FairQueue()
    for _ in range(12):
        put(queue, "s", 1.0)
        put(queue, "l", 3.0)
    first = order(queue)[:16]
    assert first.count("s") in (11, 12)
    assert first.count("l") in (4, 5)


def test_a_client_that_was_away_has_saved_up_nothing() -> None:
    queue = FairQueue()
    for _ in range(10):
        put(queue, "a", 1.0)
    assert order(queue) == "a" * 10
    for client in "ab":
        for _ in range(4):
            put(queue, client, 1.0)
    assert order(queue)[:4] in ("abab", "baba", "bbab", "babb")


def test_short_work_of_a_client_goes_before_its_long_work_which_is_not_starved() -> None:
    queue = FairQueue()
    long = put(queue, "a", 5.0)
    for number in itertools.count():
        assert number < 20, "the long one waits for ever"
        put(queue, "a", 1.0)
        if queue.take() is long:
            break
        queue.end("a", 0.0)
    assert number >= 3


def test_short_work_waits_as_little_however_long_longer_work_of_its_client_has_gone_on() -> None:
    queue, turn = FairQueue(), 0.5
    for _ in range(3):
        put(queue, "a", turn)
    waits = []
    for _ in range(8):
        short = put(queue, "a", 0.1)
        waits.append(0)
        while (one := queue.take()) is not short:
            waits[-1] += 1
            queue.end("a", 0.0)
            if one and one.start is not None:
                queue.put(Waiting("a", turn, turn, lambda: None, start=one.start + turn))
        queue.end("a", 0.0)
    assert max(waits) <= 3  # a turn for each of the longer ones


def test_what_takes_longer_than_estimated_is_charged() -> None:
    queue = FairQueue()
    for client in "aabb":
        put(queue, client, 1.0)
    assert queue.take() is not None
    queue.end("a", 10.0)
    assert order(queue) == "bba"


def test_what_is_withdrawn_never_goes() -> None:
    queue = FairQueue()
    gone, stays = put(queue, "a", 1.0), put(queue, "a", 2.0)
    assert queue.withdraw(gone)
    assert not queue.withdraw(gone)
    assert (len(queue), queue.seconds) == (1, 2.0)
    assert queue.take() is stays
    assert queue.take() is None
    assert queue.seconds == 0


def test_work_that_shares_a_turn_is_taken_in_fair_order() -> None:
    queue, batch = FairQueue(), object()
    for client in "aaab":
        put(queue, client, 0.1, batch)
    put(queue, "c", 0.1)
    taken = [queue.take_sharing(batch, 1.0) for _ in range(4)]
    assert "".join(one.client for one in taken if one)[:2] == "ab"
    assert queue.take_sharing(batch, 1.0) is None
    assert order(queue) == "c"


def test_the_wait_of_a_small_request_does_not_grow_with_another_clients_flood() -> None:
    queue = FairQueue()
    for _ in range(1000):
        put(queue, "flood", 1.0)
    assert queue.ahead_of("flood", 1.0) == 1000
    assert queue.ahead_of("other", 1.0) == 1
    put(queue, "other", 60.0)
    assert queue.ahead_of("other", 1.0) <= 3  # its own long request lets the short one go first
    assert queue.ahead_of("third", 1.0, running=[("flood", 9.0)]) == 2


def test_clients_that_are_gone_are_forgotten() -> None:
    queue = FairQueue()
    shared = object()
    for number in range(2000):
        put(queue, f"client {number}", 1.0)
        put(queue, f"companion {number}", 0.1, shared)
        queue.take_sharing(shared, 1.0)
        queue.take()
        queue.end(f"client {number}", 0.0)
    assert len(queue._clients) <= 1
