"""Splitters divide a sentence into propositions, the smallest claims that can be true or false by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from propcite.attribution.citations import Proposition

SPLITTER_WEIGHTS = Path(__file__).parents[1] / "models" / "splitter.safetensors"  # of the learned splitter, shipped


class Splitter(Protocol):
    """Splits sentences into propositions: implement `name`, `split` and `split_many` to plug in your own.

    A proposition has `spans`, the words of the sentence that it consists of, and `text`, which reads by itself: it may
    repeat a subject or replace a pronoun.  Each proposition is judged and cited on its own.

    >>> import re
    >>> from propcite import Proposition, Span, Splitter
    >>> class ClauseSplitter:
    ...     name = "clauses/1"
    ...
    ...     def split(self, sentence, context=()):
    ...         clauses = [match for match in re.finditer(r"[^;]+", sentence) if match[0].strip()]
    ...         return [Proposition((Span(*c.span()),), c[0].strip(" .") + ".") for c in clauses]
    ...
    ...     def split_many(self, sentences, contexts):
    ...         return [self.split(*pair) for pair in zip(sentences, contexts, strict=True)]
    >>> splitter: Splitter = ClauseSplitter()
    >>> [p.text for p in splitter.split("Ada wrote it; Bo sang.")]
    ['Ada wrote it.', 'Bo sang.']
    """

    @property
    def name(self) -> str:
        """Return the name and version of the splitter.

        It is stored with each answer and evaluation: change it whenever results change.
        """
        ...

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        """Return the propositions of a sentence, in any order.

        `context` holds the sentences before it in the same answer, oldest first: they may tell what a pronoun refers
        to, but are not split themselves.  Spans count characters of `sentence`.  Every content word must be in some
        proposition, so that no statement escapes the judge: when in doubt, return the whole sentence as one
        proposition.  Set `check_worthy=False` for a sentence that needs no support, such as a question.  Return an
        empty list for a sentence without a letter or digit, and raise for no string.
        """
        ...

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        """Return the propositions per sentence, with one context each; an answer's sentences arrive in one call."""
        ...
