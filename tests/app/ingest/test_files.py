"""Files, folders, encodings and plain text, and the error for each file that cannot be read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import ARCHIVES, SUFFIXES, document_from_bytes, find_files, read_bytes, read_document
from propcite.app.ingest.readers.draft import clean

NOBODY = 65534


def refused(path: Path, **options: int) -> str:
    with pytest.raises(ReadError) as caught:
        read_document(path, **options)
    message = str(caught.value)
    assert message.startswith(path.name)
    assert "\n" not in message
    return message


def text_of(data: bytes, name: str = "x.txt") -> str:
    return document_from_bytes(name, data, "").text


@contextmanager
def without_root() -> Iterator[None]:
    """Run as another user, since root can read everything."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_text_file_becomes_a_document_with_its_words_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "The rivers.txt"
    path.write_text("The Po rises at Monviso.\n\n  It is 652 km long.\n")
    document = read_document(path)
    assert document.text == "The Po rises at Monviso.\n\n  It is 652 km long.\n"
    assert (document.id, document.title, document.source) == ("", "The rivers", str(path))
    assert document.metadata == {"kind": "text"}


def test_the_source_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("words")
    monkeypatch.chdir(tmp_path)
    assert read_document(Path("a.txt")).source == str(tmp_path / "a.txt")


def test_an_upload_is_read_from_its_bytes_and_its_suffix_in_any_case() -> None:
    document = document_from_bytes("NOTES.MD", b"# Rivers\n\nThe *Po*.", "upload:NOTES.MD")
    assert (document.text, document.title, document.source) == ("Rivers\n\nThe Po.", "Rivers", "upload:NOTES.MD")


def test_line_ends_are_normalized_and_control_characters_removed() -> None:
    assert text_of("one\r\ntwo\rthree\x1b\x0cfour\u2028five\ufeff".encode()) == "one\ntwo\nthree\n\nfour\nfive"


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("utf-8", "Das Wasser fließt — 日本語, Русский, ελληνικά."),
        ("utf-8-sig", "Das Wasser fließt."),
        ("utf-16", "Das Wasser fließt. 日本語"),
        ("utf-32", "Das Wasser fließt. 日本語"),
        ("latin-1", "café"),
        ("latin-1", "Le café était déjà fermé à midi."),
        ("cp1252", "He said “hello” – it’s 5 €."),
        ("cp1252", "Die Straße führt über die Brücke nach München."),
        ("cp1252", "El niño comió mañana por la señal. ¿Dónde?"),
        ("cp1252", "Å elske på øya er så hårdt."),
        ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy. Řeka teče k moři."),
        ("cp1251", "Русский текст о реке и море. Он был написан давно."),
        ("cp1253", "Ελληνικό κείμενο για το ποτάμι."),
        ("shift_jis", "日本語のテキストです。これは短い文章です。川は山から海へ流れる。"),
        ("euc-jp", "日本語のテキストです。これは短い文章です。川は山から海へ流れる。"),
        ("gb18030", "中文文本，关于河流与大海。"),
        ("cp949", "한국어 텍스트입니다. 강은 바다로 흐른다."),
    ],
)
def test_each_encoding_is_decoded(encoding: str, words: str) -> None:
    assert text_of(words.encode(encoding)) == words


def test_the_first_lines_with_non_ascii_bytes_may_be_far_down() -> None:
    words = "plain line\n" * 30_000 + "日本語のテキストです。これは短い文章です。川は山から海へ流れる。"
    assert text_of(words.encode("shift_jis")) == words


def test_one_damaged_byte_does_not_garble_the_other_letters() -> None:
    words = "Příliš žluťoučký kůň úpěl ďábelské ódy. " * 9
    assert text_of(words.encode() + b"\xff") == words + "\ufffd"


@pytest.mark.parametrize(
    "data",
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"text\0text", bytes(range(1, 32)) * 9, b"\xff\xfeA\0\0\0B\0"],
)
def test_binary_content_is_not_text(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(data)
    assert refused(path) == "x.txt is not text (it has binary content): save it as UTF-8 text and add it again"


@pytest.mark.parametrize("name", [f"x{suffix}" for suffix in SUFFIXES if suffix not in ARCHIVES])
@pytest.mark.parametrize("data", [b"", b" \n\t\r\n "])
def test_an_empty_file_of_each_kind(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert refused(path) == f"{name} is empty: nothing to add"


@pytest.mark.parametrize("data", ["\ufeff \n", "\u3000\n"])
def test_a_blank_file_is_empty_in_any_encoding(data: str) -> None:
    with pytest.raises(ReadError, match=r"^x.txt is empty: nothing to add$"):
        text_of(data.encode("utf-16"))


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        file.truncate(200 * 2**20)
    expected = "big.txt is 200 MB, over the limit of 64 MB: split it or raise PROPCITE_MAX_FILE_MB"
    assert refused(path) == expected
    # One byte over the limit must not read `64 MB, over the limit of 64 MB`.
    os.truncate(path, 64 * 2**20 + 1)
    assert "is 64.1 MB, over the limit of 64 MB" in refused(path)


def test_the_limit_itself_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("12345")
    assert read_bytes(path, 5) == b"12345"
    assert "over the limit" in refused(path, max_bytes=4)


def test_a_folder_a_pipe_and_a_missing_file_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "folder.txt").mkdir()
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "link.txt").symlink_to(tmp_path / "gone.txt")
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    assert refused(tmp_path / "folder.txt") == "folder.txt is a folder: name a file inside it"
    assert "is not a regular file" in refused(tmp_path / "pipe.txt")
    assert refused(tmp_path / "missing.txt") == "missing.txt was not found: check its name and folder"
    assert refused(tmp_path / "link.txt") == "link.txt is a link to a missing file: fix or remove the link"
    assert "cannot be opened" in refused(tmp_path / "loop.txt")
    assert "cannot be opened" in refused(tmp_path / ("x" * 300 + ".txt"))
    assert "was not found" in refused(tmp_path / "a.txt" / "b.txt")


def test_a_name_with_a_nul_is_refused() -> None:
    with pytest.raises(ReadError, match="cannot be opened"):
        read_document(Path("a\0b.txt"))


def test_a_file_without_permission() -> None:
    # Other users cannot enter pytest's own folders, so the error would not come from the file itself.
    with TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(folder, "secret.txt")
        path.write_text("words")
        path.chmod(0)
        with without_root():
            assert find_files([path]) == ([path], [])
            message = refused(path)
    assert message == "secret.txt cannot be opened (no permission): let this user read it and add it again"


def test_the_error_for_an_unknown_suffix_lists_the_supported_types() -> None:
    with pytest.raises(ReadError) as caught:
        document_from_bytes("x.xyz", b"words", "")
    assert str(caught.value) == (
        "x.xyz has an unsupported file type: save it as one of txt, md, html, pdf, png, jpeg, tiff, docx, odt, rtf, "
        "epub, pptx, odp, xlsx, ods, csv, tsv, json, jsonl, eml, mbox, and zip archives of these"
    )


@pytest.mark.parametrize("name", ["ls.1", "passwd.5", "CA.pl.1ssl", "git-log.1.gz"])
def test_the_source_of_a_manual_page_is_refused_with_the_command_that_renders_it(name: str) -> None:
    with pytest.raises(ReadError) as caught:
        document_from_bytes(name, b".TH LS 1", "")
    assert (
        str(caught.value)
        == f"{name} looks like the source of a manual page: run man -l {name} > {name}.txt and add that"
    )


@pytest.mark.parametrize(("name", "better"), [("x.doc", ".docx"), ("X.XLS", ".xlsx"), ("x.ppt", ".pptx")])
def test_the_error_for_a_legacy_format_names_the_new_one(name: str, better: str) -> None:
    with pytest.raises(ReadError) as caught:
        document_from_bytes(name, b"words", "")
    assert str(caught.value) == f"{name} has a legacy format that cannot be read: open it and save it as {better}"


def test_a_name_that_is_not_utf8_on_disk_becomes_valid_unicode(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))
    path.write_text("words")
    document = read_document(path)
    document.source.encode()
    assert document.title == "caf\ufffd"
    path.write_text("")
    with pytest.raises(ReadError, match="caf\ufffd"):
        read_document(path)


def make(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("words")
    return paths


def test_a_folder_gives_its_supported_files_sorted_without_hidden_ones(tmp_path: Path) -> None:
    expected = make(tmp_path, "a.md", "b/c.PDF", "b/d.txt", "e.htm")
    make(tmp_path, ".hidden.md", ".git/x.md", "b/x.xyz", "Makefile", "b/.x/y.txt")
    assert find_files([tmp_path]) == (expected, [])


def test_files_of_other_kinds_are_counted(tmp_path: Path) -> None:
    make(
        tmp_path, "a.md", *(f"b/{n}.xyz" for n in range(3)), "Makefile", *(f"{n}.{n}" for n in range(4)), ".hidden.xyz"
    )
    lines: list[str] = []
    find_files([tmp_path], report=lines.append)
    (line,) = lines
    assert line.startswith(f"{tmp_path}: 8 files of a kind that is not read (3 .xyz, ")
    assert line.endswith(", …)")


def test_given_files_keep_their_order_each_once(tmp_path: Path) -> None:
    a, b = make(tmp_path, "a.md", "b.md")
    (tmp_path / "c.md").symlink_to(a)
    files, errors = find_files([b, tmp_path / "c.md", tmp_path, a])
    assert (files, errors) == ([b, tmp_path / "c.md"], [])


def test_given_files_are_read_even_if_hidden_and_reported_if_they_cannot_be(tmp_path: Path) -> None:
    (hidden, unknown) = make(tmp_path, ".hidden.md", "x.xyz")
    (tmp_path / "empty").mkdir()
    files, errors = find_files([hidden, unknown, tmp_path / "missing.md", tmp_path / "empty"])
    assert files == [hidden]
    assert [str(error).split(":")[0] for error in errors] == [
        "x.xyz has an unsupported file type",
        "missing.md was not found",
        "empty contains no file that can be read",
    ]


def test_cyclic_links_are_harmless(tmp_path: Path) -> None:
    expected = make(tmp_path / "top", "a/one.md", "b/two.md")
    make(tmp_path, "outside.md", "elsewhere/three.md")
    top = tmp_path / "top"
    for place, target in (("up", tmp_path), ("self", top), ("a/b", top / "b"), ("b/a", top / "a")):
        (top / place).symlink_to(target)
    (top / "a" / "gone.md").symlink_to(tmp_path / "gone.md")
    (top / "elsewhere").symlink_to(tmp_path / "elsewhere")
    files, errors = find_files([top], follow_links=True)
    assert sorted(os.path.realpath(path) for path in files) == sorted(
        [*map(str, expected), str(tmp_path / "elsewhere" / "three.md")]
    )
    assert [str(error) for error in errors] == ["gone.md is a link to a missing file: fix or remove the link"]


def test_a_folder_without_permission_is_reported(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    make(closed, "a.md")
    closed.chmod(0)
    with without_root():
        files, errors = find_files([closed])
    assert (files, len(errors)) == ([], 1)
    assert "no permission" in str(errors[0])


def test_importing_is_light() -> None:
    heavy = "pypdfium2 lxml markdown_it charset_normalizer zipfile email httpx docx"
    code = f"import sys, propcite.app.ingest.readers; print(set('{heavy}'.split()) & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout.strip() == "set()"


def text_or_error(data: bytes) -> str | ReadError:
    try:
        return text_of(data)
    except ReadError as error:
        return error


@given(st.text(st.characters(exclude_characters="\b\f\x1b"), max_size=45))
def test_any_text_that_is_not_wrapped_is_unchanged_except_for_line_ends(text: str) -> None:
    data = text.encode("utf-8", errors="replace")
    words = text_or_error(data)
    assert str(words).startswith("x.txt is") if isinstance(words, ReadError) else words == clean(data.decode())
    assert not set(str(words)) & set("\r\0\u2028")


@given(st.binary())
def test_any_bytes_are_a_text_or_an_error(data: bytes) -> None:
    words = str(text_or_error(data))
    words.encode()
    assert not set(words) & set("\r\0")
