"""The services of deploy/compose.yaml, started without a container engine, and a client that asks them as a visitor."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from image import Image
from ruamel.yaml import YAML

SITE = "localhost:8443"
PATIENCE_S = 300.0
POSTGRES = "/usr/lib/postgresql/*/bin"
CADDY_OPTIONS = "{\n\thttp_port 8080\n\thttps_port 8443\n\tskip_install_trust\n\tadmin off\n}\n"


def wait(true: Callable[[], bool], what: str) -> float:
    """Wait until something is so, and return the seconds it took."""
    start = time.perf_counter()
    while not true():
        if time.perf_counter() - start > PATIENCE_S:
            raise RuntimeError(f"{what} did not happen in {PATIENCE_S:.0f} s")
        time.sleep(0.2)
    return time.perf_counter() - start


class Site:
    """PostgreSQL, the server, the page and Caddy, with the folders that are their volumes and secrets."""

    def __init__(self, image: Image, deploy: Path, work: Path) -> None:
        self.image, self.work = image, work
        self.services: dict[str, Any] = YAML(typ="safe").load(deploy / "compose.yaml")["services"]
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.volumes = {work / "data": "/var/lib/propcite", work / "cache": "/var/cache/propcite"}
        for folder in self.volumes:
            folder.mkdir()
            os.chown(folder, 10001, 10001)
            folder.chmod(0o750)
        copy = work / "deploy"
        shutil.copytree(deploy, copy)
        subprocess.run(["sh", str(copy / "make_secrets.sh")], check=True)
        self.secrets = copy / "secrets"
        hosts = work / "hosts"
        hosts.write_text("127.0.0.1 localhost database\n")  # the name that compose gives the database
        self.files = {hosts: "/etc/hosts", self.secrets / "propcite_database": "/run/secrets/propcite_database"}
        for at in self.files.values():
            mount = image.root / at.lstrip("/")
            mount.parent.mkdir(parents=True, exist_ok=True)
            mount.touch()

    def postgres(self, program: str, *words: str) -> None:
        (found, *_) = sorted(Path("/").glob(f"{POSTGRES[1:]}/{program}"), reverse=True)
        subprocess.run([found, *words], user="postgres", cwd="/", check=True, stdout=subprocess.DEVNULL)

    def start_database(self) -> None:
        folder = self.work / "postgres"
        folder.mkdir()
        password = folder / "password"
        password.write_text((self.secrets / "database_password").read_text())
        for place in (folder, password):
            shutil.chown(place, "postgres")
        data = ["-D", str(folder / "data")]
        self.postgres("initdb", *data, "--auth=scram-sha-256", f"--pwfile={password}", "--username=propcite")
        options = f"-c listen_addresses=127.0.0.1 -c port=5432 -k {folder}"
        self.postgres("pg_ctl", *data, "start", "-w", "-l", str(folder / "log"), "-o", options)
        self.empty_database(create=True)

    def empty_database(self, *, create: bool = False) -> None:
        environment = {**os.environ, "PGPASSWORD": (self.secrets / "database_password").read_text()}
        where = ["-h", "127.0.0.1", "-U", "propcite"]
        if not create:
            subprocess.run(["dropdb", *where, "--force", "propcite"], env=environment, check=True)
        subprocess.run(["createdb", *where, "propcite"], env=environment, check=True)

    def command(self, *words: str) -> str:
        """Run a command of PropCite in a container of its own, and return what it prints."""
        return self.image.run([*self.image.entrypoint, *words], self.volumes, self.files, self.work / "command.log")

    def start(self, service: str) -> float:
        """Start the server or the page, and return the seconds until its health check holds."""
        words = [*self.image.entrypoint, *self.services[service]["command"]]
        self.running[service] = self.image.start(words, self.volumes, self.files, self.work / f"{service}.log")
        return wait(lambda: self.healthy(service), f"the health check of the {service}")

    def healthy(self, service: str) -> bool:
        if self.running[service].poll() is not None:
            raise RuntimeError(f"the {service} ended: {(self.work / f'{service}.log').read_text()[-2000:]}")
        own = self.services[service].get("healthcheck", {}).get("test", ["CMD", *self.image.health])
        try:
            self.image.run(own[1:], self.volumes, self.files, self.work / "health.log")
        except RuntimeError:
            return False
        return True

    def start_proxy(self, user: str, password: str) -> None:
        digest = subprocess.check_output(["caddy", "hash-password", "--plaintext", password], text=True).strip()
        (self.secrets / "page_users").write_text(f"{user} {digest}\n")
        folder = self.work / "caddy"
        folder.mkdir()
        file = folder / "Caddyfile"
        file.write_text(f"{CADDY_OPTIONS}import {self.secrets.parent / 'Caddyfile'}\n")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CADDY_SITE": "localhost",
            "CADDY_USERS": str(self.secrets / "page_users"),
        }
        with (self.work / "proxy.log").open("wb") as log:
            words = ["caddy", "run", "--adapter", "caddyfile", "--config", str(file)]
            self.running["proxy"] = subprocess.Popen(words, env=environment, stdout=log, stderr=log)
        self.authority = folder / ".local/share/caddy/pki/authorities/local/root.crt"
        wait(self.authority.is_file, "Caddy's certificate")
        wait(lambda: _open(("localhost", 8443)), "Caddy's port")

    def stop(self, *services: str) -> None:
        for name in services or tuple(self.running):
            process = self.running.pop(name)
            process.terminate()
            process.wait(60)

    def close(self) -> None:
        with ExitStack() as stack:
            stack.callback(self.postgres, "pg_ctl", "-D", str(self.work / "postgres/data"), "stop", "-m", "fast")
            self.stop()

    def ask(
        self, path: str, body: object = None, *, key: str = "", person: str = "", origin: str = "", kind: str = ""
    ) -> tuple[int, str]:
        """Ask through the proxy, over TLS; return the status and the body."""
        headers = {"Content-Type": kind or "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        if person:
            headers["Authorization"] = f"Basic {base64.b64encode(person.encode()).decode()}"
        if origin:
            headers["Origin"] = origin
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"https://{SITE}{path}", data, headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S, context=self._tls()) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def socket_status(self, *, person: str = "", origin: str = "") -> int:
        """Ask the page for a WebSocket, as a browser does, and return the status."""
        host, port = SITE.split(":")
        lines = ["GET /_stcore/stream HTTP/1.1", f"Host: {SITE}", "Upgrade: websocket", "Connection: Upgrade"]
        lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", f"Origin: {origin}"]
        lines += ["Sec-WebSocket-Protocol: streamlit"]
        if person:
            lines.append(f"Authorization: Basic {base64.b64encode(person.encode()).decode()}")
        with self._tls().wrap_socket(socket.create_connection((host, int(port)), 30), server_hostname=host) as open_:
            open_.sendall("\r\n".join([*lines, "", ""]).encode())
            return int(open_.recv(4096).split()[1])

    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.authority))


def _open(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, 1).close()
    except OSError:
        return False
    return True
