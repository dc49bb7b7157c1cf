"""Take files and folders on the page, chosen or dropped anywhere; what cannot be read of them is counted."""

from __future__ import annotations

from pathlib import Path

from propcite.app.ingest.names import HIDDEN
from propcite.app.ingest.ocr.choosing import available
from propcite.app.ingest.readers import PICTURE_SUFFIXES, SUFFIXES
from propcite.ui import session
from propcite.ui.clickable import component

HERE = Path(__file__).parent
HTML = '<p class="said" role="status"></p><div class="cue" hidden>Drop files and folders anywhere to add them</div>'
MOST_FILES, MOST_TOGETHER = 1000, 2**30  # that are taken at once: they are in memory until they are read
NO_RECOGNISER = "in need of text recognition, which is not installed"


def show(within: str, *, anywhere: bool) -> None:
    """Take what the uploaders in the container of this key are given, and what is dropped anywhere else if so wanted.

    Streamlit by itself would show an error for each file that cannot be read, and drop the names of folders.
    """
    settings = session.parts().settings
    refused = {} if available(settings.ocr) else dict.fromkeys(PICTURE_SUFFIXES, NO_RECOGNISER)
    rules = {
        "within": f".st-key-{within}",
        "form": session.times_added(),
        "anywhere": anywhere,
        "suffixes": [suffix for suffix in SUFFIXES if suffix not in refused],
        "refused": refused,
        "hidden": HIDDEN,
        "most": settings.max_file_mb * 2**20,
        "mostFiles": MOST_FILES,
        "mostTogether": MOST_TOGETHER,
    }
    component("propcite_receiving", HTML, "library/receiving.js", HERE / "receiving.css")(
        key=f"receiving-{within}", data=rules
    )
