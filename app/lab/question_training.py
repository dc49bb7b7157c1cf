"""Train the question reader, and fit its probabilities to questions that training held out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from propcite.app.errors import AppError
from propcite.app.terminal_progress import counting
from propcite.attribution.questions.reader import Calibration, QuestionReader, Reading, Text
from propcite.attribution.questions.training.examples import SECTIONS, QuestionExample, read_examples, window
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import passage_from_sentences
from propcite.retrieval.text import Granularity, Span

if TYPE_CHECKING:
    from propcite.retrieval.encoding.base import TextEncoder

MIN_ROWS = 40  # of each kind, right and wrong
FITTED_WORDS = 75
OVERLAP = 0.5  # F1 of characters from which words count as the answer

Rows = list[tuple[tuple[float, ...], bool]]


def train_questions(
    files: Sequence[Path],
    out: Path,
    work: Path,
    *,
    start: Path | None = None,
    device: str = "",
    resume: bool,
    note: Callable[[str], None],
    **options: Any,
) -> dict[str, Any]:
    """Train a question reader on the questions of these files, write it to `out`, and return its description."""
    from propcite.attribution.questions.training.trainer import QuestionRecipe, train

    recipe = QuestionRecipe(**options)
    examples = list(read_examples(files))
    note(f"{len(examples)} questions")
    with counting(recipe.steps, "training") as advance:
        return train(
            examples, out, work, recipe, start=start, device=device,
            resume=resume, note=note, progress=lambda step, loss: advance(f"step {step}, loss {loss:.2f}"),
        )  # fmt: skip


def calibrate_questions(
    files: Sequence[Path], reader: Path, encoder: TextEncoder, most: int, seed: int
) -> dict[str, Any]:
    """Fit a question reader's probabilities to a sample of held-out questions, store them, and return them."""
    from propcite.attribution.questions.files import describe

    rng = random.Random(seed)
    examples = [
        window(example, FITTED_WORDS, rng)
        for file in files
        for example in _sample(list(read_examples([file])), most, rng)
    ]
    network = QuestionReader(reader)
    read = _as_read(examples, similarities(encoder, examples))
    found, answer = _found_rows(network, read), _answer_rows(network, examples)
    calibration = Calibration(found=_fitted(found, "sentences"), answer=_fitted(answer, "answers"))
    words = _words_rows(network, calibration, read)
    calibration = Calibration(calibration.found, calibration.answer, _fitted(words, "words"))
    described = {"calibration": asdict(calibration), "fitted": [len(found), len(answer), len(words)]}
    describe(reader, described)
    return described


def _sample(examples: list[QuestionExample], most: int, rng: random.Random) -> list[QuestionExample]:
    """Return some of the questions whose answering sentences are known, each with all its texts."""
    texts: dict[str, list[QuestionExample]] = {}
    for number, example in enumerate(examples):
        if None not in example.answering:
            texts.setdefault(example.group or str(number), []).append(example)
    return list(chain.from_iterable(rng.sample(list(texts.values()), min(most, len(texts)))))


def _read(reader: QuestionReader, examples: Sequence[QuestionExample], *, titled: bool) -> list[Reading]:
    return reader.read([(example.question, _text(example, titled=titled)) for example in examples])


def _text(example: QuestionExample, *, titled: bool) -> Text:
    spans, start = [], 0
    for sentence in example.sentences:
        spans.append(Span(start, start + len(sentence)))
        start += len(sentence) + 1
    return Text(example.text, example.title if titled else "", tuple(spans))


def similarities(encoder: TextEncoder, examples: Sequence[QuestionExample]) -> list[list[float]]:
    """Return, per example, the similarity of each sentence to the question, as a search finds it."""
    ids: dict[tuple[str, tuple[str, ...]], str] = {}
    for example in examples:
        ids.setdefault((example.title, example.sentences), str(len(ids)))
    passages = {key: passage_from_sentences(name, key[1], key[0]) for key, name in ids.items()}
    retriever = replace(Retriever.over(encoder, list(passages.values())), merging=False)
    found = []
    for example in examples:
        passage = passages[example.title, example.sentences]
        own = retriever.only({passage.id})
        scores = [0.0] * len(example.sentences)
        for hit in own.search(example.question, Granularity.SENTENCE, len(scores)):
            scores[next(n for n, s in enumerate(passage.sentences) if s.span.end > hit.spans[0].start)] = hit.similarity
        found.append(scores)
    return found


def _as_read(
    examples: Sequence[QuestionExample], similarities: Sequence[Sequence[float]]
) -> list[tuple[QuestionExample, Sequence[float]]]:
    """Return the examples with their similarities; of a document's sections those that answering reads."""
    rows = sorted(zip(examples, similarities, strict=True), key=lambda row: -max(row[1], default=0.0))
    taken: Counter[str] = Counter()
    kept = []
    for example, own in rows:
        taken[example.group] += 1
        if not example.group or taken[example.group] <= SECTIONS:
            kept.append((example, own))
    return kept


def _found_rows(reader: QuestionReader, examples: Sequence[tuple[QuestionExample, Sequence[float]]]) -> Rows:
    rows: Rows = []
    for (example, scores), reading in zip(examples, _read(reader, [e for e, _ in examples], titled=True), strict=True):
        for own, score, answers in zip(reading.sentences, scores, example.answering, strict=True):
            rows.append(((reading.answers, own.answers, score), bool(answers)))
    return rows


def _answer_rows(reader: QuestionReader, examples: Sequence[QuestionExample]) -> Rows:
    """Return the logits of sentences that stand alone, as an answer does."""
    alone = [e.part(n, n + 1) for e in examples for n in range(len(e.sentences))]
    readings = _read(reader, alone, titled=False)
    return [((r.answers, r.sentences[0].answers), bool(e.answering[0])) for e, r in zip(alone, readings, strict=True)]


def _words_rows(
    reader: QuestionReader, calibration: Calibration, examples: Sequence[tuple[QuestionExample, Sequence[float]]]
) -> Rows:
    """Return the logit of the likeliest sentence's words, and whether they are the answer."""
    rows: Rows = []
    known = [(e, scores) for e, scores in examples if e.words is not None or not e.is_answered]
    for (example, scores), reading in zip(known, _read(reader, [e for e, _ in known], titled=True), strict=True):
        likely = [
            calibration.of_found(reading, own, score) for own, score in zip(reading.sentences, scores, strict=True)
        ]
        best = max(range(len(likely)), key=likely.__getitem__)
        own = reading.sentences[best]
        right = example.words is not None and own.words is not None and _overlap(own.words, example.words) >= OVERLAP
        rows.append(((own.words_answer, likely[best]), right))
    return rows


def _overlap(one: Span, other: Span) -> float:
    common = max(0, min(one.end, other.end) - max(one.start, other.start))
    return 2 * common / (len(one) + len(other)) if one or other else 0.0


def _fitted(rows: Rows, what: str) -> tuple[Any, ...]:
    """Return the weights of a logistic regression, with its intercept last."""
    truth = np.array([right for _, right in rows])
    if min(truth.sum(), (~truth).sum()) < MIN_ROWS:
        raise AppError(f"too few {what} to fit probabilities: give more questions, answered ones and others")
    model = LogisticRegression(C=100.0, max_iter=1000).fit(np.array([values for values, _ in rows]), truth)
    return (*(round(float(weight), 4) for weight in model.coef_[0]), round(float(model.intercept_[0]), 4))
