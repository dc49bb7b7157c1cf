"""How the processor time of every text function grows with its text, on texts that are hard for it.

    python -m tests.benchmarks.growth [--size N] [--only NAME] [--seconds N]

Each function reads each text at N, 2N and 4N characters.  A linear function takes 4 times as long for 4N; a line is
printed for each function with its worst text, and for each pair that is superlinear or takes more than `--seconds`.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from text_functions import FUNCTIONS, hard_texts

LINEAR = 8.0  # times as long for four times the text: quadratic is 16
CERTAIN_S = 0.04  # below this a time says nothing


class TooLongError(Exception):
    """The function was stopped."""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _seconds(function: Callable[[str], object], text: str, limit: float) -> float:
    start = time.process_time()
    with _at_most(limit):
        try:
            function(text)
        except TooLongError:
            return limit
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=4000)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    sizes = [options.size, 2 * options.size, 4 * options.size]
    texts = [hard_texts(size) for size in sizes]
    num_bad = 0
    print(f"{'function':32} {'4N':>8} {'growth':>7}  worst text (N = {options.size})")
    for name, function in FUNCTIONS.items():
        if options.only not in name:
            continue
        function("Ada wrote it in 1843.")
        rows = []
        for text in texts[0]:
            times = [0.0, 0.0, _seconds(function, texts[2][text], options.seconds)]
            if times[2] > CERTAIN_S:
                times[:2] = [_seconds(function, texts[step][text], options.seconds) for step in (0, 1)]
            growth = times[2] / max(times[0], CERTAIN_S / 4) if times[2] > CERTAIN_S else 1.0
            rows.append((times[2], growth, text))
        worst = max(rows)
        print(f"{name:32} {worst[0]:7.3f}s {worst[1]:6.1f}x  {worst[2]}", flush=True)
        bad = [row for row in rows if row[1] > LINEAR or row[0] >= options.seconds]
        num_bad += len(bad)
        for seconds, growth, text in sorted(bad, reverse=True)[:6]:
            print(f"    superlinear: {seconds:7.3f}s {growth:6.1f}x  {text}")
    print(f"{num_bad} superlinear pairs of {len(FUNCTIONS)} functions and {len(texts[0])} texts")


if __name__ == "__main__":
    main()
