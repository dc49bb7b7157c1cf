"""Detect the language of a text by its script and its most common words.

This tells whether an answer and its sources share a language: rules and word checks cannot find support across
languages.  It also tells whether capitals mark names.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache

MAX_CHARACTERS = 4000  # of a text: more do not change the result
UNIQUE_SCORE, SHARED_SCORE = 2, 1  # of a word that one language has, or several
MIN_SCORE, MIN_RATIO = 3, 1.5  # of the best language: its score, and how many times that of the next
MIN_LETTERS = 4  # of a script

# Words in almost every sentence of a language; a word of several languages is listed with each.
_COMMON_WORDS = {
    "English": "the of and to is was were are that for with on by it its from as at an which has have had be this in "
    "not a i do or if can may you he she they his her their would will when who also more than but",
    "German": "der die das und ist war wurde wird sind ein eine einen dem den des im am zu von mit für auf nicht auch "
    "es sich sie wurden hat bei in",
    "French": "le la les des du de et est un une dans que qui pour pas sur au aux par avec il elle sont était en ce "
    "cette a",
    "Spanish": "el la los las de del y es en un una que por para con no se su fue al como está son más a",
    "Italian": "il lo la gli le di del della e è un una che per con non si da nel nella sono stato ha al dei in a",
    "Portuguese": "o a os as de do da dos das e é um uma que em no na para com não se por foi ao mais",
    "Dutch": "de het een en van is in op te dat die voor met niet zijn werd aan ook door wordt naar bij",
    "Swedish": "och att det som en ett är i på för med av till inte den har de om var blev",
    "Danish or Norwegian": "og at det som en et er i på for med av af til ikke den har de om var blev ble",
    "Polish": "na się nie jest do to że jak po za od był była zostało oraz są przez dla które",
    "Czech": "se na je že do pro by byl byla bylo jsou které od jako ve při také",
    "Finnish": "ja on ei se että oli kuin mutta myös joka ovat hän",
    "Turkish": "ve bir bu için ile da de olarak olan daha çok",
    "Romanian": "și de la în cu pe a fost este un o care din nu sunt",
    "Hungarian": "az és egy hogy nem is volt van meg ez ezt",
}
_SCRIPTS = {
    "CYRILLIC": "a language in Cyrillic letters",
    "GREEK": "Greek",
    "ARABIC": "a language in Arabic letters",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "a language in Devanagari",
    "THAI": "Thai",
    "HANGUL": "Korean",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "CJK": "Chinese",
}
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str:
    """Return the language's name; empty if it is unclear, as for a few words or for names alone.

    >>> language_of("Die Sperre wurde im Mai fertig."), language_of("Шлюз готов."), language_of("Ana Ruiz, 1987")
    ('German', 'a language in Cyrillic letters', '')
    """
    return _language(text[:MAX_CHARACTERS])


@lru_cache(maxsize=1024)
def _language(text: str) -> str:
    words = _WORD.findall(text.lower())
    script, num_letters = _script("".join(words))
    if script != "LATIN":
        return _SCRIPTS.get(script, "") if num_letters >= MIN_LETTERS else ""
    scores: Counter[str] = Counter()
    for languages in (_languages_of_word().get(word, ()) for word in words):
        scores.update(dict.fromkeys(languages, UNIQUE_SCORE if len(languages) == 1 else SHARED_SCORE))
    (language, best), (_, second) = [*scores.most_common(2), ("", 0), ("", 0)][:2]
    return language if best >= MIN_SCORE and best >= MIN_RATIO * second else ""


def _script(letters: str) -> tuple[str, int]:
    """Return the most frequent script and its number of letters; kana make a text Japanese despite Chinese letters."""
    counts = Counter(unicodedata.name(letter, "").split(" ")[0] for letter in letters)
    kana = counts["HIRAGANA"] + counts["KATAKANA"]
    if kana and kana + counts["CJK"] > counts["LATIN"]:
        return "HIRAGANA", kana + counts["CJK"]
    return next(iter(counts.most_common(1)), ("", 0))


@cache
def _languages_of_word() -> dict[str, tuple[str, ...]]:
    pairs = [(word, language) for language, words in _COMMON_WORDS.items() for word in words.split()]
    return {word: tuple(language for other, language in pairs if other == word) for word, _ in pairs}


def other_language(answer: str, sources: Iterable[str]) -> str:
    """Return a note for readers if no source is in the answer's language; empty if one may be."""
    language = language_of(answer)
    texts = [*sources] if language else []
    languages = {language_of(text) for text in texts} - {""} or {language_of(" ".join(texts))}
    if language in languages or "" in languages:
        return ""
    others = " and ".join(sorted(languages))
    languages_differ = f"the answer is in {language} and its sources are in {others}"
    return f"{languages_differ}: unsupported facts may only be worded differently"
