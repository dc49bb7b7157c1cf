"""The file for Kubernetes: what it names is there, as KubeRay and Ray Serve read it; no Kubernetes is asked."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.version import Version
from paths import ROOT

from propcite.app.cluster import serving
from propcite.app.settings import Settings, load_settings, secret_folders

FILE = ROOT / "deploy/kuberay.yaml"
IMAGE = ROOT / "deploy/Dockerfile"
LOCK = ROOT / "requirements/cluster.txt"


@pytest.fixture(scope="module")
def service() -> Any:
    return next(one for one in yaml.safe_load_all(FILE.read_text("utf-8")) if one["kind"] == "RayService")


@pytest.fixture(scope="module")
def config(service: Any) -> Any:
    return yaml.safe_load(service["spec"]["serveConfigV2"])


@pytest.fixture(scope="module")
def pods(service: Any) -> list[Any]:
    """Return the specifications of the pods: the head's, then the workers'."""
    cluster = service["spec"]["rayClusterConfig"]
    return [group["template"]["spec"] for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])]


def container(pod: Any) -> Any:
    (only,) = pod["containers"]
    return only


def test_ray_serve_builds_the_application(
    config: Any, pods: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    schema = pytest.importorskip("ray.serve.schema", exc_type=ImportError)
    parsed = schema.ServeDeploySchema.model_validate(config)
    (application,) = parsed.applications
    module, _, name = application.import_path.partition(":")
    settings(pods[0], monkeypatch, tmp_path)
    built = getattr(import_module(module), name)(application.args)
    deployment = built._bound_deployment
    assert [one.name for one in application.deployments] == [deployment.name]
    assert deployment.num_replicas == application.args["replicas"]
    assert parsed.http_options.port in [port["containerPort"] for port in container(pods[1])["ports"]]


def test_there_are_as_many_servers_as_worker_pods(service: Any, config: Any) -> None:
    (workers,) = service["spec"]["rayClusterConfig"]["workerGroupSpecs"]
    options = serving.Options.model_validate(config["applications"][0]["args"])
    assert options.replicas == workers["replicas"] == workers["maxReplicas"]
    assert options.requires_keys
    ray = service["spec"]["rayClusterConfig"]["rayVersion"]
    assert Version(ray) == Version(version("ray"))
    assert f"\nray=={ray} " in LOCK.read_text("utf-8")


def settings(pod: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Settings:
    """Return the settings of a pod, with the secrets that it gets as files."""
    for name, value in ((one["name"], one.get("value", "")) for one in container(pod)["env"]):
        monkeypatch.setenv(name, value)
    (secrets,) = (volume["secret"] for volume in pod["volumes"] if volume["name"] == "credentials")
    folder = tmp_path / "credentials"
    folder.mkdir(exist_ok=True)
    for item in secrets["items"]:
        (folder / item["path"]).write_text("postgresql://propcite@db/propcite")
    mounted = {mount["name"]: mount["mountPath"] for mount in container(pod)["volumeMounts"]}
    assert {one["name"]: one.get("value") for one in container(pod)["env"]}["CREDENTIALS_DIRECTORY"] == (
        mounted["credentials"]
    )
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(folder))
    assert folder in secret_folders()
    return load_settings()


def test_every_pod_has_settings_that_are_known(
    pods: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for pod in pods:
        read = settings(pod, monkeypatch, tmp_path)
        assert (read.cluster, read.database) == ("auto", "postgresql://propcite@db/propcite")
        assert read.storage.startswith("s3://")
    assert settings(pods[0], monkeypatch, tmp_path) == settings(pods[1], monkeypatch, tmp_path)


def test_pods_are_locked_and_no_variable_of_a_service_is_taken_for_a_setting(service: Any, pods: list[Any]) -> None:
    assert service["metadata"]["name"] == "propcite"
    for pod in pods:
        assert pod["enableServiceLinks"] is False  # PROPCITE_SERVE_SVC_SERVICE_HOST is no setting
        assert pod["securityContext"]["runAsNonRoot"]
        locked = container(pod)["securityContext"]
        assert (locked["readOnlyRootFilesystem"], locked["capabilities"]) == (True, {"drop": ["ALL"]})
        mounts, volumes = container(pod)["volumeMounts"], pod["volumes"]
        assert {mount["name"] for mount in mounts} == {volume["name"] for volume in volumes}
        assert {"/tmp", "/var/lib/propcite", "/var/cache/propcite"} <= {mount["mountPath"] for mount in mounts}
        longest = serving.deployment(load_settings(), 1)["graceful_shutdown_timeout_s"]
        assert pod["terminationGracePeriodSeconds"] >= longest


def test_probes_are_python_that_compiles_and_ask_what_listens(config: Any, pods: list[Any]) -> None:
    agent = 52365  # of Ray
    ports = {agent, config["http_options"]["port"]}
    for pod in pods:
        for probe in ("livenessProbe", "readinessProbe"):
            python, option, program = container(pod)[probe]["exec"]["command"]
            assert (python, option) == ("python", "-c")
            compile(program, probe, "exec")
            assert int(re.findall(r"127\.0\.0\.1:(\d+)/", program)[0]) in ports
            assert container(pod)[probe]["timeoutSeconds"] > int(re.findall(r"timeout=(\d+)", program)[0])


def test_only_the_servers_are_reached_from_outside(config: Any) -> None:
    policy = next(one for one in yaml.safe_load_all(FILE.read_text("utf-8")) if one["kind"] == "NetworkPolicy")
    open_to_all = [rule for rule in policy["spec"]["ingress"] if "from" not in rule]
    assert open_to_all == [{"ports": [{"port": config["http_options"]["port"]}]}]


def test_the_image_is_the_one_that_is_described(pods: list[Any]) -> None:
    described = IMAGE.read_text("utf-8")
    assert {container(pod)["image"] for pod in pods} == {"propcite-cluster"}
    assert f"--build-arg LOCK={LOCK.stem} -t {container(pods[0])['image']} " in described
    assert f"runAsUser: {re.findall(r'USER ([0-9]+):', described)[0]}" in FILE.read_text("utf-8")
