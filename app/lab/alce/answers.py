"""The answers that are cited: generated, taken from a result file, or written by people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from propcite.app.answering.generators import Draft, GenerationContext, Generator
from propcite.app.building import build_question_reader, chosen_prompt
from propcite.app.errors import AppError
from propcite.app.lab.alce.files import AlceFile, Question, list_ids
from propcite.app.lab.alce.scores import first_line, length
from propcite.app.lab.alce.ways import CitationInput, has_markers
from propcite.app.lab.runs.aggregates import ANSWER_WAY
from propcite.app.lab.runs.runner import split_cost, timed
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.app.setting_values import SAMPLING
from propcite.app.settings import Settings
from propcite.attribution.prose.marker_stripper import remove_markers
from propcite.retrieval.encoding.base import TextEncoder
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage

BATCH_SIZE = 16  # questions answered together: an interrupt can lose so many
GPU_BATCH_SIZE = 256
LIST_PROMPTS = {"answer": "list", "short": "list", "cite": "list_cite"}  # that ask for a list, by those for prose


@dataclass(frozen=True, slots=True)
class Row:
    """A question with at most `num_docs` documents; `label` is added to its ways if there are several sizes."""

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
    """An answer to a question: `text` without markers, and the `original` as its writer gave it."""

    text: str
    original: str
    abstained: bool = False

    @property
    def has_markers(self) -> bool:
        return has_markers(self.original)

    @classmethod
    def of(cls, output: str) -> Answer:
        """Return the first line of an output, which may have markers."""
        line = first_line(output)
        return cls(remove_markers(line), line)


def with_words(passages: Iterable[Passage]) -> list[Passage]:
    return [passage for passage in passages if any(map(str.isalnum, passage.text))]


def encode_documents(rows: Sequence[Row], encoder: TextEncoder) -> None:
    """Encode the documents of these rows in one batch, with an encoder that caches."""
    encoder.encode_passages(with_words(passage for row in rows for passage in row.question.passages))


def retriever_over(encoder: TextEncoder, passages: Sequence[Passage]) -> Retriever:
    return Retriever.over(encoder, with_words(passages))


def citation_input(row: Row, answer: Answer, encoder: TextEncoder) -> CitationInput:
    question = row.question
    retriever = retriever_over(encoder, question.passages)
    return CitationInput(question.text, answer.text, answer.original, question.passages, retriever)


def human_answers(questions: Sequence[Question]) -> tuple[list[Question], dict[str, Answer]]:
    """Return one question per long answer, and the answers by key; a question's second key ends in #2."""
    rows, answers = [], {}
    for question in questions:
        for number, text in enumerate(question.long_answers, start=1):
            key = question.key if number == 1 else f"{question.key}#{number}"
            rows.append(Question(key, question.item))
            answers[key] = Answer.of(" ".join(text.split()))
    if not rows:
        raise AppError("no question has a long answer by people: leave out --human")
    return rows, answers


def released_answers(questions: Sequence[Question], outputs: AlceFile) -> tuple[list[Question], dict[str, Answer]]:
    """Return the outputs of a result file by key, and the questions with the documents and fields of both files."""
    by_key = {question.key: question for question in outputs.questions}
    missing = [question for question in questions if question.key not in by_key]
    if missing:
        raise AppError(f"{outputs.path} has no output for {len(missing)} questions ({list_ids(missing)}): use --limit")
    merged = [Question(q.key, {**q.item, **by_key[q.key].item}) for q in questions]
    without = [question for question in merged if "output" not in question.item]
    if without:
        raise AppError(f"{outputs.path}: {len(without)} items have no output ({list_ids(without)}): give a result file")
    return merged, {question.key: Answer.of(question.output) for question in merged}


def generate_answers(
    parts: Parts,
    encoder: TextEncoder,
    rows: Sequence[Row],
    store: Callable[[Sequence[RunItem]], None],
    *,
    failed_as_empty: bool = False,
) -> None:
    """Generate answers and store them batch by batch; at the end, raise if some failed."""
    failed: list[tuple[str, PropCiteError]] = []
    size, generator = _batch_size(parts.settings), _generator(parts)
    for first in range(0, len(rows), size):
        batch = rows[first : first + size]
        with timed() as cost:
            encode_documents(batch, encoder)
            if parts.settings.generator == "extractive":
                for granularity in (Granularity.PASSAGE, Granularity.SENTENCE):
                    encoder.encode_queries([row.question.text for row in batch], granularity)
            drafts = generator.generate_many([_request(row, encoder) for row in batch])
        share = split_cost({name: cost[name] for name in ("seconds", "cpu_seconds")}, len(batch))
        failed += [(row.key, d) for row, d in zip(batch, drafts, strict=True) if isinstance(d, PropCiteError)]
        pairs = zip(batch, drafts, strict=True)
        store([_item(row, draft, share) for row, draft in pairs if isinstance(draft, Draft) or failed_as_empty])
    if failed and not failed_as_empty:
        key, error = failed[0]
        raise AppError(
            f"{len(failed)} answers could not be generated ({key}: {error}): the same command tries these again,"
            " --failed-as-empty counts them as empty"
        )


def _generator(parts: Parts) -> Generator:
    if parts.settings.generator != "extractive":
        return parts.generator
    from propcite.app.answering.generators.extractive import ExtractiveGenerator

    return ExtractiveGenerator(build_question_reader(parts.settings), plain=True)


def stored_answer(item: RunItem) -> Answer:
    output = item.output
    text = output["text"]
    return Answer(text, output.get("given") or text, bool(output.get("abstained")))


def generator_settings(settings: Settings) -> Mapping[str, object]:
    """Return the settings that the generated text depends on."""
    if settings.generator == "extractive":
        return {"name": "extractive", "questions": build_question_reader(settings).name}
    prompt = chosen_prompt(settings)
    always = {"max_tokens", "temperature", "seed"}
    values = {name: getattr(settings, name) for name in (*SAMPLING, "extra_body")}
    sampling = {name: value for name, value in values.items() if name in always or value}
    return {"name": settings.generator, "generator_model": settings.generator_model, "prompt": prompt, **sampling}


def list_prompt(settings: Settings) -> str | None:
    """Return the prompt that asks for a list; None where the settings name one of the user's own."""
    return LIST_PROMPTS.get(chosen_prompt(settings))


def _batch_size(settings: Settings) -> int:
    sizes = {"extractive": BATCH_SIZE, "vllm": GPU_BATCH_SIZE}
    return sizes.get(settings.generator, settings.llm_parallel)


def _request(row: Row, encoder: TextEncoder) -> tuple[str, GenerationContext]:
    passages = row.question.passages
    return row.question.text, GenerationContext(passages, retriever_over(encoder, passages))


def _item(row: Row, draft: Draft | PropCiteError, cost: Mapping[str, float]) -> RunItem:
    way = row.way(ANSWER_WAY)
    output: dict[str, object] = {"question": row.question.text, "text": "", "given": ""}
    if isinstance(draft, PropCiteError):
        return RunItem(row.key, way, {"length": 0.0}, {**output, "failed": str(draft)}, cost)
    text = remove_markers(first_line(draft.text))
    output |= {"text": text, "given": first_line(draft.given), "abstained": draft.abstained}
    usage = asdict(draft.usage) if draft.usage else {}  # tokens are counted per answer, seconds per batch
    return RunItem(row.key, way, {"length": float(length(text))}, output, {**cost, **usage})
