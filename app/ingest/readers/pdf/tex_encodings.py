"""What the codes of TeX's bitmap fonts stand for.  Such a font in a PDF names neither itself nor its glyphs."""

from __future__ import annotations

from collections.abc import Mapping

_ASCII = {code: chr(code) for code in range(0x21, 0x7F)}
_LIGATURES = ("ff", "fi", "fl", "ffi", "ffl")


def _from(first: int, chars: str) -> dict[int, str]:
    return dict(enumerate(chars.split(" "), start=first))


# The Cork encoding of most European languages.
T1 = (
    _ASCII
    | _from(0x00, "` ´ ˆ ˜ ¨ ˝ ˚ ˇ ˘ ¯ ˙ ¸ ˛ ‚ ‹ › “ ” „ « » – —")
    | {0x18: "₀", 0x19: "ı", 0x1A: "ȷ", 0x20: " ", 0x27: "’", 0x60: "‘", 0x7F: "-"}
    | dict(enumerate(_LIGATURES, start=0x1B))
    | _from(0x80, "Ă Ą Ć Č Ď Ě Ę Ğ Ĺ Ľ Ł Ń Ň Ŋ Ő Ŕ Ř Ś Š Ş Ť Ţ Ű Ů Ÿ Ź Ž Ż Ĳ İ đ §")
    | _from(0xA0, "ă ą ć č ď ě ę ğ ĺ ľ ł ń ň ŋ ő ŕ ř ś š ş ť ţ ű ů ÿ ź ž ż ĳ ¡ ¿ £")
    | _from(0xC0, "À Á Â Ã Ä Å Æ Ç È É Ê Ë Ì Í Î Ï Ð Ñ Ò Ó Ô Õ Ö Œ Ø Ù Ú Û Ü Ý Þ SS")
    | _from(0xE0, "à á â ã ä å æ ç è é ê ë ì í î ï ð ñ ò ó ô õ ö œ ø ù ú û ü ý þ ß")
)
# Knuth's text fonts.
OT1 = (
    _ASCII
    | _from(0x00, "Γ Δ Θ Λ Ξ Π Σ Υ Φ Ψ Ω")
    | dict(enumerate(_LIGATURES, start=0x0B))
    | _from(0x10, "ı ȷ ` ´ ˇ ˘ ¯ ˚ ¸ ß æ œ ø Æ Œ Ø")
    | {0x20: " ", 0x22: "”", 0x27: "’", 0x3C: "¡", 0x3E: "¿", 0x5C: "“", 0x5F: "˙", 0x60: "‘"}
    | {0x7B: "–", 0x7C: "—", 0x7D: "˝", 0x7E: "˜", 0x7F: "¨"}
)
# Typewriter fonts have ASCII's characters where other fonts of Knuth have dashes and quotation marks.
OT1_TYPEWRITER = OT1 | {code: chr(code) for code in (0x22, 0x3C, 0x3E, 0x5C, 0x5F, 0x7B, 0x7C, 0x7D, 0x7E)}
# Text symbols, used beside T1 and OT1.
TS1 = (
    {0x15: "–", 0x16: "—", 0x18: "←", 0x19: "→", 0x24: "$", 0x27: "'", 0x2A: "*", 0x2C: ",", 0x2D: "=", 0x2E: "."}
    | {0x2F: "/", 0x3C: "⟨", 0x3E: "⟩", 0x4D: "℧", 0x4F: "◯", 0x57: "Ω", 0x5B: "⟦", 0x5D: "⟧", 0x5E: "↑", 0x5F: "↓"}
    | {0x60: "`", 0x62: "★", 0x63: "⚮", 0x64: "†", 0x6C: "☙", 0x6D: "⚭", 0x6E: "♪", 0x7E: "~", 0x7F: "=", 0x0D: "‚"}
    | {0x30 + digit: str(digit) for digit in range(10)}
    | _from(0x80, "˘ ˇ ˝ ‶ † ‡ ‖ ‰ • ℃ $ ¢ ƒ ₡ ₩ ₦ ₲ ₱ ₤ ℞ ‽ ⸘ ₫ ™ ‱ ¶ ฿ № ⁒ ℮ ◦ ℠")
    | _from(0xA0, "⁅ ⁆ ¢ £ ¤ ¥ ¦ § ¨ © ª 🄯 ¬ ℗ ® ¯ ° ± ² ³ ´ µ ¶ · ※ ¹ º √ ¼ ½ ¾ €")
    | {0xD6: "×", 0xF6: "÷"}
)
# Mathematical symbols.
OMS = (
    _from(0x00, "− · × ∗ ÷ ⋄ ± ∓ ⊕ ⊖ ⊗ ⊘ ⊙ ◯ ◦ • ≍ ≡ ⊆ ⊇ ≤ ≥ ⪯ ⪰ ∼ ≈ ⊂ ⊃ ≪ ≫ ≺ ≻")
    | _from(0x20, "← → ↑ ↓ ↔ ↗ ↘ ≃ ⇐ ⇒ ⇑ ⇓ ⇔ ↖ ↙ ∝ ′ ∞ ∈ ∋ △ ▽ ̸ ↦ ∀ ∃ ¬ ∅ ℜ ℑ ⊤ ⊥ ℵ")
    | {code: chr(code) for code in range(0x41, 0x5B)}
    | _from(0x5B, "∪ ∩ ⊎ ∧ ∨ ⊢ ⊣ ⌊ ⌋ ⌈ ⌉ { } ⟨ ⟩ | ‖ ↕ ⇕ \\ ≀ √ ∐ ∇ ∫ ⊔ ⊓ ⊑ ⊒ § † ‡ ¶ ♣ ♢ ♡ ♠")
)
# Mathematical italics.
OML = (
    _ASCII
    | _from(0x00, "Γ Δ Θ Λ Ξ Π Σ Υ Φ Ψ Ω α β γ δ ϵ ζ η θ ι κ λ μ ν ξ π ρ σ τ υ ϕ χ")
    | _from(0x20, "ψ ω ε ϑ ϖ ϱ ς φ ↼ ↽ ⇀ ⇁ ↩ ↪ ▷ ◁ 0 1 2 3 4 5 6 7 8 9 . , < / > ⋆ ∂")
    | _from(0x5B, "♭ ♮ ♯ ⌣ ⌢ ℓ")
    | {0x7B: "ı", 0x7C: "ȷ", 0x7D: "℘", 0x7E: "⃗", 0x7F: "⁀"}
)
_LETTERS = frozenset(map(ord, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
_LOWER = frozenset(map(ord, "abcdefghijklmnopqrstuvwxyz"))


def guess(widths: Mapping[int, float], is_cork: bool) -> dict[int, str]:
    """Return the encoding that the glyphs' codes and widths fit best.  `is_cork` says whether other text is in T1."""
    codes = set(widths)
    if not codes & _LETTERS:
        if codes <= set(TS1):
            return TS1
        return OMS if min(codes) < 0x20 else T1 if is_cork else OT1
    has_cork, has_knuth = _has_ligatures(widths, 0x1B), _has_ligatures(widths, 0x0B)
    if has_cork and not has_knuth:
        return T1
    if has_knuth and not has_cork:
        return OT1
    low = {code for code in codes if code < 0x20}
    if low and not low <= {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, *range(0x1B, 0x20)}:
        return OML if codes & _LOWER else OMS
    if low or is_cork or max(codes) > 0x7F:
        return T1
    return OT1_TYPEWRITER if len(set(widths.values())) == 1 else OT1


def is_cork(widths: Mapping[int, float]) -> bool:
    """Whether a font is surely in T1: it has ligatures where T1 has them, or letters beyond Knuth's 128 codes."""
    return bool(_LOWER & set(widths)) and (_has_ligatures(widths, 0x1B) or max(widths) > 0x7F)


def _has_ligatures(widths: Mapping[int, float], first: int) -> bool:
    """Whether there are ligatures from this code on, each as wide as its letters or, if these are missing, at all."""
    fits = []
    for code, letters in enumerate(_LIGATURES, start=first):
        if code in widths:
            parts = [widths.get(ord(letter)) for letter in letters]
            known = [part for part in parts if part]
            ratio = widths[code] / sum(known) if len(known) == len(parts) else 0.0
            fits.append(0.8 < ratio < 1.1 if ratio else None)
    return True in fits or (bool(fits) and False not in fits)
