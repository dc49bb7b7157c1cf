"""ALCE's measures, as its evaluator computes them: functions of texts, and of `phi` where something must be judged.

`phi(premise, hypothesis)` says whether the premise entails the hypothesis.  A premise is the cited documents in their
order, each as `Doc.premise` writes it; joined by line ends they are the text that ALCE gives to its judge.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MOST_CITATIONS = 3  # of a sentence: those behind them are not looked at
TOP = 5  # QAMPARI's "-5": five right answers are all that is asked

Premise = tuple[str, ...]
Phi = Callable[[Premise, str], bool]

_MARKER = re.compile(r"\[\d+")
_SPACED_MARKER = re.compile(r" \[\d+")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer without its markers, and the documents that these name, counted from 0."""

    text: str
    cited: tuple[int, ...]

    @classmethod
    def of(cls, sentence: str) -> Statement:
        """`[0]` names -1: ALCE's evaluator takes it for the last document, and so do we.

        >>> Statement.of("It cost 5 euros [2][11].")
        Statement(text='It cost 5 euros.', cited=(1, 10))
        """
        cited = tuple(int(marker[1:]) - 1 for marker in _MARKER.findall(sentence))
        return cls(remove_citations(sentence).strip(), cited)


@dataclass(frozen=True, slots=True)
class CitationScore:
    """One answer: shares of its sentences and of its citations, and how many there are of each."""

    recall: float
    precision: float
    sentences: int
    citations: int


def first_line(output: str) -> str:
    """What of an output is scored at all.

    >>> first_line("\\nIt rained [1].\\nIt stopped [2].<|im_end|>")
    'It rained [1].'
    """
    return output.strip().split("\n")[0].replace("<|im_end|>", "")


def remove_citations(text: str) -> str:
    """The text without markers, and without every other closing bracket too.

    >>> remove_citations("It rained [1][2], they [the wardens] say [3] .")
    'It rained, they [the wardens say .'
    """
    return _MARKER.sub("", _SPACED_MARKER.sub("", text)).replace(" |", "").replace("]", "")


def statements(sentences: Sequence[str]) -> list[Statement]:
    """The sentences of prose; their splitter is the caller's."""
    return [Statement.of(sentence) for sentence in sentences]


def listed(output: str) -> list[str]:
    """The answers of a list, as QAMPARI has them.

    >>> listed("Po [1], Adige [2].")
    ['Po [1]', 'Adige [2]']
    """
    return [one.strip() for one in output.rstrip().rstrip(".").rstrip(",").split(",")]


def listed_statements(question: str, output: str) -> list[Statement]:
    """QAMPARI's form: each answer behind its question."""
    return [Statement.of(f"{question} {one}") for one in listed(output)]


def citation_score(
    said: Sequence[Statement], docs: Sequence[str], phi: Phi, most: int = MOST_CITATIONS
) -> CitationScore | None:
    """None for an answer without a sentence, which ALCE leaves out of both means.

    A sentence is supported when all its citations together entail it.  One that names a document which is not there
    is unsupported, and its citations do not count.
    """
    if not said:
        return None
    supported = precise = counted = 0
    for statement in said:
        cited = statement.cited
        if not cited or max(cited) >= len(docs):
            continue
        cited = cited[:most]
        counted += len(cited)
        if phi(tuple(docs[n] for n in cited), statement.text):
            supported += 1
            precise += _precise(statement.text, cited, docs, phi)
    return CitationScore(supported / len(said), precise / counted if counted else 0.0, len(said), counted)


def _precise(text: str, cited: Sequence[int], docs: Sequence[str], phi: Phi) -> int:
    """How many citations of a supported sentence are not in excess."""
    return 1 if len(cited) == 1 else sum(_is_needed(place, text, cited, docs, phi) for place in range(len(cited)))


def _is_needed(place: int, text: str, cited: Sequence[int], docs: Sequence[str], phi: Phi) -> bool:
    """A citation that entails the sentence alone is right; another is, where the others do not entail it without."""
    one = cited[place]
    if phi((docs[one],), text):
        return True
    others = list(cited)
    others.remove(one)  # of a document that is named twice the first
    return not phi(tuple(docs[n] for n in others), text)


def claim_recall(output: str, claims: Sequence[str], phi: Phi) -> float | None:
    """ELI5: the share of the claims that the answer entails."""
    if not claims:
        return None
    premise = (remove_citations(output),)
    return sum(phi(premise, claim) for claim in claims) / len(claims)


def normalized(text: str) -> str:
    """SQuAD's: small letters, no punctuation, no articles, single spaces.

    >>> normalized("The  Po, an Italian river!")
    'po italian river'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def str_em(output: str, short_answers: Sequence[Sequence[str]]) -> tuple[float, float] | None:
    """ASQA: the share of questions of which a short answer stands in the text, and whether all do."""
    if not short_answers:
        return None
    text = normalized(output)
    found = [any(normalized(answer) in text for answer in answers) for answers in short_answers]
    return sum(found) / len(found), float(all(found))


def qa_scores(predicted: Sequence[str], short_answers: Sequence[Sequence[str]]) -> tuple[float, float, float] | None:
    """ASQA: exact match and F1 of a reader's answers, and whether all match."""
    if not short_answers or not all(short_answers):
        return None
    both = list(zip(predicted, short_answers, strict=True))
    exact = [any(normalized(a) == normalized(told) for a in answers) for told, answers in both]
    near = [max(token_f1(answer, told) for answer in answers) for told, answers in both]
    return sum(exact) / len(exact), sum(near) / len(near), float(all(exact))


def token_f1(gold: str, predicted: str) -> float:
    """
    >>> token_f1("the river Po", "Po"), token_f1("", "")
    (0.6666666666666666, 1.0)
    """
    wanted, told = normalized(gold).split(), normalized(predicted).split()
    if not wanted or not told:
        return float(wanted == told)
    same = sum((Counter(wanted) & Counter(told)).values())
    return 2 * same / (len(wanted) + len(told))


@dataclass(frozen=True, slots=True)
class ListScore:
    """QAMPARI: shares of what is listed and of what should be."""

    precision: float
    recall: float
    recall_5: float
    f1: float
    f1_5: float
    answers: int


def list_score(output: str, answers: Sequence[Sequence[str]]) -> ListScore | None:
    """`answers` are the other names of each."""
    if not answers:
        return None
    told = [name for name in map(normalized, listed(output)) if name]
    wanted = [[normalized(name) for name in names] for names in answers]
    known = {name for names in wanted for name in names}
    precision = sum(name in known for name in told) / len(told) if told else 0.0
    found = sum(any(name in told for name in names) for names in wanted)
    recall, recall_5 = found / len(wanted), min(TOP, found) / min(TOP, len(wanted))
    return ListScore(precision, recall, recall_5, f1(precision, recall), f1(precision, recall_5), len(told))


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def length(output: str) -> int:
    return len(output.split())
