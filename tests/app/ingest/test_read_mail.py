"""E-mail: headers, plain text and HTML bodies, quotes, attachments and mailboxes."""

from __future__ import annotations

from base64 import b64encode
from email.message import EmailMessage

import pytest
from real_documents import checked, headings, places, real

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.text import Document


def read(message: EmailMessage | bytes, name: str = "x.eml") -> Document:
    return checked(document_from_bytes(name, bytes(message), ""))


def test_a_message_with_attachments() -> None:
    document = real("letter.eml")
    assert document.text.startswith(
        "Café plans\n\nFrom: Ann Lee <ann@example.org>\nTo: Bob <bob@example.org>\n"
        "Date: Fri, 01 Mar 2024 10:00:00 +0100\n\n"
        "We meet at nine.\n\nOn Friday Bob wrote:\n> When do we meet?\n> Bob\n\n"
    )
    assert headings(document) == [
        (1, "Café plans"),
        (2, "visits.csv"),
        (2, "minutes.docx"),
        (3, "Sitting of May"),
        (4, "Votes"),
    ]
    by_place = places(document)
    assert by_place["visits.csv, row 3"] == "Port = Alder Quay; Visits = 9."
    assert by_place["minutes.docx"].startswith("Sitting of May")
    assert document.text.endswith("Attached: harbour.png (is damaged or not a picture).")
    assert (document.metadata["author"], document.metadata["date"]) == ("Ann Lee <ann@example.org>", "2024-03-01")


def test_each_message_of_a_mailbox_is_a_place() -> None:
    document = real("letters.mbox")
    assert list(places(document)) == ["message 1", "message 2"]
    assert "The ferry is off.\n\nQuoted:\n\nIs the ferry on?" in places(document)["message 1"]
    assert places(document)["message 2"].endswith("From now on it is on.\n\nFrom Monday too.")
    assert document.metadata["messages"] == "2"


def test_messages_in_messages_are_read_to_a_limited_depth() -> None:
    inner = EmailMessage()
    for depth in range(9):
        outer = EmailMessage()
        outer["Subject"], outer["From"] = f"Level {depth}", "a@example.org"
        outer.set_content(f"Words of {depth}.")
        if depth:
            outer.add_attachment(inner)
        inner = outer
    document = read(inner)
    assert [name for _, name in headings(document)] == ["Level 8", "Level 7", "Level 6"]
    assert "message 'Level 7'" in places(document)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"Subject: a\nContent-Type: text/plain; charset=no-such\n\ncaf\xe9 ferm\xe9 \xe0 midi", "café fermé à midi"),
        (b"Subject: a\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nin\n--x", "in"),
        (b"Subject: a\nContent-Type: multipart/mixed\n\nno parts", "Subject"),
        (b"Subject: =?utf-8?q?\xff?=\nDate: never\nFrom: <>@@,\n\nwords", "words"),
        (b"From: a@b\nContent-Transfer-Encoding: base64\n\n!!!notbase64", "From"),
        (b"Subject: a\nContent-Type: text/plain; format=flowed\n\none \ntwo\n> quoted", "one two\n> quoted"),
    ],
)
def test_malformed_messages_are_read(data: bytes, words: str) -> None:
    text = read(data).text
    assert words in text or (words == "Subject" and text.startswith("a")) or words in ("From",)


def test_text_that_is_not_a_message_or_a_mailbox() -> None:
    with pytest.raises(ReadError, match=r"^x.eml is not an e-mail"):
        read(b"just words\n\nand more")
    with pytest.raises(ReadError, match=r"^x.mbox is not a mailbox"):
        read(b"just words\n\nand more", "x.mbox")


def test_a_letter_that_is_divided_between_two_words_of_a_header() -> None:
    data = "会议改到五月".encode("gb2312")
    first, last = (b64encode(part).decode() for part in (data[:5], data[5:]))
    subject = f"Subject: =?gb2312?B?{first}?=\n\t=?gb2312?B?{last}?=\n"
    assert read(f"{subject}\nWords.\n".encode()).title == "会议改到五月"
    rare = b64encode("喆".encode("gbk")).decode()
    assert read(f"Subject: =?gb2312?B?{rare}?=\n\nWords.\n".encode()).title == "喆"
    broken = f"Subject: =?gb2312?B?{first}?=\n =?no-such?B?{last}?=\n\nWords.\n"
    assert read(broken.encode()).text.endswith("Words.")
    assert read(b"Subject: =?utf-8?Q?one_?= =?utf-8?Q?two?=\n\nWords.\n").title == "one two"
