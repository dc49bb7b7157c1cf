"""Turn questions into statements: with an answer in the place of the question word, or as a yes says it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from propcite.attribution.english import MONTH_NAMES
from propcite.attribution.judges.training.making.phrases import SUBJECTS, inflected, is_negated, root_of
from propcite.attribution.judges.training.making.rewriting import Piece

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_QUESTION_TAGS = ("WP", "WDT", "WRB", "WP$")
_INSIDE_PHRASE = frozenset("det nmod poss amod advmod pobj pcomp compound nummod quantmod prep".split())
_HELPERS = frozenset("is are was were do does did can could will would has have had should may might must".split())
_OPEN = frozenset("any anyone anything anybody ever passage article paragraph".split())  # odd in a statement
_DO_TAGS = {"did": "VBD", "does": "VBZ", "do": "VBP"}
_TIME_OPENING = re.compile(
    r"(?:in|on|at|after|before|during|from|until|since|by|around|between|about|when|late|early)\b", re.I
)
_PLACE_OPENING = re.compile(
    r"(?:in|at|on|near|from|to|along|inside|between|through|across|around|under|above|by)\b", re.I
)
_DAY = re.compile(rf"(?:{'|'.join(MONTH_NAMES)}) \d{{1,2}}\b|\d{{1,2}} (?:{'|'.join(MONTH_NAMES)})")
_LONGEST_ANSWER = 10  # words


def statement_with(doc: Doc, answer: str, *, wrong: bool = False) -> list[Piece]:
    """Return the pieces of a statement that gives this answer to the question; empty where its form is not clear."""
    found = _question_phrase(doc)
    answer = re.sub(r"^(\d+(?:st|nd|rd|th) century)", r"the \1", answer.strip(" .,;"))
    if found is None or not answer or len(answer.split()) > _LONGEST_ANSWER:
        return []
    top, phrase = found
    rest = [t for t in _without_mark(doc) if t not in phrase]
    counted = _counted_noun(phrase, answer)
    if not rest:
        return []
    if top.dep_ in SUBJECTS and phrase[0].pos_ != "ADP":
        turned = rest[0].lower_ in _DO_TAGS and not is_negated(root_of(doc))
        if turned or answer.split()[0] in _HELPERS:
            return []
        return [Piece(answer, wrong), Piece(f"{counted} {_text(rest)}")]
    opening = _preposition(phrase, answer)
    if opening is None:
        return []
    inner = re.sub(r"^(The|A|An) ", lambda found: found[0].lower(), answer)
    placed = [Piece(f" {opening}"), Piece(inner, wrong), Piece(f"{counted} ")]
    return _in_order(doc, top, rest, placed, fronted=phrase[0].pos_ == "ADP")


def statement_of(doc: Doc) -> list[Piece]:
    """Return the pieces of what "yes" says to a question; empty where its form is not clear."""
    words = _without_mark(doc)
    root = root_of(doc)
    asks_openly = any(t.lower_ in _OPEN for t in words) or any(t.tag_ in _QUESTION_TAGS for t in words[:2])
    if len(words) < 3 or words[0].lower_ not in _HELPERS or asks_openly:
        return []
    found = _behind(words[0], root)
    if not found or found[0].i != 1 or found[-1].i >= words[-1].i:
        return []
    return _statement(root, words[0], found, words[found[-1].i + 1 :], after=None, answer=[])


def _question_phrase(doc: Doc) -> tuple[Token, list[Token]] | None:
    """Return the head and the words of the phrase that asks, at the start of the question; None for any other form."""
    asking = [t for t in doc if t.tag_ in _QUESTION_TAGS]
    if len(asking) != 1 or "," in doc.text:
        return None
    root, top = root_of(doc), asking[0]
    while (
        top.head.i != root.i and top.dep_ in _INSIDE_PHRASE and top.head.pos_ not in ("VERB", "AUX") and top.head != top
    ):
        top = top.head
    phrase = sorted(top.subtree)
    how = asking[0].lower_ in ("how", "why") and top == asking[0]
    if root in phrase or phrase[0].i > 0 or how or asking[0].lower_ == "whose" or len(phrase) != phrase[-1].i + 1:
        return None
    return top, phrase


def _in_order(doc: Doc, top: Token, rest: list[Token], answer: list[Piece], *, fronted: bool) -> list[Piece]:
    """Put the words behind the question phrase in the order of a statement, with the answer in its place."""
    root, helper = root_of(doc), rest[0]
    subject = _behind(helper, root)
    only_be = helper.lemma_ == "be" and helper.i == root.i
    misread = only_be and top.tag_ == "WRB" and any(t.tag_ in ("VBN", "VBD") for t in subject or rest[1:])
    if helper.lower_ not in _HELPERS or misread:
        return []
    if not subject:
        what_is = only_be and top.tag_ != "WRB" and not fronted and _is_noun_phrase(rest[1:])
        return [Piece(f"{_text(rest[1:])} {helper.text.lower()}"), *answer] if what_is else []
    if subject[0].i != helper.i + 1 or (helper.lower_ in _DO_TAGS and helper.i == root.i):
        return []
    behind = [t for t in rest if t.i > subject[-1].i]
    governed = not fronted and top.dep_ in ("dobj", "attr", "oprd", "pobj") and top.head in behind
    if behind and behind[-1].pos_ == "ADP" and behind[-1].dep_ == "prep" and not (governed and top.head == behind[-1]):
        return []
    return _statement(root, helper, subject, behind, after=top.head if governed else None, answer=answer)


def _is_noun_phrase(words: Sequence[Token]) -> bool:
    """Return whether the words have no verb of their own and end with no preposition."""
    verbs = any(t.tag_ in ("VBD", "VBZ", "VBP", "MD") and t.dep_ != "relcl" for t in words)
    return bool(words) and not verbs and words[-1].pos_ != "ADP"


def _statement(
    root: Token,
    helper: Token,
    subject: Sequence[Token],
    behind: Sequence[Token],
    after: Token | None,
    answer: list[Piece],
) -> list[Piece]:
    """Put subject, verb and the rest in order; the answer stands behind the word that governs it, or last."""
    words = {t.i: t.text for t in behind}
    opening = _text(subject)
    if helper.lower_ in _DO_TAGS and helper.i != root.i and not is_negated(root):
        form = inflected(root.lemma_.lower(), _DO_TAGS[helper.lower_])
        if root.i not in words or not form:
            return []
        words[root.i] = form
    else:
        opening += f" {helper.text.lower()}"
    first = [t for t in behind if after is not None and t.i <= _place(after)]
    last = [t for t in behind if t not in first]
    if after is None:
        first, last = last, []
    before, behind_it = ("".join(words[t.i] + t.whitespace_ for t in part).strip() for part in (first, last))
    return [Piece(f"{opening} {before}"), *answer, Piece(behind_it)]


def _place(governor: Token) -> int:
    """Return the position behind which an object stands: the verb with its particle."""
    particle = next((c for c in governor.children if c.dep_ == "prt" and c.i == governor.i + 1), None)
    return governor.i if particle is None else particle.i


def _behind(helper: Token, root: Token) -> list[Token]:
    """Return the words of the subject that stands behind the helper; empty where there is none."""
    for c in root.children:
        if c.dep_ in (*SUBJECTS, "expl") and c.left_edge.i > helper.i:
            words = [t for t in sorted(c.subtree) if t.i > helper.i]
            return words if words[-1].i - words[0].i + 1 == len(words) else []
    return []


def _preposition(phrase: Sequence[Token], answer: str) -> str | None:
    """Return what stands before the answer: the preposition of the question, or one that "when" and "where" ask for.

    None where the answer does not fit the question word.
    """
    first = phrase[0]
    if first.pos_ == "ADP":
        return "" if answer.lower().startswith(f"{first.lower_} ") else f"{first.lower_} "
    if len(phrase) == 1 and first.lower_ == "when" and answer.endswith(" ago"):
        return ""
    if len(phrase) == 1 and first.lower_ == "when" and not _TIME_OPENING.match(answer):
        return ("on " if _DAY.match(answer) else "in ") if re.match(r"(?:the )?[\dA-Z]", answer) else None
    if len(phrase) == 1 and first.lower_ == "where" and not _PLACE_OPENING.match(answer):
        return "in " if re.match(r"(?:the )?[A-Z]", answer) else None
    if phrase[-1].dep_ in ("npadvmod", "nmod", "dep") and first.lower_ in ("what", "which"):
        if _TIME_OPENING.match(answer):
            return ""
        asked_time = phrase[-1].lemma_ in ("year", "decade", "century", "month", "era", "period")
        return "in " if asked_time and re.match(r"(?:the )?[\dA-Z]", answer) else None
    return ""


def _counted_noun(phrase: Sequence[Token], answer: str) -> str:
    """Return the noun that "how many" counts, unless the answer names it."""
    words = [t.lower_ for t in phrase]
    if "many" not in words or words.index("many") + 1 == len(words):
        return ""
    counted = phrase[words.index("many") + 1 :]
    return (
        f" {_text(counted)}"
        if re.search(r"(?:\d|[a-z]n|e|o|r|x|t|y|d)$", answer) and counted[-1].lemma_ not in answer
        else ""
    )


def _without_mark(doc: Doc) -> list[Token]:
    return [t for t in doc if not (t.is_punct and t.i == len(doc) - 1)]


def _text(tokens: Sequence[Token]) -> str:
    return "".join(t.text_with_ws for t in tokens).strip()
