"""A real S3 server on this machine, with one bucket."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

BUCKET = "s3://propcite-test"
KEYS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}


@contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """Serve S3; give the environment by which its clients find it."""
    moto = pytest.importorskip("moto.server", reason="the S3 server moto")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        environment = {**KEYS, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            import fsspec

            fsspec.url_to_fs(BUCKET)[0].mkdir(BUCKET)
            yield environment
    finally:
        server.stop()
