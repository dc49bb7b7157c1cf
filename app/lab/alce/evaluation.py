"""`propcite eval asqa|eli5|qampari` and `eval judge`: set up a run, go through its steps and return its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from propcite.app.building import reading_precision
from propcite.app.errors import AppError
from propcite.app.lab.alce import shortcuts
from propcite.app.lab.alce.answers import Answer, Row, generator_settings, human_answers, released_answers
from propcite.app.lab.alce.entailment import Entailment
from propcite.app.lab.alce.files import (
    REQUIRED_FIELDS,
    AlceFile,
    Question,
    kinds_in,
    list_ids,
    read_alce,
    result_json,
    write_json,
)
from propcite.app.lab.alce.options import EvalOptions
from propcite.app.lab.alce.reader import QaReader
from propcite.app.lab.alce.reference_scores import Mauve, Rouge
from propcite.app.lab.alce.scorer import Scorer
from propcite.app.lab.alce.scores import first_line
from propcite.app.lab.alce.sentences import tokenizer
from propcite.app.lab.alce.shortcuts import ShortcutResult
from propcite.app.lab.alce.steps import Steps, run_steps
from propcite.app.lab.alce.ways import check_ways
from propcite.app.lab.runs.inputs import file_digest
from propcite.app.lab.runs.provenance import model_info, run_provenance
from propcite.app.lab.runs.runner import open_run, split_cost, timed
from propcite.app.library.store.runs import RunInfo, RunItem
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.attribution.judges import Judge

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Result:
    """A run with its items and the remarks that belong below its tables."""

    run: RunInfo
    items: Sequence[RunItem]
    labels: Sequence[str]
    own_judge: frozenset[str]  # ways that cite by the judge that scores
    judge_test: Sequence[ShortcutResult]
    notes: Sequence[str]


def evaluate(parts: Parts, options: EvalOptions, judge: Judge | None = None) -> Result:
    """Measure every way of citing on the file's questions; steps that an earlier call has done are not done again.

    `judge` scores, if it is built already.
    """
    _check(options, parts.settings)
    file = _read(options)
    questions, answers = _answers(options, options.select(file.questions))
    rows = _rows(options, questions)
    if not options.outputs:
        _report_missing_docs(rows, options.report)
    if answers is not None:
        _report_empty(answers, questions, options.report)
    judge = judge or options.judge.build(parts)
    scorer, mauve = _scorer(parts, options, judge), _mauve(parts, options)
    about = _about(parts.settings, options)
    settings = _settings(parts.settings, options, file, scorer, mauve)
    opened: list[str] = []  # reported once the judge has passed: a run that is refused for its judge is removed
    run = open_run(
        parts.runs, options.kind, file.name, settings, about, judge.name, replace(options, report=opened.append)
    )
    steps = Steps(parts, run, options, rows, answers, scorer, mauve)
    with parts.runs.lock(run.id):
        steps.test_judge(questions)
        for line in opened:
            options.report(line)
        items = list(run_steps(steps))
    _write_results(steps)
    labels = list(dict.fromkeys(row.label for row in rows))
    notes = _notes(steps, judge)
    steps.note(notes)
    test = shortcuts.summarize(steps.judge_test())
    return Result(parts.runs.run(run.id), items, labels, steps.own_judge, test, notes)


def evaluate_judge(parts: Parts, options: EvalOptions) -> tuple[RunInfo, list[ShortcutResult]]:
    """Test a judge by ALCE's shortcuts on the file's passages, and store the scores as a run."""
    file = read_alce(options.path)
    questions = replace(options, limit=0).select(file.questions)
    questions = shortcuts.sample(questions, options.limit or len(file.questions))
    if not questions:
        raise AppError(f"{options.path} has no question with two different docs with words: give ALCE's file")
    judge = options.judge.build(parts)
    settings = {"sha256": file.digest, **options.settings, "sentences": tokenizer().model}
    about = run_provenance(options.judge.settings(parts.settings), "encoder", "judge")
    run = open_run(parts.runs, "judge", file.name, settings, about, judge.name, options)
    done = parts.runs.item_keys(run.id)
    with parts.runs.lock(run.id), timed() as cost:
        scores = list(shortcuts.score_shortcuts(questions, Entailment(judge)))
    share = split_cost(cost, len(scores))
    new = [one for one in scores if (one.check.name, one.key) not in done]
    parts.runs.add(run.id, [RunItem(one.key, one.check.name, one.measures, cost=share) for one in new])
    return parts.runs.finish(run.id), shortcuts.summarize(scores)


def _check(options: EvalOptions, settings: Settings) -> None:
    check_ways(options.ways, judged=settings.judge != "none")
    if options.human and options.outputs:
        raise AppError("--human and --outputs both give the answers: leave out one")
    if options.human and options.kind != "asqa":
        raise AppError("only ASQA has long answers by people: leave out --human")


def _read(options: EvalOptions) -> AlceFile:
    file = read_alce(options.path)
    kinds = kinds_in(file.questions)
    if options.kind not in kinds:
        hint = f": propcite eval {kinds[0]}" if kinds else f": give the file of ALCE's {options.kind}"
        raise AppError(
            f"{options.path} has no {REQUIRED_FIELDS[options.kind]}, which {options.kind} is measured by{hint}"
        )
    return file


def _answers(options: EvalOptions, questions: Sequence[Question]) -> tuple[list[Question], Mapping[str, Answer] | None]:
    """Return the questions, and their answers if they exist already; None if the generator writes them."""
    if options.human:
        return human_answers(questions)
    if options.outputs:
        return released_answers(questions, read_alce(options.outputs))
    return list(questions), None


def _rows(options: EvalOptions, questions: Sequence[Question]) -> list[Row]:
    """Return each question once per context size; a result file's answers have all their documents."""
    if options.outputs:
        num_docs = max(len(question.premises) for question in questions)
        return [Row(question, num_docs) for question in questions]
    contexts = list(dict.fromkeys(options.contexts))
    several = len(contexts) > 1
    return [Row(q.with_docs(k), k, f", {k} docs" if several else "") for k in contexts for q in questions]


def _scorer(parts: Parts, options: EvalOptions, judge: Judge) -> Scorer:
    with_rouge = options.rouge and not options.human and options.kind != "qampari"
    with_reader = options.qa_model and options.kind == "asqa"
    return Scorer(
        options.kind,
        Entailment(judge),
        Rouge() if with_rouge else None,
        QaReader(options.qa_model, device=parts.settings.device) if with_reader else None,
    )


def _mauve(parts: Parts, options: EvalOptions) -> Mauve | None:
    if not options.mauve_model or options.kind == "qampari":
        return None
    return Mauve(options.mauve_model, device=parts.settings.device)


def _settings(
    settings: Settings, options: EvalOptions, file: AlceFile, scorer: Scorer, mauve: Mauve | None
) -> dict[str, Any]:
    """Return everything that a figure depends on."""
    answers: Any = generator_settings(settings)
    if options.human:
        answers = {"name": "people"}
    elif options.outputs:
        answers = {"name": options.outputs.name, "sha256": file_digest(options.outputs)}
    cites = {name: getattr(settings, name) for name in ("encoder", "splitter", "splitter_model")}
    judges = ("judge", "judge_model", "judge_labels", "judge_checks", "supported_from", "most_citations")
    judged = {name: getattr(settings, name) for name in judges}
    return {
        "sha256": file.digest,
        "ways": list(options.ways),
        "context": "as shown" if options.outputs else list(dict.fromkeys(options.contexts)),
        **options.settings,
        "answers": answers,
        "propcite": {**cites, "precision": reading_precision(settings), **judged, "margin": options.margin},
        "sentences": tokenizer().model,
        "rouge": scorer.rouge is not None,
        "qa_model": scorer.reader.name if scorer.reader else "",
        "mauve_model": mauve.name if mauve else "",
    }


def _about(settings: Settings, options: EvalOptions) -> dict[str, Any]:
    generates = not (options.human or options.outputs)
    about = run_provenance(settings, "encoder", "splitter", "judge", *["generator"][:generates])
    about["models"]["scoring judge"] = model_info(options.judge.settings(settings), "judge")
    return about


def _write_results(steps: Steps) -> None:
    """Write one result file per way and context size, which ALCE's own evaluator reads, if a folder is given."""
    options = steps.options
    if options.out is None:
        return
    for label in dict.fromkeys(row.label for row in steps.rows):
        rows = [row for row in steps.rows if row.label == label]
        num_docs = rows[0].num_docs
        for name in steps.names:
            args = {"dataset_name": options.kind, "ndoc": num_docs, "way": name, "run": steps.run.id}
            content = result_json([row.question for row in rows], [steps.output(row, name) for row in rows], args)
            write_json(options.out / f"{options.kind}-{_file_name(name)}-ndoc{num_docs}.json", content)
    options.report(f"results in {options.out}")


def _file_name(way: str) -> str:
    """
    >>> _file_name("propcite+judge"), _file_name("command=python cite.py --fast")
    ('propcite+judge', 'command-python-cite.py-fast')
    """
    return re.sub(r"[^\w.+-]+|-{2,}", "-", way).replace("--", "-")


def _report_missing_docs(rows: Sequence[Row], report: Report) -> None:
    for num_docs in dict.fromkeys(row.num_docs for row in rows):
        few = [row.question for row in rows if row.num_docs == num_docs > len(row.question.premises)]
        if few:
            report(f"{len(few)} questions have fewer than {num_docs} docs ({list_ids(few)}): all of theirs are shown")


def _report_empty(answers: Mapping[str, Answer], questions: Sequence[Question], report: Report) -> None:
    empty = [question for question in questions if not answers[question.key].text.strip()]
    if empty:
        report(f"{len(empty)} of {len(questions)} outputs are empty ({list_ids(empty)}): citations leave them out")


def _notes(steps: Steps, judge: Judge) -> list[str]:
    """Return remarks on answers and judgements that are missing."""
    answers = [steps.answer(row) for row in steps.rows]
    counts = {
        f"of {len(answers)} answers abstain": sum(answer.abstained for answer in answers),
        f"of {len(answers)} answers are empty": sum(not first_line(answer.text) for answer in answers),
        "judgements failed": getattr(judge, "num_unjudged", 0),
    }
    return [f"{count} {text}" for text, count in counts.items() if count]
