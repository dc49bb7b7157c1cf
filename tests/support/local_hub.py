"""A hub of models on this machine: the routes of the Hugging Face hub that its client needs, over folders."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Hub:
    """The folder of each commit of one model, and the commit of each branch and tag."""

    commits: dict[str, Path] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    address: str = ""

    def commit(self, folder: Path, *names: str) -> str:
        """Add a commit that these branches and tags then mean, and return its id."""
        id_ = hashlib.sha1(str(folder).encode()).hexdigest()
        self.commits[id_] = folder
        self.names |= dict.fromkeys(names, id_)
        return id_


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, hub: Hub, *arguments: object) -> None:
        self.hub = hub
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        parts = unquote(urlsplit(self.path).path).strip("/").split("/")
        if parts[0] == "api":  # api/models/OWNER/NAME, with revision/REVISION or tree/REVISION behind it
            commit = self._commit(parts[5] if len(parts) > 5 else "main")
            if commit:
                self._answer(self._about(commit, tree="tree" in parts[4:5]), commit)
        elif commit := self._commit(parts[3]):  # OWNER/NAME/resolve/REVISION/FILE
            file = self.hub.commits[commit].joinpath(*parts[4:])
            if file.is_file():
                self._answer(file.read_bytes(), commit)
            else:
                self._refuse("EntryNotFound")

    do_HEAD = do_GET  # noqa: N815 - the base class names it

    def _commit(self, revision: str) -> str:
        commit = self.hub.names.get(revision, revision)
        if commit not in self.hub.commits:
            self._refuse("RevisionNotFound")
            return ""
        return commit

    def _about(self, commit: str, *, tree: bool) -> bytes:
        folder = self.hub.commits[commit]
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        names = [(path.relative_to(folder).as_posix(), path) for path in files]
        if tree:
            rows = [{"type": "file", "path": n, "size": p.stat().st_size, "oid": _digest(p)} for n, p in names]
            return json.dumps(rows).encode()
        siblings = [{"rfilename": name} for name, _ in names]
        return json.dumps({"id": "owner/model", "sha": commit, "siblings": siblings}).encode()

    def _answer(self, content: bytes, commit: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", commit)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def _refuse(self, code: str) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def _digest(path: Path) -> str:
    return hashlib.sha1(path.read_bytes()).hexdigest()


@contextmanager
def local_hub() -> Iterator[Hub]:
    """Start a hub that ends with the block."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, hub))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
