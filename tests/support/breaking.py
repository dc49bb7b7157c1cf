"""A connection to a server that breaks off after so many bytes of the response."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


@contextmanager
def breaking_after(address: str, marker: bytes) -> Iterator[str]:
    """Yield an address that passes everything to the server, and hangs up once the response holds the marker."""
    place = urlsplit(address)
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                threading.Thread(
                    target=_relay, args=(client, (place.hostname, place.port), marker), daemon=True
                ).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()


def _relay(client: socket.socket, server: tuple[str, int], marker: bytes) -> None:
    with client, socket.create_connection(server) as upstream:

        def send() -> None:
            with suppress(OSError):
                while data := client.recv(1 << 16):
                    upstream.sendall(data)

        threading.Thread(target=send, daemon=True).start()
        seen, sent = b"", 0
        with suppress(OSError):
            while marker not in seen and (data := upstream.recv(1 << 16)):
                seen += data
                end = seen.index(marker) + len(marker) if marker in seen else len(seen)
                client.sendall(seen[sent:end])
                sent = end
            time.sleep(0.3)  # what came is read first: a broken connection takes what waits with it
            client.shutdown(socket.SHUT_RDWR)
