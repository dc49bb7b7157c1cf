"""Sources that could not be read stay listed until they are read."""

from __future__ import annotations

import zipfile
from pathlib import Path

from commanded import Propcite
from reportlab.pdfgen.canvas import Canvas


def test_a_failed_file_is_listed_until_it_is_read(propcite: Propcite, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "good.txt").write_text("The ferry crosses the estuary.")
    bad = folder / "bad.pdf"
    bad.write_bytes(b"no pdf")
    assert propcite("ingest", folder, "-c", "town").code == 1
    (failed,) = propcite("list", "--failed", "-c", "town", "--json").json
    assert (failed["source"], "bad.pdf" in failed["reason"]) == (str(bad), True)
    assert "bad.pdf" in propcite("list", "--failed", "-c", "town").out
    bad.write_bytes(b"")
    propcite("ingest", folder, "-c", "town")
    (again,) = propcite("list", "--failed", "-c", "town", "--json").json
    assert again["reason"] != failed["reason"]
    draw(bad)
    assert propcite("ingest", folder, "-c", "town").code == 0
    assert propcite("list", "--failed", "-c", "town", "--json").json == []


def draw(path: Path) -> None:
    canvas = Canvas(str(path))
    canvas.drawString(72, 700, "The quay is old.")
    canvas.save()


def test_a_failed_archive_is_listed_until_it_is_read(propcite: Propcite, tmp_path: Path) -> None:
    packed = tmp_path / "papers.zip"
    packed.write_bytes(b"no archive")
    (tmp_path / "good.txt").write_text("The ferry crosses the estuary.")
    propcite("ingest", packed, tmp_path / "good.txt", "-c", "town")
    assert [one["source"] for one in propcite("list", "--failed", "-c", "town", "--json").json] == [str(packed)]
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("a.txt", "Alder Sluice lifts water.")
    propcite("ingest", packed, "-c", "town")
    assert propcite("list", "--failed", "-c", "town", "--json").json == []


def test_answers_are_found_by_their_words(propcite: Propcite, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("The ferry crosses the estuary every 20 minutes.")
    propcite("ingest", tmp_path / "note.txt")
    answer = propcite("ask", "How often does the ferry cross the estuary?", "--json").json
    assert [one["id"] for one in propcite("list", "--search", "FERRY minutes", "--json").json] == [answer["id"]]
    assert propcite("list", "--search", "nothing", "--json").json == []
