"""Say of an answer that was stopped which of its sentences no judge has read."""

from __future__ import annotations

from dataclasses import replace

from propcite.attribution.citations import CitedAnswer, CitedProposition, CitedSentence, Label, Verdict
from propcite.attribution.citing.splitting import SplitSentence, split_answer
from propcite.attribution.judges import NOT_JUDGED
from propcite.attribution.propositions.rules import RuleSplitter

UNREAD = Verdict(Label.UNCHECKED, 0.0, f"{NOT_JUDGED}the answer was stopped before that")


def with_unread(answer: CitedAnswer) -> CitedAnswer:
    """Return a stopped answer in which the sentences after the last cited one are facts that are unchecked.

    Whether it answers its question is then not known.

    >>> stopped = with_unread(CitedAnswer("The barrier is 6.4 metres high. It cost"))
    >>> [(fact.proposition.text, fact.verdict.label.value) for fact in stopped.facts]
    [('The barrier is 6.4 metres high.', 'unchecked'), ('It cost', 'unchecked')]
    """
    end = max((sentence.span.end for sentence in answer.sentences), default=0)
    left = [sentence for sentence in split_answer(answer.text, RuleSplitter()) if sentence.span.start >= end]
    if not left:
        return answer
    return replace(answer, sentences=(*answer.sentences, *map(_unread, left)), parts=())


def _unread(sentence: SplitSentence) -> CitedSentence:
    whole = (replace(one, spans=(sentence.span,)) for one in sentence.as_one_claim)
    return CitedSentence(sentence.span, tuple(CitedProposition(one, UNREAD) for one in whole))
