"""What sign-in costs the page, side by side: requests and runs of views without it, and with an OpenID provider.

python -m tests.benchmarks.sign_in
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))

import browsing
import httpx
from shared_library import BEN, OURS, SharedLibrary, shared_library
from signing_in import cookies, drawn, page_of, provider, signed_in, stream

REQUESTS, RUNS = 200, 30


def median_ms(times: int, work: Callable[[], object]) -> float:
    """Run the work once to warm up, then this often; return the median in milliseconds."""
    work()
    spent = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        spent.append(1000 * (time.perf_counter() - begun))
    return statistics.median(spent)


def measured(address: str, client: httpx.Client, library: SharedLibrary) -> dict[str, float]:
    """Return the times of one page."""
    with stream(address, cookies(client)) as page:
        return {
            "the page's frame": median_ms(REQUESTS, lambda: client.get("/").raise_for_status()),
            "a document's text": median_ms(
                REQUESTS, lambda: client.get(f"/source/{library.documents[OURS]}/reading").raise_for_status()
            ),
            "a run of Ask": median_ms(RUNS, lambda: drawn(page, "ask")),
            "a run of Library": median_ms(RUNS, lambda: drawn(page, "library")),
        }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        with (
            shared_library(data) as library,
            browsing.serving(data) as plain,
            provider() as issuer,
            page_of(data, issuer) as address,
        ):
            without = measured(plain, httpx.Client(base_url=plain, timeout=60), library)
            with_sign_in = measured(address, signed_in(address, BEN), library)
    print(f"median ms of {REQUESTS} requests, {RUNS} runs\n")
    print("| | without | with sign-in | ratio |\n|---|---|---|---|")
    for name, ms in without.items():
        print(f"| {name} | {ms:.1f} | {with_sign_in[name]:.1f} | {with_sign_in[name] / ms:.2f} |")


if __name__ == "__main__":
    main()
