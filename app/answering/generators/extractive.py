"""Answer without a language model: the words and sentences of the passages that answer, or an abstention."""

from __future__ import annotations

from collections.abc import Sequence

from propcite.app.answering.extracting.candidates import Candidate, Found, find
from propcite.app.answering.extracting.choosing import MAX_SENTENCES, choose, nearest
from propcite.app.answering.extracting.composing import compose, direct_words
from propcite.app.answering.generators import Draft, GenerationContext, Writing
from propcite.app.library.store import Turn
from propcite.attribution.english import Exchange, Form, answer_form, question_parts, standalone_question
from propcite.attribution.questions.reader import QuestionReader
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.interrupting import in_turn

PER_PART = 1  # sentences per part of a question that asks several things
ABSTENTION = "The collection does not say."
UNSURE = "The collection does not clearly say. The nearest words:"


class ExtractiveGenerator:
    """Answers in the sources' own words, so nothing in an answer is invented."""

    name = "extractive"
    prompt = ""
    understanding = "rules/2"

    def __init__(self, reader: QuestionReader, *, plain: bool = False) -> None:
        """Answers that are `plain` are whole sentences in one paragraph, as evaluators expect them."""
        self._reader, self._plain = reader, plain

    def understand(self, question: str, turns: Sequence[Turn]) -> str:
        return standalone_question(question, [Exchange(turn.understood, turn.text) for turn in turns])

    def stream(self, question: str, context: GenerationContext) -> Writing:
        draft = self._draft(question, context)
        yield draft.text
        return draft

    def generate_many(self, requests: Sequence[tuple[str, GenerationContext]]) -> list[Draft | PropCiteError]:
        return [self._draft(question, context) for question, context in requests]

    def _draft(self, question: str, context: GenerationContext) -> Draft:
        with in_turn(sum(len(passage.text) for passage in context.passages)):
            return self._draft_now(question, context)

    def _draft_now(self, question: str, context: GenerationContext) -> Draft:
        found = find(self._reader, context.retriever, context.passages, question_parts(question))
        limit = MAX_SENTENCES if len(found) == 1 else PER_PART
        chosen = [choose(one.candidates, limit, one.question) for one in found]
        if not any(chosen):
            return self._unsure(found)
        answered = {one.question: own[0].probability for one, own in zip(found, chosen, strict=True) if own}
        if len(found) == 1:
            return Draft(self._single(chosen[0], found[0].question, context), answered=answered)
        missing = [f"{ABSTENTION[:-1]}: {one.question}" for one, own in zip(found, chosen, strict=True) if not own]
        distinct = list(dict.fromkeys(candidate for own in chosen for candidate in own))
        text = compose(distinct, naming=False)
        whole = " ".join(text.split("\n")) if self._plain else "\n".join([text, *missing])
        return Draft(whole, answered=answered)

    def _unsure(self, found: Sequence[Found]) -> Draft:
        """Return the words that come nearest to an answer, said to be no more than that; without any, say so alone.

        A plain answer is for evaluators, who measure what the words are worth.
        """
        near = list(dict.fromkeys(candidate for one in found for candidate in nearest(one.candidates)))
        if not near:
            return Draft(ABSTENTION, abstained=True, notes=_unnamed(found))
        text = compose(near, naming=False)
        if self._plain:
            return Draft(" ".join(text.split("\n")))
        return Draft(f"{UNSURE}\n\n{text}", abstained=True, notes=_unnamed(found))

    def _single(self, chosen: Sequence[Candidate], question: str, context: GenerationContext) -> str:
        """Return the answer to a question that asks one thing; documents that answer differently are named.

        It opens with the words that answer, unless the passages do not support them.
        """
        if self._plain:
            return " ".join(line.removeprefix("- ") for line in compose(chosen, naming=False).split("\n"))
        form = answer_form(question)
        if len({c.passage.document_id or c.passage.id for c in chosen}) > 1:
            return compose(chosen, naming=True, form=form)
        # Of several things, the sentence that names the most in a row need not be the likeliest.
        sayers = chosen if form is Form.SEVERAL else chosen[:1]
        direct = next(filter(None, (direct_words(one, question) for one in sayers)), "")
        if direct and context.supports and not context.supports(direct):
            direct = ""
        text = compose(chosen, naming=False, form=form)
        # "7.7." in front of a sentence reads as its number, so a number is a paragraph of its own.
        return (" " if any(map(str.isalpha, direct)) else "\n\n").join(filter(None, [direct, text]))


def _unnamed(found: Sequence[Found]) -> tuple[str, ...]:
    """Say which names of the question no passage has; empty if there are none."""
    names = list(dict.fromkeys(name.text for one in found for name in one.missing))
    return (f"nothing that was found names {' or '.join(names)}",) if names else ()
