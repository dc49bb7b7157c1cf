"""A helper process that answers one request after another; it may hang or crash without harm to its caller."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Timer
from typing import IO, Any


class ProcessEndedError(Exception):
    """The process ended during a request; `late` if it was killed at the time limit."""

    def __init__(self, late: bool) -> None:
        super().__init__("late" if late else "ended")
        self.late = late


@dataclass(frozen=True, slots=True)
class Step:
    """How far a helper process has come with a long request: `page 3 of 10`, `row 120000`."""

    at: str


class HelperProcess:
    """`python -m MODULE ARGUMENTS`, started at the first request and again after each request that ended it."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._command = [sys.executable, "-P", "-m", module, *arguments]
        self._process: subprocess.Popen[bytes] | None = None

    def request(self, request: object, seconds: float, on_step: Callable[[Step], object] | None = None) -> Any:
        """Send a request and return the reply; after `seconds` without a step the process is killed."""
        process = self._process = self._process or self._start()
        late = Event()
        try:
            stdin, stdout = _pipes(process)
            with killed_after(process, late, seconds):
                pickle.dump(request, stdin, pickle.HIGHEST_PROTOCOL)
                stdin.flush()
                reply = pickle.load(stdout)
            while isinstance(reply, Step):
                if on_step:
                    on_step(reply)
                with killed_after(process, late, seconds):
                    reply = pickle.load(stdout)
            return reply
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
            self.kill()
            raise ProcessEndedError(late.is_set()) from error

    def _start(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.Popen(
            self._command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env={**os.environ, **one_thread}
        )

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in _pipes(process):
                with suppress(OSError):
                    pipe.close()


@contextmanager
def killed_after(process: subprocess.Popen[Any], late: Event, seconds: float) -> Iterator[None]:
    """Kill the process if the block takes longer; `late` is set then."""
    timer = Timer(seconds, _kill_late, (process, late))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _kill_late(process: subprocess.Popen[Any], late: Event) -> None:
    late.set()
    process.kill()


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin
    assert process.stdout
    return process.stdin, process.stdout


def _ignore(_: object) -> None:
    pass


_report: Callable[[Step], object] = _ignore


def report_step(at: str) -> None:
    """Report to the caller of this helper process how far a request has come; elsewhere nothing happens."""
    _report(Step(at))


def serve_requests(answer: Callable[[Any], object], megabytes: int) -> None:
    """Answer requests in the helper process until standard input ends.

    Standard output is redirected to standard error, so that a library that prints cannot damage the replies.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides what an interrupt means
    _limit_memory(megabytes)
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)

        def send(reply: object) -> None:
            pickle.dump(reply, replies, pickle.HIGHEST_PROTOCOL)
            replies.flush()

        global _report
        _report = send
        while True:
            try:
                request = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            send(answer(request))


def _limit_memory(megabytes: int) -> None:
    """Limit the memory, so that a document that unpacks without end takes down this process and not the machine."""
    try:
        import resource
    except ImportError:  # only Unix has these limits
        return
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, resource.RLIM_INFINITY))
