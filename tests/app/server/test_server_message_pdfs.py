"""PDFs, and documents in blocks, inside a request to the Messages API: read, cited by page and by block, refused."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx
import pytest
from proxied import QUESTION, post, proxied, reset
from reportlab.pdfgen.canvas import Canvas
from scanned import Scanner, printed, saved
from scripted_llm import ScriptedLlm
from serving import parts_with, running_server, wait_until

Standing = tuple[str, ScriptedLlm]
GATES, COST = "The tidal barrier has fourteen steel gates.", "The barrier cost 410 million euros."
PDF = printed([GATES, "Each of them weighs 300 tonnes."], ["The mayor likes the barrier."], [COST])
ANSWER = "The barrier has fourteen steel gates. It cost 410 million euros. It is painted green."


@pytest.fixture(scope="module", params=["messages", "chat/completions"])
def standing(
    request: pytest.FixtureRequest, loaded: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Standing]:
    folder = tmp_path_factory.mktemp("pdfs")
    with proxied(loaded, folder, [request.param], max_file_mb=1, serve_characters=20_000, ocr="off") as both:
        yield both


@pytest.fixture
def llm(standing: Standing) -> ScriptedLlm:
    llm = reset(standing[1])
    llm.script = ANSWER
    return llm


@pytest.fixture
def address(standing: Standing, llm: ScriptedLlm) -> str:  # noqa: ARG001 - resets its script
    return standing[0]


def pdf(data: bytes | str = PDF, **more: Any) -> dict[str, Any]:
    encoded = b64encode(data).decode() if isinstance(data, bytes) else data
    source = {"type": "base64", "media_type": "application/pdf", "data": encoded}
    return {"type": "document", "source": source, "citations": {"enabled": True}, **more}


def text(words: str, **more: Any) -> dict[str, Any]:
    source = {"type": "text", "media_type": "text/plain", "data": words}
    return {"type": "document", "source": source, "citations": {"enabled": True}, **more}


def asked(*blocks: dict[str, Any]) -> list[Any]:
    return [{"role": "user", "content": [*blocks, {"type": "text", "text": QUESTION}]}]


def ask(address: str, *blocks: dict[str, Any], stream: bool = False, **extension: Any) -> Any:
    client = anthropic.Anthropic(base_url=address, api_key="any", max_retries=0)
    given: Any = {"model": "m", "max_tokens": 99, "messages": asked(*blocks)}
    given["extra_body"] = {"propcite": extension} if extension else {}
    if not stream:
        return client.messages.create(**given)
    with client.messages.stream(**given) as events:
        return events.get_final_message()


def drawn(words: str, **options: Any) -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, **options)
    canvas.drawString(72, 700, words)
    canvas.save()
    return file.getvalue()


@pytest.mark.parametrize("stream", [False, True])
def test_a_pdf_is_cited_by_its_pages(address: str, llm: ScriptedLlm, stream: bool) -> None:
    message = ask(address, text("Unasked words."), pdf(title="Audit"), stream=stream)
    assert [block.text.strip() for block in message.content] == [
        "The barrier has fourteen steel gates.",
        "It cost 410 million euros.",
        "It is painted green.",
    ]
    gates, cost, green = (block.citations for block in message.content)
    assert not green
    assert [(one.type, one.document_index, one.document_title) for one in (*gates, *cost)] == [
        ("page_location", 1, "Audit")
    ] * 2
    assert [(one.start_page_number, one.end_page_number) for one in (*gates, *cost)] == [(1, 2), (3, 4)]
    assert [one.cited_text for one in (*gates, *cost)] == [GATES, COST]
    sent = json.dumps(llm.requests[-1].body)
    assert '"enabled": true' not in sent  # this server cites
    if "messages" in llm.apis:
        assert b64encode(PDF).decode() in sent  # the model server reads it as it is
    else:
        assert "title: Audit" in sent
        assert COST in sent
        assert "base64" not in sent


def test_a_pdf_and_a_text_are_cited_each_in_its_way_also_beside_a_collection(address: str) -> None:
    blocks = text(COST, title="Bill"), pdf(printed([GATES]))
    message = ask(address, *blocks)
    gates, cost = message.content[0].citations[0], message.content[1].citations[0]
    assert (gates.type, gates.document_index, gates.start_page_number) == ("page_location", 1, 1)
    assert (cost.type, cost.document_index, cost.start_char_index) == ("char_location", 0, 0)
    beside = ask(address, pdf(printed([GATES])), collection="harbour").content
    assert [block.citations[0].type for block in beside[:2]] == ["page_location", "search_result_location"]


def test_the_pdf_of_an_earlier_turn_is_cited_too(address: str, llm: ScriptedLlm) -> None:
    first = ask(address, pdf(), stream=True).to_dict()
    turns = [*asked(pdf()), {"role": "assistant", "content": first["content"]}, {"role": "user", "content": "Why?"}]
    again = post(address, "/messages", {"model": "m", "max_tokens": 9, "messages": turns}).json()
    assert again["content"][1]["citations"][0]["start_page_number"] == 3
    assert "page_location" not in llm.requests[-1].raw.decode()


def test_a_document_in_blocks_is_cited_by_its_blocks(address: str, llm: ScriptedLlm) -> None:
    words = ["A museum is there.", f"Look here. {GATES}", {"type": "image", "source": {"type": "url", "url": "x"}}]
    blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in words]
    document = {**text(""), "title": "Notes", "source": {"type": "content", "content": blocks}}
    body = {"model": "m", "max_tokens": 9, "messages": asked(document)}
    if "messages" not in llm.apis:  # an image inside a document is nothing that a chat completion has
        del blocks[2]
    (citation,) = post(address, "/messages", body).json()["content"][0]["citations"]
    assert (citation["type"], citation["document_index"], citation["document_title"]) == (
        "content_block_location",
        0,
        "Notes",
    )
    assert (citation["start_block_index"], citation["end_block_index"]) == (1, 2)
    assert citation["cited_text"] == f"Look here. {GATES}"
    whole = {**document, "source": {"type": "content", "content": GATES}}
    typed = ask(address, whole).content[0].citations[0]
    assert (typed.type, typed.start_block_index, typed.cited_text) == ("content_block_location", 0, GATES)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("data", "status", "line"),
    [
        (b"%PDF-1.4 broken", 422, "document-1.pdf is damaged or not a PDF: get it again, or print it to a new PDF; "),
        (PDF[: len(PDF) // 2], 422, "document-1.pdf is damaged or not a PDF"),
        (b"no PDF at all", 422, "document-1.pdf is damaged or not a PDF"),
        (drawn(GATES, encrypt="secret"), 422, "document-1.pdf is encrypted: save it without a password"),
        (drawn(""), 422, "document-1.pdf has no text"),
        (saved(Scanner(dpi=50).scan(printed([GATES]))), 422, "document-1.pdf has no text, only pictures of pages"),
        (b"", 422, "document-1.pdf is empty: nothing to add"),
        ("not base64!", 422, "document-1.pdf is no base64: send the file's bytes in standard base64 as source.data"),
        (
            PDF + b"\n%" + b"x" * (1 << 20) + b"\n%%EOF",
            413,
            "document-1.pdf is 1.1 MB, over the limit of 1 MB: split it or raise",
        ),
    ],
)
def test_what_cannot_be_read_gets_one_line(
    address: str, llm: ScriptedLlm, data: bytes | str, status: int, line: str, stream: bool
) -> None:
    with pytest.raises(anthropic.APIStatusError) as refused:
        ask(address, pdf(data), stream=stream)
    body: Any = refused.value.body
    assert refused.value.status_code == status
    assert body["type"] == "error"
    assert body["error"]["type"] == ("request_too_large" if status == 413 else "invalid_request_error")
    assert body["error"]["message"].startswith(line)
    assert "\n" not in body["error"]["message"]
    assert not llm.requests  # no model was asked


def test_a_pdf_with_more_words_than_an_answer_may_have_is_refused(address: str) -> None:
    long = printed(*(["The gate is high and wide, and the wall beside it is old."] * 40 for _ in range(12)))
    with pytest.raises(anthropic.APIStatusError, match="PROPCITE_SERVE_CHARACTERS") as refused:
        ask(address, pdf(long))
    assert refused.value.status_code == 413


def test_a_request_beyond_the_limit_of_bodies_names_the_setting(address: str) -> None:
    with pytest.raises(anthropic.APIStatusError, match="PROPCITE_SERVE_BODY_MB") as refused:
        ask(address, pdf(b"x" * (4 << 20)))
    assert refused.value.status_code == 413


def test_what_is_not_to_be_cited_is_not_read(address: str, llm: ScriptedLlm) -> None:
    broken = pdf(b"broken")
    for message in (
        ask(address, broken, cite=False),
        ask(address, {**broken, "citations": {"enabled": False}}, collection="harbour"),
    ):
        assert message.content[0].text
        assert b64encode(b"broken").decode() in json.dumps(llm.requests[-1].body)


def test_without_a_model_server_a_pdf_is_refused(loaded: dict[str, object], tmp_path: Path) -> None:
    parts = parts_with(loaded, {"harbour": {"a.txt": GATES}}, data_dir=tmp_path)
    with running_server(parts) as address, pytest.raises(anthropic.APIStatusError, match="no model server is set"):
        ask(address, pdf(), collection="harbour")


def reading_seconds(address: str) -> float:
    lines = httpx.get(f"{address}/metrics").text.splitlines()
    return next((float(line.split()[-1]) for line in lines if 'worked_seconds_total{kind="document"}' in line), 0.0)


def read_once(address: str, data: bytes) -> None:
    before = reading_seconds(address)
    ask(address, pdf(data))
    wait_until(lambda: reading_seconds(address) > before, "it was not read")


def test_a_pdf_that_comes_again_is_not_read_again(address: str) -> None:
    own, other = (printed([GATES], [words]) for words in ("It stands at the harbour.", "It is painted red."))
    read_once(address, own)
    read_once(address, other)
    read = reading_seconds(address)
    later = ask(address, pdf(other, title="Another"), pdf(own, title="The same"))
    assert {one.document_index for one in later.content[0].citations} <= {0, 1}
    assert ask(address, text("Nothing."), pdf(own)).content[0].citations[0].document_index == 1
    assert reading_seconds(address) == read


def reading_processes() -> list[str]:
    """Return the children of this process that read files; empty where the system does not list them."""
    lists = (path.read_text() for path in Path("/proc/self/task").glob("*/children"))
    commands = (Path(f"/proc/{child}/cmdline") for listed in lists for child in listed.split())
    return [path.read_text() for path in commands if path.exists() and "ingest.reader_pool" in path.read_text()]


def test_a_client_that_leaves_ends_the_reading(loaded: dict[str, object], tmp_path: Path) -> None:
    """The process that reads is killed, and the turn is given back: all pages would take longer than the test waits."""
    pages = printed(*(["The gate is high and wide, and the wall beside it is old."] * 10 for _ in range(7000)))
    with proxied(loaded, tmp_path, ["messages"], serve_characters=10**8, serve_body_mb=16) as (address, _):
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{address}/v1/messages", json={"messages": asked(pdf(pages)), "max_tokens": 9}, timeout=0.7)
        wait_until(lambda: reading_seconds(address) > 0, "the reading did not end")
        wait_until(lambda: not reading_processes(), "its process goes on")
