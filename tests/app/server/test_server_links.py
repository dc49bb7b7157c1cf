"""Links that open the words of a source: where they are, what they open, and what they do not."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from scripted_llm import Reply, ScriptedLlm
from serving import parts_with, running_server

from propcite.app.library.store import LinkSecrets, Scope
from propcite.app.parts import Parts
from propcite.attribution.formats.json import from_json

HEIGHT = "The flood barrier is 6.4 metres high."
DOCUMENTS = {
    "harbour": {"barrier.txt": f"It was built in 2024. {HEIGHT}"},
    "secret": {"plan.txt": "The secret plan is blue."},
}
PUBLIC = "https://propcite.example"
CITED = re.compile(r'<(?:mark|span) class="[^"]*cited[^>]*>(.*?)</(?:mark|span)>', re.S)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory, loaded: dict[str, object]) -> Iterator[Parts]:
    folder = tmp_path_factory.mktemp("links")
    with ScriptedLlm(Reply(HEIGHT)) as llm:
        parts = parts_with(
            loaded, DOCUMENTS, data_dir=folder, collection="harbour", public_address=PUBLIC, llm_url=llm.base_url
        )
        yield parts
    parts.library.close()


@pytest.fixture(scope="module")
def address(parts: Parts) -> Iterator[str]:
    with running_server(parts, requires_keys=True) as address:
        yield address


@pytest.fixture(scope="module")
def http(parts: Parts, address: str) -> Iterator[httpx.Client]:
    with client(parts, address) as http:
        yield http


def client(parts: Parts, address: str, *collections: str) -> httpx.Client:
    _, key = parts.keys.create("chatbot", Scope.READ, collections)
    return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60)


def opened(address: str, link: str) -> httpx.Response:
    """Open a link as a browser does, at this server in place of the public address."""
    assert link.startswith(f"{PUBLIC}/reading/")
    return httpx.get(link.replace(PUBLIC, address).partition("#")[0])


def marked(response: httpx.Response) -> str:
    assert response.status_code == 200, response.text
    return " ".join(" ".join(CITED.findall(response.text)).split())


def links_of(value: Any) -> Iterator[str]:
    """Find every link in JSON."""
    if isinstance(value, dict):
        yield from (one for name, one in value.items() if name in ("link", "url") and isinstance(one, str))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    yield from itertools.chain.from_iterable(map(links_of, parts))


def cited_link(http: httpx.Client) -> str:
    answer = http.post("/v1/cite", json={"answer": HEIGHT, "collection": "harbour"}).json()
    link: str = answer["sentences"][0]["citations"][0]["link"]
    return link


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/cite", {"answer": HEIGHT, "collection": "harbour"}),
        ("/v1/ask", {"question": "How high is the flood barrier?"}),
        ("/v1/search", {"query": "How high is the flood barrier?", "granularity": "sentence", "k": 1}),
        ("/v1/cite", {"answer": HEIGHT, "collection": "harbour", "format": "openai"}),
        ("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "How high?"}]}),
    ],
)
def test_each_output_has_links_that_open_the_words(
    http: httpx.Client, address: str, path: str, body: dict[str, Any]
) -> None:
    response = http.post(path, json=body)
    links = list(links_of(response.json()))
    assert links, response.text
    assert all(HEIGHT in marked(opened(address, link)) for link in links)


def test_annotations_keep_the_name_beside_the_link(http: httpx.Client) -> None:
    body = {"answer": HEIGHT, "collection": "harbour", "format": "openai"}
    (one,) = http.post("/v1/cite", json=body).json()["content"][0]["annotations"]
    assert re.fullmatch(r"urn:propcite:passage:[0-9a-f]+%3A0#char=\d+,\d+", one["id"])


def test_streams_have_links_too(http: httpx.Client, address: str) -> None:
    events = http.post("/v1/ask", json={"question": "How high is the flood barrier?", "stream": True}).text
    data = [json.loads(line.removeprefix("data: ")) for line in events.splitlines() if line.startswith("data: ")]
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "How high?"}]}
    chunks = http.post("/v1/chat/completions", json=body).text
    data += [json.loads(line[6:]) for line in chunks.splitlines() if line.startswith("data: {")]
    links = [*links_of(data)]
    assert len(links) > 2
    assert all(HEIGHT in marked(opened(address, link)) for link in links)


@pytest.mark.parametrize("format_", ["markdown", "html"])
def test_reports_link_to_the_words(http: httpx.Client, address: str, format_: str) -> None:
    body = {"answer": HEIGHT, "collection": "harbour", "format": format_}
    (link,) = set(re.findall(rf"{PUBLIC}/reading/[^\s)>\"]+", http.post("/v1/cite", json=body).text))
    assert marked(opened(address, link)) == HEIGHT


def test_a_kept_answer_is_stored_without_links_and_shown_with_new_ones(http: httpx.Client, parts: Parts) -> None:
    body = {"answer": HEIGHT, "collection": "harbour", "keep": True}
    kept = http.post("/v1/cite", json=body).json()
    with parts.library.session() as session:
        stored = session.connection().exec_driver_sql("SELECT body FROM answers").scalars().all()
    assert stored
    assert not any("/reading/" in text for text in stored)
    shown = http.get(f"/v1/answers/{kept['id']}").text
    assert "/reading/" in shown
    assert from_json(shown).text == HEIGHT


def test_a_link_changed_by_one_letter_opens_nothing(http: httpx.Client, address: str) -> None:
    link = cited_link(http).partition("#")[0]
    start = len(f"{PUBLIC}/reading/")
    for place in range(start, len(link)):
        changed = link[:place] + ("A" if link[place] != "A" else "B") + link[place + 1 :]
        response = opened(address, changed)
        assert response.status_code == 403, changed
        assert response.json()["detail"].endswith("or it was changed: open it as it was given")
    for nonsense in ("x", "é" * 50, "." * 300, "a.b", "%00", "bnVsbA.x"):
        assert httpx.get(f"{address}/reading/{nonsense}").status_code == 403


def test_the_signature_of_one_document_opens_no_other(http: httpx.Client, parts: Parts, address: str) -> None:
    tokens = []
    for name, text in (("harbour", HEIGHT), ("secret", "The secret plan is blue.")):
        answer = http.post("/v1/cite", json={"answer": text, "collection": name}).json()
        tokens.append(answer["sentences"][0]["citations"][0]["link"].partition("#")[0].rpartition("/")[2])
    (payload, _), (_, signature) = (token.rsplit(".", 1) for token in tokens)
    assert httpx.get(f"{address}/reading/{payload}.{signature}").status_code == 403
    assert parts


def test_no_key_gets_a_link_to_what_it_may_not_read(http: httpx.Client, parts: Parts, address: str) -> None:
    document = parts.library.documents(parts.library.collection("secret"))[0].id
    forged = {"id": f"{document}:0", "document_id": document, "text": HEIGHT}
    body = {"answer": HEIGHT, "passages": [forged]}
    with client(parts, address, "harbour") as other:
        assert list(links_of(other.post("/v1/cite", json=body).json())) == []
    assert list(links_of(http.post("/v1/cite", json={"answer": HEIGHT, "passages": [HEIGHT]}).json())) == []


def test_a_link_ends(loaded: dict[str, object], open_parts: Callable[..., Parts]) -> None:
    settings = open_parts(public_address=PUBLIC, link_days=2 / 86_400)
    parts = parts_with(loaded, DOCUMENTS, **own(settings))
    with running_server(parts, requires_keys=True) as address, client(parts, address) as http:
        link = cited_link(http)
        assert marked(opened(address, link)) == HEIGHT
        time.sleep(3)
        response = opened(address, link)
    assert (response.status_code, response.json()["detail"]) == (403, "this link has ended: ask again for a new one")


def own(parts: Parts) -> dict[str, Any]:
    return {name: getattr(parts.settings, name) for name in ("data_dir", "public_address", "link_days")}


def test_without_keys_a_link_has_no_end_and_opens_nothing_once_keys_are_required(parts: Parts, address: str) -> None:
    with running_server(parts) as open_address:
        answer = httpx.post(f"{open_address}/v1/cite", json={"answer": HEIGHT, "collection": "harbour"}).json()
        link = answer["sentences"][0]["citations"][0]["link"]
        assert marked(opened(open_address, link)) == HEIGHT
    assert opened(address, link).status_code == 403


def test_a_new_secret_ends_all_links_or_keeps_them(http: httpx.Client, parts: Parts, address: str) -> None:
    link = cited_link(http)
    parts.link_secrets.replace(keep=True)
    assert marked(opened(address, link)) == HEIGHT
    parts.link_secrets.replace()
    assert opened(address, link).status_code == 403
    deadline = time.monotonic() + 30
    while opened(address, cited_link(http)).status_code == 403:  # the server remembers the secret for some seconds
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_a_removed_document_is_said_to_be_gone(loaded: dict[str, object], open_parts: Callable[..., Parts]) -> None:
    settings = open_parts(public_address=PUBLIC)
    parts = parts_with(loaded, DOCUMENTS, **own(settings))
    with running_server(parts, requires_keys=True) as address, client(parts, address) as http:
        link = cited_link(http)
        parts.library.remove_document(parts.library.documents(parts.library.collection("harbour"))[0].id)
        response = opened(address, link)
    assert (response.status_code, "no longer in the library" in response.text) == (404, True)


def test_no_public_address_makes_no_links(loaded: dict[str, object], open_parts: Callable[..., Parts]) -> None:
    parts = parts_with(loaded, DOCUMENTS, data_dir=open_parts().settings.data_dir)
    with running_server(parts) as address:
        body = {"answer": HEIGHT, "collection": "harbour"}
        assert "/reading/" not in httpx.post(f"{address}/v1/cite", json=body).text


def test_the_command_renews_the_secret(
    propcite: Callable[..., Any], open_parts: Callable[..., Parts], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = open_parts().link_secrets.all()
    assert propcite("keys", "renew-links", "--keep").code == 0
    assert open_parts().link_secrets.all()[:-1] == first
    assert "open nothing more" in propcite("keys", "renew-links").err
    assert first[0] not in open_parts().link_secrets.all()
    monkeypatch.setenv("PROPCITE_LINK_SECRET", "s" * 40)
    assert "change that setting" in propcite("keys", "renew-links").err


def test_secrets_are_made_once_and_replaced(database_url: str) -> None:
    from propcite.app.library.store import Library

    library = Library(database_url)
    secrets = LinkSecrets(library)
    (first,) = secrets.all()
    assert secrets.all() == [first]
    secrets.replace(keep=True)
    assert secrets.all()[0] == first
    secrets.replace()
    assert first not in secrets.all()
    assert len(secrets.all()) == 1
    library.close()
