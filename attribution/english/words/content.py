"""The words of a text that carry meaning, as stems."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.stem import PorterStemmer

WORD = re.compile(r"\w+(?:['’.,/-]\w+)*")
FUNCTION_WORDS = frozenset(
    "a an the and or but if of in on at to for from by with about as into over after before between through during is "
    "are was were be been being am has have had do does did will would can could may might must shall should it its "
    "he she they them their his her this that these those which who whom whose what when where why how there here "
    "than then so such also not no nor only own same too very just i you we us our your my me him s t".split()
)


@cache
def _stemmer() -> PorterStemmer:
    # Imported late: nltk takes two seconds to load, and brings scipy and scikit-learn where they are installed.
    from nltk.stem import PorterStemmer

    return PorterStemmer()


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    return str(_stemmer().stem(word))


def content_words(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order; numbers stay as they are.

    >>> content_words("The gates were raised in 2024.")
    ['gate', 'rais', '2024']
    """
    words = (match.group().lower().replace("’", "'").removesuffix("'s") for match in WORD.finditer(text))
    return [stem(word) for word in words if word not in FUNCTION_WORDS]


def plain_words(text: str) -> list[str]:
    """All words in small letters, in order; "n't" is a word of its own."""
    return re.findall(r"n't|[^\W_]+", text.lower().replace("’", "'").replace("n't", " n't"))
