"""The real clients over the citing proxy: what each shows of an answer's citations, as docs/proxy.md has it.

`make test-clients` installs them at pinned versions and prints the table.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from app_fixtures import loaded, settings_of_its_own  # noqa: F401 - fixtures
from paths import ROOT
from proxied import CITED, QUESTION, REPLY, proxied
from python_clients import Cited, PythonClients, Shown
from scripted_apis import CALL
from scripted_llm import Reply, Request

HERE = Path(__file__).parent
NPM = Path(sys.prefix)  # where make test-clients installs both kinds of packages
EMOJI = "\U0001f30a\U0001f30a The barrier has fourteen steel gates."
QUESTIONS = {scene: f"{scene.title()}: {QUESTION}" for scene in ("plain", "emoji", "tools", "two", "killed")}
DROPPING = {"AI SDK, openai-compatible", "langchain-openai, chat", "LlamaIndex OpenAILike"}  # what drops annotations
TOOL_USE = {"type": "tool_use", "id": "c1", "name": "cost", "input": {"of": "it"}}
CHAT_CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "cost", "arguments": '{"of": "it"}'}}

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")  # else it asks GitHub for prices
if not shutil.which("node") or not (NPM / "node_modules").exists() or not find_spec("litellm"):
    pytest.skip("the real clients of npm and PyPI: make test-clients, which needs node", allow_module_level=True)


@dataclass(frozen=True)
class Call:
    """One call of a client: what it showed, or the error that it raised."""

    client: str
    way: str
    scene: str
    shown: Shown | None = None
    error: str = ""


def script(request: Request) -> Reply:
    """Answer by the question; `killed` breaks off."""
    asked, stream, path = json.dumps(request.body), request.body.get("stream"), request.path
    scene = next((name for name, question in QUESTIONS.items() if question in asked), "plain")
    if scene == "emoji":
        return Reply(EMOJI)
    if scene == "killed":
        before = 4 if path.endswith("/responses") else 3 if path.endswith("/messages") else 0
        return Reply(REPLY, breaks_after=before + 8 if stream else 10)
    if scene == "tools":
        return _tools(path, bool(stream))
    if scene == "two" and request.body.get("n") == 2:
        return _two(bool(stream))
    return Reply(REPLY)


def _tools(path: str, stream: bool) -> Reply:
    if path.endswith("/responses"):
        return Reply("", chunks=(), items=[CALL])
    if path.endswith("/messages"):
        return Reply("", chunks=(), items=[TOOL_USE], finish_reason="tool_calls")
    if stream:
        return Reply("", chunks=[{"tool_calls": [CHAT_CALL]}], finish_reason="tool_calls")
    message = {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}
    return Reply(body=_chat([{"index": 0, "message": message, "finish_reason": "tool_calls"}]))


def _two(stream: bool) -> Reply:
    if not stream:
        message = {"role": "assistant", "content": REPLY}
        return Reply(body=_chat([{"index": n, "message": message, "finish_reason": "stop"} for n in (0, 1)]))
    begun = [{"index": n, "delta": {"role": "assistant", "content": REPLY}, "finish_reason": None} for n in (0, 1)]
    ended: list[Any] = [{"index": n, "delta": {}, "finish_reason": "stop"} for n in (0, 1)]
    chunks = [f"data: {_chat([c], 'chat.completion.chunk')}\n\n".encode() for c in (*begun, *ended)]
    return Reply(raw=[*chunks, b"data: [DONE]\n\n"])


def _chat(choices: list[Any], kind: str = "chat.completion") -> str:
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    frame = {"id": "c", "object": kind, "created": 1, "model": "m", "choices": choices}
    return json.dumps(frame | ({} if kind.endswith("chunk") else {"usage": usage}))


@pytest.fixture(scope="module", params=["chat/completions", "chat/completions responses messages"])
def address(
    request: pytest.FixtureRequest,
    loaded: dict[str, object],  # noqa: F811 - the fixture
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """Start a server before a model server with Chat Completions alone, and one before a model server with all APIs."""
    with proxied(loaded, tmp_path_factory.mktemp("clients"), request.param.split()) as (address, llm):
        llm.script = script
        yield address


@pytest.fixture(scope="module")
def calls(address: str) -> list[Call]:
    return all_calls(address)


def all_calls(address: str, headers: dict[str, str] | None = None, only: Collection[str] = ()) -> list[Call]:
    """Call by all clients, or by those of `only` with the plain question."""
    call = {
        "address": address,
        "collection": "harbour",
        "base": f"{address}/v1/collections/harbour",
        "questions": {"plain": QUESTIONS["plain"]} if only else QUESTIONS,
        "headers": headers or {},
        "only": list(only) or None,
    }
    with ThreadPoolExecutor() as pool:
        by_node = pool.submit(node, (HERE / "clients.mjs").read_text("utf-8"), json.dumps(call))
        by_llamaindex = pool.submit(llamaindex, json.dumps(call))
        in_python = python_calls(call)
    return [*printed(by_node.result()), *in_python, *printed(by_llamaindex.result())]


def printed(done: subprocess.CompletedProcess[str]) -> Iterator[Call]:
    """Yield the calls that a process printed."""
    assert done.returncode == 0, done.stderr
    for line in map(json.loads, done.stdout.splitlines()):
        named = line["client"], line["way"], line["scene"]
        if "error" in line:
            yield Call(*named, error=line["error"])
            continue
        texts = [(t["text"] or "", [Cited(c["title"], c.get("words")) for c in t["citations"]]) for t in line["texts"]]
        yield Call(*named, Shown(texts, line["calls"], bool(line.get("raw"))))


def node(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module where its packages are."""
    command = ["node", "--input-type=module", "-e", code, "--", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=150, cwd=NPM)


def llamaindex(call: str) -> subprocess.CompletedProcess[str]:
    """Run LlamaIndex's clients with their own packages before those of the environment."""
    command = [sys.executable, HERE / "llamaindex_clients.py", call]
    environment = {**os.environ, "PYTHONPATH": str(NPM / "llamaindex")}
    return subprocess.run(command, capture_output=True, text=True, timeout=150, env=environment, check=False)


def python_calls(call: dict[str, Any]) -> list[Call]:
    clients = PythonClients(call["base"], call["headers"])
    return [
        _python_call(
            client, way, scene, partial(ask, question, n=2 if scene == "two" else None, tools=scene == "tools")
        )
        for client, way, ask in clients.ways()
        if not call["only"] or client in call["only"]
        for scene, question in call["questions"].items()
    ]


def _python_call(client: str, way: str, scene: str, ask: Any) -> Call:
    try:
        return Call(client, way, scene, ask())
    except Exception as error:  # each client has its own
        return Call(client, way, scene, error=str(error) or type(error).__name__)


# The table


def level(call: Call | None) -> str:
    """Return what a client shows of the citations of the plain answer."""
    if call is None or call.shown is None:
        return f"error: {call.error[:40]}" if call else "–"
    text, cited = call.shown.texts[0]
    assert text == REPLY
    if [c.title for c in cited] != ["gates", "cost"]:
        return f"{len(cited)} of 2" if cited else "raw only" if call.shown.raw else "none"
    return "all" if [(c.words or "").strip() for c in cited] == CITED else "sources"


def has_calls(found: Sequence[Call]) -> str:
    return "yes" if all(c.shown and c.shown.calls == ["cost"] for c in found) else "no"


def of_both(found: Sequence[Call]) -> str:
    """Return how many of two answers a client cites."""
    numbers = {sum(bool(cited) for _, cited in c.shown.texts) if c.shown else 0 for c in found}
    return " or ".join(map(str, sorted(numbers)))


def places(found: Sequence[Call]) -> str:
    """Return whether the words behind an emoji are those of the fact."""
    words = [c.words for call in found if call.shown for _, cited in call.shown.texts for c in cited]
    if not words or None in words:
        return "–"
    return "right" if all("".join(w).strip() in (CITED[0], EMOJI) for w in words if w) else "wrong"


def after_kill(call: Call | None) -> str:
    """Return what a client makes of a stream that breaks off."""
    if call is None:
        return "–"
    if call.error:
        return "error"
    assert call.shown
    assert REPLY.startswith(call.shown.texts[0][0])
    return "what came"


def row(client: str, calls: Sequence[Call]) -> str:
    def found(scene: str, way: str = "") -> list[Call]:
        return [c for c in calls if c.client == client and c.scene == scene and way in ("", c.way)]

    one = {(scene, way): next(iter(found(scene, way)), None) for scene in QUESTIONS for way in ("ask", "stream")}
    is_chat = "chat" in client or client == "litellm"
    cells = (
        f"`{client}`",
        level(one["plain", "ask"]),
        level(one["plain", "stream"]),
        has_calls(found("tools")) if one["plain", "ask"] else "–",
        of_both(found("two")) if is_chat and "AI SDK" not in client else "–",
        places(found("emoji")),
        after_kill(one["killed", "stream"]),
    )
    return f"| {' | '.join(cells)} |"


HEAD = "| client | whole | streamed | tools | `n=2` | emoji | killed stream |"


def test_what_each_client_shows(calls: list[Call], capsys: pytest.CaptureFixture[str]) -> None:
    """The same by both kinds of model servers, and as the page says."""
    rows = [row(client, calls) for client in dict.fromkeys(call.client for call in calls)]
    with capsys.disabled():
        print("", HEAD, "|---" * 7 + "|", *rows, sep="\n")  # noqa: T201 - what is measured
    page = (ROOT / "docs" / "proxy.md").read_text("utf-8")
    shown = page.partition(HEAD)[2].strip().splitlines()[1 : len(rows) + 1]
    assert rows == shown


def test_whole_answers_that_break_off_are_errors(calls: list[Call]) -> None:
    for call in calls:
        if call.scene == "killed" and call.way == "ask":
            assert "model server" in call.error or "502" in call.error, call


EXAMPLES = re.findall(r"^```js\n(.*?)^```$", (ROOT / "docs" / "proxy.md").read_text("utf-8"), re.M | re.S)
SERVER = "http://localhost:8600"
SHOWN = (
    f"{CITED[0]} <- gates\n{CITED[1]} <- cost\n",
    f"{REPLY}[ 'gates', 'cost' ]\n",
    f"{CITED[0]} [ 'gates' ]\n {CITED[1]} [ 'cost' ]\n The mayor likes it. undefined\n",
    f"{CITED[0]}[1] {CITED[1]}[2] The mayor likes it.\n\n**Sources**\n\n1. gates: “",
)


@pytest.mark.parametrize(("example", "shown"), list(zip(EXAMPLES, SHOWN, strict=True)), ids=range(len(EXAMPLES)))
def test_the_javascript_of_the_pages_runs(address: str, example: str, shown: str) -> None:
    done = node(example.replace(SERVER, address))
    assert done.stdout.startswith(shown), done.stderr


def test_clients_that_drop_annotations_keep_sources_as_text(address: str) -> None:
    headers = {"PropCite-Sources": "text"}
    found = all_calls(address, headers, DROPPING)
    assert {(call.client, call.way) for call in found} == {
        (name, way) for name in DROPPING for way in ("ask", "stream")
    }
    for call in found:
        assert call.shown, call.error
        assert call.shown.texts[0][0].startswith(f"{CITED[0]}[1] {CITED[1]}[2] The mayor likes it.\n\n**Sources**")
