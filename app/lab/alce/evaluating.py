"""`propcite eval asqa|eli5|qampari`: what is asked for, the run that holds it, and its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from propcite.app.building import build_judge, reading_precision
from propcite.app.errors import AppError
from propcite.app.lab.alce import shortcuts
from propcite.app.lab.alce.entailment import Entailment
from propcite.app.lab.alce.files import ASKED, AlceFile, Kind, Question, named, read_alce, result_json, write_json
from propcite.app.lab.alce.fluency import Mauve
from propcite.app.lab.alce.measuring import Scorer
from propcite.app.lab.alce.reader import Reader
from propcite.app.lab.alce.rouge import Rouge
from propcite.app.lab.alce.running import Steps, Work, go_through
from propcite.app.lab.alce.scores import first_line
from propcite.app.lab.alce.sentences import tokenizer
from propcite.app.lab.alce.ways import WAYS, check_ways
from propcite.app.lab.alce.writing import Answer, Row, by_people, from_outputs, generator_settings
from propcite.app.lab.files import digest_of
from propcite.app.lab.runs.about import about_run, model
from propcite.app.lab.runs.keeping import clocked, open_run, portion
from propcite.app.lab.runs.shares import Share
from propcite.app.library.store.runs import RunInfo, RunItem
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.attribution.judges import Judge

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Scoring:
    """The judge that scores, which is a setting of its own and keeps its own threshold."""

    judge: str = "embedded"
    model: str = ""
    labels: str = ""

    def settings(self, settings: Settings) -> Settings:
        chosen = {"judge": self.judge, "judge_model": self.model, "judge_labels": self.labels}
        return settings.model_copy(update={**chosen, "judge_checks": False, "supported_from": 0.5})

    def build(self, parts: Parts) -> Judge:
        judge = build_judge(self.settings(parts.settings), lambda: parts.encoder)
        if judge is None:
            raise AppError("scores need a judge: give one with --judge")
        return judge


@dataclass(frozen=True, slots=True)
class Asked:
    """What is measured, as the command line asks for it."""

    kind: Kind
    path: Path
    ways: Sequence[str] = WAYS
    contexts: Sequence[int] = (5,)
    outputs: Path | None = None
    human: bool = False
    limit: int = 0
    offset: int = 0
    margin: float = 0.05
    scoring: Scoring = Scoring()
    rouge: bool = True
    qa_model: str = ""
    mauve_model: str = ""
    out: Path | None = None
    new: bool = False
    force: bool = False
    failed_as_empty: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """A run with its items, and what a reader of its table must know."""

    run: RunInfo
    items: Sequence[RunItem]
    labels: Sequence[str]
    own_judge: frozenset[str]  # ways that cite by the judge that scores
    own_test: Sequence[shortcuts.Passed]
    notes: Sequence[str]


def evaluate(parts: Parts, asked: Asked, say: Say) -> Result:
    """Every way of citing on the file's questions; what an earlier call has done is not done again."""
    _check(asked, parts.settings)
    file = _read(asked)
    questions = Share(asked.limit, asked.offset).of(file.questions)
    chosen, given = _answers(asked, questions)
    rows = _rows(asked, chosen)
    if not asked.outputs:
        _tell_few(rows, say)
    if given is not None:
        _tell_empty(given, chosen, say)
    judge = asked.scoring.build(parts)
    work = _work(parts, asked, rows, given, judge)
    about = _about(parts.settings, asked)
    settings = _settings(parts.settings, asked, file, work)
    opened: list[str] = []  # said once the judge has passed: a run that it is refused for does not stay
    run = open_run(parts.runs, asked.kind, file.name, settings, about, judge.name, new=asked.new, say=opened.append)
    steps = Steps(parts, run, work)
    with parts.runs.measuring(run.id):
        steps.test_the_judge(chosen, force=asked.force)
        for line in opened:
            say(line)
        items = list(go_through(steps, say))
    if asked.out:
        _write(asked, steps, say)
    labels = list(dict.fromkeys(row.label for row in rows))
    told = _notes(steps, judge)
    steps.note(told)
    return Result(parts.runs.run(run.id), items, labels, steps.own_judge, shortcuts.passed(steps.own_test()), told)


def _check(asked: Asked, settings: Settings) -> None:
    check_ways(asked.ways, judged=settings.judge != "none")
    if asked.human and asked.outputs:
        raise AppError("--human and --outputs both give the answers: leave out one")
    if asked.human and asked.kind != "asqa":
        raise AppError("only ASQA has long answers by people: leave out --human")


def _read(asked: Asked) -> AlceFile:
    file = read_alce(asked.path)
    wanted = ASKED[asked.kind]
    if not any(question.item.get(wanted) for question in file.questions):
        others = [kind for kind, name in ASKED.items() if any(q.item.get(name) for q in file.questions)]
        near = f": propcite eval {others[0]}" if others else f": give the file of ALCE's {asked.kind}"
        raise AppError(f"{asked.path} has no {wanted}, which {asked.kind} is measured by{near}")
    return file


def _answers(asked: Asked, questions: Sequence[Question]) -> tuple[list[Question], dict[str, Answer] | None]:
    """The answers that are there already; none where the generator is to write them."""
    if asked.human:
        return by_people(questions)
    if asked.outputs:
        return from_outputs(questions, read_alce(asked.outputs))
    return list(questions), None


def _rows(asked: Asked, questions: Sequence[Question]) -> list[Row]:
    """Each question once a context size; the documents of a result file are all that its answers were made from."""
    if asked.outputs:
        most = max(len(question.premises) for question in questions)
        return [Row(question, most) for question in questions]
    contexts = list(dict.fromkeys(asked.contexts))
    several = len(contexts) > 1
    return [Row(q.showing(k), k, f", {k} docs" if several else "") for k in contexts for q in questions]


def _work(parts: Parts, asked: Asked, rows: Sequence[Row], given: dict[str, Answer] | None, judge: Judge) -> Work:
    device = parts.settings.device
    with_rouge = asked.rouge and not asked.human and asked.kind != "qampari"
    scorer = Scorer(
        asked.kind,
        Entailment(judge),
        Rouge() if with_rouge else None,
        Reader(asked.qa_model, device=device) if asked.qa_model and asked.kind == "asqa" else None,
    )
    mauve = Mauve(asked.mauve_model, device=device) if asked.mauve_model and asked.kind != "qampari" else None
    return Work(rows, tuple(asked.ways), asked.margin, scorer, mauve, given, asked.failed_as_empty)


def _settings(settings: Settings, asked: Asked, file: AlceFile, work: Work) -> dict[str, Any]:
    """All that changes a figure."""
    scorer, mauve = work.scorer, work.mauve
    answers: Any = generator_settings(settings)
    if asked.human:
        answers = {"name": "people"}
    elif asked.outputs:
        answers = {"name": asked.outputs.name, "sha256": digest_of(asked.outputs)}
    named = {name: getattr(settings, name) for name in ("encoder", "splitter", "splitter_model")}
    cites = {**named, "precision": reading_precision(settings)}
    judges = ("judge", "judge_model", "judge_labels", "judge_checks", "supported_from", "most_citations")
    return {
        "sha256": file.digest,
        "ways": list(asked.ways),
        "context": "as shown" if asked.outputs else list(dict.fromkeys(asked.contexts)),
        "limit": asked.limit,
        "offset": asked.offset,
        "answers": answers,
        "propcite": {**cites, **{name: getattr(settings, name) for name in judges}, "margin": asked.margin},
        "sentences": tokenizer().model,
        "rouge": scorer.rouge is not None,
        "qa_model": scorer.reader.name if scorer.reader else "",
        "mauve_model": mauve.name if mauve else "",
    }


def _about(settings: Settings, asked: Asked) -> dict[str, Any]:
    generates = not (asked.human or asked.outputs)
    used = ["encoder", "splitter", "judge", *["generator"][:generates]]
    about = about_run(settings, *used)
    about["models"]["scoring judge"] = model(asked.scoring.settings(settings), "judge")
    return about


def _write(asked: Asked, steps: Steps, say: Say) -> None:
    """A result file a way and context size, which ALCE's own evaluator reads."""
    assert asked.out is not None
    rows = steps.work.rows
    for label in dict.fromkeys(row.label for row in rows):
        some = [row for row in rows if row.label == label]
        num_docs = some[0].num_docs
        for name in steps.names:
            outputs = [steps.kept[row.way(name), row.key].output["text"] for row in some]
            args = {"dataset_name": asked.kind, "ndoc": num_docs, "way": name, "run": steps.run.id}
            path = asked.out / f"{asked.kind}-{name}-ndoc{num_docs}.json"
            write_json(path, result_json([row.question for row in some], outputs, args))
    say(f"results in {asked.out}")


def _tell_few(rows: Sequence[Row], say: Say) -> None:
    for num_docs in dict.fromkeys(row.num_docs for row in rows):
        few = [row.question for row in rows if row.num_docs == num_docs > len(row.question.premises)]
        if few:
            say(f"{len(few)} questions have fewer than {num_docs} docs ({named(few)}): all of theirs are shown")


def _tell_empty(given: dict[str, Answer], questions: Sequence[Question], say: Say) -> None:
    empty = [question for question in questions if not given[question.key].text.strip()]
    if empty:
        say(f"{len(empty)} of {len(questions)} outputs are empty ({named(empty)}): citations leave them out")


def _notes(steps: Steps, judge: Judge) -> list[str]:
    """What a reader of the figures must know."""
    answers = [steps.answer(row) for row in steps.work.rows]
    counts = Counter(
        {
            "answers abstain": sum(answer.abstained for answer in answers),
            "answers are empty": sum(not first_line(answer.text) for answer in answers),
            "judgements could not be had from the judge": getattr(judge, "num_unjudged", 0),
        }
    )
    told = (+counts).items()
    return [f"{n} of {len(answers)} {what}" if what.startswith("answers") else f"{n} {what}" for what, n in told]


def judge_itself(parts: Parts, asked: Asked, say: Say) -> tuple[RunInfo, list[shortcuts.Passed]]:
    """`propcite eval judge`: ALCE's shortcuts on the file's own passages, kept as a run."""
    file = read_alce(asked.path)
    questions = shortcuts.sample(Share(0, asked.offset).of(file.questions), asked.limit or len(file.questions))
    if not questions:
        raise AppError(f"{asked.path} has no question with two different docs of words: give ALCE's file")
    judge = asked.scoring.build(parts)
    settings = {"sha256": file.digest, "limit": asked.limit, "offset": asked.offset, "sentences": tokenizer().model}
    about = about_run(asked.scoring.settings(parts.settings), "encoder", "judge")
    run = open_run(parts.runs, "judge", file.name, settings, about, judge.name, new=asked.new, say=say)
    known = parts.runs.known(run.id)
    entailment = Entailment(judge)
    with parts.runs.measuring(run.id), clocked() as cost:
        told = list(shortcuts.tried(questions, entailment))
    share = portion(cost, len(told))
    new = [one for one in told if (one.check.name, one.key) not in known]
    parts.runs.add(run.id, [RunItem(one.key, one.check.name, one.measures, cost=share) for one in new])
    return parts.runs.finish(run.id), shortcuts.passed(told)
