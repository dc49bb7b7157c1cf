"""Another process that answers one question after another, and may hang or die without harm to who asks."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Timer
from typing import IO, Any


class EndedError(Exception):
    """The process did not survive a question; `late` where it was ended because its time was over."""

    def __init__(self, late: bool) -> None:
        super().__init__("late" if late else "ended")
        self.late = late


class Process:
    """`python -m MODULE WORDS`, begun with the first question, and anew after each that it did not survive."""

    def __init__(self, module: str, *words: str) -> None:
        self._words = [sys.executable, "-P", "-m", module, *words]
        self._running: subprocess.Popen[bytes] | None = None

    def ask(self, question: object, seconds: float) -> Any:
        running = self._running = self._running or self._start()
        late = Event()
        timer = Timer(seconds, _stop, (running, late))
        timer.daemon = True
        timer.start()
        try:
            into, out = _pipes(running)
            pickle.dump(question, into, pickle.HIGHEST_PROTOCOL)
            into.flush()
            return pickle.load(out)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
            self.kill()
            raise EndedError(late.is_set()) from error
        finally:
            timer.cancel()

    def _start(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.Popen(
            self._words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env={**os.environ, **alone}
        )

    def kill(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.kill()
            running.wait()
            for end in _pipes(running):
                with suppress(OSError):
                    end.close()


def _stop(running: subprocess.Popen[bytes], late: Event) -> None:
    late.set()
    running.kill()


def _pipes(running: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert running.stdin
    assert running.stdout
    return running.stdin, running.stdout


def answer_all(answer: Callable[[Any], object], megabytes: int) -> None:
    """In that process: ends when nobody asks any more.  What a library prints does not get between the answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks decides what an interrupt means
    _limit(megabytes)
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        while True:
            try:
                question = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(answer(question), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()


def _limit(megabytes: int) -> None:
    """A document that unpacks without end takes this process along, not the machine."""
    try:
        import resource
    except ImportError:  # only Unix has limits of this kind
        return
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, resource.RLIM_INFINITY))
