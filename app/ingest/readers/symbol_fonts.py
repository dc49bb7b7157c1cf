"""The characters of Word's symbol fonts, whose codes are no Unicode."""

from __future__ import annotations

# The fonts Symbol (its Greek letters are in the places of Latin ones) and Wingdings.
_SYMBOL = dict(zip(range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True))
_SYMBOL |= dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True))
_SYMBOL |= dict(zip(range(0xA1, 0xBF), "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯", strict=True))
_SYMBOL |= dict(zip(range(0xC0, 0xE0), "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓", strict=True))
_SYMBOL |= {
    0x22: "∀",
    0x24: "∃",
    0x27: "∋",
    0x2A: "∗",
    0x2D: "−",
    0x40: "≅",
    0x5C: "∴",
    0x5E: "⊥",
    0xE0: "◊",
    0xE5: "∑",
}
_SYMBOL |= {0xF2: "∫"}
_WINGDINGS = {
    0x6C: "●",
    0x6E: "■",
    0x6F: "□",
    0x71: "❑",
    0x76: "❖",
    0x9F: "•",
    0xA7: "▪",
    0xA8: "☐",
    0xD8: "➢",
    0xDF: "←",
}
_WINGDINGS |= {0xE0: "→", 0xE8: "➔", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0x28: "☎", 0x2A: "✉"}


def symbol_character(font: str, code: int) -> str:
    """Return the character with this code in a symbol font; empty if it is not known.

    >>> symbol_character("Symbol", 0xB0), symbol_character("Wingdings", 0xFC), symbol_character("Webdings", 0x41)
    ('°', '✓', '')
    """
    match font:
        case "Symbol":
            return _SYMBOL.get(code, chr(code) if 0x20 <= code < 0x7F else "")
        case "Wingdings":
            return _WINGDINGS.get(code, "")
    return ""
