"""PDFs whose fonts have no Unicode map, an incomplete one or a wrong one."""

from __future__ import annotations

import string

from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.text import Document

STORY = (
    "calculate these intervals for subjects with the same birth date who were enrolled in a study from september "
    "through october and then followed for several months; each interval has another start and end date but there "
    "are only four lengths of intervals each of which appears ten times now convert this to an age scale"
)
SQUARE = b"500 0 0 0 500 500 d1 0 0 500 500 re f"


def pdf(font: str, *pages: bytes, unicode_map: str = "") -> bytes:
    """Write a PDF whose pages show these bytes in a font, with a Unicode map if there is one."""
    shows = [b"BT /F0 12 Tf 72 700 Td (" + page.replace(b"\\", rb"\\") + b") Tj ET" for page in pages]
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    used = font.replace("UNICODE", "/ToUnicode 4 0 R" if unicode_map else "")
    objects = [
        b"<</Type /Catalog /Pages 2 0 R>>",
        f"<</Type /Pages /Count {len(pages)} /Kids [{kids}]>>".encode(),
        used.encode(),
        stream(unicode_map.encode()),
    ]
    for number, show in enumerate(shows):
        objects.append(
            b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 6000 800] /Resources <</Font <</F0 3 0 R>>>> "
            + f"/Contents {6 + 2 * number} 0 R>>".encode()
        )
        objects.append(stream(show))
    objects.append(stream(SQUARE))
    written, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(written))
        body = body.replace(b"GLYPH", f"{len(objects)} 0 R".encode())
        written += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"trailer <</Size {len(objects) + 1} /Root 1 0 R>>\nstartxref\n{len(written)}\n%%EOF\n"
    return written + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def stream(content: bytes) -> bytes:
    return f"<</Length {len(content)}>>\nstream\n".encode() + content + b"\nendstream"


def bitmaps(*codes: int) -> str:
    """Return a font as pdfTeX writes its bitmap fonts: neither it nor its glyphs have names that say something."""
    names = " ".join(f"{code} /a{code}" for code in sorted(codes))
    glyphs = " ".join(f"/a{code} GLYPH" for code in sorted(codes))
    widths = " ".join("1000" if code in (*range(11, 16), *range(27, 32)) else "500" for code in range(256))
    return (
        "<</Type /Font /Subtype /Type3 /FontBBox [0 0 500 500] /FontMatrix [0.001 0 0 0.001 0 0] UNICODE "
        f"/Encoding <</Type /Encoding /Differences [{names}]>> /CharProcs <<{glyphs}>> "
        f"/FirstChar 0 /LastChar 255 /Widths [{widths}]>>"
    )


def named(**codes: str) -> str:
    """Return Helvetica with names for glyphs: `x41="f_f"` is that of code 0x41."""
    differences = " ".join(f"{int(code[1:], 16)} /{name}" for code, name in codes.items())
    return (
        "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica UNICODE "
        f"/Encoding <</Type /Encoding /BaseEncoding /WinAnsiEncoding /Differences [{differences}]>>>>"
    )


def mapping(chars: dict[str, str]) -> str:
    """Return a Unicode map for characters of a Latin font."""
    entries = "\n".join(f"<{ord(char):02x}> <{target.encode('utf-16-be').hex()}>" for char, target in chars.items())
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n1 begincodespacerange <00> <ff> "
        f"endcodespacerange\n{len(chars)} beginbfchar\n{entries}\nendbfchar\nendcmap end end"
    )


def read(data: bytes) -> Document:
    return document_from_bytes("x.pdf", data, "")


LETTERS = [ord(char) for char in string.ascii_letters + string.digits + " .,"]


def test_bitmaps_in_cork_encoding() -> None:
    document = read(
        pdf(bitmaps(*LETTERS, 0x15, 0x1B, 0x1C, 0xFC), b"A di\x1berent \x1cnding after 2\x153 months f\xfcr x.")
    )
    assert document.text == "A different finding after 2–3 months für x."
    assert "lost_characters" not in document.metadata


def test_bitmaps_in_the_encoding_of_knuth() -> None:
    font = bitmaps(*LETTERS, 0x0B, 0x0C, 0x7B)
    assert read(pdf(font, b"A di\x0berent \x0cnding after 2{3 months.")).text == "A different finding after 2–3 months."


def test_bitmaps_of_symbols_beside_text() -> None:
    assert read(pdf(bitmaps(0x88, 0xA9), b"\x88 \xa9")).text == "• ©"


def test_glyph_names_that_say_what_they_are() -> None:
    font = named(x41="f_f", x42="angbracketleft", x43="angbracketright", x44="uni2013", x45="summationdisplay")
    assert read(pdf(font, b"suAer Bx, yC 2D3 E")).text == "suffer ⟨x, y⟩ 2–3 ∑"


def test_the_stroke_of_an_unequal_sign() -> None:
    assert read(pdf(named(x36="negationslash"), b"where p 6= 0 holds")).text == "where p ≠ 0 holds"


def test_old_style_digits_are_digits() -> None:
    assert read(pdf(named(x41="oneoldstyle", x42="nineoldstyle"), b"in AB85")).text == "in 1985"


def test_a_character_without_a_meaning_is_counted() -> None:
    document = read(pdf(named(x41="g17", x42="g18"), b"one A two B three"))
    assert document.text == "one \ufffd two \ufffd three"
    assert document.metadata["lost_characters"] == "2"


def test_a_code_that_the_unicode_map_leaves_out() -> None:
    font, known = named(x41="f_f"), mapping({char: char for char in "suer "})
    assert read(pdf(font, b"suAer", unicode_map=known)).text == "suffer"


def test_a_unicode_map_of_nonsense_beside_glyph_names() -> None:
    wrong = dict(zip(string.ascii_lowercase, "qwrtzpsdfghjklxcvbnmeyuioa", strict=True))
    font = named(**{f"x{ord(char):x}": char for char in string.ascii_lowercase})
    assert read(pdf(font, STORY.encode(), unicode_map=mapping(wrong))).text == STORY


def test_nonsense_is_not_taken_for_text() -> None:
    key = str.maketrans(string.ascii_lowercase, "qwrtzpsdfghjklxcvbnmeyuioa")
    document = read(pdf(named(), STORY.encode(), STORY.translate(key).encode()))
    assert document.text == STORY
    assert document.metadata["pages_without_text"] == "1"


def test_letters_beyond_the_first_plane_of_unicode() -> None:
    known = mapping({char: char for char in "where is a length"} | {"X": "\U0001d465"})
    assert read(pdf(named(), b"where X is a length", unicode_map=known)).text == "where \U0001d465 is a length"
