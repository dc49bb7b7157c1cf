"""Read files of rows: passages with questions, sentences with their propositions, yes/no questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from propcite.attribution.judges.training.making.example import (
    CONTRADICTED,
    LABELLED,
    LABELS,
    SUPPORTED,
    Example,
    Spans,
)
from propcite.attribution.judges.training.making.held_out import SENTENCE_END, HeldOut, Row, read_rows
from propcite.attribution.judges.training.making.rewriting import plain

LEFT_OUT = frozenset(  # ranked rows that mix sentences of several passages, are in lower case, or are for measuring
    {"squad_train_pairs", "evidence_inference", "entailment_bank", "feverous", "check_covid", "propsegment_ent"}
)
MAX_SENTENCES = 12  # of a passage
MIN_WORDS = 30
_HUMAN_LABELS = {"SUPPORTS": SUPPORTED, "REFUTES": CONTRADICTED}
_MARKED_WORDS = re.compile(r"\[\[([^\[\]]*)\]\]")
_YES_NO = re.compile(r"(.*\?) (Yes|No)\.$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    answer: str = ""  # empty where the passage has none
    sentence: int | None = None  # that answers, where it is known


@dataclass(slots=True)
class Passage:
    sentences: tuple[str, ...]
    title: str
    source: str
    questions: list[Question] = field(default_factory=list)

    @property
    def group(self) -> str:
        return self.title or self.sentences[0][:80]


@dataclass(frozen=True, slots=True)
class Split:
    """A sentence and the propositions that people wrote for it."""

    sentence: str
    propositions: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class YesNoQuestion:
    """A question with the label of the answer "yes"."""

    text: str
    label: str
    evidence: str
    title: str
    source: str


@dataclass(slots=True)
class Texts:
    """What the files hold, each passage once; `claims` are claims that people wrote and labelled."""

    passages: list[Passage] = field(default_factory=list)
    splits: list[Split] = field(default_factory=list)
    yes_no: list[YesNoQuestion] = field(default_factory=list)
    claims: list[Example] = field(default_factory=list)
    unknown: int = 0
    held_out: int = 0


def read_texts(files: Sequence[Path], held_out: HeldOut) -> Texts:
    """Read files of rows in any mixture; a row is recognised by its fields."""
    texts, passages = Texts(), dict[str, Passage]()
    for file in files:
        for row in read_rows(file):
            _take(row, texts, passages, held_out)
    texts.passages = list(passages.values())
    return texts


def untokenized(text: str) -> str:
    """Remove the spaces that a tokenized text has around its punctuation."""
    text = re.sub(r"\s*(?:``|'')\s*", ' " ', text)
    text = re.sub(r'(?:^|(?<=\s))" ([^"]*?) "', r'"\1"', text)
    return re.sub(
        r"\s+([,;:.!?)\]%]|'(?:s|re|ve|ll|d|m)\b|n't\b)", r"\1", re.sub(r"([(\[$£€])\s+", r"\1", text)
    ).strip()


def _take(row: Row, texts: Texts, passages: dict[str, Passage], held_out: HeldOut) -> None:
    """Add what a row holds, or count it as unknown."""
    try:
        if row.get("lang", "en") != "en":
            texts.unknown += 1
            return
        if {"question", "passages", "answerable"} <= row.keys():
            _take_answer(row, texts, passages, held_out)
        elif {"query", "sentences", "positive_sentence_ids"} <= row.keys():
            _take_ranked(row, texts, passages, held_out)
        elif {"sentence", "propositions"} <= row.keys():
            _take_split(row, texts, held_out)
        elif {"claim", "evidence", "label"} <= row.keys():
            _take_claim(row, texts, held_out)
        else:
            texts.unknown += 1
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        texts.unknown += 1


def _passage(row: Row, source: str, texts: Texts, passages: dict[str, Passage], held_out: HeldOut) -> Passage | None:
    """Return the passage of a row, the same one for the same sentences; None where it is held out or short."""
    sentences = tuple(str(s).strip() for s in row["sentences"][:MAX_SENTENCES])
    title = str(row.get("title") or "").replace("_", " ")
    if held_out.has(title, [str(s) for s in row["sentences"]]):
        texts.held_out += 1
        return None
    if sum(len(s.split()) for s in sentences) <= MIN_WORDS:
        return None
    return passages.setdefault(plain(" ".join(sentences))[:200], Passage(sentences, title, source))


def _take_answer(row: Row, texts: Texts, passages: dict[str, Passage], held_out: HeldOut) -> None:
    passage = _passage(row["passages"][0], str(row["source"]), texts, passages, held_out)
    if passage is None or row.get("kind", "question") != "question":
        return
    numbers = [int(number) for _, number in row.get("answer_sentences") or () if int(number) < len(passage.sentences)]
    answer = str(row.get("answer") or "") if row["answerable"] else ""
    if answer and not numbers:
        return
    passage.questions.append(Question(str(row["question"]), answer, numbers[0] if numbers else None))


def without_marks(claim: str) -> tuple[str, Spans]:
    """Return a claim without the brackets around its wrong words, and the places of these words.

    >>> without_marks("It opened in [[Vienna]] in 1911.")
    ('It opened in Vienna in 1911.', ((13, 19),))
    """
    text, spans = "", []
    for number, part in enumerate(_MARKED_WORDS.split(claim)):
        if number % 2 and part:
            spans.append((len(text), len(text) + len(part)))
        text += part
    return text, tuple(spans)


def _take_ranked(row: Row, texts: Texts, passages: dict[str, Passage], held_out: HeldOut) -> None:
    if row.get("source") in LEFT_OUT:
        texts.held_out += 1
        return
    positives = [int(i) for i in row["positive_sentence_ids"]]
    passage = _passage(row, str(row["source"]), texts, passages, held_out)
    label = _HUMAN_LABELS.get(str(row.get("label", "")).upper())
    if passage is None or label is None or not positives:
        return
    near = [str(s).strip() for s in row["sentences"][max(0, min(positives) - 1) : max(positives) + 2]]
    wrong = () if label == SUPPORTED else None
    claim, source = str(row["query"]), str(row["source"])
    texts.claims.append(Example(claim, " ".join(near), label, LABELLED, source, passage.title, passage.group, wrong))


def _take_split(row: Row, texts: Texts, held_out: HeldOut) -> None:
    sentence = untokenized(str(row["sentence"]))
    propositions = tuple(untokenized(str(p)) for p in row["propositions"])
    if held_out.has("", [sentence]):
        texts.held_out += 1
    elif "token_indices" not in row and len(sentence.split()) >= 5 and propositions:
        texts.splits.append(Split(sentence, propositions, str(row["source"])))


def _take_claim(row: Row, texts: Texts, held_out: HeldOut) -> None:
    """Add a question with its answer "yes" or "no", or a claim that is ready for training as it is."""
    label = str(row["label"])
    if label not in LABELS:
        raise ValueError(label)
    found = _YES_NO.match(str(row["claim"]))
    if found is None:
        _take_labelled(row, label, texts, held_out)
        return
    head, dash, rest = str(row["evidence"])[:100].partition(" -- ")
    title, evidence = (head, rest + str(row["evidence"])[100:]) if dash else ("", str(row["evidence"]))
    if held_out.has(title, SENTENCE_END.split(evidence)):
        texts.held_out += 1
        return
    turned = {SUPPORTED: CONTRADICTED, CONTRADICTED: SUPPORTED}
    label = turned.get(label, label) if found[2] == "No" else label
    question = found[1][:1].upper() + found[1][1:]
    texts.yes_no.append(YesNoQuestion(question, label, evidence, title, str(row["source"])))


def _take_labelled(row: Row, label: str, texts: Texts, held_out: HeldOut) -> None:
    claim, marks = without_marks(str(row["claim"]))
    evidence, title = str(row["evidence"]), str(row.get("title") or "")
    if held_out.has(title, [claim, *SENTENCE_END.split(evidence)]):
        texts.held_out += 1
        return
    group = str(row.get("doc") or evidence[:80])
    wrong = () if label == SUPPORTED else marks or None
    is_binary = bool(row.get("binary"))
    texts.claims.append(Example(claim, evidence, label, LABELLED, str(row["source"]), title, group, wrong, is_binary))
