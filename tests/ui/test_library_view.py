"""The library as a person uses it, by key: adding, what failed, the table, one document, the collection as a whole."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from page_caches import clear_page
from sqlalchemy import text
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.ingest.sources import Upload
from propcite.app.library.store import DetailsChange, DocumentState, SortKey
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.encoding.encoder import Encoder
from propcite.ui.library.table import AT_ONCE
from propcite.ui.session import ADDED

MAIN = Path(propcite.ui.__file__).parent / "main.py"
BRIDGE = "# Heron Bridge\n\nHeron Bridge opens on 14 May 2025. It is 96 metres long.\n"
FERRY = "The *ferry* <b>\n\nThe ferry crosses the estuary every 20 minutes.\n"

Page = Callable[..., AppTest]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    def page(data_dir: Path, **query: str) -> AppTest:
        monkeypatch.setenv("PROPCITE_DATA_DIR", str(data_dir))
        test = AppTest.from_file(str(MAIN), default_timeout=60).run()
        test = test.switch_page("views/library.py")
        test.query_params.update(query)
        return healthy(test.run())

    yield page
    clear_page()


@pytest.fixture
def parts(tmp_path: Path, encoder: Encoder) -> Iterator[Parts]:
    """A collection of two documents, and one that is empty."""
    parts = Parts(load_settings(data_dir=tmp_path))
    parts.__dict__["encoder"] = encoder
    town = parts.library.create_collection("town")
    files = {"bridge.md": BRIDGE, "ferry <b>.txt": FERRY}
    list(parts.ingester(town).ingest([Upload(name, text.encode()) for name, text in files.items()]))
    yield parts
    parts.library.close()


def healthy(test: AppTest) -> AppTest:
    assert not test.exception
    return test


def texts(test: AppTest) -> str:
    kinds = (test.title, test.markdown, test.caption, test.text, test.info, test.error, test.success, test.warning)
    return "\n".join(element.value for kind in kinds for element in kind).replace("\\", "")


def add(test: AppTest, **files: bytes) -> AppTest:
    sent = [(name, data, "application/octet-stream") for name, data in files.items()]
    times = test.session_state.get(ADDED, 0)
    test.file_uploader(key=f"files-{times}").set_value(sent)
    return healthy(test.button(key="add").click().run())


def files(test: AppTest) -> list[str]:
    return list(test.dataframe[0].value["File"]) if test.dataframe else []


def document(parts: Parts, name: str) -> str:
    return parts.library.find_document(parts.library.collection("town"), name).id


def archive(**members: str) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    return packed.getvalue()


def test_files_and_archives_are_added_and_what_failed_stays_listed(opened: Page, parts: Parts, tmp_path: Path) -> None:
    packed = archive(**{"a.txt": "Alder Sluice lifts water.", "b.txt": "The quay is old."})
    test = add(opened(tmp_path), **{"papers.zip": packed, "bad.pdf": b"not a pdf"})
    assert "**a.txt** added: 1 passage" in texts(test)
    assert "**bad.pdf** not added" in texts(test)
    assert {"a.txt", "b.txt"} <= set(files(test))
    again = opened(tmp_path)
    assert any("1 file could not be read" in box.label for box in again.expander)
    assert "Add it again once it is repaired" in texts(again)
    job = next(str(b.key) for b in test.button if str(b.key).startswith("close-"))
    assert "**a.txt** added" not in texts(healthy(test.button(key=job).click().run()))
    done = healthy(again.button(key="dismiss-0").click().run())
    assert not any("could not be read" in box.label for box in done.expander)
    assert parts.library.failures(parts.library.collection("town")) == []


def test_what_failed_is_tried_again_where_it_lies(opened: Page, parts: Parts, tmp_path: Path) -> None:
    town, lying = parts.library.collection("town"), tmp_path / "late.txt"
    list(parts.ingester(town).ingest([lying]))
    (failure,) = parts.library.failures(town)
    assert failure.source == str(lying)
    lying.write_text("The barge came late.")
    test = opened(tmp_path)
    test = healthy(test.button(key="again-0").click().run())
    assert "**late.txt** added: 1 passage" in texts(test)
    assert parts.library.failures(town) == []


def test_what_a_page_that_stopped_had_accepted_is_read(opened: Page, parts: Parts, tmp_path: Path) -> None:
    job = parts.settings.data_dir / "uploads" / "0123456789abcdef" / "1-a"  # of a page before jobs were in the database
    job.mkdir(parents=True)
    (job.parent / "server.lock").touch()
    (job / "0.bin").write_bytes(b"The barge came late.")
    (job / "job.json").write_text(json.dumps({"collection": "town", "files": ["late.txt"]}))
    assert "**late.txt** added: 1 passage" in texts(opened(tmp_path))


def test_documents_are_found_by_words_kind_state_and_condition(opened: Page, parts: Parts, tmp_path: Path) -> None:
    test = opened(tmp_path)
    assert files(test) == ["ferry <b>.txt", "bridge.md"]
    assert files(healthy(test.text_input(key="table-words").set_value("FERRY").run())) == ["ferry <b>.txt"]
    test = healthy(test.text_input(key="table-words").set_value("nothing").run())
    assert "No document matches" in texts(test)
    test.text_input(key="table-words").set_value("")
    assert files(healthy(test.selectbox(key="table-kind").set_value("markdown").run())) == ["bridge.md"]
    test.selectbox(key="table-kind").set_value("")
    test = healthy(test.selectbox(key="table-state").set_value(DocumentState.DESCRIBED).run())
    assert files(test) == []
    parts.library.describe([document(parts, "bridge.md")], DetailsChange(tags=["new"]))
    assert files(healthy(test.run())) == ["bridge.md"]
    test.selectbox(key="table-state").set_value(None)
    assert files(healthy(test.text_input(key="table-where").set_value("tags=new").run())) == ["bridge.md"]
    assert "cannot read" in texts(healthy(test.text_input(key="table-where").set_value("tags=").run()))


def test_many_documents_come_page_by_page(opened: Page, parts: Parts, tmp_path: Path) -> None:
    town = parts.library.collection("town")
    more = [Upload(f"n{n:02}.txt", f"Number {n} is here.".encode()) for n in range(AT_ONCE)]
    list(parts.ingester(town).ingest(more))
    test = opened(tmp_path)
    test = healthy(test.selectbox(key="table-order").set_value(SortKey.SOURCE).run())
    assert files(test) == ["bridge.md", "ferry <b>.txt", *(f"n{n:02}.txt" for n in range(AT_ONCE - 2))]
    assert f"1 to {AT_ONCE} of {AT_ONCE + 2}" in texts(test)
    test = healthy(test.button(key="after").click().run())
    assert files(test) == [f"n{n:02}.txt" for n in range(AT_ONCE - 2, AT_ONCE)]
    test = healthy(test.toggle(key="table-down").set_value(True).run())
    assert files(test)[0] == f"n{AT_ONCE - 1:02}.txt"


def test_a_document_shows_what_was_read_and_who_cites_it(opened: Page, parts: Parts, tmp_path: Path) -> None:
    town = parts.library.collection("town")
    answer = parts.pipeline(town).answer("When does Heron Bridge open?")
    test = opened(tmp_path, document=document(parts, "bridge.md"))
    assert "Heron Bridge opens on 14 May 2025." in texts(test)
    assert "2 sentences" in texts(test)
    assert "1 kept answer would lose this source" in texts(test)
    assert test.button(key=f"cites-{answer.id}").label.replace("\\", "") == "When does Heron Bridge open?"
    back = healthy(test.button(key="back").click().run())
    assert len(files(back)) == 2


def test_what_a_document_lacks_stands_in_its_row_and_beside_its_citations(
    opened: Page, parts: Parts, tmp_path: Path
) -> None:
    town, wanted = parts.library.collection("town"), document(parts, "bridge.md")
    with parts.library.engine.begin() as connection:
        details = '{"kind": "markdown", "pages": "3", "lost_characters": "5"}'
        connection.execute(text("UPDATE documents SET details = :new WHERE id = :id"), {"new": details, "id": wanted})
    answer = parts.pipeline(town).answer("When does Heron Bridge open?")
    lacking = dict(zip(files(opened(tmp_path)), opened(tmp_path).dataframe[0].value["Not read"], strict=True))
    assert lacking == {"bridge.md": "5 characters", "ferry <b>.txt": ""}
    test = opened(tmp_path, document=wanted)
    assert [warning.value for warning in test.warning] == ["5 characters could not be read\\."]
    test.query_params.clear()
    test = test.switch_page("views/ask.py")
    test.query_params["answer"] = answer.id
    assert "5 characters could not be read" in texts(healthy(test.run()))


def test_a_document_is_opened_from_the_list(opened: Page, parts: Parts, tmp_path: Path) -> None:
    wanted = document(parts, "bridge.md")
    test = healthy(opened(tmp_path).selectbox(key="open").set_value(wanted).run())
    assert test.query_params["document"] in (wanted, [wanted])
    assert [title.value for title in test.title] == ["Heron Bridge"]


def test_what_is_said_of_a_document_is_kept(opened: Page, parts: Parts, tmp_path: Path) -> None:
    wanted = document(parts, "bridge.md")
    test = opened(tmp_path, document=wanted)
    test.text_input(key=f"say-title-{wanted}").set_value("The <i>Heron</i>")
    test.text_input(key=f"say-tags-{wanted}").set_value("bridges, new")
    test.text_area(key="say-more").set_value("pages=12\nbroken")
    test = healthy(test.button(key="describe").click().run())
    assert "'broken' " in texts(test)
    test.text_area(key="say-more").set_value("pages=12")
    test = healthy(test.button(key="describe").click().run())
    (info,) = parts.library.documents(parts.library.collection("town"), [wanted])
    assert (info.title, info.details["tags"], info.details["pages"]) == ("The <i>Heron</i>", ["bridges", "new"], 12)
    assert r"\<i\>" in test.title[0].value
    test.text_input(key=f"say-title-{wanted}").set_value("")
    healthy(test.button(key="describe").click().run())
    assert parts.library.documents(parts.library.collection("town"), [wanted])[0].title == "Heron Bridge"


def test_a_document_is_read_again_from_its_kept_file(opened: Page, parts: Parts, tmp_path: Path) -> None:
    before = parts.library.documents(parts.library.collection("town"), [document(parts, "bridge.md")])[0]
    test = opened(tmp_path, document=before.id)
    test = healthy(test.button(key="read-again").click().run())
    town = parts.library.collection("town")
    after = parts.library.find_document(town, "bridge.md")
    assert (after.source, after.num_passages, after.sha256) == (before.source, before.num_passages, before.sha256)
    assert [toast.value for toast in test.toast] == [
        r"bridge\.md already there\: 1 passage\, read again\, the same text"
    ]
    assert "already there" not in texts(test)
    assert after == before
    assert town.num_documents == 2


def test_a_document_whose_file_is_gone_is_told(opened: Page, parts: Parts, tmp_path: Path) -> None:
    town, lying = parts.library.collection("town"), tmp_path / "note.txt"
    lying.write_text("The barge came late.")
    list(parts.ingester(town).ingest([lying]))
    lying.unlink()
    test = opened(tmp_path, document=document(parts, "note.txt"))
    test = healthy(test.button(key="read-again").click().run())
    assert "has moved or changed: add it to the library again" in texts(test)


def test_a_document_is_removed(opened: Page, parts: Parts, tmp_path: Path) -> None:
    test = opened(tmp_path, document=document(parts, "bridge.md"))
    test = healthy(test.button(key="remove-now").click().run())
    assert files(test) == ["ferry <b>.txt"]
    gone = opened(tmp_path, document="feedbeef")
    assert "There is no document feedbeef in town" in texts(gone)


def test_a_collection_is_counted_looked_over_and_made_anew(opened: Page, parts: Parts, tmp_path: Path) -> None:
    test = opened(tmp_path)
    assert not test.table
    test.session_state["about"] = True
    test = healthy(test.run())
    stats = parts.workspace(parts.library.collection("town")).stats()
    assert stats is not None
    numbers = "\n".join(str(table.value) for table in test.table)
    assert f"{stats.tokens:,}" in numbers
    assert "Library and index agree" in texts(test)
    town = parts.library.collection("town")
    with (workspace := parts.workspace(town)).write_lock():
        workspace.delete_passages(parts.library.passage_ids(town)[:1], lambda: None)
    test = healthy(test.run())
    assert "1 passages of the library are missing: propcite index check --repair -c town" in texts(test)
    test = healthy(test.button(key="reindex").click().run())
    assert "The index was built again from 2 passages" in texts(test)


def test_a_collection_is_deleted_once_its_name_is_typed(opened: Page, parts: Parts, tmp_path: Path) -> None:
    parts.library.save_answer(
        parts.library.collection("town"), CitedAnswer("Yes.", question="Is it?", collection="town")
    )
    test = opened(tmp_path)
    assert test.button(key="delete-collection").disabled
    test = healthy(test.text_input(key="delete-name").set_value("tow").run())
    assert test.button(key="delete-collection").disabled
    test = healthy(test.text_input(key="delete-name").set_value("town").run())
    test = healthy(test.button(key="delete-collection").click().run())
    assert "There are no documents yet" in texts(test)
    assert parts.library.collections() == []
    assert parts.library.answers() == []


def test_an_empty_collection_says_what_to_do(opened: Page, parts: Parts, tmp_path: Path) -> None:
    parts.library.create_collection("empty")
    test = healthy(opened(tmp_path).selectbox(key="collection").set_value("empty").run())
    assert "**empty** holds 0 documents" in texts(test)
    assert not test.dataframe
    assert test.file_uploader(key="files-0")


def test_what_an_earlier_version_read_is_read_again_by_a_button(opened: Page, parts: Parts, tmp_path: Path) -> None:
    assert not [button for button in opened(tmp_path).button if button.key == "read-all-again"]
    with parts.library.engine.begin() as connection:
        connection.execute(text("UPDATE documents SET read_with = 1"))
    test = opened(tmp_path)
    assert "2 documents were read by an earlier version, which read less." in texts(test)
    test = healthy(test.button(key="read-all-again").click().run())
    assert "**bridge.md** already there: 1 passage, read again, the same text" in texts(test)
    assert not [button for button in test.button if button.key == "read-all-again"]


def test_a_document_is_asked_about_alone(tmp_path: Path, parts: Parts, opened: Page) -> None:
    id_ = document(parts, "bridge.md")
    test = opened(tmp_path, document=id_)
    test = healthy(test.button(key="ask-it").click().run())
    assert test.multiselect(key="documents").value == [id_]
    assert test.chat_input(key="question")
