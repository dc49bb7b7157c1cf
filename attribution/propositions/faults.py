"""What is wrong with a proposition as a sentence: plain checks of its words, as the splitter's network reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from propcite.attribution.citations import Proposition
from propcite.attribution.english import Tagged, tag, verbs
from propcite.attribution.english import lexicon as lex
from propcite.attribution.propositions.learned import LearnedSplitter
from propcite.attribution.propositions.parses import Parse
from propcite.attribution.propositions.reading import hangs, is_verb
from propcite.attribution.propositions.sentence import without_markup

NO_VERB = "no verb"
NO_SUBJECT = "no subject"
HALF = "a word without its other half"
TWO_ROLES = "a word in two roles"
CUT_NAME = "a name or title is cut"

_SUBJECTS = frozenset("nsubj nsubjpass csubj csubjpass expl".split())
_ACTIVE = frozenset("VBD VBZ VBP".split())
_PROPER = frozenset("NNP NNPS".split())
_TAKES_NOUN = verbs.NAMING | frozenset(  # after be: "was given a prize", "was paid £5"
    "awarded given granted offered paid sent shown taught told asked allowed denied promised assigned left lent born"
    " fined charged owed sold worth refused handed estimated".split()
)


class FaultFinder:
    """Finds what is wrong with propositions, by the grammar that the shipped splitter reads in them."""

    def __init__(self, reader: LearnedSplitter) -> None:
        self._reader = reader

    def faults(self, sentence: str, propositions: Sequence[Proposition]) -> list[list[str]]:
        """Return what is wrong with each proposition of a sentence; nothing with a sentence that stays whole."""
        if len(propositions) < 2:
            return [[] for _ in propositions]
        blank = without_markup(sentence)
        texts = [p.text.translate({ord("["): None, ord("]"): None}) for p in propositions]
        of_sentence, *parses = self._reader.parses([blank, *texts])
        s = tag(blank, blank)
        return [
            self._faults(s, of_sentence, proposition, tag(text, text), parse)
            for proposition, text, parse in zip(propositions, texts, parses, strict=True)
        ]

    def _faults(
        self, s: Tagged, of_sentence: Parse | None, proposition: Proposition, told: Tagged, parse: Parse | None
    ) -> list[str]:
        found = [_repeats(s, told)]
        if parse is not None:
            found += [_verb_fault(parse), _half(told, parse)]
        if parse is not None and of_sentence is not None and _turns_passive(s, of_sentence, told, parse):
            found.append(HALF)
        if of_sentence is not None:
            held = [any(span.start < end and start < span.end for span in proposition.spans) for start, end in s.places]
            found.append(CUT_NAME if _cuts_name(s, of_sentence, held) else "")
        return [fault for fault in dict.fromkeys(found) if fault]


def _verb_fault(parse: Parse) -> str:
    if not any(is_verb(parse, at) for at in range(len(parse.tags))):
        return NO_VERB
    return "" if _SUBJECTS & set(parse.relations) or parse.tags[0] == "VB" else NO_SUBJECT


def _half(told: Tagged, parse: Parse) -> str:
    """Return whether an auxiliary, preposition or article lacks what it needs: `was contained around 8500 packages`."""
    every = range(len(parse.tags))
    last = next((at for at in reversed(every) if told.words[at][:1].isalnum()), 0)
    if every and parse.tags[last] == "IN" and parse.relations[last] == "prep":
        return HALF
    if any(hangs(parse, at, every[at + 1 :]) for at in every):
        return HALF
    for at in every:
        below = {parse.relations[kid] for kid in parse.children[at]}
        if parse.tags[at] == "VBN" and {"auxpass", "dobj"} <= below and told.lows[at] not in _TAKES_NOUN:
            return HALF
    return ""


def _turns_passive(s: Tagged, of_sentence: Parse, told: Tagged, parse: Parse) -> bool:
    """Return whether a verb that is active in the sentence has another verb's auxiliary: `was contained`."""
    for at, tag_of_word in enumerate(parse.tags):
        if tag_of_word == "VBN" and any(parse.relations[kid] == "auxpass" for kid in parse.children[at]):
            tags = {of_sentence.tags[other] for other, low in enumerate(s.lows) if low == told.lows[at]}
            if tags and tags <= _ACTIVE:
                return True
    return False


def _repeats(s: Tagged, told: Tagged) -> str:
    """Return whether a content word stands more often in the text than in the sentence, or `by` has two doers."""
    in_sentence = Counter(s.lows)
    for low, count in Counter(told.lows).items():
        if count > max(1, in_sentence[low]) and in_sentence[low] and low.isalpha() and low not in lex.FUNCTION_WORDS:
            return TWO_ROLES
    doers = [at for at, low in enumerate(told.lows[:-1]) if low == "by" and told.tags[at + 1] == "X"]
    if len(doers) > 1 and not set(told.tags[doers[0] + 1 : doers[1]]) & set("BHMVYELGc,"):
        return TWO_ROLES
    return ""


def _cuts_name(s: Tagged, parse: Parse, held: Sequence[bool]) -> bool:
    """Return whether a part of a name, of a title with a colon, or of a quotation is left out."""
    for at in range(1, len(s.tags)):
        if held[at] == held[at - 1]:
            continue
        both_names = {parse.tags[at], parse.tags[at - 1]} <= _PROPER
        if s.tags[at - 1 : at + 1] == "QQ" and s.words[at] not in "\"'”’" and s.words[at - 1] not in "\"'“‘":
            return True
        is_part = parse.relations[at - 1] == "compound" and parse.heads[at - 1] == at
        if both_names and is_part and not s.lows[at - 1].endswith(lex.DEMONYM_ENDINGS):
            return True
        if s.tags[at - 1 : at + 1] == "XX" and ":" in (s.words[at - 1], s.words[at]):
            return True
    return False
