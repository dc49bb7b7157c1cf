"""A PDF inside a request of npm's clients of Anthropic's API: each shows the pages that its answer cites."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest
from app_fixtures import loaded, settings_of_its_own  # noqa: F401 - fixtures
from proxied import QUESTION, proxied
from scanned import printed

HERE, NPM = Path(__file__).parent, Path(sys.prefix)  # where make test-clients installs both kinds of packages
GATES, COST = "The tidal barrier has fourteen steel gates.", "The barrier cost 410 million euros."
LIKED = "The mayor likes the barrier."
PDF = printed([GATES], [LIKED], [COST])
CITATIONS = [["page_location", "Audit", page, page + 1, words] for page, words in ((1, GATES), (3, COST), (2, LIKED))]
CLIENTS = ("@anthropic-ai/sdk", "AI SDK, anthropic()")

if not shutil.which("node") or not (NPM / "node_modules").exists():
    pytest.skip("the clients of npm: make test-clients, which needs node", allow_module_level=True)


@pytest.mark.parametrize("api", ["messages", "chat/completions"])
def test_each_client_shows_the_pages_of_a_pdf(
    api: str,
    loaded: dict[str, object],  # noqa: F811 - the fixture
    tmp_path: Path,
) -> None:
    with proxied(loaded, tmp_path, [api]) as (address, _):
        given = json.dumps({"address": address, "pdf": b64encode(PDF).decode(), "question": QUESTION})
        script = (HERE / "pdfs.mjs").read_text("utf-8")
        command = ["node", "--input-type=module", "-e", script, given]
        done = subprocess.run(command, cwd=NPM, capture_output=True, text=True, timeout=120, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    shown = [json.loads(line) for line in done.stdout.splitlines()]
    expected = [{"client": f"{client}{way}", "citations": CITATIONS} for client in CLIENTS for way in ("", ", stream")]
    assert shown == expected
