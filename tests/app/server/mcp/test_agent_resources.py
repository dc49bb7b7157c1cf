"""Documents, kept answers and prompts over HTTP with the SDK's own client."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from agent_calls import COST, HARBOUR, HEIGHT, MODES, call, over_http
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, Resource
from serving import parts_with, running_server

from propcite.app.library.store import Scope
from propcite.app.parts import Parts
from propcite.app.server.access import Access
from propcite.app.server.mcp import resources
from propcite.app.server.service import Service
from propcite.app.turns.workers import Asking


def read(address: str, uri: str, mode: str = "auto") -> list[str]:
    async def texts(client: Client) -> list[str]:
        return [content.text for content in (await client.read_resource(uri)).contents if hasattr(content, "text")]

    return over_http(address, texts, mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_documents_and_answers_are_listed_and_read(address: str, mode: str) -> None:
    kept = call(address, "cite", text=HEIGHT, keep=True).structured_content

    async def listed(client: Client) -> list[str]:
        return [resource.uri for resource in (await client.list_resources()).resources]

    uris = over_http(address, listed, mode=mode)
    assert uris[0] == "propcite://collections"
    assert kept["uri"] in uris
    assert len([uri for uri in uris if "/harbour/documents/" in uri]) == 2
    whole = read(address, next(uri for uri in uris if "/harbour/documents/" in uri), mode)
    assert whole == [f"{HEIGHT} {COST}"]
    names = [one["name"] for one in json.loads(read(address, "propcite://collections", mode)[0])["collections"]]
    assert names == ["harbour", "secret"]


def test_an_address_of_words_shows_them_in_their_document(address: str) -> None:
    (hit,) = call(address, "search", query="What did the barrier cost?", k=1).structured_content["hits"]
    shown = json.loads(read(address, hit["uri"])[0])
    assert (shown["before"], shown["words"], shown["after"]) == (f"{HEIGHT} ", COST, "")


@pytest.mark.parametrize("mode", MODES)
def test_sources_have_links_that_open_where_browsers_reach_the_server(
    mode: str, loaded: dict[str, object], tmp_path: Path
) -> None:
    public = "https://propcite.example"
    parts = parts_with(loaded, {"harbour": HARBOUR}, data_dir=tmp_path / "data", public_address=public)
    _, key = parts.keys.create("agent", Scope.READ)
    with running_server(parts, requires_keys=True) as address:
        found = call(address, "search", key, mode, query="How high?", k=1, collection="harbour").structured_content
        checked = call(address, "check", key, mode, text=HEIGHT, collection="harbour").structured_content
        for link in (found["hits"][0]["link"], checked["facts"][0]["citations"][0]["link"]):
            shown = httpx.get(link.replace(public, address).partition("#")[0])
            assert f"id=cited>{HEIGHT}" in shown.text


def test_a_kept_answer_is_read_with_its_cited_words(address: str) -> None:
    kept = call(address, "cite", text=HEIGHT, keep=True).structured_content
    text, whole = read(address, kept["uri"])
    assert f"“{HEIGHT}”" in text
    assert json.loads(whole)["sentences"][0]["citations"][0]["quote"] == HEIGHT


@pytest.mark.parametrize(
    "uri",
    [
        "propcite://collections/harbour/documents/nothing",
        "propcite://collections/harbour/answers/nothing",
        "propcite://collections/harbour/answers/%27%22",
        "propcite://collections/nothing/documents/x",
        "propcite://collections/harbour/documents/x?cited=9-1",
        "propcite://collections/harbour/../../etc/passwd",
        "propcite://elsewhere",
        "file:///etc/passwd",
        "propcite://collections/" + "a" * 5000,
        "propcite://[",
    ],
)
def test_an_address_of_nothing_gets_one_line(address: str, uri: str) -> None:
    with pytest.raises(MCPError) as error:
        read(address, uri)
    assert "no" in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_words_beyond_the_document_are_refused(address: str) -> None:
    (hit,) = call(address, "search", query="What did the barrier cost?", k=1).structured_content["hits"]
    with pytest.raises(MCPError, match="the document has"):
        read(address, hit["uri"].partition("?")[0] + "?cited=5-900000")


def test_every_resource_is_on_one_page_of_the_list(harbour: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        collection = harbour.library.collection("harbour")
        harbour.pipeline(collection).cite(f"The flood barrier is {number} metres high.")
    access = Access(Service(harbour, requires_keys=False), Asking("agent", "/mcp"))
    whole, end = resources.list_resources(access, None)
    assert end is None
    for size in (1, 2, 3, 5):
        monkeypatch.setattr(resources, "PAGE", size)
        found: list[Resource] = []
        cursor: str | None = None
        while True:
            page, cursor = resources.list_resources(access, cursor)
            assert len(page) <= size
            found += page
            if cursor is None:
                break
        assert [one.uri for one in found] == [one.uri for one in whole]


def test_a_long_document_is_read_in_parts(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "PART_CHARS", 20)
    (hit,) = call(address, "search", query="What did the barrier cost?", k=1).structured_content["hits"]
    uri, parts = hit["uri"].partition("?")[0], []
    while uri:
        (text,) = read(address, uri)
        part, _, rest = text.partition("\n\n[It goes on at ")
        parts.append(part)
        uri = rest.removesuffix("]")
    assert "".join(parts) == f"{HEIGHT} {COST}"


def test_prompts_are_listed_and_filled_in(address: str) -> None:
    async def prompt(client: Client) -> tuple[list[str], str]:
        names = [one.name for one in (await client.list_prompts()).prompts]
        got = await client.get_prompt("answer_with_citations", {"question": "How high?", "collection": "harbour"})
        return names, got.messages[0].content.text

    names, text = over_http(address, prompt)
    assert names == ["answer_with_citations", "check_draft", "cite_draft", "weigh_claim"]
    assert "How high?" in text
    assert "'harbour'" in text
    assert all(f"`{tool}`" in text for tool in ("search", "check", "cite"))


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        ("nothing", {}, "there is no prompt 'nothing'"),
        ("check_draft", {}, "the argument text is missing"),
        ("check_draft", {"text": "a", "colection": "b"}, "this prompt takes text, collection"),
        ("check_draft", {"text": "a" * 500_000}, "more than 400,000 characters"),
    ],
)
def test_a_wrong_prompt_gets_one_line(address: str, name: str, arguments: dict[str, str], line: str) -> None:
    with pytest.raises(MCPError, match=line):
        over_http(address, lambda client: client.get_prompt(name, arguments))


def test_names_of_collections_are_completed_for_those_who_may_see_them(harbour: Parts, address: str) -> None:
    async def completed(client: Client) -> list[str]:
        reference = PromptReference(type="ref/prompt", name="check_draft")
        return (await client.complete(reference, {"name": "collection", "value": "har"})).completion.values

    assert over_http(address, completed) == ["harbour"]
    key, _ = harbour.keys.create("agent", Scope.READ, ["secret"])
    access = Access(Service(harbour, requires_keys=True), Asking("agent", "/mcp"), key)
    assert [info.name for info in access.collections()] == ["secret"]
