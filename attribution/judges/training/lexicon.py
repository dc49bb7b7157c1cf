"""Words that mean the same, and words that do not though they stand in the same place, from WordNet's own files."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from propcite.attribution.errors import AttributionError

SURE = 0.5  # a word is taken for its first meaning when so large a share of its counted uses has it
SEEN = 1  # uses that must be counted at least
_FILES = {"noun": "n", "verb": "v", "adj": "a"}
_ENDINGS = ("", "s", "ed", "d", "ing")


@dataclass(slots=True)
class Lexicon:
    """For a word in one of its plain forms: its synonyms, and its opposites and siblings."""

    _same: dict[str, list[str]] = field(default_factory=dict)
    _others: dict[str, list[str]] = field(default_factory=dict)

    def same(self, word: str) -> list[str]:
        return _inflected(word, self._same)

    def others(self, word: str) -> list[str]:
        return _inflected(word, self._others)

    @classmethod
    def read(cls, folder: Path) -> Lexicon:
        """From a folder with `index.sense` and `data.*`."""
        try:
            return cls(*_tables(folder))
        except (OSError, ValueError, IndexError) as error:
            raise AttributionError(f"{folder} does not hold WordNet's files: {error}") from error


def _inflected(word: str, table: dict[str, list[str]]) -> list[str]:
    """The other words with this word's ending, where the ending is a plain one on both."""
    for ending in _ENDINGS:
        stem = word.removesuffix(ending) if ending else word
        if ending and stem == word:
            continue
        if found := table.get(stem):
            return (
                [w + ending for w in found if not ending or w[-1] not in "eysxh"]
                if ending != "d"
                else [w + "d" for w in found if w.endswith("e")]
            )
    return []


def _counts(folder: Path) -> dict[str, list[tuple[int, str]]]:
    """How often each word was met in each meaning.  -> word -> (uses, meaning's place in its file)"""
    kinds = {"1": "n", "2": "v", "3": "a", "5": "a"}
    counts: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in (folder / "index.sense").read_text("utf-8").splitlines():
        key, offset, _, uses = line.split()
        word, _, rest = key.partition("%")
        if rest[0] in kinds:
            counts[word].append((int(uses), kinds[rest[0]] + offset))
    return counts


def _tables(folder: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    counts = _counts(folder)
    first = {
        word: max(held)[1]
        for word, held in counts.items()
        if word.isalpha() and max(held)[0] >= max(SEEN, SURE * sum(n for n, _ in held))
    }
    words, above, opposite = _synsets(folder)
    below: dict[str, list[str]] = defaultdict(list)
    for meaning, parents in above.items():
        for parent in parents:
            below[parent].append(meaning)
    told = {meaning: [w for w in held if first.get(w) == meaning] for meaning, held in words.items()}
    same, others = {}, {}
    for word, meaning in first.items():
        alike = set(words.get(meaning, ()))
        if found := [w for w in told.get(meaning, ()) if w != word]:
            same[word] = sorted(found)
        kin = [m for parent in above.get(meaning, ())[:1] for m in below[parent] if len(below[parent]) <= 40]
        siblings = {w for m in [*kin, *opposite.get(meaning, ())] for w in told.get(m, ()) if w not in alike}
        if siblings:
            others[word] = sorted(siblings)
    return same, others


def _synsets(folder: Path) -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, list[str]]]:
    """Each meaning's words, the meanings above it, and those opposed to it."""
    words: dict[str, list[str]] = {}
    above: dict[str, list[str]] = {}
    opposite: dict[str, list[str]] = {}
    for name, kind in _FILES.items():
        for line in (folder / f"data.{name}").read_text("utf-8").splitlines():
            if line.startswith(" "):
                continue
            parts = line.partition(" | ")[0].split()
            size = int(parts[3], 16)
            meaning = kind + parts[0]
            words[meaning] = [parts[4 + 2 * i].partition("(")[0] for i in range(size)]
            at = 4 + 2 * size
            pointers = [parts[at + 1 + 4 * i : at + 5 + 4 * i] for i in range(int(parts[at]))]
            above[meaning] = [kind + p[1] for p in pointers if p[0] == "@"]
            opposite[meaning] = [kind + p[1] for p in pointers if p[0] == "!"]
    return words, above, opposite
