"""`propcite mcp`: over standard input and output, and over HTTP alone; with the SDK's client and npm's inspector."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from agent_calls import HARBOUR, HEIGHT, MODES, command, over_http, text_of
from mcp import Client
from serving import PATIENCE_S, parts_with

from propcite.app.server.mcp.tools import BY_NAME

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, loaded: dict[str, object]) -> Path:
    folder = tmp_path_factory.mktemp("filled") / "data"
    parts_with(loaded, {"harbour": HARBOUR}, data_dir=folder).library.close()
    return folder


@pytest.fixture
def data_dir(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fill the data directory that commands of this test find."""
    monkeypatch.setenv("PROPCITE_SPLITTER", "rules")
    monkeypatch.setenv("PROPCITE_JUDGE", "none")
    return Path(shutil.copytree(filled, tmp_path / "data"))


def start(*words: str, **pipes: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "propcite", "mcp", *words], **pipes)


def ended(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(PATIENCE_S)
    finally:
        process.kill()


@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("mode", MODES)
def test_a_client_starts_the_command_and_uses_it(mode: str) -> None:
    async def use() -> None:
        async with Client(command("-c", "harbour"), mode=mode) as client:
            assert client.server_info
            assert client.server_info.name == "propcite"
            assert client.instructions
            assert "`cite`" in client.instructions
            heard: list[str | None] = []

            async def hear(_: float, __: float | None, message: str | None) -> None:
                heard.append(message)

            result = await client.call_tool("cite", {"text": HEIGHT}, progress_callback=hear)
            assert result.structured_content["cited_text"] == f"{HEIGHT[:-1]} [1]."
            assert heard[0] == "loading the models"
            uris = [resource.uri for resource in (await client.list_resources()).resources]
            contents = (await client.read_resource(uris[-1])).contents
            assert contents[0].text in HARBOUR.values()
            assert len((await client.list_prompts()).prompts) == 4

    asyncio.run(use())


@pytest.mark.usefixtures("data_dir")
def test_nonsense_on_standard_input_is_survived_and_its_end_ends_the_command() -> None:
    process = start(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = [b"nonsense", b"\xff\xfe", b"[" * 100_000, b"null", b"", json.dumps(INITIALIZE).encode()]
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    many = [{"jsonrpc": "2.0", "id": 10 + n, "method": "prompts/list"} for n in range(1000)]
    lines += [json.dumps(one).encode() for one in (ping, *many)]
    output, errors = process.communicate(b"\n".join(lines) + b"\n", PATIENCE_S)
    answers = {one.get("id"): one for one in map(json.loads, output.splitlines())}
    assert answers[1]["result"]["serverInfo"]["name"] == "propcite"
    assert answers[2]["result"] == {}
    assert process.returncode == 0
    assert b"Traceback" not in errors


@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_while_its_client_waits(signal_: signal.Signals) -> None:
    process = start(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    assert b"propcite" in process.stdout.readline()
    process.send_signal(signal_)
    assert ended(process) == -signal_


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


@pytest.mark.usefixtures("data_dir")
def test_http_alone_serves_agents_and_no_other_route() -> None:
    port = free_port()
    process, address = start("--http", "--port", str(port), "-c", "harbour"), f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                httpx.get(f"{address}/healthz")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        result = over_http(address, lambda client: client.call_tool("search", {"query": "How high?", "k": 1}))
        assert HEIGHT in text_of(result)
        assert httpx.post(f"{address}/v1/cite", json={"answer": HEIGHT}).status_code == 404
    finally:
        process.send_signal(signal.SIGINT)
    assert ended(process) == 0


def test_beyond_this_machine_a_key_is_needed(propcite: Callable[..., Any]) -> None:
    done = propcite("mcp", "--http", "--host", "0.0.0.0", "--port", free_port())
    assert "propcite keys create" in done.err


def test_without_the_extra_the_command_names_it() -> None:
    code = (
        "import importlib.util as u, sys; find = u.find_spec;"
        "u.find_spec = lambda name, *a: None if name == 'mcp' else find(name, *a);"
        "sys.argv = ['propcite', 'mcp']; from propcite.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.startswith("propcite: this command needs the extra mcp: ")
    assert "pip install" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def inspector() -> list[str]:
    npx = shutil.which("npx")
    if not npx:
        pytest.skip("Node.js is not installed, which runs MCP's inspector: apt-get install npm")
    found = [npx, "-y", "-p", INSPECTOR, "-c", "command -v mcp-inspector"]
    known = subprocess.run(found, capture_output=True, text=True, timeout=300)
    if known.returncode:
        pytest.skip("npm could not fetch MCP's inspector: try again with a network")
    return [known.stdout.strip(), "--cli"]


def inspect(inspector: list[str], *words: str) -> Any:
    done = subprocess.run([*inspector, *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.usefixtures("data_dir")
def test_the_inspector_starts_the_command_and_finds_schemas_that_every_client_reads(inspector: list[str]) -> None:
    names = [name for name in os.environ if name.startswith("PROPCITE_") or name == "PYTHONPATH"]
    given = [word for name in names for word in ("-e", f"{name}={os.environ[name]}")]
    started = [sys.executable, "-m", "propcite", "mcp", "-c", "harbour"]
    listed = inspect(inspector, *given, *started, "--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == list(BY_NAME)


def test_the_inspector_calls_a_tool_and_reads_what_it_cites(inspector: list[str], address: str) -> None:
    """Over HTTP, where the models are loaded."""

    def asked(*words: str) -> Any:
        return inspect(inspector, f"{address}/mcp", "--method", *words)

    templates = asked("resources/templates/list")["resourceTemplates"]
    assert any(template["uriTemplate"].endswith("?cited={cited}") for template in templates)
    called = asked("tools/call", "--tool-name", "check", "--tool-arg", f"text={HEIGHT}")
    quote = called["structuredContent"]["facts"][0]["citations"][0]
    assert quote["words"] == HEIGHT
    (shown,) = asked("resources/read", "--uri", quote["uri"])["contents"]
    assert json.loads(shown["text"])["words"] == HEIGHT
    prompt = asked("prompts/get", "--prompt-name", "weigh_claim", "--prompt-args", f"claim={HEIGHT}")
    assert HEIGHT in prompt["messages"][0]["content"]["text"]
