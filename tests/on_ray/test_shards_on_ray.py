"""Shards in the processes of a Ray cluster of three nodes: the lists of one index, and nothing without all shards."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attacking import small_library
from commanded import Propcite, commanded
from index_samples import Samples
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.ingest.sources import Upload
from propcite.app.library.shards import Shards
from propcite.app.library.store import Library
from propcite.app.parts import Parts
from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.errors import IndexFormatError, RetrievalError
from propcite.retrieval.index import IndexHit
from propcite.retrieval.index.allowed import AllBut, OnlyDocuments, both
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.sharding import hosts, tokens
from propcite.retrieval.sharding.cluster import ClusterIndex, ShardsAwayError
from propcite.retrieval.sharding.folder import open_index
from propcite.retrieval.sharding.layout import Layout, read_layout
from propcite.retrieval.sharding.resharding import reshard
from propcite.retrieval.sharding.sharded_index import ShardedIndex
from propcite.retrieval.text import Granularity

PASSAGES, NUM = 600, 3
WEIGHTS = np.ones((2, 8), np.float32)
AS_IS = ("", 0)  # the version that is on disk
TEXTS = {f"{n}.txt": f"The gate number {n} weighs 30{n} tonnes. It is painted in colour {n}." for n in range(12)}


@pytest.fixture(scope="module")
def samples() -> Samples:
    return Samples()


@pytest.fixture(scope="module")
def vectors(samples: Samples) -> Floats:
    return samples.vectors(PASSAGES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, samples: Samples, vectors: Floats) -> Path:
    path, index = tmp_path_factory.mktemp("clustered"), TokenIndex(samples.dimension, "made-up", regime="tokens")
    samples.add(index, vectors)
    index.save(path)
    reshard(path, NUM, regime="tokens")
    return path


@pytest.fixture(scope="module")
def index(folder: Path, cluster: Any) -> Iterator[ClusterIndex]:
    opened = ClusterIndex(folder, layout_of(folder), "made-up", address=cluster.address, regime="tokens")
    yield opened
    hosts.stop_hosts([place.resolve() for place in layout_of(folder).folders(folder)])


def layout_of(folder: Path) -> Layout:
    layout = read_layout(folder)
    assert layout
    return layout


def searches(index: Any, queries: Sequence[Floats], **options: Any) -> list[list[list[IndexHit]]]:
    return [index.search(query, WEIGHTS, **{"k": 10, **options}) for query in queries]


def test_the_lists_are_those_of_one_index(index: ClusterIndex, folder: Path, samples: Samples, vectors: Floats) -> None:
    here, queries = open_index(folder, regime="tokens"), samples.queries(vectors, 4)
    documents = OnlyDocuments.of([f"p{n}" for n in range(0, PASSAGES, 2)])
    some: list[dict[str, Any]] = [
        {},
        {"refine": 0},
        {"granularity": Granularity.SENTENCE, "passage_share": 0.3},
        {"allow": both(documents, AllBut(frozenset({"p4"})))},
        {"allow": {"p1", "p2", "unknown"}},
    ]
    for options in some:
        expected = searches(here, queries, **options)
        assert any(row for rows in expected for row in rows)
        assert searches(index, queries, **options) == expected
    assert index.stats() == here.stats()
    assert (len(index), index.version, index.ids()) == (len(here), here.version, here.ids())
    assert index.ids(documents) == here.ids(documents)
    ids = ["p5", "p77", "unknown"]
    assert {i: v.vectors.tolist() for i, v in index.vectors_of(ids).items()} == {
        i: v.vectors.tolist() for i, v in here.vectors_of(ids).items()
    }
    assert index.vectors("p5").vectors.tolist() == here.vectors("p5").vectors.tolist()
    assert len({process for _, process, _ in index.places()}) == NUM


def test_a_save_is_seen_at_once_and_two_searchers_share_the_processes(
    index: ClusterIndex, folder: Path, samples: Samples, cluster: Any
) -> None:
    writer = open_index(folder, regime="tokens")
    first = len(writer) + 1
    samples.add(writer, samples.vectors(30), first)  # type: ignore[arg-type]
    writer.save(folder)
    assert len(index) == len(writer)
    again = ClusterIndex(folder, layout_of(folder), address=cluster.address, regime="tokens")
    assert again.places() == index.places()
    assert again.version == index.version == writer.version


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_killed_process_is_started_again(
    index: ClusterIndex, folder: Path, samples: Samples, vectors: Floats, when: str
) -> None:
    queries = samples.queries(vectors, 5)
    expected = searches(open_index(folder, regime="tokens"), queries)
    process = index.places()[1][1]
    if when == "before":
        os.kill(process, signal.SIGKILL)
    else:
        threading.Timer(0.02, os.kill, (process, signal.SIGKILL)).start()
    assert searches(index, queries * 4) == expected * 4
    assert index.places()[1][1] != process


def test_a_lost_machine_is_replaced_by_others(
    index: ClusterIndex, folder: Path, samples: Samples, vectors: Floats, cluster: Any
) -> None:
    queries = samples.queries(vectors, 2)
    expected = searches(open_index(folder, regime="tokens"), queries)
    used = {machine for machine, _, _ in index.places()}
    node = next(node for node in cluster.worker_nodes if node.node_ip_address in used)
    cluster.remove_node(node, allow_graceful=False)
    assert searches(index, queries) == expected
    cluster.add_node(num_cpus=1, node_ip_address=node.node_ip_address)


def test_nothing_is_returned_while_a_shard_is_away(
    index: ClusterIndex, folder: Path, samples: Samples, vectors: Floats, cluster: Any
) -> None:
    """A stopped process answers nothing, and is not noticed as dead."""
    process = index.places()[2][1]
    searches(index, samples.queries(vectors, 1))  # all processes have read what a search needs
    impatient = ClusterIndex(folder, layout_of(folder), address=cluster.address, regime="tokens")
    impatient._patience = 5.0
    os.kill(process, signal.SIGSTOP)
    try:
        with pytest.raises(ShardsAwayError, match=r"^shard 2 \(.*no answer in time\) of 3 did not answer within 5 sec"):
            impatient.search(samples.queries(vectors, 1)[0], WEIGHTS, k=3)
    finally:
        os.kill(process, signal.SIGCONT)
    assert searches(impatient, samples.queries(vectors, 1))


def test_an_error_in_a_shard_is_the_error_of_the_search(index: ClusterIndex, samples: Samples) -> None:
    with pytest.raises(ValueError, match="query vectors must have 32 dimensions"):
        index.search(np.ones((8, 5), np.float32), WEIGHTS, k=3)
    with pytest.raises(ValueError, match="refine must be 0 or more"):
        index.search(np.ones((8, 32), np.float32), WEIGHTS, k=3, refine=-1)
    assert searches(index, samples.queries(samples.vectors(2), 1))


def test_an_index_of_another_encoder_is_refused(folder: Path, cluster: Any) -> None:
    with pytest.raises(IndexFormatError, match="the index was made by made-up, the encoder is another"):
        ClusterIndex(folder, layout_of(folder), "another", address=cluster.address)


def test_a_shard_of_another_encoder_and_one_that_is_there_twice_are_refused(
    tmp_path: Path, samples: Samples, cluster: Any
) -> None:
    whole = TokenIndex(samples.dimension, "made-up")
    samples.add(whole, samples.vectors(20))
    whole.save(tmp_path)
    reshard(tmp_path, 2)
    first, second = (place.resolve() for place in layout_of(tmp_path).folders(tmp_path))
    for replace, line in (
        (lambda: TokenIndex(samples.dimension, "another").save(second), "shard 0 was made by made-up, shard 1 by anot"),
        (lambda: shutil.copytree(first, second), "shards 0 and 1 hold the same passages: bring back the folder"),
    ):
        shutil.rmtree(second)
        replace()
        with pytest.raises(IndexFormatError, match=line):
            ClusterIndex(tmp_path, layout_of(tmp_path), address=cluster.address)
        hosts.stop_hosts([first, second])


def test_a_host_forgets_abandoned_searches(folder: Path, samples: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = layout_of(folder).folders(folder)[0]
    host = hosts.ShardHost(hosts.HostedShard(0, str(shard), str(folder), "", {"regime": "tokens"}))
    query = samples.queries(samples.vectors(2), 1)[0]
    said = host.begin(AS_IS, "one", query, WEIGHTS, {"k": 3})
    monkeypatch.setattr(hosts, "ABANDONED_S", -1.0)
    host.begin(AS_IS, "two", query, WEIGHTS, {"k": 3})
    with pytest.raises(hosts.LostSearchError):
        host.advance("one", said)  # type: ignore[arg-type]


# The application


@pytest.fixture
def parts(tmp_path: Path, cluster: Any) -> Iterator[Parts]:
    built = small_library(tmp_path / "data", TEXTS, cluster=cluster.address)
    yield built
    for info in built.library.collections():
        Shards(built.workspace(info)).stop_hosts()
    built.library.close()


def hits(parts: Parts, **limits: Any) -> list[tuple[str, float]]:
    pipeline = parts.pipeline(parts.library.collection("harbour"), **limits)
    return [(hit.passage.text, hit.score) for hit in pipeline.retriever().search("The gate number 7 weighs", k=12)]


def test_a_collection_is_searched_and_cited_in_the_cluster(parts: Parts) -> None:
    harbour = parts.library.collection("harbour")
    workspace, before = parts.workspace(harbour), hits(parts)
    limited = hits(parts, where=["title=7"])
    assert len(limited) == 1
    assert Shards(workspace).hosts(parts.encoder) == []  # in one piece
    Shards(workspace).divide(3)
    assert hits(parts) == before
    assert hits(parts, where=["title=7"]) == limited
    assert isinstance(workspace.index(parts.encoder), ClusterIndex)
    list(parts.ingester(harbour).ingest([Upload("new.txt", b"The gate number 7 weighs nothing.")]))
    assert "nothing" in str(hits(parts))
    answer = parts.pipeline(harbour).cite("The gate number 3 weighs 303 tonnes.")
    assert answer.citations[0].quote.startswith("The gate number 3")
    old = {process for _, process, _ in Shards(workspace).hosts(parts.encoder)}
    Shards(workspace).divide(2)
    assert len(Shards(workspace).hosts(parts.encoder)) == 2
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{process}").exists() for process in old) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{process}").exists() for process in old)
    assert workspace.rebuild(WordEncoder()) == 13
    assert "nothing" in str(hits(parts))


def test_a_query_has_the_passages_of_the_documents_that_are_there(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    harbour = parts.library.collection("harbour")
    workspace = parts.workspace(harbour)
    Shards(workspace).divide(3)
    seen: list[bool] = []

    def observed(method: Callable[..., None]) -> Callable[..., None]:
        def look_then_go_on(*arguments: Any) -> None:
            with ThreadPoolExecutor(1) as pool:  # which is in no transaction
                seen.append("nothing" in str(pool.submit(hits, parts).result()))
            method(*arguments)

        return look_then_go_on

    for place, name in ((Library, "note_index_versions"), (ShardedIndex, "promote")):
        monkeypatch.setattr(place, name, observed(getattr(place, name)))
    before = workspace.index(parts.encoder)
    ids = before.ids()
    list(parts.ingester(harbour).ingest([Upload("new.txt", b"The gate number 7 weighs nothing.")]))
    assert seen == [False, True]
    assert before.ids() == ids  # its versions are still open
    for process in {process for _, process, _ in Shards(workspace).hosts(parts.encoder)}:
        os.kill(process, signal.SIGKILL)  # the next one opens what is there now
    assert before.ids() == set(parts.library.passage_ids(harbour)) > ids
    assert "nothing" in str(hits(parts))


def test_the_commands_show_and_stop_the_hosts(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    for name in ("data_dir", "collection", "cluster"):
        monkeypatch.setenv(f"PROPCITE_{name.upper()}", str(getattr(parts.settings, name)))
    propcite: Propcite = commanded(monkeypatch, capsys)
    alone = propcite("shards", "hosts")
    assert (alone.code, "propcite shards split NUMBER" in alone.err) == (1, True)
    assert propcite("shards", "split", "2").code == 0
    assert [host["shard"] for host in propcite("shards", "hosts", "--json").json["hosts"]] == [0, 1]
    assert "machine" in propcite("shards", "hosts").out
    assert propcite("search", "gate", "--json").code == 0
    assert propcite("shards", "stop", "--json").json["stopped"] == 2
    assert "0 processes stopped" in propcite("shards", "stop").err


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port where nobody takes a connection, as at a machine that is gone."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, ExitStack() as held:
        port = int(server.getsockname()[1])
        for _ in range(3):  # until its queue is full
            with suppress(TimeoutError):
                held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=0.2))
        yield port


@pytest.mark.parametrize("host", ["127.0.0.9:1", "127.0.0.1:{}"])
def test_a_cluster_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch, silent_port: int, host: str) -> None:
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(tokens, "TIMEOUT_S", 1.0)
    address, begun = host.format(silent_port), time.monotonic()
    with pytest.raises(RetrievalError, match=f"no Ray cluster answers at '{address}': ray start --head starts one"):
        hosts.connect(address)
    assert time.monotonic() - begun < 10
