"""What all tests share: the real encoder, loaded once, how far Hypothesis searches, one thread for each worker."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import certifi
import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from propcite.retrieval.encoding.encoder import Encoder

if "PYTEST_XDIST_WORKER" in os.environ:
    # Threads of workers that share the cores wait for each other in circles; PyTorch, imported later, reads this.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# No test reaches the internet, and to read 140 authorities takes each new HTTP client 20 ms: one is enough, also where
# the machine names a file of its own.
END = "-----END CERTIFICATE-----\n"
AUTHORITY = tempfile.NamedTemporaryFile("w", prefix="propcite-authority-", suffix=".pem")  # noqa: SIM115 - until the end
AUTHORITY.write(Path(certifi.where()).read_text("utf-8").partition(END)[0] + END)
AUTHORITY.flush()
for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"):
    os.environ[name] = AUTHORITY.name

COMMON = {
    "deadline": None,
    "max_examples": 60,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("propcite", derandomize=True, **COMMON)  # the same examples in every run
settings.register_profile("explore", **COMMON)  # new ones: HYPOTHESIS_PROFILE=explore pytest
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "propcite"))


def pytest_configure() -> None:
    """A shell that starts the tests in the background has them ignore interrupts, and all that they start with them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search rarely for garbage, and not among what is imported and collected: that took a third of this time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(700, 10, 300)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the browser tests, which take longest: at the end one worker would wait for another's."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The bundled weights.  Imported late: a test that encodes nothing waits for no PyTorch."""
    from propcite.retrieval.encoding.encoder import Encoder

    return Encoder()


@pytest.fixture(scope="session")
def s3() -> Iterator[dict[str, str]]:
    """Serve S3 for this process; the environment by which its clients find it."""
    from object_server import s3_server

    with s3_server() as environment:
        yield environment


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Close by naming whatever had to be left out, and why."""
    reasons: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[reason.removeprefix("Skipped: ")] = reasons.get(reason.removeprefix("Skipped: "), 0) + 1
    terminalreporter.section("left out")
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count:>4}  {reason}")
    if not reasons:
        terminalreporter.write_line("nothing: every test ran")
