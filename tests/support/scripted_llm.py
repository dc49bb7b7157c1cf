"""An OpenAI-compatible server that sends scripted replies: real HTTP on a local port, no model.

with ScriptedLlm(["first reply", error(429, "slow down"), Reply("last", chunks=("la", "st"))]) as server:
    OpenAI(base_url=server.base_url, api_key="none")
"""

from __future__ import annotations

import json
import re
import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Request:
    """A client's request: the headers by lower-case name, the body as JSON."""

    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body.get("messages", [])
        return messages

    @property
    def prompt(self) -> str:
        """Return the last message, the one that the model answers."""
        return str(self.messages[-1]["content"])


@dataclass(frozen=True)
class Reply:
    """The model's text, or with `body` any response.

    `chunks` are the pieces of a stream (by default the words of `content`); a dict is sent as the whole delta.
    `breaks_after` disconnects after this many chunks of a stream or bytes of a body; `stalls_after` pauses after this
    many chunks until the server's `resume` is set.  `raw` is a stream as bytes.  Delays are in seconds.
    """

    content: str | None = ""
    status: int = 200
    body: str | bytes | None = None
    finish_reason: str = "stop"
    chunks: Sequence[str | dict[str, Any]] | None = None
    raw: Sequence[bytes] | None = None
    delay: float = 0.0
    chunk_delay: float = 0.0
    breaks_after: int | None = None
    stalls_after: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def error(status: int, message: str, **headers: str) -> Reply:
    """Build an error reply in OpenAI's form; `retry_after_ms="1"` becomes the header retry-after-ms."""
    body = json.dumps({"error": {"message": message, "type": "scripted", "param": None, "code": None}})
    return Reply(status=status, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


Script = str | Reply | Sequence[str | Reply] | Callable[[Request], str | Reply]


_LAST = b"data: [DONE]\n\n"


class ScriptedLlm:
    """POST /v1/chat/completions, streamed or not, and GET /v1/models.

    The script is one reply for all requests, a list with one reply per request, or a function of the request.
    `requests` lists the chat requests in order of arrival, `max_in_flight` is the largest number handled at once, and
    `client_left` is set when a client leaves a stream before its end.  Set `resume` to let stalled replies go on.
    """

    def __init__(self, script: Script, *, models: Sequence[str] = ("test-model",)) -> None:
        self.script = script
        self.models = tuple(models)
        self.requests: list[Request] = []
        self.max_in_flight = 0
        self.client_left = Event()
        self.resume = Event()
        self._in_flight = 0
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
                self._in_flight += 1
                self.max_in_flight = max(self.max_in_flight, self._in_flight)
            stack.callback(self._leave)
            yield stack.close

    def _leave(self) -> None:
        with self._lock:
            self._in_flight -= 1

    @property
    def is_closing(self) -> bool:
        return self._closing.is_set()

    def wait(self, seconds: float) -> None:
        """Sleep, but no longer than the server runs."""
        if seconds:
            self._closing.wait(seconds)


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
        if self.path != "/v1/models":
            return self._send(error(404, "Not Found"), b"")
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "tests"} for name in self.server.llm.models]
        return self._send(Reply(), json.dumps({"object": "list", "data": models}).encode())

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/chat/completions":
            return self._send(error(404, "Not Found"), b"")
        request = Request({name.lower(): value for name, value in self.headers.items()}, json.loads(raw))
        llm = self.server.llm
        with llm.in_flight() as leave:
            reply = llm.reply_to(request)
            llm.wait(reply.delay)
            if request.body.get("stream") and reply.body is None:
                return self._stream(request, reply, leave)
            leave()
            return self._send(reply, _completion(request, reply))

    def _send(self, reply: Reply, body: bytes) -> None:
        if reply.body is not None:
            body = reply.body.encode() if isinstance(reply.body, str) else reply.body
        self._start(reply, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        self.wfile.write(body[: reply.breaks_after])
        self.close_connection = reply.breaks_after is not None

    def _stream(self, request: Request, reply: Reply, leave: Callable[[], None]) -> None:
        self._start(reply, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        events = (f"data: {event}\n\n".encode() for event in _events(request, reply))
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


def _completion(request: Request, reply: Reply) -> bytes:
    message = {"role": "assistant", "content": reply.content}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    return json.dumps(_frame(request, "chat.completion", [choice]) | {"usage": _usage(request, reply)}).encode()


def _events(request: Request, reply: Reply) -> Iterator[str]:
    """Yield the data of a stream's events: the role, the pieces, the end, and the usage if requested."""
    pieces = reply.chunks if reply.chunks is not None else re.findall(r"\s*\S+|\s+$", reply.content or "")
    deltas = [{"content": piece} if isinstance(piece, str) else piece for piece in pieces]
    for number, delta in enumerate([*deltas, {}]):
        role = {"role": "assistant"} if number == 0 else {}
        reason = None if number < len(deltas) else reply.finish_reason
        yield json.dumps(
            _frame(request, "chat.completion.chunk", [{"index": 0, "delta": role | delta, "finish_reason": reason}])
        )
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield json.dumps(_frame(request, "chat.completion.chunk", []) | {"usage": _usage(request, reply)})
    yield "[DONE]"


def _frame(request: Request, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-scripted",
        "object": kind,
        "created": 0,
        "model": request.body.get("model"),
        "choices": choices,
    }


def _usage(request: Request, reply: Reply) -> dict[str, int]:
    """Count words as tokens."""
    read = sum(len(str(message.get("content") or "").split()) for message in request.messages)
    written = len((reply.content or "").split())
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
