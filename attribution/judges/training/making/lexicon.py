"""Words of one kind, of one meaning and of opposite meanings, from WordNet's files."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from propcite.attribution.errors import AttributionError

if TYPE_CHECKING:
    from nltk.corpus.reader.wordnet import Lemma, Synset, WordNetCorpusReader

MAIN_SHARE = 0.6  # of a word's uses that its first meaning must have
_PARTS = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}


class Lexicon:
    """Finds words that could stand in a word's place; only in the meaning that the word mostly has."""

    def __init__(self, folder: Path) -> None:
        import nltk
        from nltk.corpus.reader.wordnet import WordNetCorpusReader

        class OneVersion(WordNetCorpusReader):  # type: ignore[misc]
            def map_wn(self, version: str = "wordnet") -> None:
                """Map nothing to other versions: they would have to be installed."""

        if str(folder) not in nltk.data.path:
            nltk.data.path.append(str(folder))  # nltk reads no other folders
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # there are no other languages in this folder
                self._words: WordNetCorpusReader = OneVersion(str(folder), None)
        except (OSError, ValueError, AssertionError) as error:
            raise AttributionError(
                f"{folder} has no WordNet: run python -m nltk.downloader wordnet, unpack nltk_data/corpora/wordnet.zip "
                "and give its folder"
            ) from error

    @lru_cache(maxsize=50_000)  # noqa: B019 - a lexicon lives as long as the run
    def siblings(self, word: str, part: str) -> tuple[str, ...]:
        """Return other words of the same kind, as "river" has "lake"; empty where there are none."""
        meanings = self._meanings(word, part)
        if not meanings:
            return ()
        wider = {kind for one in meanings for kind in one.closure(lambda s: s.hypernyms())}
        sisters = {s for kind in meanings[0].hypernyms() for s in kind.hyponyms()} - set(meanings) - wider
        names = {name for sister in sisters for name in self._usual(sister, part)}
        return tuple(sorted(n for n in names if not set(meanings) & set(self._meanings(n, part))))

    @lru_cache(maxsize=50_000)  # noqa: B019
    def synonyms(self, word: str, part: str) -> tuple[str, ...]:
        """Return words whose main meaning is this word's main meaning; empty where it has several of like use."""
        meanings = self._meanings(word, part)
        uses = [lemma.count() for lemma in self._words.lemmas(word, _PARTS[part])] if meanings else []
        if not uses or uses[0] < MAIN_SHARE * sum(uses):
            return ()
        return tuple(name for name in self._usual(meanings[0], part) if name != word)

    @lru_cache(maxsize=50_000)  # noqa: B019
    def opposites(self, word: str, part: str) -> tuple[str, ...]:
        """Return words that mean the opposite of the main meaning."""
        own = [lemma for meaning in self._meanings(word, part)[:1] for lemma in meaning.lemmas()]
        found = {opposite for lemma in own if lemma.name() == word for opposite in lemma.antonyms()}
        return tuple(sorted({str(lemma.name()) for lemma in found if _is_usual(lemma)}))

    def _meanings(self, word: str, part: str) -> list[Synset]:
        """Return the meanings of a word, the most frequent first."""
        return list(self._words.synsets(word, _PARTS[part])) if part in _PARTS else []

    def _usual(self, meaning: Synset, part: str) -> list[str]:
        """Return the single words that mostly have this meaning."""
        names = [str(lemma.name()) for lemma in meaning.lemmas() if _is_usual(lemma)]
        return sorted(name for name in names if self._meanings(name, part)[:1] == [meaning])


def _is_usual(lemma: Lemma) -> bool:
    """Return whether WordNet's texts use the word: one that they lack would give itself away."""
    name = str(lemma.name())
    return int(lemma.count()) > 0 and name.isalpha() and name.islower()
