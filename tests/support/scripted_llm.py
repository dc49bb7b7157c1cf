"""An OpenAI-compatible server that sends scripted replies: real HTTP on a local port, no model.

with ScriptedLlm(["first reply", error(429, "slow down"), Reply("last", chunks=("la", "st"))]) as server:
    OpenAI(base_url=server.base_url, api_key="none")
"""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self

from scripted_replies import Reply, Request, error, events_of, whole_of

__all__ = ["Reply", "Request", "Script", "ScriptedLlm", "error", "free_url"]


Script = str | Reply | Sequence[str | Reply] | Callable[[Request], str | Reply]


_LAST = b"data: [DONE]\n\n"


class ScriptedLlm:
    """POST /v1/chat/completions, streamed or not, and GET /v1/models; further APIs if `apis` names them.

    `others` has replies by path, for any method.

    The script is one reply for all requests, a list with one reply per request, or a function of the request.
    `requests` lists the chat requests in order of arrival, `max_in_flight` is the largest number handled at once, and
    `client_left` is set when a client leaves before the end of its reply.  Set `resume` to let stalled replies go on.
    """

    def __init__(
        self, script: Script, *, models: Sequence[str] = ("test-model",), apis: Sequence[str] = ("chat/completions",)
    ) -> None:
        self.script = script
        self.apis = set(apis)
        self.others: dict[str, Reply] = {}
        self.models = tuple(models)
        self.requests: list[Request] = []
        self.max_in_flight = 0
        self.client_left = Event()
        self.resume = Event()
        self.num_in_flight = 0
        self._lock = Lock()
        self._closing = Event()

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.llm = self
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server; later connections are refused."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            number = len(self.requests) - 1
        script = self.script
        if callable(script):
            reply = script(request)
        elif isinstance(script, (str, Reply)):
            reply = script
        else:
            reply = script[number] if number < len(script) else error(500, f"the script has {len(script)} replies")
        return Reply(reply) if isinstance(reply, str) else reply

    @contextmanager
    def in_flight(self) -> Iterator[Callable[[], None]]:
        """Count a request until the block ends or what it yields is called: before the last byte is sent.

        The client that has this byte may have sent its next request before the block ends.
        """
        with ExitStack() as stack:
            with self._lock:
                self.num_in_flight += 1
                self.max_in_flight = max(self.max_in_flight, self.num_in_flight)
            stack.callback(self._leave)
            yield stack.close

    def _leave(self) -> None:
        with self._lock:
            self.num_in_flight -= 1

    @property
    def is_closing(self) -> bool:
        return self._closing.is_set()


def free_url() -> str:
    """Return a base_url at which no server listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}/v1"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    llm: ScriptedLlm

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Close connections that clients keep alive too."""
        super().server_close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: in some scripts the client disconnects."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it
        """Log nothing."""

    def do_GET(self) -> None:
        if reply := self._other(b""):
            return self._send(reply, b"")
        if self.path != "/v1/models":
            return self._send(error(404, "Not Found"), b"")
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "tests"} for name in self.server.llm.models]
        return self._send(Reply(), json.dumps({"object": "list", "data": models}).encode())

    def do_DELETE(self) -> None:
        self._send(self._other(b"") or error(404, "Not Found"), b"")

    def _other(self, raw: bytes) -> Reply | None:
        """Return the reply of a path that has one of its own, and keep the request."""
        llm = self.server.llm
        reply = llm.others.get(self.path.partition("?")[0])
        if reply:
            llm.requests.append(Request(self._lower_headers(), {}, self.path, raw))
        return reply

    def _lower_headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        llm = self.server.llm
        if reply := self._other(raw):
            if reply.raw is not None:
                return self._stream(Request({}, {}, self.path), reply, lambda: None)
            return self._send(reply, b"")
        if self.path.removeprefix("/v1/") not in llm.apis:
            return self._send(error(404, "Not Found"), b"")
        request = Request(self._lower_headers(), json.loads(raw), self.path, raw)
        with llm.in_flight() as leave:
            reply = llm.reply_to(request)
            self._delay(reply.delay)
            if request.body.get("stream") and reply.body is None:
                return self._stream(request, reply, leave)
            leave()
            return self._send(reply, whole_of(request, reply))

    def _delay(self, seconds: float) -> None:
        try:
            self._stall(seconds)
        except OSError:
            self.server.llm.client_left.set()
            raise

    def _send(self, reply: Reply, body: bytes) -> None:
        if reply.body is not None:
            body = reply.body.encode() if isinstance(reply.body, str) else reply.body
        self._start(reply, {"Content-Type": reply.media_type, "Content-Length": str(len(body))})
        self.wfile.write(body[: reply.breaks_after])
        self.close_connection = reply.breaks_after is not None

    def _stream(self, request: Request, reply: Reply, leave: Callable[[], None]) -> None:
        self._start(reply, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        events = events_of(request, reply)
        try:
            for number, data in enumerate(events if reply.raw is None else reply.raw):
                if number == reply.breaks_after:
                    self.close_connection = True
                    return
                if number == reply.stalls_after:
                    self._stall(60.0, self.server.llm.resume)
                if data == _LAST:
                    leave()
                self._chunk(data)
                self._stall(reply.chunk_delay)
            self._chunk(b"")
        except OSError:
            self.server.llm.client_left.set()
            raise

    def _stall(self, seconds: float, until: Event | None = None) -> None:
        """Send nothing, but notice when the client leaves."""
        end = time.monotonic() + seconds
        while seconds and time.monotonic() < end and not (self.server.llm.is_closing or (until and until.is_set())):
            if select.select([self.connection], [], [], 0.02)[0]:
                raise ConnectionResetError("the client has left")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _start(self, reply: Reply, headers: Mapping[str, str]) -> None:
        self.send_response(reply.status)
        for name, value in {**headers, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
