"""Rehearse deploy/ without a container engine: the image's steps in a plain Debian root, then the site and its upkeep.

    .venv-tools/bin/python tests/benchmarks/deployment [WORK] [--debian ROOT] [--build-arg NAME=VALUE]... [--keep-image]

It needs root and Debian's debootstrap, bubblewrap, caddy, postgresql and systemd.  WORK is a folder that it empties
first; with --keep-image the image that an earlier run left there is used again.  It prints a table; a step that fails
ends it with status 1.
"""

from __future__ import annotations

import argparse
import json
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from image import Image, add_python, build
from services import SITE, Site

ROOT = Path(__file__).resolve().parents[3]
PERSON = "ada:correct horse"
TEXT = b"The barrier is 6.4 metres high. It was finished on 18 October 2024."
CLAIM = "The barrier was finished on 18 October 2024."
DOWNGRADE = """
from propcite.app.library.store import database
from propcite.app.settings import load_settings
from propcite.app.building import build_library
from alembic.script import ScriptDirectory
former = ScriptDirectory.from_config(database.migration_config()).get_revision(database.HEAD).down_revision
with build_library(load_settings()).engine.begin() as connection:
    database.upgrade(connection, former)
    print(database.HEAD, database.version_of(connection))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", nargs="?", type=Path, default=Path(tempfile.gettempdir()) / "propcite-deployment")
    parser.add_argument("--build-arg", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--debian", type=Path, help="a root of debootstrap, in place of a new one")
    parser.add_argument("--keep-image", action="store_true")
    options = parser.parse_args()
    work: Path = options.work.resolve()
    made = work / "image.pickle"
    if not (options.keep_image and made.exists()):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        image = make_image(work, options.debian, dict(pair.split("=", 1) for pair in options.build_arg))
        made.write_bytes(pickle.dumps(image))
    image = pickle.loads(made.read_bytes())
    place = work / "site"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    place.chmod(0o755)
    failed = False
    for what, expected, found in chain(_units(image), rehearse(Site(image, ROOT / "deploy", place))):
        failed |= expected not in ("", found)
        print(f"| {what} | {found}{'' if expected in ('', found) else f', not {expected}'} |", flush=True)
    sys.exit(failed)


def make_image(work: Path, debian: Path | None, arguments: dict[str, str]) -> Image:
    base, start = work / "base", time.perf_counter()
    if debian:
        subprocess.run(["cp", "-a", str(debian), str(base)], check=True)
    else:
        bootstrap = ["debootstrap", "--variant=minbase", "bookworm", str(base), "http://deb.debian.org/debian"]
        subprocess.run(bootstrap, check=True, capture_output=True)
    add_python(base)
    print(f"| a plain Debian root with this Python | {time.perf_counter() - start:.0f} s |", flush=True)
    image = None
    for command, seconds, image in build(ROOT / "deploy/Dockerfile", ROOT, base, work, arguments):  # noqa: B007
        print(f"| `{' '.join(command.split())[:70]}` | {seconds:.0f} s |", flush=True)
    assert image
    size = int(subprocess.check_output(["du", "-sm", str(image.root)]).split()[0])
    print(f"| the image | {size} MB |", flush=True)
    return image


def rehearse(site: Site) -> Iterator[tuple[str, str, str]]:
    """Yield each check: what is done, what must come out (empty: anything), and what comes out."""
    try:
        site.start_database()
        key = site.command("keys", "create", "rehearsal", "--scope", "admin").splitlines()[0]
        yield "the server's health check holds after", "", f"{site.start('server'):.0f} s"
        yield "the page's health check holds after", "", f"{site.start('page'):.0f} s"
        site.start_proxy(*PERSON.split(":"))
        yield from _rights(site)
        yield from _doors(site, key)
        before = _content(site, key)
        yield "a claim is cited from an upload", "1 citation", f"{before.count('quote')} citation"
        yield from _upkeep(site, key, before)
    finally:
        site.close()


def _units(image: Image) -> Iterator[tuple[str, str, str]]:
    """Check the systemd units over the image's programs."""
    for unit in sorted((ROOT / "deploy/systemd").iterdir()):
        installed = ["--tmpfs", "/opt", "--ro-bind", f"{image.root}/opt/propcite", "/opt/propcite"]
        sandbox = [
            "bwrap",
            "--ro-bind",
            "/",
            "/",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--tmpfs",
            "/tmp",
            "--tmpfs",
            "/run",
            *installed,
        ]
        done = subprocess.run([*sandbox, "systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
        yield f"`systemd-analyze verify {unit.name}`", "nothing", (done.stdout + done.stderr).strip() or "nothing"
        rate = ["systemd-analyze", "security", "--offline=true", str(unit)]
        yield "its exposure", "", subprocess.check_output(rate, text=True).split(": ")[-1].split()[0]


def _rights(site: Site) -> Iterator[tuple[str, str, str]]:
    image, log = site.image, site.work / "rights.log"
    status = Path(f"/proc/{_innermost(site.running['server'].pid)}/status").read_text().splitlines()
    fields = dict(line.split(":\t", 1) for line in status if ":\t" in line)
    yield "the server runs as", "10001", fields["Uid"].split()[0]
    yield "with the capabilities", "0000000000000000", fields["CapEff"]
    script = "for place in / /opt/propcite /etc/propcite; do touch $place/x 2>/dev/null && echo $place; done; true"
    written = image.run(["sh", "-c", script], site.volumes, site.files, log)
    yield "of the tree it can write", "nothing", written or "nothing"


def _innermost(pid: int) -> int:
    """Return the last descendant of a sandbox's process: the program that it started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return _innermost(int(children[0])) if children else pid


def _doors(site: Site, key: str) -> Iterator[tuple[str, str, str]]:
    own, foreign = f"https://{SITE}", "https://elsewhere.example"
    yield "the page without a password", "401", str(site.ask("/")[0])
    yield "the page with one", "200", str(site.ask("/", person=PERSON)[0])
    yield "the page for another site's script", "403", str(site.ask("/", person=PERSON, origin=foreign)[0])
    yield "the page's WebSocket", "101", str(site.socket_status(person=PERSON, origin=own))
    yield "without a password", "401", str(site.socket_status(origin=own))
    yield "for another site's script", "403", str(site.socket_status(person=PERSON, origin=foreign))
    yield "the server without a key", "401", str(site.ask("/v1/collections")[0])
    yield "the server with one", "200", str(site.ask("/v1/collections", key=key)[0])
    yield "the server's metrics from outside", "404", str(site.ask("/metrics", key=key)[0])


def _content(site: Site, key: str) -> str:
    """Add a document if there is none, and return how a claim is cited from it."""
    if '"name":"papers"' not in site.ask("/v1/collections", key=key)[1].replace(" ", ""):
        site.ask("/v1/collections", {"name": "papers"}, key=key)
        form = (
            b'--x\r\nContent-Disposition: form-data; name="files"; filename="barrier.txt"\r\n\r\n' + TEXT + b"\r\n--x--"
        )
        added = site.ask(
            "/v1/documents?collection=papers&wait=true", form, key=key, kind="multipart/form-data; boundary=x"
        )
        if added[0] not in (200, 202):
            raise RuntimeError(f"the upload was refused: {added}")
    status, cited = site.ask("/v1/cite", {"answer": CLAIM, "collection": "papers"}, key=key)
    if status != 200:
        raise RuntimeError(f"citing was refused: {status} {cited}")
    found = [one for sentence in json.loads(cited)["sentences"] for one in sentence["citations"]]
    return json.dumps([{"quote": one["quote"]} for one in found])


def _upkeep(site: Site, key: str, before: str) -> Iterator[tuple[str, str, str]]:
    def after() -> str:
        site.start("server")
        return "the same" if _content(site, key) == before else "another"

    yield "a backup beside the running server", "", site.command("backup", "/var/lib/propcite/all.zip").splitlines()[-1]
    site.stop("server", "page")
    site.empty_database()
    kept = site.work / "all.zip"
    shutil.move(site.work / "data/all.zip", kept)
    for one in (site.work / "data").iterdir():
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    shutil.copy(kept, site.work / "data/all.zip")
    shutil.chown(site.work / "data/all.zip", 10001, 10001)
    said = site.command("restore", "/var/lib/propcite/all.zip").splitlines()[-1]
    yield "restored into an empty database and data folder", "", said
    yield "the claim is then cited with", "the same", after()
    site.stop("server")
    python = ["python", "-c", DOWNGRADE]
    head, former = site.image.run(python, site.volumes, site.files, site.work / "down.log").splitlines()[-1].split()
    yield "from the database of the former migration", "", f"{former} to {head}"
    yield "the claim is then cited with", "the same", after()
    yield "what `propcite doctor` says", "", site.command("doctor").splitlines()[0]


if __name__ == "__main__":
    main()
