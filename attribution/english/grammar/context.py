"""Tags that depend on the words beside them: verb or noun, participle or adjective, a comma inside a name."""

from __future__ import annotations

from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import verbs


def join_names(lows: list[str], tags: list[str]) -> None:
    """`July 9, 2018`, `Minneapolis, Minnesota`, `King, Jr.`, `a small, round fruit`: these commas part nothing."""
    for at in range(1, len(tags) - 1):
        if tags[at] == ":" and at > 1 and tags[at - 2] in "XJ" and tags[at - 1] in "XU" and tags[at + 1] == "X":
            _join_title(lows, tags, at)
        if tags[at] != ",":
            continue
        before, after = lows[at - 1], lows[at + 1]
        year = len(after) == 4 and after.isdigit()
        if (
            (year and (before in lex.MONTHS or (at > 1 and before.isdigit() and lows[at - 2] in lex.MONTHS)))
            or after.rstrip(".") in {"jr", "sr", "inc", "ltd", "llc", "etc"}
            or (tags[at - 1] == "J" and tags[at + 1] in "JEG" and tags[at + 2 : at + 3] != ["P"])
            or _is_place(lows, tags, at)
        ):
            tags[at] = "k"


def _join_title(lows: list[str], tags: list[str], colon: int) -> None:
    """`Donkey Kong 2: March of the Minis` is one name."""
    tags[colon] = "X"
    at = colon + 1
    while at < len(tags) and tags[at] == "X":
        small = at + 1
        while small < len(tags) and lows[small] in lex.IN_TITLES and small - at < 3:
            small += 1
        if small > at + 1 and small < len(tags) and tags[small] == "X":
            tags[at + 1 : small] = "X" * (small - at - 1)
        at += 1


def _is_place(lows: list[str], tags: list[str], at: int) -> bool:
    """`in Paris, Texas` but not `in Paris, London and Rome`, nor `in Paris, Texas and Rome`."""
    left = at - 1
    while left >= 0 and tags[left] in "Xk":
        left -= 1
    if left == at - 1 or left < 0 or lows[left] not in {"in", "at", "near", "from", "of", "to", "outside", "the"}:
        return False
    right = at + 1
    while right < len(tags) and tags[right] == "X":
        right += 1
    if right == at + 1 or right - at > 5:
        return False
    if right == len(tags) or tags[right] in ".P;-z":
        return True
    after = right
    while after < len(tags) and tags[after] in ",Xk":
        after += 1
    while after < len(tags) and tags[after] == "c":
        after += 1
    if after == len(tags) or tags[after - 1] in ",X":
        leading = tags[0] in "PSGELT" and not set(tags[1:at]) & set("BHMVR,")
        return tags[right] == "," or (tags[right] in "BHMVE" and not leading)
    return tags[after] not in "XDJNUQ"  # "in Paris, Texas and Rome" is a list


def settle(lows: list[str], tags: list[str]) -> None:
    """Words that may be verb or noun, participle or adjective, by the words beside them."""
    last = len(tags) - 1
    maybe: list[int] = []  # nouns that would be the verb if there were no other
    for at, tag_ in enumerate(tags):
        if tag_ not in "035EGtKWPRD" and lows[at] != "first":
            continue
        before = at - 1
        while before >= 0 and tags[before] == "a":
            before -= 1
        left = tags[before] if before >= 0 else "^"
        right = tags[at + 1] if at < last else "$"
        low = lows[at]
        if tag_ == "3":
            tags[at] = _third(low, left, right, _noun_left(lows, tags, before), opening=before == 0)
            if tags[at] == "N" and left in "NXQzG" and right in "NJGUaPXD" and not lows[before].endswith("s"):
                maybe.append(at)
        elif tag_ == "0":
            tags[at] = _base(low, left, right, lows[before] if before >= 0 else "")
            if tags[at] == "N" and left in "NX" and right in "NJGUaPD" and lows[before].endswith("s"):
                maybe.append(at)
        elif tag_ == "5":
            tags[at] = _same_form(left, right)
        elif tag_ == "E":
            if (
                left in "DJ"
                or (left == "k" and right in "NJ")
                or (left in "POT" and right in "NJX" and before == at - 1)
            ):
                tags[at] = "J"
        elif tag_ == "G":
            if left in "DJN" and right in "NJ" and left != "N":
                tags[at] = "J"
            elif left in "DJ":
                tags[at] = "N"
        elif tag_ == "t":
            tags[at] = (
                "W" if left in "NXzQUp" and right in "aBHMVEL3R0" else "D" if right in "N" and left in "^P" else "t"
            )
        elif low == "first" and right in "BHMVEG":
            tags[at] = "a"
        elif low == "her" and right in "NJXGEU30":
            tags[at] = "D"
        elif low in {"this", "these", "those", "all", "many", "some", "several", "both"} and right in (
            "BHMV3" if low == "this" else "BHMV"
        ):
            tags[at] = "R"
        elif tag_ == "P" and low in lex.PARTICLES and right in ",.;$cP":
            tags[at] = "a"
    if tags[:1] == ["G"] and (tags[1:2] in (["B"], ["H"], ["M"]) or (lows[1:2] and lows[1] in verbs.PAST_ONLY)):
        tags[0] = "N"  # "Spending rose"
    if maybe:
        _promote(tags, maybe)
    _flows(lows, tags)
    _after_aside(lows, tags)
    _only_verb(lows, tags)


def _noun_left(lows: list[str], tags: list[str], at: int) -> str:
    """The word on the left, or the one before `and`."""
    while at > 0 and tags[at] in "c,":
        at -= 1
    return lows[at] if at >= 0 else ""


def _flows(lows: list[str], tags: list[str]) -> None:
    """`rises in A, flows through B and empties into C`: a verb between two verbs of its kind."""
    known = [at for at, tag_ in enumerate(tags) if tag_ == "V" and lows[at] in verbs.THIRD_PERSON]
    if len(known) < 2:
        return
    for at in range(known[0] + 1, known[-1]):
        if tags[at] == "N" and tags[at - 1] == "," and lows[at] in verbs.THIRD_PERSON and tags[at + 1] == "P":
            tags[at] = "V"


def _only_verb(lows: list[str], tags: list[str]) -> None:
    """`Symptoms of flu include fever`: what is no infinitive is the verb where the sentence has no other."""
    if set(tags) & set("BHMVYE;:") or not tags or tags[0] not in "DXNJU":
        return
    for at in range(2, len(tags) - 1):
        if tags[at] == "I" and tags[at - 1] in "NXz" and lows[at] in verbs.BASE_VERBS and tags[at + 1] in "NXDJUQ":
            tags[at] = "V"
            return
        if tags[at] in "STRWt":
            return


def _after_aside(lows: list[str], tags: list[str]) -> None:
    """`Lima, the capital of Peru, lies on the coast`: the verb behind an aside, where there is no other."""
    line = "".join(tags)
    opening = line.find(",")
    closing = line.find(",", opening + 1)
    at = closing + 1
    if opening < 1 or closing < 0 or at >= len(line) or line[at] != "N" or lows[at] not in verbs.THIRD_PERSON:
        return
    sure = set("BHMVYE")
    aside = line[opening + 1 : closing]
    told = aside[:1] in ("W", "E", "L") or not set(aside) & sure
    if told and not set(line[:opening]) & sure and not set(line[at:]) & sure:
        tags[at] = "V"


def _promote(tags: list[str], maybe: list[int]) -> None:
    """`the song features vocals`: a verb where its part of the sentence has no other."""
    line = "".join(tags)
    for at in maybe:
        start = max(line.rfind(mark, 0, at) for mark in ";:Scu") + 1
        stop = min(found if (found := line.find(mark, at)) >= 0 else len(line) for mark in ",;:cu")
        if not set(line[start:stop]) & set("BHMVYE,"):
            tags[at] = "V"
            line = line[:at] + "V" + line[at + 1 :]


def _third(low: str, left: str, right: str, before: str, opening: bool) -> str:
    """`plays`: a verb after a subject and before what a verb takes, otherwise a noun."""
    if left in "NXUz" and right == "T" and low in {"amounts", "comes", "belongs", "refers"}:
        return "V"
    if right in "BM" and left in "XNJ":
        return "N"  # "polar bears are"
    if left in "DJPOpUTV^BHbK" and not (left == "K" or (left == "P" and before in lex.PARTICLES)):
        return "N"
    if left in "RWSt":
        return "V"
    if left == "," and right in "aDTKU":
        return "V"
    if verbs.THIRD_PERSON.get(low) not in verbs.NOUN_VERBS:
        return "V" if left in "NXQzc,kUuaEL-" else "N"
    if left in "NXQzu" and not before.endswith("s"):
        return "V" if right in "DTXtKUG" or (right == "P" and left in "Xz" and not opening) else "N"
    if left == "c":
        return "V" if right in "DTtK" or (right in "PNXUGa" and not before.endswith("s")) else "N"
    return "N"


def _base(low: str, left: str, right: str, before: str) -> str:
    """`play`: an infinitive after to or a modal, a verb after a plural subject, otherwise a noun."""
    if left in "TMn":
        return "I"
    if left == "R":
        return "V" if before in lex.PLURAL_SUBJECTS else "N"
    if left == "W":
        return "V"
    noun = low in verbs.NOUN_VERBS
    if left in "cu" and right in "DK":
        return "I"
    if left in "NX" and before.endswith("s") and not before.endswith("ss"):
        return "V" if not noun or right in "DTKt" else "N"
    return "N" if noun or left in "DJPOUp" else "I"


def _same_form(left: str, right: str) -> str:
    """`cut`, `put`, `set`: past after a subject and before its object, participle after be or have."""
    if left in "BHbRW":
        return "E"
    if left in "TM":
        return "I"
    return "E" if left in "NXcu," and right in "DPKXUp" else "N"
