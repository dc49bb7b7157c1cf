"""Make the image of deploy/Dockerfile without a container engine: its steps, run in plain Debian roots."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from string import Template

from dockerfile_parse import DockerfileParser

# What this machine's pip and apt need to reach their registries; a container engine gives these by build options.
FOR_REGISTRIES = ("/etc/resolv.conf", "/etc/pip.conf", "/etc/xdg/pip", "/opt/wheels", "/opt/pypi", "/opt/pypi-more")
PATH = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
IN_SANDBOX = ["--proc", "/proc", "--dev", "/dev", "--unshare-pid", "--unshare-ipc", "--die-with-parent"]


@dataclass
class Image:
    """The last stage of a Dockerfile: its root folder, and how a container of it starts."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = "0:0"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def start(
        self, words: list[str], volumes: Mapping[Path, str], files: Mapping[Path, str], log: Path
    ) -> subprocess.Popen[bytes]:
        """Start words as the image's user, with a read-only root, no capability, and the machine's network."""
        mounts = [word for place, at in volumes.items() for word in ("--bind", str(place), at)]
        mounts += [word for place, at in files.items() for word in ("--ro-bind", str(place), at)]
        uid, _, gid = self.user.partition(":")
        become = ["setpriv", "--reuid", uid, "--regid", gid or uid, "--clear-groups", "--no-new-privs"]
        sandbox = [
            "bwrap",
            "--ro-bind",
            str(self.root),
            "/",
            *IN_SANDBOX,
            "--perms",
            "1777",
            "--tmpfs",
            "/tmp",
            *mounts,
        ]
        sandbox += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--chdir", self.folder, "--clearenv"]
        sandbox += [word for name, value in self.environment.items() for word in ("--setenv", name, value)]
        with log.open("ab") as out:
            return subprocess.Popen([*sandbox, "--", *become, *words], stdout=out, stderr=out)

    def run(self, words: list[str], volumes: Mapping[Path, str], files: Mapping[Path, str], log: Path) -> str:
        """Run words to their end and return what they print; what fails raises with the end of its log."""
        log.unlink(missing_ok=True)
        status = self.start(words, volumes, files, log).wait()
        said = log.read_text(errors="replace")
        if status:
            raise RuntimeError(f"{' '.join(words)[:100]} ended with {status}: {said[-2000:]}")
        return said.strip()


def add_python(root: Path) -> None:
    """Put this Python into /usr/local of a Debian root, with the libraries it loads, as the image `python` has it."""
    libraries = "apt-get update && apt-get install --yes --no-install-recommends ca-certificates libbz2-1.0 libffi8"
    _run(Image(root, {"PATH": PATH}), f"{libraries} liblzma5 libsqlite3-0 libssl3 zlib1g", {})
    local, prefix = root / "usr/local", Path(sys.base_prefix)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    shutil.copytree(prefix / "lib" / version, local / "lib" / version, ignore=shutil.ignore_patterns("site-packages"))
    shutil.copy2(prefix / "bin" / version, local / "bin")
    for shared in (prefix / "lib").glob("libpython3*.so*"):
        shutil.copy2(shared, local / "lib", follow_symlinks=False)
    _run(Image(root, {"PATH": PATH}), "ldconfig", {})
    for name in ("python", "python3"):
        (local / "bin" / name).symlink_to(version)


def build(
    dockerfile: Path, context: Path, base: Path, work: Path, arguments: Mapping[str, str]
) -> Iterator[tuple[str, float, Image]]:
    """Carry out a Dockerfile's instructions; yield each that runs a command, its seconds, and the stage as it is."""
    stages: dict[str, Image] = {}
    values = dict(arguments)
    image = Image(base)
    for step in DockerfileParser(path=str(dockerfile), cache_content=True).structure:
        kind, value = step["instruction"], step["value"]
        if kind == "FROM":
            name = value.split(" AS ")[1] if " AS " in value else "last"
            image = stages[name] = Image(work / name, {"PATH": PATH})
            subprocess.run(["cp", "-a", str(base), str(image.root)], check=True)
        elif kind == "ARG":
            name, _, default = value.partition("=")
            values.setdefault(name, default)
        elif kind == "RUN":
            start = time.perf_counter()
            _run(image, value, values)
            yield value, time.perf_counter() - start, image
        elif kind == "COPY":
            _copy(image, value.split(), context, stages)
        elif kind == "ENV":
            for pair in value.split():
                name, _, given = pair.partition("=")
                image.environment[name] = Template(given).substitute(image.environment)
        elif kind == "WORKDIR":
            image.folder = value
            (image.root / value.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif kind == "USER":
            image.user = value
        elif kind in ("ENTRYPOINT", "CMD"):
            setattr(image, {"ENTRYPOINT": "entrypoint", "CMD": "command"}[kind], json.loads(value))
        elif kind == "HEALTHCHECK":
            image.health = json.loads(value[value.index("[") :])
        elif kind not in ("COMMENT", "VOLUME"):
            raise RuntimeError(f"the rehearsal does not know the instruction {kind}")


def _run(image: Image, command: str, values: Mapping[str, str]) -> None:
    mounts = [word for place in FOR_REGISTRIES if Path(place).exists() for word in ("--ro-bind", place, place)]
    for place in FOR_REGISTRIES:
        if Path(place).is_dir():
            (image.root / place[1:]).mkdir(parents=True, exist_ok=True)
        elif Path(place).exists():
            (image.root / place[1:]).touch()
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    if authorities := pip.get("PIP_CERT"):  # of a registry's mirror
        pip["PIP_CERT"] = "/run/authorities.crt"
        mounts += ["--ro-bind", authorities, pip["PIP_CERT"]]
    environment = {**image.environment, **values, **pip, "DEBIAN_FRONTEND": "noninteractive"}
    sandbox = [
        "bwrap",
        "--bind",
        str(image.root),
        "/",
        *IN_SANDBOX,
        "--cap-add",
        "ALL",
        "--perms",
        "1777",
        "--tmpfs",
        "/tmp",
        *mounts,
    ]
    done = subprocess.run(
        [*sandbox, "--chdir", image.folder, "/bin/sh", "-c", command], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(
            f"RUN {command[:100]} ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-2000:]}"
        )


def _copy(image: Image, words: list[str], context: Path, stages: Mapping[str, Image]) -> None:
    source = context
    if words[0].startswith("--from="):
        source = stages[words.pop(0).removeprefix("--from=")].root
    *names, to = words
    target = image.root / to.lstrip("/") if to.startswith("/") else image.root / image.folder.lstrip("/") / to
    for place in (Path(found) for name in names for found in glob(str(source / name.lstrip("/")))):
        if place.is_dir():
            shutil.copytree(place, target, symlinks=True, dirs_exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(place, target / place.name)
