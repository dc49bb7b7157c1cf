"""Which language a text is in, as far as its script and its commonest words tell; no model.

It is asked whether an answer and its sources speak the same language: who judges by words would else call unsupported
what is only said in other words, and nobody would know why.  And whether a capital tells a name.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache

MOST_READ = 4000  # characters of a text: more tell nothing new
OWN, SHARED = 2, 1  # what a word counts that one language has, or several
LEAST, CLEARLY = 3, 1.5  # what a text's words must count, and how many times as much as for any other language
LEAST_LETTERS = 4  # of a script

# Words that hardly any sentence does without; those of several languages stand with each.
_COMMON = {
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
    "Danish or Norwegian": "og at det som en et er i på for med af av til ikke den har de om var blev ble",
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
    """The language's name; "" where it is not clear, as of a few words or of names alone.

    >>> language_of("Die Sperre wurde im Mai fertig."), language_of("Шлюз готов."), language_of("Ana Ruiz, 1987")
    ('German', 'a language in Cyrillic letters', '')
    """
    return _language(text[:MOST_READ])


@lru_cache(maxsize=1024)
def _language(text: str) -> str:
    words = _WORD.findall(text.lower())
    script, letters = _script("".join(words))
    if script != "LATIN":
        return _SCRIPTS.get(script, "") if letters >= LEAST_LETTERS else ""
    counted: Counter[str] = Counter()
    for languages in (_speaking().get(word, ()) for word in words):
        counted.update(dict.fromkeys(languages, OWN if len(languages) == 1 else SHARED))
    (first, most), (_, next_most) = [*counted.most_common(2), ("", 0), ("", 0)][:2]
    return first if most >= LEAST and most >= CLEARLY * next_most else ""


def _script(letters: str) -> tuple[str, int]:
    """The script of most letters, and how many are of it; Japanese is known by its own, beside any Chinese ones."""
    found = Counter(unicodedata.name(letter, "").split(" ")[0] for letter in letters)
    kana = found["HIRAGANA"] + found["KATAKANA"]
    if kana and kana + found["CJK"] > found["LATIN"]:
        return "HIRAGANA", kana + found["CJK"]
    return next(iter(found.most_common(1)), ("", 0))


@cache
def _speaking() -> dict[str, tuple[str, ...]]:
    """For each common word the languages that have it."""
    pairs = [(word, language) for language, words in _COMMON.items() for word in words.split()]
    return {word: tuple(language for one, language in pairs if one == word) for word, _ in pairs}


def other_language(answer: str, sources: Iterable[str]) -> str:
    """A line for who reads the answer, where none of its sources speaks its language; "" where one may."""
    own = language_of(answer)
    texts = [*sources] if own else []
    known = {language_of(text) for text in texts} - {""} or {language_of(" ".join(texts))}
    if own in known or "" in known:
        return ""
    their = " and ".join(sorted(known))
    return f"the answer is in {own} and its sources are in {their}: what is unsupported may only be said in other words"
