"""What machines of a cluster must share, and lines for what is missing; no cluster runs here."""

from __future__ import annotations

import re
import socket
from importlib.metadata import version
from pathlib import Path

import pytest
from commanded import Propcite, commanded
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.cluster import machines, sameness, serving
from propcite.app.cluster.sameness import Member, check_clock, check_same, check_shared, member_of
from propcite.app.errors import AppError
from propcite.app.parts import Parts
from propcite.app.settings import load_settings


@pytest.fixture
def propcite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propcite:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PROPCITE_DATA_DIR", str(tmp_path / "data"))
    return commanded(monkeypatch, capsys)


def opened(data_dir: Path, **settings: object) -> Parts:
    parts = Parts(load_settings(data_dir=data_dir, **settings))
    parts.__dict__["encoder"] = WordEncoder()
    return parts


def test_machines_share_the_version_the_encoder_and_their_files(tmp_path: Path) -> None:
    first = member_of(opened(tmp_path / "shared"), first=True)
    assert (first.version, first.encoder) == (version("propcite"), WordEncoder().name)
    assert member_of(opened(tmp_path / "shared"), first=True) == first
    check_same(member_of(opened(tmp_path / "shared")), first)
    for change, line in (
        ({"version": "0.0"}, r"this machine has PropCite 0\.0, the cluster .*: install that version here"),
        ({"encoder": "another"}, "the encoder of this machine is another, .*: set PROPCITE_ENCODER"),
        ({"mark": ""}, "does not see the files of the cluster's first one: .*PROPCITE_STORAGE"),
    ):
        with pytest.raises(AppError, match=line):
            check_same(first.model_copy(update=change), first)
    assert member_of(opened(tmp_path / "other")).mark == ""


def test_machines_with_folders_of_their_own_share_a_storage(tmp_path: Path) -> None:
    storage = f"file://{tmp_path}/objects"
    first = member_of(opened(tmp_path / "one", storage=storage), first=True)
    assert member_of(opened(tmp_path / "two", storage=storage)) == first


def test_a_library_in_a_file_belongs_to_one_machine(tmp_path: Path) -> None:
    with pytest.raises(AppError, match=r"set PROPCITE_DATABASE to a PostgreSQL URL, and PROPCITE_STORAGE, or"):
        check_shared(load_settings(data_dir=tmp_path))
    check_shared(load_settings(data_dir=tmp_path, database="postgresql://db/propcite"))


@pytest.mark.postgres
def test_a_clock_that_is_wrong_is_named(tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = opened(tmp_path, database=postgres.format("postgres"))
    check_clock(parts)
    monkeypatch.setattr(sameness, "APART_S", -1.0)
    with pytest.raises(AppError, match=r"this machine's clock is \d+ seconds (ahead of|behind) the database's"):
        check_clock(parts)
    parts.library.close()
    check_clock(opened(tmp_path / "file"))


def test_a_machine_without_ray_says_what_to_install(propcite: Propcite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "find_spec", lambda _: None)
    for words in (("start",), ("start", "--address", "other:6379"), ("show",), ("serve",), ("stop",)):
        said = propcite("cluster", *words)
        assert (said.code, said.err.count("\n")) == (2, 1)
        assert re.search(r"a cluster needs Ray: .*install .*(cluster|ray)", said.err)


def test_a_machine_in_no_cluster_says_how_to_join_one(propcite: Propcite) -> None:
    for words in (("show",), ("serve",)):
        assert "this machine is in no cluster: propcite cluster start" in propcite("cluster", *words).err
    assert "began nothing that still runs here" in propcite("cluster", "stop").err
    refused = propcite("cluster", "serve", "--host", "0.0.0.0")
    assert (refused.code, "needs a key" in refused.err) == (2, True)


def test_a_port_that_is_taken_is_named(propcite: Propcite) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        taken = propcite("cluster", "start", "--host", "127.0.0.1", "--port", str(port))
    assert (taken.code, f"127.0.0.1:{port} cannot be listened on" in taken.err) == (2, True)
    assert taken.err.count("\n") == 1


def test_what_is_not_begun_is_stopped_by_nobody(tmp_path: Path, propcite: Propcite) -> None:
    folder = tmp_path / "state/propcite/cluster"
    folder.mkdir(parents=True)
    (folder / "127.0.0.9.json").write_text('{"pid": 1, "cluster": "127.0.0.9:6379", "host": "127.0.0.9"}')
    assert propcite("cluster", "stop", "--json").json == {"stopped": []}  # no process holds its lock


def test_arguments_of_the_application_are_checked(tmp_path: Path) -> None:
    pytest.importorskip("ray.serve", exc_type=ImportError)
    for args, line in (
        ({"replicas": 0}, "args of propcite: replicas: .*greater than or equal to 1"),
        ({"replica": 2}, "args of propcite: replica: .*they are replicas, requires_keys"),
        ({"settings": {"judge": "none", "jugde": 1}}, "there is no setting 'jugde'"),
        ({"replicas": 2, "settings": {"data_dir": str(tmp_path)}}, "several machines need one database"),
    ):
        with pytest.raises(AppError, match=line):
            serving.app(args)


def test_a_server_of_another_machine_serves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    first = Member(version="0.0", encoder="another", mark="")
    with pytest.raises(AppError, match=r"the cluster 0\.0: install that version here"):
        serving.Server(serving.Options(settings={"data_dir": tmp_path}, member=first))


def test_a_server_ends_after_its_answers(tmp_path: Path) -> None:
    limits = {"serve_stream_seconds": 90, "serve_seconds": 30, "serve_wait_seconds": 5, "serve_connections": 7}
    run = serving.deployment(load_settings(data_dir=tmp_path, device="cuda:0", **limits), 3)
    assert run["graceful_shutdown_timeout_s"] == 95
    assert (run["max_ongoing_requests"], run["max_queued_requests"], run["max_replicas_per_node"]) == (7, 7, 1)
    assert run["ray_actor_options"] == {"num_cpus": 0, "num_gpus": 1}
