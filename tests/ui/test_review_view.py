"""The view of drafts under review as a person uses it, by key, over real documents and the real encoder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page_caches import clear_page
from scripted_llm import ScriptedLlm, error
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.ingest.sources import Upload
from propcite.app.library.store import ReviewInfo, ReviewState
from propcite.app.parts import Parts
from propcite.app.reviewing.citing import Unpaced, cite_draft
from propcite.app.reviewing.drafts import read_draft
from propcite.app.settings import load_settings
from propcite.attribution.citations import Label
from propcite.attribution.formats.reviewed.decisions import Choice

MAIN = Path(propcite.ui.__file__).parent / "main.py"
BRIDGE = "# Heron Bridge\n\nHeron Bridge opens on 14 May 2025. It is 96 metres long.\n"
DRAFT = "# The *works*\n\nHeron Bridge opens on 28 May 2025. It is 96 metres long.\n"

Page = Callable[..., AppTest]


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    parts = Parts(load_settings(data_dir=tmp_path))
    list(parts.ingester(parts.library.create_collection("harbour")).ingest([Upload("bridge.md", BRIDGE.encode())]))
    yield parts
    parts.library.close()


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Page]:
    def open_page(**query: str | list[str]) -> AppTest:
        monkeypatch.setenv("PROPCITE_DATA_DIR", str(tmp_path))
        test = AppTest.from_file(str(MAIN), default_timeout=60)
        test.run()
        test.switch_page("views/review.py")
        test.query_params.update(query)
        return healthy(test.run())

    yield open_page
    clear_page()


def healthy(test: AppTest) -> AppTest:
    assert not test.exception
    return test


def texts(test: AppTest) -> str:
    kinds = (test.markdown, test.caption, test.info, test.error, test.success, test.warning)
    return "\n".join(element.value for kind in kinds for element in kind).replace("\\", "")


def reviewed(parts: Parts, test: AppTest) -> ReviewInfo:
    test.file_uploader(key="draft-file").set_value([("draft.md", DRAFT.encode(), "text/markdown")]).run()
    healthy(test.button(key="begin-review").click().run())
    for _ in range(1200):
        (info,) = parts.reviews.all()
        if info.state is not ReviewState.CITING:
            return info
        time.sleep(0.05)
    pytest.fail("the citing does not end")


def test_a_draft_is_sent_cited_and_decided_on(page: Page, parts: Parts) -> None:
    info = reviewed(parts, page())
    assert (info.state, info.num_facts) == (ReviewState.DONE, 2)
    test = page(review=info.id)
    assert "0 of 2 statements decided" in texts(test)
    assert "Statement 1 of 2" in texts(test)
    (near,) = test.toggle
    assert near.label == "Other places that support, contradict or come near it"
    assert not healthy(near.set_value(True).run()).error
    test = healthy(test.toggle[0].set_value(False).run())
    test = healthy(test.button(key="decide-rejected").click().run())
    assert "1 of 2 statements decided" in texts(test)
    assert "Statement 2 of 2" in texts(test)
    test.text_area[0].set_value("It is 97 metres long.")
    test.text_input(key=next(box.key for box in test.text_input if "review-note" in str(box.key))).set_value("measured")
    test = healthy(test.button(key="decide-changed").click().run())
    assert "2 of 2 statements decided" in texts(test)
    said = {one.choice.value: one for one in parts.reviews.decisions(info.id).values()}
    assert (said["changed"].words, said["changed"].note) == ("It is 97 metres long.", "measured")
    test = healthy(test.button(key="next-fact").click().run())
    assert "To be changed on" in texts(test)
    test = healthy(test.button(key="decide-open").click().run())
    assert "1 of 2 statements decided" in texts(test)
    offered = [str(button.key) for button in test.get("download_button")]
    assert offered == ["review-as-docx", "review-as-markdown"]


def test_statements_that_nobody_decided_on_are_decided_at_once(page: Page, parts: Parts) -> None:
    info = reviewed(parts, page())
    test = page(review=info.id)
    assert "2 of the statements that the filters leave are not decided" in texts(test)
    test = healthy(test.button(key="decide-all-accepted").click().run())
    assert "2 of 2 statements decided" in texts(test)
    assert {one.choice for one in parts.reviews.decisions(info.id).values()} == {Choice.ACCEPTED}
    assert not [button for button in test.button if button.key == "decide-all-accepted"]


def test_the_largest_draft_is_said_before_one_is_sent(page: Page, parts: Parts) -> None:
    uploader = page().file_uploader(key="draft-file")
    assert uploader.proto.max_upload_size_mb == parts.settings.max_file_mb


def box(test: AppTest, kind: str) -> str:
    return next(str(one.key) for one in (*test.text_input, *test.text_area) if f"review-{kind}" in str(one.key))


def test_what_was_typed_at_a_statement_is_there_after_another_one_and_another_view(page: Page, parts: Parts) -> None:
    test = page(review=reviewed(parts, page()).id)
    test.text_area(key=box(test, "words")).set_value("It opens on 14 May.")
    test.text_input(key=box(test, "note")).set_value("see the minutes")
    test = healthy(test.button(key="next-fact").click().run())
    assert test.text_input(key=box(test, "note")).value == ""
    test = healthy(test.switch_page("views/notes.py").run())
    test = healthy(test.switch_page("views/review.py").run())
    test = healthy(test.button(key="previous-fact").click().run())
    typed = test.text_area(key=box(test, "words")).value, test.text_input(key=box(test, "note")).value
    assert typed == ("It opens on 14 May.", "see the minutes")
    test = healthy(test.button(key="decide-changed").click().run())
    test = healthy(test.button(key="previous-fact").click().run())
    assert test.text_input(key=box(test, "note")).value == "see the minutes"  # as it was kept


def test_the_open_statement_is_in_the_address(page: Page, parts: Parts) -> None:
    info = reviewed(parts, page())
    test = page(review=info.id)
    test = healthy(test.button(key="next-fact").click().run())
    assert test.query_params["statement"] == "2"
    assert "Statement 2 of 2" in texts(page(review=info.id, statement="2"))
    assert "Statement 1 of 2" in texts(page(review=info.id, statement="-x"))


def test_statements_are_filtered_by_verdict_and_decision(page: Page, parts: Parts) -> None:
    info = reviewed(parts, page())
    test = page(review=info.id)
    verdicts, choices = test.pills
    assert verdicts.options == ["✓ Supported (1)", "✗ Contradicted (1)"]
    test = healthy(verdicts.set_value([Label.SUPPORTED]).run())
    assert "Statement 1 of 1" in texts(test)
    test = healthy(test.pills[1].set_value([Choice.REJECTED]).run())
    assert "No statement is left" in texts(test)
    assert choices.options == ["Not decided", "Rejected", "Changed", "Accepted"]


def test_the_filters_are_in_the_address(page: Page, parts: Parts) -> None:
    info = reviewed(parts, page())
    test = page(review=info.id)
    test = healthy(test.pills[0].set_value([Label.SUPPORTED]).run())
    test = healthy(test.pills[1].set_value([Choice.OPEN, Choice.REJECTED]).run())
    named = {name: test.query_params[name] for name in ("verdict", "decision")}
    assert named == {"verdict": "supported", "decision": ["open", "rejected"]}
    again = page(review=info.id, **named)
    assert "Statement 1 of 1" in texts(again)
    assert [pills.value for pills in again.pills] == [[Label.SUPPORTED], [Choice.OPEN, Choice.REJECTED]]
    again = healthy(again.pills[0].set_value([]).run())
    assert "Statement 1 of 2" in texts(again)
    assert "verdict" not in again.query_params
    again = healthy(again.button(key="all-drafts").click().run())
    assert "Statement 1 of 2" in texts(healthy(again.button(key=f"draft-{info.id}").click().run()))
    assert "Statement 1 of 2" in texts(page(review=info.id, verdict="green", decision="<b>"))


def test_drafts_are_listed_opened_and_removed(page: Page, parts: Parts) -> None:
    info = reviewed(parts, page())
    test = page()
    assert "0 of 2 statements decided" in test.button(key=f"draft-{info.id}").label.replace("\\", "")
    test = healthy(test.button(key=f"draft-{info.id}").click().run())
    assert "Statement 1 of 2" in texts(test)
    healthy(test.button(key="remove-draft-now").click().run())
    assert parts.reviews.all() == []
    assert "was removed" in texts(page(review=info.id))


def test_a_draft_that_was_cancelled_is_cited_again(page: Page, parts: Parts) -> None:
    info = parts.reviews.add(parts.library.collection("harbour"), "draft.md", DRAFT.encode(), len(DRAFT))
    assert [b.label for b in page(review=info.id).button if b.key == "cancel-review"] == ["Cancel"]
    parts.reviews.cancel(info.id)
    test = page(review=info.id)
    assert "was cancelled at" in texts(test)
    healthy(test.button(key="cite-again").click().run())
    for _ in range(1200):
        if parts.reviews.find(info.id).state is ReviewState.DONE:
            break
        time.sleep(0.05)
    assert "Statement 1 of 2" in texts(page(review=info.id))


def test_a_draft_whose_judge_went_away_says_so_and_is_cited_again(page: Page, parts: Parts, tmp_path: Path) -> None:
    replies = iter(['{"verdict": "supported"}'])
    llm = ScriptedLlm(lambda _: next(replies, error(400, "gone")))
    draft = read_draft(parts.settings, "draft.md", DRAFT.encode())
    info = parts.reviews.add(parts.library.collection("harbour"), "draft.md", DRAFT.encode(), len(draft.text))
    with llm:
        settings = load_settings(data_dir=tmp_path, judge="llm", judge_model="m", llm_url=llm.base_url)
        pipeline = Parts(settings).pipeline(parts.library.collection("harbour"))
        cite_draft(parts.reviews, info, lambda: draft, lambda: pipeline, Unpaced())
    test = page(review=info.id)
    assert "1 statement could not be checked: the server answered 400" in texts(test)
    healthy(test.button(key="cite-again").click().run())
    for _ in range(1200):
        if parts.reviews.find(info.id).state is ReviewState.DONE:
            break
        time.sleep(0.05)
    test = page(review=info.id)
    assert "could not be checked" not in texts(test)
    assert test.pills[0].options == ["✓ Supported (1)", "✗ Contradicted (1)"]


def test_a_file_without_words_is_refused_in_one_line(page: Page, parts: Parts) -> None:
    test = page()
    test.file_uploader(key="draft-file").set_value([("empty.md", b" ", "text/markdown")]).run()
    test = healthy(test.button(key="begin-review").click().run())
    assert test.error[0].value.startswith("empty")
    assert parts.reviews.all() == []
