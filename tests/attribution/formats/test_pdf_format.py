"""PDF: the report printed by Chromium, and an error of one line without a browser."""

from __future__ import annotations

from pathlib import Path

import pypdfium2
import pytest
from sample_answers import ANSWER

from propcite.attribution.errors import AttributionError
from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.pdf import find_browser


@pytest.mark.browser
def test_the_printed_report_has_its_text() -> None:
    if find_browser() is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    written = FORMATS["pdf"].write(ANSWER)
    pdf = pypdfium2.PdfDocument(written)
    text = "".join(pdf[n].get_textpage().get_text_range() for n in range(len(pdf)))
    assert "Each gate weighs 300 tonnes" in text
    assert "Sources" in text
    assert b"D:19800101000000" in written


def test_without_a_browser_the_error_names_the_next_step(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert FORMATS["pdf"].missing_program() == "Chromium or Chrome"
    with pytest.raises(AttributionError, match="take --format html"):
        FORMATS["pdf"].write(ANSWER)
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho it broke >&2\nexit 3\n")
    broken.chmod(0o755)
    assert FORMATS["pdf"].missing_program() == ""
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(AttributionError, match=r"printed nothing \(it broke\)"):
        FORMATS["pdf"].write(ANSWER)
