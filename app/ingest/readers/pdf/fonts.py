"""Give the fonts of a PDF the Unicode maps that they lack, from their encodings and the fonts embedded in it."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

from propcite.app.ingest.readers.pdf import tex_encodings
from propcite.app.ingest.readers.pdf.glyphs import chars_of

_ENCODED = re.compile(rb"dup\s+(\d+)\s*/(\S+)\s+put")  # in the clear part of a Type 1 font
_MAPPED = re.compile(rb"<([0-9a-fA-F\s]+)>\s*<([0-9a-fA-F\s]*)>")
_RANGE = re.compile(rb"<([0-9a-fA-F\s]+)>\s*<([0-9a-fA-F\s]+)>\s*(?:<([0-9a-fA-F\s]*)>|\[([^\]]*)\])")
_SECTION = re.compile(rb"begin(bfchar|bfrange)(.*?)endbf", re.DOTALL)
# Fonts of lines and circle segments: their glyphs are parts of drawings, not characters.
_DRAWING = re.compile(r"(?:LINE|LCIRCLE|LASY|xypic|xy(?:at|bt|cmat|cmbt|circ|dash|line))", re.IGNORECASE)
_BULLETS = re.compile(r"Wingdings|Webdings|ZapfDingbats", re.IGNORECASE)


def with_unicode_maps(data: bytes, *, trusts_names: bool = False) -> bytes | None:
    """Return the PDF with a Unicode map in each font that lacks characters; None if no font can be completed.

    What a font's own map says stays, unless glyph names and embedded fonts are trusted more than such maps.
    """
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, NameObject

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    writer = PdfWriter(io.BytesIO(data), incremental=True)
    fonts = list(_fonts(writer))
    is_cork = any(tex_encodings.is_cork(_widths(font)) for font in fonts if _is_bitmap(font))
    changed = False
    for font in fonts:
        known, is_readable = _mapped(_stream(font.get("/ToUnicode")))
        named = _characters(font, is_cork)
        chars = known | named if trusts_names else named | known
        if chars != known or not is_readable:
            stream = DecodedStreamObject()
            stream.set_data(_unicode_map(chars, 4 if _is_composite(font) else 2))
            font[NameObject("/ToUnicode")] = writer._add_object(stream)
            changed = True
    if not changed:
        return None
    mended = io.BytesIO()
    writer.write(mended)
    return mended.getvalue()


def _fonts(pdf: Any) -> Iterator[Any]:
    """Yield each font that pages and the drawings on them use, once."""
    seen: set[int] = set()
    waiting = [_entry(page, "/Resources") for page in pdf.pages]
    while waiting:
        resources = waiting.pop()
        for font in _entry(resources, "/Font").values():
            font = font.get_object()
            if id(font) not in seen and hasattr(font, "get"):
                seen.add(id(font))
                yield font
        for drawing in (*_entry(resources, "/XObject").values(), *_entry(resources, "/Pattern").values()):
            drawing = drawing.get_object()
            if id(drawing) not in seen and hasattr(drawing, "get"):
                seen.add(id(drawing))
                waiting.append(_entry(drawing, "/Resources"))


def _entry(holder: Any, key: str) -> Any:
    """Return a dictionary inside a dictionary; an empty one where it is missing or something else."""
    value = holder.get(key)
    value = value.get_object() if value is not None else None
    return value if hasattr(value, "get") else {}


def _stream(value: Any) -> bytes:
    value = value.get_object() if value is not None else None
    return bytes(value.get_data()) if hasattr(value, "get_data") else b""


def _is_composite(font: Any) -> bool:
    return bool(font.get("/Subtype") == "/Type0")


def _characters(font: Any, is_cork: bool) -> dict[int, str]:
    """Return what the font's codes stand for, as far as its encoding and its glyphs' names say."""
    name = str(font.get("/BaseFont", font.get("/Name", ""))).split("+")[-1].lstrip("/")
    if _is_composite(font):
        return _composite(font)
    if _DRAWING.match(name) or _BULLETS.match(name):
        return dict.fromkeys(range(256), " " if _DRAWING.match(name) else "•")
    if _is_bitmap(font):
        return tex_encodings.guess(_widths(font), is_cork)
    names = _glyph_names(font)
    return {code: chars for code, glyph in names.items() if (chars := chars_of(glyph))}


def _glyph_names(font: Any) -> dict[int, str]:
    names: dict[int, str] = {}
    encoding, descriptor = _entry(font, "/Encoding"), _entry(font, "/FontDescriptor")
    if "/BaseEncoding" not in encoding and not isinstance(font.get("/Encoding"), str):
        if program := _stream(descriptor.get("/FontFile")):
            names = {int(code): glyph.decode("latin-1") for code, glyph in _ENCODED.findall(program)}
        elif program := _stream(descriptor.get("/FontFile3")):
            names = _compact_encoding(program)
    return names | _differences(encoding)


def _differences(encoding: Any) -> dict[int, str]:
    names: dict[int, str] = {}
    code = 0
    differences = encoding.get("/Differences")
    for item in differences.get_object() if differences is not None else ():
        item = item.get_object()
        if isinstance(item, int | float):
            code = int(item)
        else:
            names[code] = str(item).removeprefix("/")
            code += 1
    return names


def _compact_encoding(program: bytes) -> dict[int, str]:
    """Return the glyph names by code of an embedded CFF font; empty if it cannot be read."""
    font = _compact_font(program)
    encoding = getattr(font, "Encoding", None)
    if encoding == "StandardEncoding" or not isinstance(encoding, list):
        return {}
    return {code: name for code, name in enumerate(encoding) if name != ".notdef"}


def _compact_font(program: bytes) -> Any:
    from fontTools.cffLib import CFFFontSet

    fonts = CFFFontSet()
    try:
        fonts.decompile(io.BytesIO(program), None)
        return fonts[0]
    except Exception:  # fontTools raises errors of all kinds on a damaged font
        return None


def _composite(font: Any) -> dict[int, str]:
    """Return what glyphs stand for in a font whose codes are glyph numbers, by its character table or glyph names."""
    descendants = font.get("/DescendantFonts")
    descendants = descendants.get_object() if descendants is not None else []
    if font.get("/Encoding") not in ("/Identity-H", "/Identity-V") or not descendants:
        return {}
    descendant = descendants[0].get_object()
    descriptor = _entry(descendant, "/FontDescriptor")
    chars: dict[int, str] = {}
    if program := _stream(descriptor.get("/FontFile2")):
        chars = _sfnt(program)
        glyphs = _stream(descendant.get("/CIDToGIDMap"))
        if glyphs:
            pairs = enumerate(int.from_bytes(glyphs[at : at + 2]) for at in range(0, len(glyphs) - 1, 2))
            chars = {code: chars[glyph] for code, glyph in pairs if glyph in chars}
    elif program := _stream(descriptor.get("/FontFile3")):
        if program[:4] == b"OTTO":
            return _sfnt(program)
        compact = _compact_font(program)
        names = [] if compact is None or hasattr(compact, "ROS") else compact.charset
        chars = {code: text for code, name in enumerate(names) if (text := chars_of(name))}
    return chars


def _sfnt(program: bytes) -> dict[int, str]:
    """Return what the glyphs of a TrueType or OpenType font stand for; empty if it cannot be read."""
    from fontTools.ttLib import TTFont

    try:
        font = TTFont(io.BytesIO(program), lazy=True)
        names = font.getGlyphOrder()
        chars = {number: text for number, name in enumerate(names) if (text := chars_of(name))}
        table = font.getBestCmap() if "cmap" in font else None
        numbers = {name: number for number, name in enumerate(names)}
    except Exception:  # fontTools raises errors of all kinds on a damaged font
        return {}
    return chars | {numbers[name]: chr(char) for char, name in (table or {}).items() if name in numbers}


def _is_bitmap(font: Any) -> bool:
    """Whether a font has drawn glyphs whose names only count them, as those of TeX's bitmap fonts."""
    if font.get("/Subtype") != "/Type3":
        return False
    names = _differences(_entry(font, "/Encoding")).values()
    return not any(chars_of(name) for name in names if len(name) > 1)


def _widths(font: Any) -> dict[int, float]:
    """Return the widths of the glyphs that a Type 3 font has, by their codes."""
    glyphs, widths = _entry(font, "/CharProcs"), font.get("/Widths")
    first, widths = int(font.get("/FirstChar", 0)), widths.get_object() if widths is not None else []
    used = [code for code, name in _differences(_entry(font, "/Encoding")).items() if f"/{name}" in glyphs]
    return {code: float(widths[code - first]) if 0 <= code - first < len(widths) else 0.0 for code in used}


def _mapped(unicode_map: bytes) -> tuple[dict[int, str], bool]:
    """Return the characters of a Unicode map, and whether pdfium can read it: its ranges must end with their 256 codes.

    Codes that stand for nothing, for which some programs write 0, are left out.
    """
    chars: dict[int, str] = {}
    is_readable = True
    for kind, section in _SECTION.findall(unicode_map):
        if kind == b"bfchar":
            chars |= {int(code, 16): _text(target) for code, target in _MAPPED.findall(section)}
            continue
        for first, last, target, targets in _RANGE.findall(section):
            codes = range(int(first, 16), min(int(last, 16), int(first, 16) + 0xFFFF) + 1)
            if targets:
                chars |= dict(zip(codes, map(_text, re.findall(rb"<([0-9a-fA-F\s]*)>", targets)), strict=False))
            elif text := _text(target):
                chars |= {code: text[:-1] + chr(ord(text[-1]) + code - codes[0]) for code in codes if code <= 0xFFFF}
            is_readable = is_readable and codes[0] >> 8 == codes[-1] >> 8
    return {code: text for code, text in chars.items() if text.strip("\0\ufffd")}, is_readable


def _text(digits: bytes) -> str:
    return bytes.fromhex(digits.decode().zfill(4)).decode("utf-16-be", "replace")


def _unicode_map(chars: Mapping[int, str], digits: int) -> bytes:
    targets = {code: text.encode("utf-16-be", "surrogatepass").hex() for code, text in sorted(chars.items())}
    entries = [f"<{code:0{digits}X}> <{target}>" for code, target in targets.items()]
    sections = "".join(
        f"{len(part)} beginbfchar\n" + "\n".join(part) + "\nendbfchar\n"
        for part in (entries[at : at + 100] for at in range(0, len(entries), 100))
    )
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapType 2 def\n1 begincodespacerange\n"
        f"<{'0' * digits}> <{'F' * digits}>\nendcodespacerange\n{sections}"
        "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend"
    ).encode()
