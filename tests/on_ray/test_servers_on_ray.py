"""Servers by Ray Serve on two of three machines: the same routes and keys, replaced while requests run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Timer
from typing import Any

import httpx
import pytest
from commanded import Propcite, commanded
from postgres_servers import running_postgres
from ray_nodes import TOKEN
from scripted_llm import Reply, ScriptedLlm
from serving import PATIENCE_S, wait_until
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.cluster import sameness
from propcite.app.cluster.deploying import deploy
from propcite.app.errors import AppError
from propcite.app.ingest.sources import Upload
from propcite.app.library.shards import Shards
from propcite.app.library.store import Scope
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.sharding.hosts import connect

pytest.importorskip("ray.serve", exc_type=ImportError)

PORT, AT_ONCE = 8697, 2  # of each server
HELD_S = 5.0  # that an answer goes on while its server is replaced
AT = f"http://127.0.0.1:{PORT}"
TEXTS = {f"{n}.txt": f"The gate number {n} weighs 30{n} tonnes." for n in range(4)}
WRITTEN = Reply("The gate number 3 weighs 303 tonnes. [1]", chunks=("The gate number 3 ", "weighs 303 tonnes. [1]"))
USE_TOKEN = """import sys
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.sharding.tokens import use_token
try:
    use_token(sys.argv[1])
except RetrievalError as error:
    print(error)
"""
SEARCH = {"query": "The gate number 3 weighs"}
ASKED = {"question": "How much does the gate number 3 weigh?", "stream": True}


@pytest.fixture(scope="module")
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm(WRITTEN) as server:
        yield server


@pytest.fixture(scope="module")
def parts(cluster: Any, llm: ScriptedLlm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    data_dir = tmp_path_factory.mktemp("served")
    model = {"generator": "openai", "generator_model": "test-model", "llm_url": llm.base_url}
    with running_postgres() as postgres:
        settings = load_settings(
            data_dir=data_dir,
            database=postgres.new_database(),
            collection="harbour",
            splitter="rules",
            judge="none",
            min_score=0.8,
            serve_connections=AT_ONCE,
            cluster=cluster.address,
            **model,
        )
        built = Parts(settings)
        harbour = built.library.create_collection("harbour")
        list(built.ingester(harbour).ingest([Upload(name, text.encode()) for name, text in TEXTS.items()]))
        connect(cluster.address)
        shards = Shards(built.workspace(harbour))
        shards.divide(2)
        yield built
        from ray import serve

        serve.shutdown()
        shards.stop_hosts()
        built.library.close()


@pytest.fixture(scope="module")
def client(parts: Parts) -> Iterator[httpx.Client]:
    """Return a client of two servers, which begin with the first test."""
    _, secret = parts.keys.create("tests", Scope.READ)
    assert deploy(parts, host="127.0.0.1", port=PORT, replicas=2) == (2, AT)
    with httpx.Client(base_url=AT, headers={"Authorization": f"Bearer {secret}"}, timeout=PATIENCE_S) as opened:
        yield opened


@pytest.fixture
def held(llm: ScriptedLlm) -> Iterator[Event]:
    """Let the language model stop after the first words of each answer, until what is returned is set."""
    llm.resume.clear()
    llm.client_left.clear()
    llm.script = Reply(WRITTEN.content, chunks=WRITTEN.chunks, stalls_after=1)
    yield llm.resume
    llm.resume.set()
    llm.script = WRITTEN
    wait_until(lambda: not llm.num_in_flight, "an answer did not end")


def test_the_routes_are_those_of_the_server(client: httpx.Client) -> None:
    assert httpx.post(f"{AT}/v1/search", json=SEARCH, timeout=PATIENCE_S).status_code == 401
    assert client.post("/v1/search", json=SEARCH).json()["hits"][0]["text"] == TEXTS["3.txt"]
    assert client.get("/readyz").json()["status"] == "ready"
    assert client.post("/v1/search", json={}).status_code == 422


def test_answers_are_sent_as_they_are_written_and_end_with_their_client(
    client: httpx.Client, llm: ScriptedLlm, held: Event
) -> None:
    with client.stream("POST", "/v1/ask", json=ASKED) as response:
        lines = response.iter_lines()
        first = next(line for line in lines if line.startswith("data:"))
        assert json.loads(first.removeprefix("data:"))["text"].startswith("The gate")
        assert not held.is_set()
    assert llm.client_left.wait(PATIENCE_S)


def test_more_than_the_servers_take_is_refused(client: httpx.Client, held: Event) -> None:
    def ask(_: int) -> httpx.Response:
        answered = client.post("/v1/ask", json=ASKED)
        if answered.status_code == 503:
            held.set()
        return answered

    with ThreadPoolExecutor(16) as pool:  # more than two servers hold, and than wait at three proxies
        answers = list(pool.map(ask, range(16)))
    assert {answer.status_code for answer in answers} == {200, 503}
    assert {answer.headers.get("Retry-After") for answer in answers if answer.status_code == 503} == {"1"}


def test_replacing_the_servers_loses_no_request(
    client: httpx.Client, parts: Parts, held: Event, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert client.get("/readyz").json()["splitter"] == "rules"
    for name, value in parts.settings.model_dump(exclude_unset=True).items():
        monkeypatch.setenv(f"PROPCITE_{name.upper()}", str(value))
    monkeypatch.setenv("PROPCITE_SPLITTER", "learned")
    propcite: Propcite = commanded(monkeypatch, capsys)
    replaced, codes = Event(), list[int]()

    def search() -> None:
        while not replaced.is_set():
            codes.append(client.post("/v1/search", json=SEARCH).status_code)

    def answer() -> str:
        return client.post("/v1/ask", json=ASKED).text

    with ThreadPoolExecutor(2) as pool:
        answering, searching = pool.submit(answer), pool.submit(search)
        wait_until(lambda: len(codes) > 2, "nothing was searched")
        Timer(HELD_S, held.set).start()
        done = propcite("cluster", "serve", "--port", str(PORT), "--replicas", "2", "--keys", "--json")
        replaced.set()
        searching.result()
        assert done.code == 0, done.err
        assert done.json == {"servers": 2, "address": AT}
        assert "weighs 303 tonnes" in answering.result().rpartition("event: result")[2]
    assert set(codes) == {200}
    assert {client.get("/readyz").json()["splitter"] for _ in range(6)} == {"learned/splitter"}
    shown = propcite("cluster", "show", "--json").json
    assert [machine["state"] for machine in shown["machines"]] == ["here"] * 3
    assert (shown["state"], shown["servers"]) == ("running", {"running": 2})


def test_what_cannot_be_served_is_one_line(parts: Parts, client: httpx.Client, tmp_path: Path) -> None:
    assert client.get("/healthz").is_success
    with pytest.raises(AppError, match=rf"^the servers listen at {AT}, .* give --host 127.0.0.1 --port {PORT}"):
        deploy(parts, host="127.0.0.1", port=PORT + 1, replicas=2)
    with pytest.raises(AppError, match=r"the cluster has 3 machines, and each has one server.*--replicas 3"):
        deploy(parts, host="127.0.0.1", port=PORT, replicas=4)
    alone = Parts(load_settings(data_dir=tmp_path))
    alone.__dict__["encoder"] = WordEncoder()
    with pytest.raises(AppError, match=r"several machines need one database.*PostgreSQL.*PROPCITE_STORAGE"):
        deploy(alone, host="127.0.0.1", port=PORT, replicas=1)


def test_servers_that_do_not_start_leave_the_others(
    parts: Parts, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Parts(parts.settings.model_copy(update={"splitter": "seq2seq"}))
    broken.__dict__["encoder"] = parts.encoder
    with pytest.raises(AppError, match="PROPCITE_SPLITTER_MODEL"):
        deploy(broken, host="127.0.0.1", port=PORT, replicas=2)
    monkeypatch.setattr(sameness, "version", lambda _: "9.9")  # of the machine that deploys
    with pytest.raises(AppError, match=r"^the servers did not start: this machine has PropCite .*, the cluster 9\.9: "):
        deploy(parts, host="127.0.0.1", port=PORT, replicas=2)
    assert client.post("/v1/search", json=SEARCH).status_code == 200


@pytest.mark.usefixtures("parts")
def test_machines_join_and_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PROPCITE_DATA_DIR", str(tmp_path / "shared"))
    monkeypatch.delenv("RAY_AUTH_MODE")  # it is what a cluster does by default
    propcite: Propcite = commanded(monkeypatch, capsys)
    first, second, few = "127.0.0.6", "127.0.0.7", ("--", "--num-cpus", "1")
    join = ("cluster", "start", "--address", f"{first}:7391", "--host", second, *few)
    with running_postgres() as postgres:
        database = postgres.new_database()
        monkeypatch.setenv("PROPCITE_DATABASE", database)
        assert "no cluster answers at '127.0.0.6:7391'" in propcite(*join).err
        own_folder = ("--temp-dir", f"/tmp/{tmp_path.name}")
        begun = propcite("cluster", "start", "--host", first, "--port", "7391", *few, *own_folder)
        try:
            assert f"the cluster is at {first}:7391" in begun.err
            assert "it asks for the token in " in begun.err
            file = tmp_path / "token"
            file.write_text(TOKEN)
            for given, why in (
                ({"RAY_AUTH_TOKEN": "another"}, "it refuses the token of this machine"),
                ({"HOME": str(tmp_path)}, "it asks for a token, and this machine has none"),
                ({"RAY_AUTH_TOKEN_PATH": str(tmp_path / "none")}, "it asks for a token, and this machine has none"),
                ({"RAY_AUTH_TOKEN_PATH": str(file)}, ""),
            ):
                machine = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
                command = [sys.executable, "-c", USE_TOKEN, f"{first}:7391"]
                said = subprocess.run(command, env=machine | given, capture_output=True, text=True, timeout=100)
                assert (why in said.stdout, said.stdout.count("\n")) == (True, 1 if why else 0)
            again = propcite("cluster", "start", "--host", first, "--port", "7391")
            assert (again.code, "in a cluster already" in again.err) == (2, True)
            wrong = propcite("cluster", "start", "--host", second, "--port", "7393", "--", "--num-cpus", "no")
            assert (wrong.code, "num-cpus" in wrong.err, wrong.err.count("\n")) == (2, True, 1)
            for name, value, line in (
                ("DATA_DIR", str(tmp_path / "another"), "does not see the files of the cluster's first one"),
                ("DATABASE", "", "several machines need one database"),
            ):
                with monkeypatch.context() as changed:
                    changed.setenv(f"PROPCITE_{name}", value)
                    refused = propcite(*join)
                assert (refused.code, line in refused.err, refused.err.count("\n")) == (2, True, 1)
            assert f"this machine is in the cluster at {first}:7391" in propcite(*join).err
        finally:
            stopped = propcite("cluster", "stop", "--json").json["stopped"]
            shutil.rmtree(own_folder[1], ignore_errors=True)
    assert stopped == [f"{first}:7391"] * 2
    assert "began nothing that still runs here" in propcite("cluster", "stop").err
    from ray import nodes

    assert all(node["Alive"] for node in nodes())  # another cluster of this machine goes on
