"""What waits, in an order that is fair to every client: weighted fair queueing over estimated seconds.

Each client has a clock, which its turns advance by the seconds that they take; the client whose clock is behind goes
next.  A client that comes back starts at the clock of whoever went last, so that nobody saves up seconds.  Within a
client, a turn is due at the share that each of its requests had when this one came, plus all seconds that the request
will have had by then: short requests go first, those that have begun go on before new ones, and a long one waits no
longer than it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count


@dataclass(eq=False, slots=True)
class Waiting:
    """Work that waits: for whom, the seconds of its next turn, and of all its turns."""

    client: str
    seconds: float
    total: float
    begin: Callable[[], None]  # is called once it is its turn, from any thread
    shares: object = None  # work that shares the same may go in one turn
    size: float = 0.0  # how much of that turn it takes
    start: float | None = None  # its client's share when the request came, and the seconds that it has had since
    is_queued: bool = False


@dataclass(slots=True)
class _Client:
    clock: float = 0.0
    share: float = 0.0  # the seconds that each of its requests has had, were they divided evenly
    num_running: int = 0
    due: list[tuple[float, int, Waiting]] = field(default_factory=list)
    num: int = 0
    seconds: float = 0.0  # of all that waits

    def charge(self, seconds: float) -> None:
        """Add the seconds of a turn; less than estimated is a negative number."""
        self.clock += seconds
        self.share += seconds / max(1, self.num + self.num_running)


class FairQueue:
    """Not safe to share between threads: `Turns` holds a lock around it."""

    def __init__(self) -> None:
        self._clients: dict[str, _Client] = {}
        self._now = 0.0  # the clock of the client that went last
        self._order = count()

    def __len__(self) -> int:
        return sum(client.num for client in self._clients.values())

    @property
    def seconds(self) -> float:
        """Return the seconds of all that waits."""
        return sum(client.seconds for client in self._clients.values())

    @property
    def num_clients(self) -> int:
        return sum(client.num > 0 for client in self._clients.values())

    def put(self, one: Waiting) -> None:
        client = self._client(one.client)
        one.is_queued = True
        client.num += 1
        client.seconds += one.total
        one.start = client.share if one.start is None else one.start
        heappush(client.due, (one.start + one.seconds, next(self._order), one))

    def take(self) -> Waiting | None:
        """Return what goes next and charge its client; None if nothing waits."""
        waiting = [client for client in self._clients.values() if client.num]
        if not waiting:
            return None
        client = min(waiting, key=lambda one: one.clock)
        return self._taken(client, client.due[0][2], turns=1)

    def take_sharing(self, shares: object, size: float) -> Waiting | None:
        """Return the next one that shares a turn with others and is at most so large; None if there is none.

        Its turn is that of another one, with which it ends.
        """
        waiting = [client for client in self._clients.values() if client.num]
        for client in sorted(waiting, key=lambda one: one.clock):
            fitting = [
                one for one in client.due if one[2].is_queued and one[2].shares is shares and one[2].size <= size
            ]
            if fitting:
                return self._taken(client, min(fitting)[2], turns=0)
        return None

    def withdraw(self, one: Waiting) -> bool:
        """Return whether it still waited; it then goes no more."""
        if not one.is_queued:
            return False
        self._remove(self._clients[one.client], one)
        return True

    def end(self, client: str, seconds: float) -> None:
        """End a turn of a client, which took so many seconds more than estimated; less is a negative number."""
        known = self._client(client)
        known.charge(seconds)
        known.num_running = max(0, known.num_running - 1)

    def go_on(self, one: Waiting) -> None:
        """Begin a turn that need not wait."""
        client = self._client(one.client)
        client.num_running += 1
        client.charge(one.seconds)

    def ahead_of(self, client: str, seconds: float, running: Sequence[tuple[str, float]] = ()) -> float:
        """Return the seconds of what would go before new work of a client that takes so many seconds.

        Longer work of its own does not, and other clients get no more than the client itself meanwhile.  `running` is
        what has begun and will pause, with the seconds that it still needs.
        """
        own, others = [rest for name, rest in running if name == client], dict[str, float]()
        for name, rest in running:
            if name != client:
                others[name] = others.get(name, 0.0) + rest
        for name, one in self._clients.items():
            if name != client and one.num:
                others[name] = others.get(name, 0.0) + one.seconds
        queued = self._clients[client].due if client in self._clients else ()
        own += [one.total for _, _, one in queued if one.is_queued]
        before = sum(min(total, seconds) for total in own)
        return before + sum(min(theirs, before + seconds) for theirs in others.values())

    def _taken(self, client: _Client, one: Waiting, *, turns: int) -> Waiting:
        self._now = max(self._now, client.clock)
        client.charge(one.seconds)
        client.num_running += turns
        self._remove(client, one)
        self._forget()
        return one

    def _client(self, name: str) -> _Client:
        client = self._clients.setdefault(name, _Client(self._now))
        if not (client.num or client.num_running):
            client.clock = max(client.clock, self._now)
        return client

    def _remove(self, client: _Client, one: Waiting) -> None:
        one.is_queued = False
        client.num -= 1
        client.seconds = client.seconds - one.total if client.num else 0.0
        while client.due and not client.due[0][2].is_queued:
            heappop(client.due)
        if len(client.due) > 2 * client.num + 16:  # most have left from the middle
            client.due = [entry for entry in client.due if entry[2].is_queued]
            heapify(client.due)

    def _forget(self) -> None:
        """Forget clients for whom nothing waits and whose clock says no more than the time; all if nobody waits."""
        if not any(one.num for one in self._clients.values()):
            self._now = max(self._now, *(one.clock for one in self._clients.values()))
        idle = [
            name for name, one in self._clients.items() if not (one.num or one.num_running) and one.clock <= self._now
        ]
        for name in idle:
            del self._clients[name]
