"""Comparisons, notes and drafts under review over HTTP with the SDK's own client: by tools and as resources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from agent_calls import COST, HARBOUR, HEIGHT, MODES, OPENED, call, over_http, refusal, text_of
from mcp import Client
from mcp.shared.exceptions import MCPError
from serving import parts_with, running_server

from propcite.app.library.store import Action, Scope
from propcite.app.parts import Parts

WRONG = "Heron Bridge opens on 28 May 2025."
POLICIES = {
    "policy_2023.txt": "Receipts must be handed in within 30 days. Taxis need approval.",
    "policy_2025.txt": "Receipts must be handed in within 14 days.",
}


@pytest.fixture
def harbour(loaded: dict[str, object], tmp_path: Path) -> Iterator[Parts]:
    """Return parts of their own, so that no test sees the notes and drafts of another."""
    texts = {"harbour": HARBOUR, "policies": POLICIES, "secret": {"plan.txt": "The secret plan is blue."}}
    parts = parts_with(loaded, texts, data_dir=tmp_path / "data", collection="harbour")
    yield parts
    parts.library.close()


@pytest.fixture
def address(harbour: Parts) -> Iterator[str]:
    with running_server(harbour) as address:
        yield address


@pytest.fixture
def guarded(harbour: Parts) -> Iterator[str]:
    with running_server(harbour, requires_keys=True) as address:
        yield address


def result_of(address: str, tool: str, key: str = "", mode: str = "auto", **arguments: Any) -> dict[str, Any]:
    result = call(address, tool, key, mode, **arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content


def read(address: str, uri: str, key: str = "", mode: str = "auto") -> str:
    async def text(client: Client) -> str:
        (content,) = (await client.read_resource(uri)).contents
        return content.text if hasattr(content, "text") else ""

    return over_http(address, text, key, mode)


def listed(address: str, key: str = "") -> list[str]:
    async def uris(client: Client) -> list[str]:
        return [resource.uri for resource in (await client.list_resources()).resources]

    return over_http(address, uris, key)


def key_for(parts: Parts, *collections: str) -> str:
    return parts.keys.create(f"agent of {' and '.join(collections)}", Scope.READ, collections)[1]


@pytest.mark.parametrize("mode", MODES)
def test_two_documents_are_compared(address: str, harbour: Parts, mode: str) -> None:
    asked = {"question": "When must receipts be handed in?", "collection": "policies"}
    called = call(address, "compare", mode=mode, left=["policy_2023.txt"], right=["policy_2025.txt"], **asked)
    result = called.structured_content
    assert [row["relation"] for row in result["rows"]] == ["differs"]
    (row,) = result["rows"]
    assert row["left"]["words"][0]["words"] == "Receipts must be handed in within 30 days."
    assert row["right"]["words"][0]["words"] == "Receipts must be handed in within 14 days."
    assert result["summary"] == "1 different"
    shown = text_of(called)
    assert "≠ They differ" in shown
    assert "policy_2025.txt" in shown
    kept = call(address, "explain", answer=result["left"]["id"])
    assert not kept.is_error
    assert [entry.subject for entry in harbour.audit.find(action=Action.ASKED).items] == [
        result["right"]["id"],
        result["left"]["id"],
    ]
    over = httpx.post(
        f"{address}/v1/compare", json={**asked, "left": ["policy_2023.txt"], "right": ["policy_2025.txt"]}, timeout=60
    )
    assert [fact["relation"] for fact in over.json()["facts"]] == ["differs"]


def test_two_documents_are_compared_whole_without_a_question(address: str, harbour: Parts) -> None:
    sides = {"left": ["policy_2023.txt"], "right": ["policy_2025.txt"]}
    called = call(address, "compare", collection="policies", **sides)
    result = called.structured_content
    words = [[quote["words"] for side in ("left", "right") for quote in row[side]["words"]] for row in result["rows"]]
    assert words == [
        ["Receipts must be handed in within 30 days.", "Receipts must be handed in within 14 days."],
        ["Taxis need approval."],
    ]
    assert result["summary"] == "1 different, 1 only in policy_2023.txt"
    assert "≠ They differ" in text_of(called)
    assert not harbour.library.answers(harbour.library.collection("policies"))


@pytest.mark.parametrize("mode", MODES)
def test_notes_are_added_pinned_and_read(address: str, harbour: Parts, mode: str) -> None:
    kept = result_of(address, "cite", text=f"{HEIGHT} {COST}", keep=True)
    written = result_of(address, "add_note", mode=mode, text=HEIGHT)
    assert written["is_cited"]
    assert written["cited_text"] == f"{HEIGHT[:-1]} [1]."
    assert [source["words"] for source in written["sources"]] == [HEIGHT]
    pinned = result_of(address, "add_note", text="Ask the council.", answer=kept["id"], fact=2, quote=True, cite=False)
    assert (pinned["text"], pinned["pinned"], pinned["is_cited"]) == ("Ask the council.", f"“{COST}”", False)
    whole = result_of(address, "add_note", answer=kept["id"])
    opened = result_of(address, "add_note", text=OPENED)

    def ids(**chosen: Any) -> list[str]:
        return [note["id"] for note in result_of(address, "list_notes", mode=mode, **chosen)["notes"]]

    assert result_of(address, "add_note", answer=kept["id"]) == whole
    assert whole["answer"] == kept["id"]
    every = [written["id"], pinned["id"], whole["id"], opened["id"]]
    assert ids() == every == [note.id for note in harbour.notes.all(harbour.library.collection("harbour"))]
    assert ids(answer=kept["id"]) == [pinned["id"], whole["id"]]
    assert ids(document="bridge.txt") == [opened["id"]]
    assert ids(first=1, limit=2) == every[1:3]
    book = result_of(address, "list_notes")
    assert book["uri"] in listed(address)
    notebook = read(address, book["uri"], mode=mode)
    assert notebook.startswith("# Notes on harbour")
    assert "212 million" in notebook
    shown = text_of(call(address, "list_notes", document="bridge.txt"))
    assert f"[1] bridge: “{OPENED}”" in shown


def test_a_note_that_cannot_be_cited_is_kept_once(loaded: dict[str, object], tmp_path: Path) -> None:
    parts = parts_with(
        loaded, {"harbour": HARBOUR}, data_dir=tmp_path / "own", collection="harbour", serve_seconds=0.01
    )
    with running_server(parts) as address:
        called = call(address, "add_note", text=f"{HEIGHT} " * 300)
        assert not called.is_error
        assert called.structured_content["problem"].startswith("The note is kept, but not cited: this took more than")
        assert "PROPCITE_SERVE_SECONDS" in text_of(called)
        assert result_of(address, "list_notes")["total"] == 1


def test_the_notes_on_a_document_that_is_gone_are_read_by_its_id(address: str) -> None:
    written = result_of(address, "add_note", text=OPENED)
    gone = written["sources"][0]["document_id"]
    assert httpx.delete(f"{address}/v1/documents/{gone}", params={"collection": "harbour"}).is_success
    assert [note["id"] for note in result_of(address, "list_notes", document=gone)["notes"]] == [written["id"]]
    assert "no document" in refusal(call(address, "list_notes", document="bridge.txt"))


@pytest.mark.parametrize("mode", MODES)
def test_a_draft_is_begun_read_decided_on_and_cited_again(address: str, mode: str) -> None:
    begun = result_of(address, "begin_review", mode=mode, text=f"# The harbour\n\n{HEIGHT} {WRONG}\n", name="plan.md")
    review = begun["id"]
    facts = result_of(address, "read_review", mode=mode, review=review, wait=60)
    assert (facts["state"], facts["num_facts"], facts["total"]) == ("done", 2, 2)
    assert [fact["verdict"] for fact in facts["facts"]] == ["supported", "contradicted"]
    assert facts["facts"][0]["citations"][0]["words"] == HEIGHT
    assert facts["facts"][0]["citations"][0]["uri"].startswith("propcite://collections/harbour/documents/")
    assert facts["facts"][1]["nearest"]["words"] == OPENED
    change = {"review": review, "fact": 2, "choice": "changed", "words": "on 21 May 2025", "note": "as decided"}
    decided = result_of(address, "decide", mode=mode, **change)
    assert (decided["fact"]["choice"], decided["num_decided"], decided["num_facts"]) == ("changed", 1, 2)
    still_open = result_of(address, "read_review", review=review, choices=["open"])
    assert ([fact["number"] for fact in still_open["facts"]], still_open["total"]) == ([1], 1)
    wrong = call(address, "read_review", review=review, verdicts=["contradicted"])
    assert "changed: “on 21 May 2025”, as decided" in text_of(wrong)
    assert result_of(address, "read_review", review=review, first=1)["facts"][0]["number"] == 2
    assert begun["uri"] in listed(address)
    text = read(address, begun["uri"], mode=mode)
    assert text.startswith("# The harbour")
    assert "[^fact-2]:" in text
    assert "on 21 May 2025" in text
    assert result_of(address, "cancel_review", review=review)["state"] == "done"
    assert result_of(address, "begin_review", review=review)["id"] == review
    again = result_of(address, "read_review", review=review, wait=60)
    assert (again["state"], again["num_decided"]) == ("done", 1)
    assert [one["id"] for one in result_of(address, "list_reviews", collection="harbour")["reviews"]] == [review]
    assert result_of(address, "list_reviews", collection="policies")["reviews"] == []
    assert "no fact" in refusal(call(address, "decide", review=review, fact=9, choice="accepted"))
    assert "new words" in refusal(call(address, "decide", review=review, fact=1, choice="changed"))


def test_all_open_facts_are_decided_in_one_call(address: str) -> None:
    review = result_of(address, "begin_review", text=f"{HEIGHT} {WRONG} {COST}", name="plan.md")["id"]
    assert result_of(address, "read_review", review=review, wait=60)["num_facts"] == 3
    result_of(address, "decide", review=review, fact=1, choice="rejected")
    made = result_of(address, "decide_all", review=review, choice="accepted", verdicts=["supported"], note="read")
    assert (made["decided"], made["num_decided"], made["num_facts"]) == (1, 2, 3)
    rest = call(address, "decide_all", review=review, choice="rejected")
    assert text_of(rest) == "1 more decided. 3 of 3 facts are decided on."
    facts = result_of(address, "read_review", review=review)["facts"]
    assert [fact["choice"] for fact in facts] == ["rejected", "rejected", "accepted"]
    assert "choice" in refusal(call(address, "decide_all", review=review, choice="open"))


def test_a_long_draft_is_stopped_and_keeps_what_was_cited(address: str) -> None:
    begun = result_of(address, "begin_review", text=f"{HEIGHT} {COST}\n\n" * 2000, name="long.txt")
    assert begun["state"] == "citing"
    assert "has no citations yet" in refusal(call(address, "decide", review=begun["id"], fact=1, choice="accepted"))
    with pytest.raises(MCPError, match="no citations yet"):
        read(address, begun["uri"])
    assert result_of(address, "cancel_review", review=begun["id"])["state"] == "cancelled"
    stopped = result_of(address, "read_review", review=begun["id"], wait=10)
    assert (stopped["state"], stopped["share"] < 1) == ("cancelled", True)


def test_a_key_sees_and_writes_in_its_collections_alone(guarded: str, harbour: Parts) -> None:
    ours, theirs = key_for(harbour, "harbour"), key_for(harbour, "secret")
    kept = result_of(guarded, "cite", ours, text=HEIGHT, keep=True)
    note = result_of(guarded, "add_note", ours, text=HEIGHT, answer=kept["id"])
    assert note["by"] == "agent of harbour"
    begun = result_of(guarded, "begin_review", ours, text=HEIGHT)
    read_review = result_of(guarded, "read_review", ours, review=begun["id"], wait=60)
    assert (read_review["by"], read_review["state"]) == ("agent of harbour", "done")
    decided = result_of(guarded, "decide", ours, review=begun["id"], fact=1, choice="accepted")
    assert decided["fact"]["by"] == "agent of harbour"
    line = "no collection 'harbour': name one of 'secret'"
    sides = {"left": ["barrier.txt"], "right": ["bridge.txt"]}
    for tool, arguments in (
        ("compare", {"question": "How high?", "collection": "harbour", **sides}),
        ("list_notes", {"collection": "harbour"}),
        ("add_note", {"text": "mine", "collection": "harbour"}),
        ("begin_review", {"text": HEIGHT, "collection": "harbour"}),
        ("list_reviews", {"collection": "harbour"}),
    ):
        assert refusal(call(guarded, tool, theirs, **arguments)) == line
    assert "no kept answer" in refusal(call(guarded, "add_note", theirs, answer=kept["id"]))
    assert "no kept answer" in refusal(call(guarded, "list_notes", theirs, answer=kept["id"]))
    for tool, arguments in (
        ("read_review", {}),
        ("cancel_review", {}),
        ("decide", {"fact": 1, "choice": "rejected"}),
        ("decide_all", {"choice": "rejected"}),
        ("begin_review", {}),
    ):
        refused = refusal(call(guarded, tool, theirs, review=begun["id"], **arguments))
        assert refused == f"no draft '{begun['id']}': list_reviews lists the drafts"
    assert result_of(guarded, "list_reviews", theirs)["reviews"] == []
    notebook = "propcite://collections/harbour/notes"
    assert notebook in listed(guarded, ours)
    assert all("/secret/" in uri for uri in listed(guarded, theirs)[1:])
    for uri in (begun["uri"], begun["uri"].replace("/harbour/", "/secret/"), notebook):
        with pytest.raises(MCPError, match="no "):
            read(guarded, uri, theirs)
    with pytest.raises(MCPError, match="'secret' has no notes"):
        read(guarded, notebook.replace("harbour", "secret"), theirs)
    with pytest.raises(MCPError, match="no draft"):
        read(guarded, begun["uri"].replace("/harbour/", "/policies/"), key_for(harbour, "harbour", "policies"))
    for action in (Action.WROTE_NOTE, Action.BEGAN_REVIEW, Action.DECIDED):
        assert len(harbour.audit.find(action=action).items) == 1
