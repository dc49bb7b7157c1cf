"""ALCE's measures as its evaluator computes them: functions of texts, and of `phi` where entailment is needed.

`phi(premise, hypothesis)` says whether the premise entails the hypothesis.  A premise is the cited documents in their
order, each as in `Question.premises`; joined by line breaks they are the text that ALCE gives to its judge.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAX_CITATIONS = 3  # per sentence: later ones are ignored
TOP = 5  # QAMPARI's "-5": five correct answers are full recall

Premise = tuple[str, ...]
Phi = Callable[[Premise, str], bool]

_MARKER = re.compile(r"\[\d+")
_SPACED_MARKER = re.compile(r" \[\d+")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer without its markers, and the documents that these cite, counted from 0."""

    text: str
    cited: tuple[int, ...]

    @classmethod
    def of(cls, sentence: str) -> Statement:
        """Parse a sentence.  `[0]` becomes -1, the last document, as in ALCE's evaluator.

        >>> Statement.of("It cost 5 euros [2][11].")
        Statement(text='It cost 5 euros.', cited=(1, 10))
        """
        cited = tuple(int(marker[1:]) - 1 for marker in _MARKER.findall(sentence))
        return cls(remove_citations(sentence).strip(), cited)


@dataclass(frozen=True, slots=True)
class CitationScore:
    """Citation recall and precision of one answer, with its numbers of sentences and citations."""

    recall: float
    precision: float
    sentences: int
    citations: int


def first_line(output: str) -> str:
    """Return the part of an output that is scored.

    >>> first_line("\\nIt rained [1].\\nIt stopped [2].<|im_end|>")
    'It rained [1].'
    """
    return output.strip().split("\n")[0].replace("<|im_end|>", "")


def remove_citations(text: str) -> str:
    """Return the text without markers; as in ALCE's evaluator, every other closing bracket goes too.

    >>> remove_citations("It rained [1][2], they [the wardens] say [3] .")
    'It rained, they [the wardens say .'
    """
    return _MARKER.sub("", _SPACED_MARKER.sub("", text)).replace(" |", "").replace("]", "")


def statements(sentences: Sequence[str]) -> list[Statement]:
    return [Statement.of(sentence) for sentence in sentences]


def split_list(output: str) -> list[str]:
    """Return the answers of a list, which QAMPARI's outputs are.

    >>> split_list("Po [1], Adige [2].")
    ['Po [1]', 'Adige [2]']
    """
    return [one.strip() for one in output.rstrip().rstrip(".").rstrip(",").split(",")]


def list_statements(question: str, output: str) -> list[Statement]:
    """Return the statements of a list: each answer behind its question."""
    return [Statement.of(f"{question} {one}") for one in split_list(output)]


def citation_score(
    answer: Sequence[Statement], docs: Sequence[str], phi: Phi, max_citations: int = MAX_CITATIONS
) -> CitationScore | None:
    """Score the citations of an answer; None for one without sentences, which ALCE leaves out of both means.

    A sentence is supported if all its citations together entail it.  One that cites a missing document is unsupported,
    and its citations do not count.
    """
    if not answer:
        return None
    supported = precise = counted = 0
    for statement in answer:
        cited = statement.cited
        if not cited or max(cited) >= len(docs):
            continue
        cited = cited[:max_citations]
        counted += len(cited)
        if phi(tuple(docs[n] for n in cited), statement.text):
            supported += 1
            precise += _num_precise(statement.text, cited, docs, phi)
    precision = precise / counted if counted else 0.0
    return CitationScore(supported / len(answer), precision, len(answer), counted)


def _num_precise(text: str, cited: Sequence[int], docs: Sequence[str], phi: Phi) -> int:
    """Return how many citations of a supported sentence are needed."""
    return 1 if len(cited) == 1 else sum(_is_needed(place, text, cited, docs, phi) for place in range(len(cited)))


def _is_needed(place: int, text: str, cited: Sequence[int], docs: Sequence[str], phi: Phi) -> bool:
    """Return whether a citation entails the sentence alone, or the others do not entail it without this one."""
    one = cited[place]
    if phi((docs[one],), text):
        return True
    others = list(cited)
    others.remove(one)  # the first one, if a document is cited twice
    return not phi(tuple(docs[n] for n in others), text)


def claim_recall(output: str, claims: Sequence[str], phi: Phi) -> float | None:
    """Return the share of ELI5's claims that the answer entails; None without claims."""
    if not claims:
        return None
    premise = (remove_citations(output),)
    return sum(phi(premise, claim) for claim in claims) / len(claims)


def normalized(text: str) -> str:
    """Normalize as SQuAD does: lower case, no punctuation, no articles, single spaces.

    >>> normalized("The  Po, an Italian river!")
    'po italian river'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def str_em(output: str, short_answers: Sequence[Sequence[str]]) -> tuple[float, float] | None:
    """Return the share of ASQA's sub-questions with a short answer in the text, and whether all have one."""
    if not short_answers:
        return None
    text = normalized(output)
    hits = [any(normalized(answer) in text for answer in answers) for answers in short_answers]
    return sum(hits) / len(hits), float(all(hits))


def qa_scores(predicted: Sequence[str], short_answers: Sequence[Sequence[str]]) -> tuple[float, float, float] | None:
    """Return exact match and F1 of a reader's answers for ASQA, and whether all match."""
    if not short_answers or not all(short_answers):
        return None
    pairs = list(zip(predicted, short_answers, strict=True))
    exact = [any(normalized(a) == normalized(text) for a in answers) for text, answers in pairs]
    f1_scores = [max(token_f1(answer, text) for answer in answers) for text, answers in pairs]
    return sum(exact) / len(exact), sum(f1_scores) / len(f1_scores), float(all(exact))


def token_f1(gold: str, predicted: str) -> float:
    """
    >>> token_f1("the river Po", "Po"), token_f1("", "")
    (0.6666666666666666, 1.0)
    """
    gold_tokens, tokens = normalized(gold).split(), normalized(predicted).split()
    if not gold_tokens or not tokens:
        return float(gold_tokens == tokens)
    common = sum((Counter(gold_tokens) & Counter(tokens)).values())
    return 2 * common / (len(gold_tokens) + len(tokens))


@dataclass(frozen=True, slots=True)
class ListScore:
    """Precision, recall and F1 of a list of QAMPARI, and its number of answers."""

    precision: float
    recall: float
    recall_5: float
    f1: float
    f1_5: float
    answers: int


def list_score(output: str, answers: Sequence[Sequence[str]]) -> ListScore | None:
    """Score a list against correct answers, each with its alternative names; None without any."""
    if not answers:
        return None
    listed = [name for name in map(normalized, split_list(output)) if name]
    gold = [[normalized(name) for name in names] for names in answers]
    gold_names = {name for names in gold for name in names}
    precision = sum(name in gold_names for name in listed) / len(listed) if listed else 0.0
    hits = sum(any(name in listed for name in names) for names in gold)
    recall, recall_5 = hits / len(gold), min(TOP, hits) / min(TOP, len(gold))
    return ListScore(precision, recall, recall_5, f1(precision, recall), f1(precision, recall_5), len(listed))


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def length(output: str) -> int:
    return len(output.split())
