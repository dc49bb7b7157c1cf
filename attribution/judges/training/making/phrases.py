"""Read a parsed sentence: its subjects, phrases and verb forms."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.rewriting import Change

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

SUBJECTS = ("nsubj", "nsubjpass")
_PLURAL_PRONOUNS = frozenset("we they you i these those".split())
_NEGATIVE = frozenset("not n't no never neither nor none without cannot hardly barely nobody nothing".split())
_NARROWING = frozenset("only all every each any first last sole solely exactly if unless than most least few".split())
_BLOCKING = frozenset(  # what is said of a part is not said of the whole, or not said to be so at all
    "prevent avoid lack deny refuse fail prohibit ban forbid reduce limit restrict exclude want seek try hope "
    "plan need require deny doubt suggest claim may might could would should must can".split()
)


def root_of(doc: Doc) -> Token:
    return next(token for token in doc if token.dep_ == "ROOT")


def child(token: Token, *relations: str) -> Token | None:
    """Return the first child with one of these relations."""
    return next((c for c in token.children if c.dep_ in relations), None)


def subject_of(verb: Token) -> Token | None:
    return child(verb, *SUBJECTS)


def phrase_of(token: Token) -> Span:
    """Return the words that hang on a token, with it."""
    return token.doc[token.left_edge.i : token.right_edge.i + 1]


def auxiliaries_of(verb: Token) -> list[Token]:
    return [c for c in verb.children if c.dep_ in ("aux", "auxpass")]


def is_negated(verb: Token) -> bool:
    return any(c.dep_ == "neg" for c in verb.children)


def is_plural(noun: Token) -> bool:
    """Return whether a subject takes a verb in the plural; "who" and "that" are as plural as their noun."""
    if noun.tag_ in ("WDT", "WP") and noun.head.dep_ == "relcl":
        return is_plural(noun.head.head)
    joined = any(c.dep_ == "cc" and c.lower_ == "and" for c in noun.children)
    return joined or noun.tag_ in ("NNS", "NNPS") or noun.lower_ in _PLURAL_PRONOUNS


def is_clause(verb: Token) -> bool:
    """Return whether a verb is finite and has a subject of its own."""
    finite = verb.tag_ in ("VBD", "VBZ", "VBP") or any(
        a.tag_ in ("VBD", "VBZ", "VBP", "MD") for a in auxiliaries_of(verb)
    )
    return finite and subject_of(verb) is not None


def is_question(doc: Doc) -> bool:
    return "?" in doc.text


def is_guarded(doc: Doc) -> bool:
    """Return whether the sentence denies, limits or merely supposes: then a part of it may not follow from it."""
    words = {t.lower_ for t in doc} | {t.lemma_ for t in doc}
    graded = any(t.tag_ in ("JJR", "JJS", "RBR", "RBS") for t in doc)
    return graded or not words.isdisjoint(_NEGATIVE | _NARROWING | _BLOCKING) or is_question(doc)


def denies(doc: Doc) -> bool:
    return any(t.lower_ in _NEGATIVE or t.dep_ == "neg" for t in doc)


@cache
def inflected(lemma: str, tag: str) -> str:
    """Return a form of a verb or noun by its Penn tag, in lower case; empty where there is none."""
    from lemminflect import getInflection

    if lemma == "be":
        return {"VBD": "was", "VBZ": "is", "VBP": "are", "VBN": "been", "VB": "be"}.get(tag, "")
    forms = getInflection(lemma, tag)
    return str(forms[0]) if forms else ""


def dropped(*tokens: Token) -> list[Change]:
    return [Change(t.idx, t.idx + len(t)) for t in tokens]


def dropped_phrase(span: Span) -> Change:
    return Change(span.start_char, span.end_char)


def replaced(token: Token, new: str, *, wrong: bool = True) -> Change:
    return Change(token.idx, token.idx + len(token), as_written(token.text, new), wrong)


def marked(span: Span) -> Change:
    """Keep the words and mark them as wrong."""
    return Change(span.start_char, span.end_char, span.text, wrong=True)


def marked_word(token: Token) -> Change:
    return marked(token.doc[token.i : token.i + 1])


def as_written(old: str, new: str) -> str:
    """Write a word as the one that it replaces: its capital, or all of them."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def within_sentence(span: Span) -> str:
    """Return the words of a phrase as they stand inside a sentence, where only names have a capital."""
    first = span[0]
    named = first.pos_ == "PROPN" or (first.ent_type_ and first.lower_ not in ("the", "a", "an")) or first.lower_ == "i"
    if span.start == 0 and not named and first.text[1:].islower():
        return span.text[0].lower() + span.text[1:]
    if first.text in ("The", "A", "An", "Its", "His", "Her", "Their") and span.start == 0:
        return span.text[0].lower() + span.text[1:]
    return span.text


def put_phrase(new: Span, old: Span) -> Change:
    """Put a phrase in the place of another and mark it as wrong."""
    return Change(old.start_char, old.end_char, at_place_of(old, within_sentence(new)), wrong=True)


def at_place_of(old: Span, text: str) -> str:
    """Return the words with a capital where the old phrase begins the sentence."""
    return text[:1].upper() + text[1:] if old.start == 0 else text
