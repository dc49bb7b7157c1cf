"""A small folder in the form of WordNet's files, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_TYPES = {"n": 1, "v": 2, "a": 3, "r": 4}
_NAMES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_HEADER = "  1 A small lexicon for tests.  \n"


class Meaning(NamedTuple):
    """Words of one meaning; `wider` and `opposite` are numbers of other meanings of the same part of speech."""

    words: tuple[str, ...]
    part: str
    wider: int | None = None
    opposite: int | None = None
    uses: int = 5


def save_wordnet(folder: Path, meanings: list[Meaning]) -> Path:
    """Write the files; of a word's meanings the one that is listed first is the main one."""
    folder.mkdir(parents=True)
    offsets = _offsets(meanings)
    counts: list[str] = []
    for part, name in _NAMES.items():
        own = [i for i, meaning in enumerate(meanings) if meaning.part == part]
        (folder / f"data.{name}").write_text(_HEADER + "".join(_line(meanings, offsets, i) for i in own))
        words = dict.fromkeys(word for i in own for word in meanings[i].words)
        index = ""
        for word in words:
            places = [i for i in own if word in meanings[i].words]
            found = " ".join(offsets[i] for i in places)
            index += f"{word} {part} {len(places)} 0 {len(places)} {len(places)} {found}  \n"
            counts += [
                f"{word}%{_TYPES[part]}:00:{place:02d}:: {number} {meanings[place].uses}\n"
                for number, place in enumerate(places, 1)
                if meanings[place].uses
            ]
        (folder / f"index.{name}").write_text(_HEADER + index)
        (folder / f"{name}.exc").write_text("")
    (folder / "cntlist.rev").write_text("".join(sorted(counts)))
    (folder / "lexnames").write_text("".join(f"{i:02d}\tnoun.any\t1\n" for i in range(45)))
    return folder


def _line(meanings: list[Meaning], offsets: list[str], number: int) -> str:
    meaning = meanings[number]
    words = " ".join(f"{word} {number:x}" for word in meaning.words)
    pointers = []
    if meaning.wider is not None:
        pointers.append(f"@ {offsets[meaning.wider]} {meaning.part} 0000")
    pointers += [f"~ {offsets[i]} {meaning.part} 0000" for i, other in enumerate(meanings) if other.wider == number]
    if meaning.opposite is not None:
        pointers.append(f"! {offsets[meaning.opposite]} {meaning.part} 0101")
    frames = "00 " if meaning.part == "v" else ""
    return (
        f"{offsets[number]} 00 {meaning.part} {len(meaning.words):02x} {words} {len(pointers):03d} "
        f"{' '.join(pointers)}{' ' if pointers else ''}{frames}| a meaning  \n"
    )


def _offsets(meanings: list[Meaning]) -> list[str]:
    """Return where each meaning's line begins in its file; lines have the same length whatever the offsets are."""
    blank = ["0" * 8] * len(meanings)
    at = {part: len(_HEADER) for part in _NAMES}
    found = []
    for number, meaning in enumerate(meanings):
        found.append(f"{at[meaning.part]:08d}")
        at[meaning.part] += len(_line(meanings, blank, number))
    return found
