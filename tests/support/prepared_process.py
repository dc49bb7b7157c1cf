"""Start `python -P -m MODULE` in a copy of a process that has imported what models need.

To import it takes each process that starts by itself three seconds.  What is started has this process's environment,
working folder and output, as with `subprocess.Popen`.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

_STARTING = Lock()


class PreparedProcess:
    """A process that runs `command`, which is `python -P -m MODULE ...`, with its output in the file `log`."""

    def __init__(self, command: Sequence[str], cwd: Path, env: dict[str, str], log: Path) -> None:
        assert command[:3] == [sys.executable, "-P", "-m"]
        order = {"module": command[3], "arguments": command[4:], "cwd": str(cwd), "env": env, "log": str(log)}
        with _STARTING:
            stdin, stdout = _template()
            stdin.write(json.dumps(order) + "\n")
            stdin.flush()
            self.pid = int(stdout.readline())

    def terminate(self) -> None:
        if self._runs():
            os.kill(self.pid, signal.SIGTERM)

    def wait(self, timeout: float) -> None:
        """Wait for its end; `subprocess.TimeoutExpired` if it does not come."""
        until = time.monotonic() + timeout
        while self._runs():
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(0.02)

    def _runs(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True


@cache
def _template() -> tuple[Any, Any]:
    """Start the process that is copied; it ends with this one, whose pipe it reads."""
    pipe, environment = subprocess.PIPE, {**os.environ, "HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen([sys.executable, "-P", __file__], stdin=pipe, stdout=pipe, text=True, env=environment)
    atexit.register(process.wait)
    atexit.register(process.stdin.close)  # runs before the wait
    return process.stdin, process.stdout


def _next_order() -> dict[str, Any] | None:
    """Return, in each copy, what it has to run; in the original, None once its pipe is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the copies here
    for line in sys.stdin:
        if pid := os.fork():
            sys.stdout.write(f"{pid}\n")
            sys.stdout.flush()
        else:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            order: dict[str, Any] = json.loads(line)
            return order
    return None


def _run(order: dict[str, Any]) -> None:
    with open(os.devnull, "rb") as nothing, open(order["log"], "wb") as log:
        for number, file in enumerate((nothing, log, log)):
            os.dup2(file.fileno(), number)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv = [order["module"], *order["arguments"]]
    runpy.run_module(order["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    import nltk.stem  # noqa: F401
    import pandas  # noqa: F401
    import sentence_transformers  # noqa: F401
    import transformers.models.bert.modeling_bert  # noqa: F401

    if order := _next_order():
        _run(order)
