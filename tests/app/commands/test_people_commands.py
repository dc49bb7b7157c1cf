"""Sharing collections and the audit log on the command line."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest
from commanded import Propcite, commanded
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap

ADA = "ada@propcite.example"


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Propcite:
    """The command inside this process, over a collection `harbour` and an encoder that loads no model."""
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    monkeypatch.setenv("PROPCITE_SPLITTER", "rules")
    monkeypatch.setenv("PROPCITE_JUDGE", "none")
    call = commanded(monkeypatch, capsys)
    (tmp_path / "gate.txt").write_text("The gate of the harbour is shut at night.")
    assert call("ingest", "gate.txt", "-c", "harbour").code == 0
    return call


def test_roles_are_granted_listed_and_revoked(propcite: Propcite) -> None:
    assert "nobody has a role yet" in propcite("people", "list").err
    assert (
        f"{ADA} may write in harbour"
        in propcite("people", "grant", ADA.upper(), "--role", "write", "-c", "harbour").err
    )
    granted = propcite("people", "grant", "ben", "--json").json
    assert (granted["person"], granted["role"], granted["collection"]) == ("ben", "read", None)
    listed = {(one["person"], one["role"], one["collection"]) for one in propcite("people", "list", "--json").json}
    assert listed == {(ADA, "write", "harbour"), ("ben", "read", None)}
    assert [one["person"] for one in propcite("people", "list", "-c", "harbour", "--json").json] == [ADA]
    assert propcite("people", "revoke", ADA, "-c", "harbour").code == 0
    assert [one["person"] for one in propcite("people", "list", "--json").json] == ["ben"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("people", "grant", "ada", "-c", "nothing"), "no collection 'nothing'"),
        (("people", "grant", " "), "cannot be named"),
        (("people", "revoke", "nobody"), "propcite people list"),
        (("people", "revoke", "nobody", "-c", "harbour"), "in 'harbour'"),
        (("audit", "--action", "ate"), "it is one of"),
        (("audit", "--since", "2026-99-99"), "write it as 2026-11-26"),
    ],
)
def test_wrong_words_get_one_line(propcite: Propcite, words: tuple[str, ...], line: str) -> None:
    said = propcite(*words)
    assert line in said.err
    assert said.err.count("\n") == 1
    assert said.code == 2


def test_the_log_tells_who_did_what(propcite: Propcite) -> None:
    answer = propcite("ask", "When is the gate shut?", "-c", "harbour", "--json").json["id"]
    propcite("feedback", "give", answer, "1", "right")
    secret = propcite("keys", "create", "chatbot").out.strip()
    document = propcite("list", "-c", "harbour", "--json").json[0]["id"]
    propcite("describe", document, "author=Zoë", "-c", "harbour")
    propcite("people", "grant", ADA, "-c", "harbour")
    propcite("people", "revoke", ADA, "-c", "harbour")
    propcite("owner", ADA, "-c", "harbour")
    propcite("remove", document, "-c", "harbour")
    found = propcite("audit", "--json")
    assert [(one["action"], one["subject"]) for one in found.json[::-1]] == [
        ("added documents", "1 added"), ("asked", answer), ("gave feedback", answer),
        ("created key", f"{secret.split('_')[1]}: read"), ("changed document", document),
        ("shared", f"{ADA}: read"), ("unshared", ADA), ("changed collection", f"owner: {ADA}"),
        ("removed document", document),
    ]  # fmt: skip
    assert {(one["who"], one["via"]) for one in found.json} == {(getpass.getuser(), "command")}
    for hidden in (secret, secret.split("_")[2], "gate shut", "Zoë"):
        assert hidden not in found.out
    assert [one["action"] for one in propcite("audit", "--action", "asked", "-c", "harbour", "--json").json] == [
        "asked"
    ]
    assert len(propcite("audit", "-n", "2", "--json").json) == 2
    assert "-n lists more" in propcite("audit", "-n", "2").err
    assert "nothing of that kind" in propcite("audit", "--who", "nobody").err
    assert propcite("remove", "--all", "--yes", "-c", "harbour").code == 0
    assert propcite("audit", "--json").json[0]["action"] == "removed collection"


def test_nothing_is_logged_where_the_setting_says_so(propcite: Propcite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPCITE_AUDIT_DAYS", "0")
    propcite("people", "grant", ADA)
    assert propcite("audit", "--json").json == []
