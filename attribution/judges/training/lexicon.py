"""Synonyms of words, and words of the same kind with another meaning, from WordNet's own files."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from propcite.attribution.errors import AttributionError

FIRST_MEANING_SHARE = 0.5  # a word is used in its most frequent meaning if that has at least this share of its uses
MIN_USES = 1  # counted uses of that meaning
MAX_SIBLINGS = 40  # a more general term with more meanings below it is too broad
_FILES = {"noun": "n", "verb": "v", "adj": "a"}
_ENDINGS = ("", "s", "ed", "d", "ing")


@dataclass(slots=True)
class Lexicon:
    """Synonyms of words, and their opposites and siblings; words may have a regular ending."""

    _synonyms: dict[str, list[str]] = field(default_factory=dict)
    _contrasts: dict[str, list[str]] = field(default_factory=dict)

    def synonyms(self, word: str) -> list[str]:
        return _with_ending(word, self._synonyms)

    def contrasts(self, word: str) -> list[str]:
        return _with_ending(word, self._contrasts)

    @classmethod
    def read(cls, folder: Path) -> Lexicon:
        """Read a folder with WordNet's `index.sense` and `data.*`."""
        try:
            return cls(*_tables(folder))
        except (OSError, ValueError, IndexError) as error:
            raise AttributionError(f"cannot read WordNet's files from {folder}: {error}") from error


def _with_ending(word: str, table: dict[str, list[str]]) -> list[str]:
    """Look a word up without its ending; add the ending to the results that take it without a change of spelling."""
    for ending in _ENDINGS:
        stem = word.removesuffix(ending) if ending else word
        if ending and stem == word:
            continue
        if words := table.get(stem):
            return (
                [w + ending for w in words if not ending or w[-1] not in "eysxh"]
                if ending != "d"
                else [w + "d" for w in words if w.endswith("e")]
            )
    return []


def _counts(folder: Path) -> dict[str, list[tuple[int, str]]]:
    """Read how often each word is used in each meaning: word -> (uses, the meaning's offset in its file)."""
    kinds = {"1": "n", "2": "v", "3": "a", "5": "a"}
    counts: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in (folder / "index.sense").read_text("utf-8").splitlines():
        key, offset, _, uses = line.split()
        word, _, rest = key.partition("%")
        if rest[0] in kinds:
            counts[word].append((int(uses), kinds[rest[0]] + offset))
    return counts


def _tables(folder: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Build the tables of synonyms and of contrasting words."""
    meanings = {
        word: max(uses)[1]
        for word, uses in _counts(folder).items()
        if word.isalpha() and max(uses)[0] >= max(MIN_USES, FIRST_MEANING_SHARE * sum(n for n, _ in uses))
    }
    words, above, opposite = _synsets(folder)
    below: dict[str, list[str]] = defaultdict(list)
    for meaning, parents in above.items():
        for parent in parents:
            below[parent].append(meaning)
    clear = {meaning: [w for w in group if meanings.get(w) == meaning] for meaning, group in words.items()}
    synonyms, contrasts = {}, {}
    for word, meaning in meanings.items():
        same = set(words.get(meaning, ()))
        if others := [w for w in clear.get(meaning, ()) if w != word]:
            synonyms[word] = sorted(others)
        siblings = [m for p in above.get(meaning, ())[:1] for m in below[p] if len(below[p]) <= MAX_SIBLINGS]
        different = {w for m in [*siblings, *opposite.get(meaning, ())] for w in clear.get(m, ()) if w not in same}
        if different:
            contrasts[word] = sorted(different)
    return synonyms, contrasts


def _synsets(folder: Path) -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, list[str]]]:
    """Read the words of each meaning, the more general meanings, and the opposite meanings."""
    words: dict[str, list[str]] = {}
    above: dict[str, list[str]] = {}
    opposite: dict[str, list[str]] = {}
    for name, kind in _FILES.items():
        for line in (folder / f"data.{name}").read_text("utf-8").splitlines():
            if line.startswith(" "):
                continue
            fields = line.partition(" | ")[0].split()
            size = int(fields[3], 16)
            meaning = kind + fields[0]
            words[meaning] = [fields[4 + 2 * i].partition("(")[0] for i in range(size)]
            at = 4 + 2 * size
            pointers = [fields[at + 1 + 4 * i : at + 5 + 4 * i] for i in range(int(fields[at]))]
            above[meaning] = [kind + p[1] for p in pointers if p[0] == "@"]
            opposite[meaning] = [kind + p[1] for p in pointers if p[0] == "!"]
    return words, above, opposite
