"""The characters that glyph names stand for: Adobe's list and rules, and the names of TeX's fonts."""

from __future__ import annotations

import re
from functools import lru_cache

# Glyph names of Computer Modern, Latin Modern, AMS, St Mary's Road and wasy fonts that Adobe's list lacks.
_TEX_NAMES = {
    name: char
    for pair in """
    angbracketleft=⟨ angbracketright=⟩ dblbracketleft=⟦ dblbracketright=⟧ llbracket=⟦ rrbracket=⟧ bardbl=‖
    floorleft=⌊ floorright=⌋ ceilingleft=⌈ ceilingright=⌉ lessmuch=≪ greatermuch=≫ precedes=≺ follows=≻
    precedesequal=⪯ followsequal=⪰ precedesorequal=≼ followsorequal=≽ lessorequalslant=⩽ greaterorequalslant=⩾
    similarequal=≃ equivasymptotic=≍ subsetsqequal=⊑ supersetsqequal=⊒ sqsubset=⊏ sqsupset=⊐ owner=∋
    xlessequal=≤ xgreaterequal=≥ apprle=≲ apprge=≳ lessorsimilar=≲ greaterorsimilar=≳ definequal=≜ equalsdots=≑
    unionsq=⊔ intersectionsq=⊓ unionmulti=⊎ wreathproduct=≀ coproduct=∐ star=⋆ diamondmath=⋄ openbullet=◦
    circleminus=⊖ circledot=⊙ circledivide=⊘ circlemultiply=⊗ circleplus=⊕ circlecopyrt=◯ bigcircle=◯
    prime=′ minus=− asteriskmath=∗ latticetop=⊤ turnstileleft=⊢ turnstileright=⊣ forces=⊩ satisfies=⊨ mapsto=↦
    arrownortheast=↗ arrowsoutheast=↘ arrownorthwest=↖ arrowsouthwest=↙ arrowbothv=↕ arrowdblbothv=⇕
    arrowhookleft=↩ arrowhookright=↪ arrowlefttophalf=↼ arrowleftbothalf=↽ arrowrighttophalf=⇀ arrowrightbothalf=⇁
    triangle=△ triangleinv=▽ triangleleft=◁ triangleright=▷ trianglerightsld=▶ triangleleftsld=◀ square=□
    squaresolid=■ squaremultiply=⊠ squareplus=⊞ lozengesolid=⧫ check=✓ maltesecross=✠ therefore=∴ because=∵
    lscript=ℓ Ifractur=ℑ Rfractur=ℜ weierstrass=℘ planckover2pi=ℏ planckover2pi1=ℏ beth=ℶ gimel=ℷ daleth=ℸ
    epsilon1=ε rho1=ϱ pi1=ϖ phi1=φ sigma1=ς theta1=ϑ dotlessj=ȷ flat=♭ natural=♮ sharp=♯ slurabove=⌢ slurbelow=⌣
    vector=⃗ tie=⁀ nexists=∄  notdivides=∤ difference=≏ sphericalangle=∢ varangle=∢
    visiblespace=␣ SS=SS Germandbls=SS hyphenchar=- csquotedblright=“ twelveudash=– hyphendbl=⹀ mho=℧ ohm=Ω
    interrobang=‽ naira=₦ guarani=₲ peso=₱ recipe=℞ baht=฿ discount=⁒ servicemark=℠ copyleft=🄯 published=℗
    quillbracketleft=⁅ quillbracketright=⁆ permyriad=‱ nomero=№ died=† born=★ married=⚭ divorced=⚮ leaf=☙
    perthousandzero=₀ polishlcross=ł vextendsingle=| vextenddouble=‖ contintegral=∮ Box=□ XBox=☒ Diamond=◇
    leadsto=⇝ smiley=☺ frownie=☹ phone=☎ Telefon=☎ checked=✓ bell=🔔 clock=🕐 male=♂ female=♀ permil=‰ iint=∬ iiint=∭
    anticlockwise=↺ clockwise=↻ ringfitted=˚ dblverticalbar=‖ lbag=⟅ rbag=⟆ alpha1=α degreecelsius=℃
    """.split()
    for name, _, char in [pair.partition("=")]
} | {"negationslash": "\u0338", "blanksymbol": " "}
# Sizes and pieces of a large delimiter or operator, as in `parenleftbigg` or `summationdisplay`.
_SIZE = re.compile(r"(.+?)(?:display|text|big+|Big+|tp|bt|mid|ex|wide|wider|widest)")
# Adobe's private characters: old-style digits and small capitals.
_PRIVATE = {0xF730 + digit: str(digit) for digit in range(10)} | {0xF761 + n: chr(ord("a") + n) for n in range(26)}
_PRIVATE |= {0xF6BE: "ȷ", 0xF6DE: "—", 0xF6C3: "\u0326", 0xF6D9: "©", 0xF6DA: "®", 0xF6DB: "™"}
_PRIVATE |= {0xF8E8: "®", 0xF8E9: "©", 0xF8EA: "™", 0xF8F4: "|", 0xF8E6: "|", 0xF8E7: "—", 0xF8EF: "|", 0xF8FA: "|"}
_PRIVATE |= dict(zip(range(0xF8EB, 0xF8FF), "(((⌈|⌊{{{|∫∫)))⌉|⌋}}}", strict=False))
# Latin Modern's old-style digits.
_PRIVATE |= {0xF643 + digit: str(digit) for digit in range(10)}
# The bullets of Symbol and Wingdings, whose characters are numbered from U+F000.
_PRIVATE |= dict.fromkeys((0xF06C, 0xF06E, 0xF09F, 0xF0A7, 0xF0B7), "•") | {0xF0D8: "➢", 0xF0FC: "✓", 0xF0E0: "→"}
PUBLIC = str.maketrans(_PRIVATE)


@lru_cache(4096)
def chars_of(name: str) -> str | None:
    """Return the characters that a glyph name stands for; None if it says nothing, as `g12` or `.notdef`.

    >>> chars_of("f_f"), chars_of("uni2013"), chars_of("parenleftbigg"), chars_of("g12")
    ('ff', '–', '(', None)
    """
    from fontTools.agl import toUnicode

    if name in _TEX_NAMES:
        return _TEX_NAMES[name]
    if chars := toUnicode(name).translate(PUBLIC):
        return chars
    sized = _SIZE.fullmatch(name)
    return chars_of(sized[1]) if sized else None
