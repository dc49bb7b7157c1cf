"""The Python of the README and of docs runs as it stands, against a server and the packages it names; links lead on."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import ROOT
from scripted_llm import Reply, ScriptedLlm

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = [*PAGES, *(ROOT / "docs" / "decisions").glob("*.md"), *(ROOT / "tests" / "benchmarks").glob("*.md")]
BLOCKS = [
    block
    for page in PAGES
    if page.name != "api.md"  # made of docstrings, whose examples tests/test_api.py runs
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
]
PIECES = ("The barrier cost 4", "10 million euros [", "2]. It is 9 metres", " high.")
WRITTEN = Reply("".join(PIECES), chunks=PIECES)
SERVER = "http://localhost:8600"
PACKAGES = "openai|anthropic|langchain_core|llama_index|mcp|haystack|pydantic_ai|agents"
SHOWN = (
    "contradicted | The barrier is 7 metres high.",
    "The barrier cost 410 million euros [2]. [(1, 'dropped'), (2, 'added')]",
    "1 b'PK'\n",
    "The barrier cost 410 million euros. [(1, 'The barrier cost 410 million euros.')]\n1.0 contradicted\n404 no coll",
    "The barrier cost 410 million euros. It is 9 metres high. [1: The barrier cost 410 million euros.]",
    "0.5 ['It is 9 metres high.']\n1.0",
    "1.0 The barrier cost 410 million euros.",
    " The barrier cost 410 million euros.",
    "The barrier cost 410 million euros. 0.5\n",
    "[('Audit', 'The barrier cost 410 million euros.')]\n",
    "The barrier cost 410 million euros [2]. It is 9 metres high. 0.0\n",
    "supported | The barrier cost 410 million euros. | ['The barrier cost 410 million euros.']\n",
    "The barrier cost 410 million euros <- cost\n0.5",
    "The barrier cost 410 million euros [2]. It is 9 metres high.\n The barrier cost 410 million euros <- cost",
    "The barrier cost 410 million euros [2]. [cost: The barrier cost 410 million euros.] It is 9 metres high.",
    "p1 1",
)


@contextmanager
def served(folder: Path, llm_url: str) -> Iterator[str]:
    """`propcite serve` as the pages mean it, with a collection that says what the barrier cost."""
    from serving import loaded_from, parts_with, running_server

    from propcite.attribution import PropCite

    texts = {name: {"cost.txt": "The barrier cost 410 million euros."} for name in ("harbour", "demo")}
    loaded = loaded_from(PropCite.default())
    with running_server(parts_with(loaded, texts, data_dir=folder, llm_url=llm_url)) as address:
        yield address


@pytest.mark.parametrize(("block", "shown"), list(zip(BLOCKS, SHOWN, strict=True)), ids=range(len(BLOCKS)))
def test_the_python_of_the_pages_runs(
    block: str, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for package in re.findall(rf"^from ({PACKAGES})", block, re.M):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not here: make test-clients installs what the examples need")
    with ScriptedLlm(WRITTEN) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        with served(tmp_path, server.base_url) if SERVER in block else nullcontext(SERVER) as address:
            exec(compile(block.replace(SERVER, address), "docs", "exec"), {"__name__": "readme"})
    assert shown in capsys.readouterr().out


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl: apt-get install curl")
def test_the_shell_of_the_page_on_clients_runs(tmp_path: Path) -> None:
    """Beside a server that runs already; the address that it reads is its own, which it refuses in the background."""
    page = (ROOT / "docs" / "clients.md").read_text("utf-8")
    [block] = re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S)
    start, calls = block.split("\n", 1)
    assert start == "propcite serve &"
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.4")
    with served(tmp_path / "data", "") as address:
        calls = calls.replace("https://example.org/page", f"{address}/docs")
        calls = calls.replace(SERVER.removeprefix("http://"), address.removeprefix("http://"))
        done = subprocess.run(["sh", "-euc", calls], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    cited, end = json.JSONDecoder().raw_decode(done.stdout)
    assert [one["quote"] for one in cited["sentences"][0]["citations"]] == ["Fourteen steel gates close the barrier."]
    *streamed, job = done.stdout[end:].strip().splitlines()
    events = [line.removeprefix("event: ") for line in streamed if line.startswith("event: ")]
    assert (events[0], events[-1]) == ("answer.delta", "result")
    assert set(events) <= set(re.findall(r"^\| `([a-z.]+)` \|", page.partition("## Events")[2], re.M))
    assert (json.loads(job)["collection"], json.loads(job)["total"]) == ("harbour", 2)


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", text, re.M)
    }


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), target
        assert not anchor or anchor in anchors(place), target


def test_every_page_is_found_from_the_readme() -> None:
    readme = PAGES[0].read_text("utf-8")
    assert all(f"(docs/{page.name})" in readme for page in PAGES[1:])
