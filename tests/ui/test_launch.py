"""Starting the page: known flags, nobody else on the network, and nothing heavy before the first paint."""

import subprocess
import sys
from pathlib import Path

from streamlit import config

import propcite.ui
from propcite.ui.launch import command


def test_every_flag_is_one_that_streamlit_has() -> None:
    words = command(8599, headless=True)
    flags = [word.removeprefix("--") for word in words if word.startswith("--")]
    assert set(flags) <= set(config.get_config_options(force_reparse=False))
    assert words[words.index("--server.port") + 1] == "8599"
    assert words[words.index("--server.headless") + 1] == "true"
    assert "--server.port" not in command()


def test_only_this_machine_is_served() -> None:
    words = command()
    assert words[words.index("--server.address") + 1] == "localhost"


def test_the_first_paint_loads_no_model_library() -> None:
    heavy = {"torch", "transformers", "sentence_transformers", "nltk", "scipy", "pypdfium2", "lxml"}
    script = "import sys, propcite.ui.session, propcite.ui.reader, propcite.app.ingest.readers; "
    script += f"print(*({heavy!r} & set(sys.modules)))"
    root = Path(propcite.ui.__file__).parents[1]
    loaded = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []
