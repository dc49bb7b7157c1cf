"""The answers that are cited: written by the generator, taken from a result file, or people's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from propcite.app.answering.generators import Draft, Shown
from propcite.app.errors import AppError
from propcite.app.lab.alce.files import AlceFile, Question, named
from propcite.app.lab.alce.scores import first_line, length
from propcite.app.lab.alce.ways import Written, has_markers
from propcite.app.lab.runs.aggregates import WRITTEN
from propcite.app.lab.runs.keeping import clocked, portion
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.attribution.prose.unmarking import unmarked
from propcite.retrieval.encoding.base import TextEncoder
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage

TOGETHER = 16  # questions answered in one batch: what a kill can lose
ON_GPU = 256
LISTS = {"answer": "list", "cite": "list_cite"}  # which prompt asks for a list in place of prose


@dataclass(frozen=True, slots=True)
class Row:
    """A question with the documents that its answer is made from, `num_docs` at most; `label` tells it if need be."""

    question: Question
    num_docs: int
    label: str = ""

    @property
    def key(self) -> str:
        return self.question.key

    def way(self, name: str) -> str:
        return name + self.label


@dataclass(frozen=True, slots=True)
class Answer:
    """What was written for a question: without markers, and as it was given."""

    text: str
    given: str = ""
    abstained: bool = False

    @classmethod
    def of(cls, output: str) -> Answer:
        """An output that may hold markers; only its first line counts."""
        line = first_line(output)
        return cls(unmarked(line), line if has_markers(line) else "")


def readable(passages: Iterable[Passage]) -> list[Passage]:
    return [passage for passage in passages if any(map(str.isalnum, passage.text))]


def read_all(rows: Sequence[Row], encoder: TextEncoder) -> None:
    """The documents of these rows in one batch, for an encoder that remembers."""
    encoder.encode_passages(readable(passage for row in rows for passage in row.question.passages))


def retriever_over(encoder: TextEncoder, passages: Sequence[Passage]) -> Retriever:
    return Retriever.over(encoder, readable(passages))


def as_written(row: Row, answer: Answer, encoder: TextEncoder) -> Written:
    question = row.question
    retriever = retriever_over(encoder, question.passages)
    return Written(question.text, answer.text, answer.given, question.passages, retriever)


def by_people(rows: Sequence[Question]) -> tuple[list[Question], dict[str, Answer]]:
    """Every long answer as an item of its own; the second of a question has #2 behind the id."""
    questions, answers = [], {}
    for question in rows:
        for number, text in enumerate(question.long_answers, start=1):
            key = question.key if number == 1 else f"{question.key}#{number}"
            questions.append(Question(key, question.item))
            answers[key] = Answer(unmarked(" ".join(text.split())))
    if not questions:
        raise AppError("no question has a long answer by people: leave out --human")
    return questions, answers


def from_outputs(questions: Sequence[Question], outputs: AlceFile) -> tuple[list[Question], dict[str, Answer]]:
    """The outputs of a result file, with the documents that it says were shown, and the fields of both files."""
    told = {question.key: question for question in outputs.questions}
    lacking = [question for question in questions if question.key not in told]
    if lacking:
        raise AppError(f"{outputs.path} has no output for {len(lacking)} questions ({named(lacking)}): use --limit")
    chosen = [Question(q.key, {**q.item, **told[q.key].item}) for q in questions]
    without = [question for question in chosen if "output" not in question.item]
    if without:
        raise AppError(f"{outputs.path}: {len(without)} items have no output ({named(without)}): give a result file")
    return chosen, {question.key: Answer.of(question.output) for question in chosen}


def written_by(
    parts: Parts,
    encoder: TextEncoder,
    rows: Sequence[Row],
    keep: Callable[[Sequence[RunItem]], None],
    *,
    failed_as_empty: bool = False,
) -> None:
    """The generator's answers, kept batch by batch; in the end what could not be written is told."""
    failed: list[tuple[str, PropCiteError]] = []
    size = ON_GPU if parts.settings.generator == "vllm" else _at_once(parts.settings)
    for first in range(0, len(rows), size):
        some = rows[first : first + size]
        with clocked() as cost:
            read_all(some, encoder)
            if parts.settings.generator == "extractive":
                for granularity in (Granularity.PASSAGE, Granularity.SENTENCE):
                    encoder.encode_queries([row.question.text for row in some], granularity)
            drafts = parts.generator.generate_many([_asked(row, encoder) for row in some])
        share = portion({name: cost[name] for name in ("seconds", "cpu_seconds")}, len(some))
        failed += [(row.key, d) for row, d in zip(some, drafts, strict=True) if isinstance(d, PropCiteError)]
        both = ((row, draft) for row, draft in zip(some, drafts, strict=True))
        keep([_item(row, d, share) for row, d in both if isinstance(d, Draft) or failed_as_empty])
    if failed and not failed_as_empty:
        key, error = failed[0]
        raise AppError(
            f"{len(failed)} answers could not be written ({key}: {error}): the same command tries these again,"
            " --failed-as-empty measures them as empty"
        )


def answer_of(item: RunItem) -> Answer:
    output = item.output
    return Answer(output["text"], output.get("given", ""), bool(output.get("abstained")))


def generator_settings(settings: Settings) -> Mapping[str, object]:
    """What of the settings decides what is written."""
    if settings.generator == "extractive":
        return {"name": "extractive"}
    names = ("generator_model", "prompt", "max_tokens", "temperature", "seed")
    return {"name": settings.generator, **{name: getattr(settings, name) for name in names}}


def _at_once(settings: Settings) -> int:
    return TOGETHER if settings.generator == "extractive" else settings.llm_parallel


def _asked(row: Row, encoder: TextEncoder) -> tuple[str, Shown]:
    passages = row.question.passages
    return row.question.text, Shown(passages, retriever_over(encoder, passages))


def _item(row: Row, draft: Draft | PropCiteError, cost: Mapping[str, float]) -> RunItem:
    question = {"question": row.question.text}
    if isinstance(draft, PropCiteError):
        told = {**question, "text": "", "given": "", "failed": str(draft)}
        return RunItem(row.key, row.way(WRITTEN), {"length": 0.0}, told, cost)
    text = unmarked(first_line(draft.text))
    output = {**question, "text": text, "given": first_line(draft.given), "abstained": draft.abstained}
    spent = {**cost, **(asdict(draft.usage) if draft.usage else {})}  # tokens are known one by one
    return RunItem(row.key, row.way(WRITTEN), {"length": float(length(text))}, output, spent)
