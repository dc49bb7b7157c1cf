"""What is installed: one import name, no code twice, and no file of the working folder is ever run."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from paths import ROOT

from propcite.retrieval.extras import install_command, requirements

FOLDERS = ("app", "attribution", "retrieval", "ui")
PROPCITE = Path(sys.executable).with_name("propcite")
BARRIER = "The barrier is 6.4 metres high. It was finished on 18 October 2024."
CITE = f"""
from propcite import PropCite
answer = PropCite.default().cite("The barrier is 6.4 metres high.", [{BARRIER!r}])
print([citation.quote for fact in answer.facts for citation in fact.citations])
"""


def build(kind: str, out: Path) -> Path:
    """Build a wheel or an sdist of the tree as it is; the build backend is the one that is installed here."""
    script = f"import hatchling.build as b; print(b.build_{kind}({str(out)!r}))"
    out.mkdir()
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return out / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("build") / "wheel")


def python_files() -> set[str]:
    folders = [path for name in FOLDERS for path in (ROOT / name).rglob("*.py")]
    return {str(path.relative_to(ROOT)) for path in folders if "__pycache__" not in path.parts}


def test_a_wheel_puts_one_name_in_site_packages_and_holds_each_file_once(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"propcite"}
    assert max(Counter(names).values()) == 1
    code = {name.removeprefix("propcite/") for name in names if name.endswith(".py")}
    assert code - {"__init__.py", "__main__.py", "client.py"} == python_files()
    assert "propcite/py.typed" in names


def test_the_client_of_a_wheel_loads_no_model(wheel: Path, tmp_path: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(wheel)!r}); import propcite.client as client; print(client.__file__); "
    )
    script += "print([name for name in ('torch', 'sqlalchemy', 'fastapi') if name in sys.modules])"
    done = run([sys.executable, "-P", "-c", script], tmp_path)
    assert done.stdout.splitlines() == [f"{wheel}/propcite/client.py", "[]"]


def test_an_sdist_holds_each_file_once_and_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    sdist = build("sdist", tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        names = [member.name for member in archive.getmembers() if member.isfile()]
        archive.extractall(tmp_path / "tree", filter="data")
    assert max(Counter(names).values()) == 1
    (tree,) = (tmp_path / "tree").iterdir()
    assert {path for path in python_files() if not (tree / path).is_file()} == set()
    made = {"node_modules", "build", "dist", "__pycache__"}
    clients = {path.relative_to(ROOT) for path in (ROOT / "clients").rglob("*") if path.is_file()}
    kept = {path for path in clients if not made.intersection(path.parts)}
    assert {path.relative_to(tree) for path in (tree / "clients").rglob("*") if path.is_file()} == kept
    assert {path.name for path in (tree / "src" / "propcite").iterdir()} == {
        *("__init__.py", "__main__.py", "client.py", "py.typed")
    }
    script = f"import hatchling.build as b; b.build_wheel({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", script], cwd=tree, capture_output=True, check=True)
    assert zipfile.ZipFile(tmp_path / wheel.name).namelist() == zipfile.ZipFile(wheel).namelist()


@pytest.fixture
def strangers(tmp_path: Path) -> Path:
    """A working folder with somebody else's packages of the same names; each leaves a file when it is imported."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in (*FOLDERS, "propcite_ui", "pickle", "resource", "streamlit", "pypdfium2"):
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write({name + ' '!r})")
    for name in FOLDERS:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text((folder / f"{name}.py").read_text())
    return folder


def run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    data = {"PROPCITE_DATA_DIR": str(folder.parent / "data"), "PROPCITE_SPLITTER": "rules", "PROPCITE_JUDGE": "none"}
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **data, **environment}, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert not (folder.parent / "imported").exists()
    return done


def test_three_lines_cite_beside_a_strangers_packages(strangers: Path) -> None:
    """As a script does, which has its own folder first on the path."""
    for name in ("pickle", "resource", "streamlit", "pypdfium2"):
        (strangers / f"{name}.py").unlink()  # whoever shadows the standard library breaks Python itself
    (strangers / "chatbot.py").write_text(CITE)
    assert run([sys.executable, "chatbot.py"], strangers).stdout.strip() == "['The barrier is 6.4 metres high.']"


def test_a_command_runs_no_file_of_the_working_folder(strangers: Path) -> None:
    """Neither the command nor the processes that read files for it."""
    (strangers / "barrier.txt").write_text(BARRIER)
    run([str(PROPCITE), "ingest", "barrier.txt"], strangers, PROPCITE_READERS="2")
    assert run([str(PROPCITE), "list"], strangers).stdout.split()[-2:] == ["1", "1"]  # a document, a passage


@pytest.mark.parametrize(
    "code",
    [
        "from propcite.app.viewing.page_images import PageImages; pages = PageImages(); pages.start(); pages.close()",
        "import subprocess; from propcite.ui.launch import command; "
        "command = [*command(8501, headless=True), '--help']; subprocess.run(command, check=True, capture_output=True)",
        "from pathlib import Path; from propcite.app.lab.runs.jobs import Jobs; "
        "one = Jobs(Path('runs')).start(['--version']); assert one.process.wait() == 0",
    ],
    ids=["drawing", "page", "measurement"],
)
def test_no_process_that_is_started_runs_a_file_of_the_working_folder(strangers: Path, code: str) -> None:
    run([sys.executable, "-P", "-c", code], strangers)


def test_citing_loads_nothing_of_the_application(strangers: Path) -> None:
    application = requirements("app")
    assert application
    heavy = "streamlit alembic sqlalchemy fastapi lxml typer propcite.app propcite.ui".split()
    script = f"{CITE}\nimport sys; print([name for name in {heavy!r} if name in sys.modules])"
    assert run([sys.executable, "-P", "-c", script], strangers).stdout.splitlines()[-1] == "[]"


def test_naming_propcite_loads_no_model_library() -> None:
    script = "import sys, propcite; propcite.PropCiteError; print([n for n in ('torch', 'numpy') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_extra_is_installed_from_where_propcite_came(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    assert install_command("eval").endswith("pip install -e '.[eval]'")
    monkeypatch.chdir(tmp_path)
    assert install_command("eval").endswith(f"pip install -e '{ROOT}[eval]'")
    # From an index, whose propcite may be somebody else's, the packages are named, never propcite.
    monkeypatch.setattr("propcite.retrieval.extras._origin", lambda _: "")
    line = install_command("eval")
    assert "bm25s" in line
    assert "propcite[" not in line


def test_a_missing_part_of_the_application_is_one_line() -> None:
    script = "import sys; sys.modules['sqlalchemy'] = None; sys.argv = ['propcite', 'list']; "
    script += "from propcite.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "pip install" in done.stderr
    assert "[app]" in done.stderr
