"""English by rule, without a model.  This package is the only door: import every name below from here.

Words and numbers of a claim and its evidence:
    `numbers`, `missing_numbers` and `underived_numbers`, `content_words`, `stem`, `share_found`, `plain_share` and
    `stands_in`, the tables `DAY_NAMES`, `FUNCTION_WORDS`, `MONTHS`, `MONTH_NAMES`, `NUMBER_WORDS`, `SCALES` and the
    pattern `WORD`.
Comparison of a claim with its evidence:
    `contradiction` (what rules out support, with `MIN_CLAIM_SHARE`), `difference` (what differs, for readers),
    `sentences_with_numbers` (rows of a table by their numbers).
Grammar of a sentence:
    `tag` (words with tags: `Tagged`), `facts` (its clauses: `Fact`, made of `Piece`s), the modules `lexicon` and
    `verbs` with closed classes and verb forms, `be_like` (the form of `be` that fits a subject).
Phrases of a clause:
    `frame` (subject, verbs and `Unit`s: `Frame`), `told_with` (the clause with some units alone), `tokens_of`, and
    claims within a phrase: `deeds`, `larger_place`, `titles` (each an `Aside`).
References to earlier sentences:
    `with_antecedent`, `inserted_spans`, `without_brackets`.
Questions:
    `standalone_question` (a follow-up, completed from each earlier `Exchange`), `question_parts` (the things that one
    question asks), `is_question`, `answer_form` (what answers it: `Form`),
    `can_answer` (whether a text has what it needs), `defined_term` (what it asks to define), `defines`.
Languages:
    `language_of`, `other_language`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from propcite.attribution.english.comparison.contradictions import MIN_CLAIM_SHARE, contradiction
    from propcite.attribution.english.comparison.differences import difference
    from propcite.attribution.english.comparison.rows import sentences_with_numbers
    from propcite.attribution.english.frames.asides import Aside, deeds, larger_place, titles
    from propcite.attribution.english.frames.frames import Frame, frame, told_with
    from propcite.attribution.english.frames.units import Unit, tokens_of
    from propcite.attribution.english.grammar import Fact, Piece, Tagged, facts, lexicon, tag, verbs
    from propcite.attribution.english.grammar.phrases import be_like
    from propcite.attribution.english.languages import language_of, other_language
    from propcite.attribution.english.pronouns.antecedent import inserted_spans, with_antecedent, without_brackets
    from propcite.attribution.english.questions.follow_ups import Exchange, standalone_question
    from propcite.attribution.english.questions.forms import Form, answer_form, can_answer, defined_term, defines
    from propcite.attribution.english.questions.parts import is_question, question_parts
    from propcite.attribution.english.words import (
        DAY_NAMES,
        FUNCTION_WORDS,
        MONTH_NAMES,
        MONTHS,
        NUMBER_WORDS,
        SCALES,
        WORD,
        content_words,
        missing_numbers,
        numbers,
        plain_share,
        share_found,
        stands_in,
        stem,
        underived_numbers,
        without_list_number,
        without_titled,
    )

# Each name is imported when it is first used: the tables of the grammar take a while to build.
_MODULES = {
    "comparison.contradictions": ("MIN_CLAIM_SHARE", "contradiction"),
    "comparison.differences": ("difference",),
    "comparison.rows": ("sentences_with_numbers",),
    "frames.asides": ("Aside", "deeds", "larger_place", "titles"),
    "frames.frames": ("Frame", "frame", "told_with"),
    "frames.units": ("Unit", "tokens_of"),
    "grammar": ("Fact", "Piece", "Tagged", "facts", "lexicon", "tag", "verbs"),
    "grammar.phrases": ("be_like",),
    "languages": ("language_of", "other_language"),
    "pronouns.antecedent": ("inserted_spans", "with_antecedent", "without_brackets"),
    "questions.follow_ups": ("Exchange", "standalone_question"),
    "questions.forms": ("Form", "answer_form", "can_answer", "defined_term", "defines"),
    "questions.parts": ("is_question", "question_parts"),
    "words": (
        *("DAY_NAMES", "FUNCTION_WORDS", "MONTHS", "MONTH_NAMES", "NUMBER_WORDS", "SCALES", "WORD"),
        *("content_words", "missing_numbers", "numbers", "plain_share", "share_found", "stands_in"),
        *("stem", "underived_numbers", "without_list_number", "without_titled"),
    ),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "DAY_NAMES",
    "FUNCTION_WORDS",
    "MIN_CLAIM_SHARE",
    "MONTHS",
    "MONTH_NAMES",
    "NUMBER_WORDS",
    "SCALES",
    "WORD",
    "Aside",
    "Exchange",
    "Fact",
    "Form",
    "Frame",
    "Piece",
    "Tagged",
    "Unit",
    "answer_form",
    "be_like",
    "can_answer",
    "content_words",
    "contradiction",
    "deeds",
    "defined_term",
    "defines",
    "difference",
    "facts",
    "frame",
    "inserted_spans",
    "is_question",
    "language_of",
    "larger_place",
    "lexicon",
    "missing_numbers",
    "numbers",
    "other_language",
    "plain_share",
    "question_parts",
    "sentences_with_numbers",
    "share_found",
    "standalone_question",
    "stands_in",
    "stem",
    "tag",
    "titles",
    "tokens_of",
    "told_with",
    "underived_numbers",
    "verbs",
    "with_antecedent",
    "without_brackets",
    "without_list_number",
    "without_titled",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'propcite.attribution.english' has no attribute {name!r}")
    return getattr(import_module(f"propcite.attribution.english.{_MODULE_OF[name]}"), name)
