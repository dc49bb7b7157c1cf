"""Wherever a document is shown, it is said what its text lacks of the source."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest
from commanded import Propcite
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas

from propcite.app.ingest.readers.kinds import READING_VERSIONS
from propcite.app.library.source_findings import WORST, next_step, source_findings
from propcite.app.library.store import DocumentQuery, DocumentState, document_id
from propcite.app.parts import Parts
from propcite.attribution.formats import FORMATS
from propcite.retrieval.fidelity import LOSSES, WHOLE, Fidelity
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Document, Passage

OpenParts = Callable[..., Parts]
PARTLY = {"kind": "pdf", "pages": "9", "pages_without_text": "2", "lost_characters": "5"}
SCANNED = {"kind": "pdf", "pages": "4", "ocr_pages": "4", "ocr_confidence": "71.2"}
DOUBT = "5 characters could not be read"
QUOTE = "The heron stands in the reeds."


def put(parts: Parts, source: str, words: str, metadata: dict[str, str], collection: str = "birds") -> None:
    """Store and index a document as if a reader had found these figures."""
    target = parts.library.create_collection(collection)
    id_ = document_id(collection, source, words)
    passage = passage_from_text(f"{id_}:0", words, source, id_)
    document = Document(id_, words, source, source, metadata=metadata)
    parts.library.put_document(target, document, id_.ljust(64), [passage])
    parts.workspace(target).sync(parts.encoder)


def test_a_whole_document_has_nothing_to_tell() -> None:
    assert WHOLE.is_whole
    assert Fidelity.of({"kind": "text", "pages": "12", "lost_characters": "0"}).is_whole
    assert Fidelity.of({"lost_characters": "many", "ocr_pages": ["1"], "dropped_blocks": None}) == WHOLE
    assert not WHOLE.line
    assert not WHOLE.doubt
    assert not WHOLE.loss


@pytest.mark.parametrize("name", LOSSES)
def test_every_figure_is_told_in_words_and_counts(name: str) -> None:
    one, many = (Fidelity.of({"pages": "3000", name: number}) for number in ("1", "1234"))
    assert "1" in one.line
    assert "1,234" in many.line
    assert 0 < one.loss < many.loss
    assert bool(one.doubt) == (name not in ("pages_without_text", "pages_left_out", "dropped_blocks"))


def test_a_list_says_what_each_document_lacks(open_parts: OpenParts, propcite: Propcite) -> None:
    parts = open_parts()
    put(parts, "whole.pdf", QUOTE, {"kind": "pdf"})
    assert "lacks" not in propcite("list", "-c", "birds").out
    put(parts, "part.pdf", "The bittern booms.", PARTLY)
    assert "2 of 9 pages" in " ".join(propcite("list", "-c", "birds").out.split())
    rows = {row["source"]: row["fidelity"] for row in propcite("list", "-c", "birds", "--json").json}
    assert rows["part.pdf"]["lost_characters"] == 5
    assert not any(rows["whole.pdf"].values())
    matching = propcite("list", "-c", "birds", "--where", "lost_characters>4", "--json").json
    assert [row["source"] for row in matching] == ["part.pdf"]
    (partly,) = parts.library.find_documents(
        parts.library.collection("birds"), DocumentQuery(state=DocumentState.PARTLY)
    ).items
    assert partly.source == "part.pdf"


def test_an_ingest_tells_what_was_not_read(propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pdf = canvas.Canvas(str(tmp_path / "half.pdf"))
    pdf.drawString(72, 700, "The bittern booms at dusk.")
    pdf.showPage()
    pdf.drawImage(ImageReader(Image.effect_noise((200, 200), 90)), 72, 400, 400, 300)
    pdf.showPage()
    pdf.save()
    (tmp_path / "note.txt").write_text(QUOTE)
    monkeypatch.setenv("PROPCITE_OCR", "off")
    said = propcite("ingest", tmp_path / "half.pdf", tmp_path / "note.txt")
    half, note = said.out.splitlines()
    assert half.endswith(
        "1 of 2 pages has no text; if they are scans, set PROPCITE_OCR=auto and add the file with --again"
    )
    assert note.endswith("(1 passage)")
    rows = propcite("ingest", "-c", "other", tmp_path / "half.pdf", "--json").rows
    assert rows[0]["fidelity"]["pages_without_text"] == 1


def test_a_citation_says_why_its_words_may_differ(open_parts: OpenParts, propcite: Propcite) -> None:
    parts = open_parts(judge="none", splitter="rules")
    put(parts, "part.pdf", QUOTE, PARTLY)
    answer = parts.pipeline(parts.library.collection("birds")).cite(QUOTE)
    assert f"part.pdf, {DOUBT}: “{QUOTE}”" in propcite("show", answer.id).out
    documents = parts.library.cited_documents(answer)
    for name in ("html", "markdown"):
        assert DOUBT in FORMATS[name].write(answer, documents=documents).decode()
        assert DOUBT not in FORMATS[name].write(answer).decode()


def test_the_server_gives_the_figures_of_each_document(serve: Callable[..., str], tmp_path: Path) -> None:
    from propcite.app.settings import load_settings

    address = serve({"birds": {"note.txt": QUOTE}})
    library = Parts(load_settings(data_dir=tmp_path / "data")).library
    id_ = "00000000scan"
    document = Document(id_, QUOTE, "Scan", "scan.pdf", metadata=SCANNED)
    library.put_document(library.collection("birds"), document, id_ * 5, [Passage(f"{id_}:0", QUOTE, "Scan", id_)])
    library.close()
    with urlopen(f"{address}/v1/documents?collection=birds") as response:
        scan = next(d for d in json.load(response)["documents"] if d["source"] == "scan.pdf")
    assert scan["fidelity"] == {
        "pages": 4,
        "pages_without_text": 0,
        "pages_left_out": 0,
        "lost_characters": 0,
        "dropped_blocks": 0,
        "ocr_pages": 4,
        "ocr_confidence": 71.2,
        "layer_pages": 0,
        "layer_agreement": 0.0,
        "unchecked_layers": 0,
        "wrong_layers": 0,
    }
    with urlopen(f"{address}/openapi.json") as response:
        shapes = json.load(response)["components"]["schemas"]
    assert "lost_characters" in shapes["Fidelity"]["properties"]
    assert "fidelity" in shapes["DocumentInfo"]["properties"]


def test_the_doctor_lists_the_worst_documents_with_a_next_step(open_parts: OpenParts, propcite: Propcite) -> None:
    parts = open_parts()
    put(parts, "whole.json", QUOTE, {"kind": "json"})
    clean = propcite("doctor", "--sources")
    assert (clean.code, clean.err.splitlines()[0]) == (0, "everything is as it should be")
    put(parts, "a-scan.json", QUOTE, {**SCANNED, "kind": "json"})
    put(parts, "partly-read.json", QUOTE, {**PARTLY, "kind": "json"})
    said = propcite("doctor", "--sources")
    assert said.code == 1
    worst, second, _recogniser = said.err.splitlines()
    assert worst.startswith("birds: partly-read.json: 2 of 9 pages have no text, 5 characters could not be read: if")
    assert "(71% sure): scan it again" in second
    assert len(propcite("doctor", "--sources", "--json").json["findings"]) == 2


def test_the_doctor_counts_what_an_earlier_version_read(open_parts: OpenParts, propcite: Propcite) -> None:
    parts = open_parts()
    put(parts, "old.pdf", QUOTE, {"kind": "pdf"}, "old birds")
    put(parts, "old.json", QUOTE, {"kind": "json"}, "old birds")
    assert "pdf" in READING_VERSIONS
    assert propcite("doctor", "--sources").err.startswith(
        "collection old birds: 1 document was read by an earlier version of the readers: "
        "propcite ingest --again -c 'old birds'\n"
    )


def test_of_many_documents_the_worst_are_listed_and_the_rest_counted(open_parts: OpenParts) -> None:
    parts = open_parts()
    for number in range(1, WORST + 3):
        put(parts, f"{'x' * number}.json", QUOTE, {"kind": "json", "lost_characters": str(number)})
    *listed, last = source_findings(parts)
    assert len(listed) == WORST
    assert listed[0].what == f"{WORST + 2} characters could not be read"
    assert last.what == "2 more documents lack something"


def test_the_next_step_follows_from_the_largest_loss() -> None:
    assert "PROPCITE_OCR=auto" in next_step(Fidelity(pages_without_text=2, lost_characters=900), "off")
    assert "another format" in next_step(Fidelity(lost_characters=900, dropped_blocks=2))
    assert next_step(Fidelity(dropped_blocks=9)) == "compare what was read with the source"
