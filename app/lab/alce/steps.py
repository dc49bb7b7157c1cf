"""The steps of a run over ALCE's files: test of the judge, answers, citations, scores; each is stored when it is done.

A step that the run already holds is not done again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from propcite.app.errors import AppError
from propcite.app.lab.alce import shortcuts
from propcite.app.lab.alce.answers import (
    BATCH_SIZE,
    Answer,
    Row,
    citation_input,
    encode_documents,
    generate_answers,
    stored_answer,
)
from propcite.app.lab.alce.files import Question
from propcite.app.lab.alce.options import EvalOptions
from propcite.app.lab.alce.reference_scores import Mauve, mauve_text
from propcite.app.lab.alce.scorer import AnswerScores, Scorer
from propcite.app.lab.alce.scores import first_line, remove_citations
from propcite.app.lab.alce.shortcuts import ShortcutScore
from propcite.app.lab.alce.ways import (
    GENERATE,
    REPAIR,
    CitationInput,
    Citer,
    build_citers,
    encode_sentences,
    is_judged,
    reads_vectors,
)
from propcite.app.lab.citing.cache import shared_propcite
from propcite.app.lab.runs.aggregates import ALL_ANSWERS, ANSWER_WAY, JUDGE_TEST
from propcite.app.lab.runs.runner import add_costs, split_cost, timed
from propcite.app.library.store.runs import RunInfo, RunItem
from propcite.app.parts import Parts
from propcite.app.terminal_progress import Advance, counting
from propcite.attribution.propcite import PropCite
from propcite.attribution.prose.sentences import sentences_of

NEEDS_MARKERS = (GENERATE, REPAIR)
CACHED_TOKENS = 262_144  # from answer to answer


@dataclass(slots=True)
class Steps:
    """One run in progress; `items` are its items by way and key.

    `answers` are by key if they exist already; None if the generator writes them.
    """

    parts: Parts
    run: RunInfo
    options: EvalOptions
    rows: Sequence[Row]
    answers: Mapping[str, Answer] | None
    scorer: Scorer
    mauve: Mauve | None
    items: dict[tuple[str, str], RunItem] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for item in self.parts.runs.items(self.run.id):
            self.items[item.way, item.key] = item

    def test_judge(self, questions: Sequence[Question]) -> None:
        """Raise if the judge fails ALCE's shortcuts, since its scores would mean nothing, unless `--force` is given."""
        scores = self.judge_test()
        if not scores:
            with timed() as cost:
                scores = list(shortcuts.score_shortcuts(shortcuts.sample(questions), self.scorer.entailment))
            share = split_cost(cost, len(scores))
            self._store([RunItem(one.key, JUDGE_TEST + one.check.name, one.measures, cost=share) for one in scores])
        failed = [one for one in shortcuts.summarize(scores) if not one.holds]
        if failed and not self.options.force:
            reasons = "; ".join(
                f"{one.check.description}: {100 * one.recall:.1f} recall, {100 * one.precision:.1f} precision,"
                f" {one.check.requirement} is right"
                for one in failed
            )
            if len(self.items) == len(scores):  # nothing else is measured: no unfinished run blocks another judge
                self.parts.runs.remove(self.run.id)
            raise AppError(f"{self.run.judge} fails ALCE's shortcuts ({reasons}): give another --judge, or --force")

    def judge_test(self) -> list[ShortcutScore]:
        """Return the scores of the judge's test that the run holds."""
        return [_shortcut_score(item) for (way, _), item in self.items.items() if way.startswith(JUDGE_TEST)]

    def generate(self, shared: PropCite) -> None:
        """Generate the answers that are missing."""
        missing = [row for row in self.rows if (row.way(ANSWER_WAY), row.key) not in self.items]
        if self.answers is not None or not missing:
            return
        with counting(len(missing), "writing") as advance:

            def store(items: Sequence[RunItem]) -> None:
                self._store(items)
                advance("writing", len(items))

            for _, rows in groupby(missing, key=lambda row: row.label):
                failed_as_empty = self.options.failed_as_empty
                generate_answers(self.parts, shared.encoder, list(rows), store, failed_as_empty=failed_as_empty)

    def expect(self, names: Sequence[str]) -> None:
        """Store how many items the run has once these ways are done."""
        written = len(self.rows) if self.answers is None else 0
        together = len({row.label for row in self.rows}) if self.mauve else 0
        num_items = len(self.judge_test()) + written + (len(self.rows) + together) * len(names)
        self.parts.runs.set_num_expected(self.run.id, num_items)

    def answer(self, row: Row) -> Answer:
        if self.answers is not None:
            return self.answers[row.key]
        return stored_answer(self.items[row.way(ANSWER_WAY), row.key])

    @property
    def names(self) -> list[str]:
        """Return the ways; those that need the writer's own markers only if there are any."""
        has_markers = any(self.answer(row).has_markers for row in self.rows)
        return [name for name in self.options.ways if has_markers or name not in NEEDS_MARKERS]

    @property
    def own_judge(self) -> frozenset[str]:
        """Return the ways that cite by the judge that scores."""
        judge = self.parts.judge
        is_same = judge is not None and judge.name == self.run.judge
        return frozenset(name for name in self.names if is_same and is_judged(name))

    def note(self, lines: Sequence[str] = ()) -> None:
        """Store remarks for readers of the figures with the run."""
        own = ", ".join(sorted(self.own_judge))
        remarks = [f"by the judge that scores cite: {own}"] if own else []
        self.parts.runs.set_notes(self.run.id, [*remarks, *lines])

    def cite_and_score(self, shared: PropCite) -> None:
        """Cite and score batch by batch, so that all ways share encodings and judgements."""
        names, lists = self.names, self.options.kind == "qampari"
        citers = build_citers(shared, names, self.parts.settings.most_citations, self.options.margin, lists=lists)
        rows = [row for row in self.rows if any(not self._is_scored(row, name) for name in names)]
        with counting(len(rows) * len(names), "citing") as advance:
            for first in range(0, len(rows), BATCH_SIZE):
                batch = rows[first : first + BATCH_SIZE]
                self._add_judgements(batch, names)
                self._cite(batch, citers, shared, advance)
                self._score(batch, names)

    def score_mauve(self) -> None:
        """Compute MAUVE, which is of all answers of a way together."""
        if self.mauve is None:
            return
        for label, group in groupby(self.rows, key=lambda row: row.label):
            rows = list(group)
            references = [mauve_text(row.question.text, (row.question.references or [""])[0]) for row in rows]
            for name in self.names:
                if (name + label, ALL_ANSWERS) in self.items:
                    continue
                answers = [mauve_text(row.question.text, self._plain_output(row, name)) for row in rows]
                score = self.mauve.score(answers, references)
                self._store([RunItem(ALL_ANSWERS, name + label, {"mauve": score})])

    def output(self, row: Row, name: str) -> str:
        text: str = self.items[row.way(name), row.key].output["text"]
        return text

    def _plain_output(self, row: Row, name: str) -> str:
        return remove_citations(first_line(self.output(row, name)))

    def _cite(self, batch: Sequence[Row], citers: Mapping[str, Citer], shared: PropCite, advance: Advance) -> None:
        missing = {name: [row for row in batch if (row.way(name), row.key) not in self.items] for name in citers}
        inputs: dict[str, CitationInput] = {}
        with timed() as encoding:
            if any(missing.values()):
                encode_documents(batch, shared.encoder)
                inputs = {row.key: citation_input(row, self.answer(row), shared.encoder) for row in batch}
                encode_sentences(shared, list(inputs.values()))
        for name, citer in citers.items():
            if rows := missing[name]:
                with timed() as cost:
                    outputs = citer.cite([inputs[row.key] for row in rows])
                read = split_cost(encoding, len(batch)) if reads_vectors(name) else {}
                share = split_cost(cost, len(rows))
                costs = [share | _citing_cost(add_costs(share, read), inputs[row.key]) for row in rows]
                cited = zip(rows, outputs, costs, strict=True)
                self._store([_cited_item(row, row.way(name), output, own) for row, output, own in cited])
            advance("citing", len(batch))

    def _score(self, batch: Sequence[Row], names: Sequence[str]) -> None:
        pending = [(row, name) for row in batch for name in names if not self._is_scored(row, name)]
        with timed() as cost:
            scores = self.scorer.score([(row.question, self.output(row, name)) for row, name in pending])
        share = split_cost(cost, len(pending))
        pairs = zip(pending, scores, strict=True)
        self._store([_with_scores(self.items[row.way(name), row.key], one, share) for (row, name), one in pairs])

    def _add_judgements(self, batch: Sequence[Row], names: Sequence[str]) -> None:
        """Reuse the judgements of these rows from an earlier call, by any way."""
        for row in batch:
            for name in names:
                if item := self.items.get((row.way(name), row.key)):
                    self.scorer.add_judgements(row.question, item.output.get("judgements", ()))

    def _is_scored(self, row: Row, name: str) -> bool:
        item = self.items.get((row.way(name), row.key))
        return item is not None and bool(item.measures)

    def _store(self, items: Sequence[RunItem]) -> None:
        self.parts.runs.add(self.run.id, items)
        self.items.update({(item.way, item.key): item for item in items})


def run_steps(steps: Steps) -> Iterable[RunItem]:
    """Run all steps after the test of the judge, and return the run's items."""
    steps.expect(steps.options.ways)
    shared = shared_propcite(steps.parts, CACHED_TOKENS)
    steps.generate(shared)
    steps.expect(steps.names)
    steps.note()
    for line in _left_out(steps):
        steps.options.report(line)
    steps.cite_and_score(shared)
    steps.score_mauve()
    steps.parts.runs.finish(steps.run.id)
    return steps.items.values()


def _left_out(steps: Steps) -> Iterator[str]:
    missing = [name for name in steps.options.ways if name not in steps.names]
    if missing:
        yield f"left out: {' and '.join(missing)}, since the answers have no markers of their own"


def _shortcut_score(item: RunItem) -> ShortcutScore:
    name = item.way.removeprefix(JUDGE_TEST)
    check = next(check for check in shortcuts.CHECKS if check.name == name)
    return ShortcutScore(item.key, check, dict(item.measures))


def _cited_item(row: Row, way: str, output: str, cost: Mapping[str, float]) -> RunItem:
    return RunItem(row.key, way, {}, {"question": row.question.text, "text": output}, cost)


def _citing_cost(cost: Mapping[str, float], answer: CitationInput) -> dict[str, float]:
    """Return what citing one answer cost alone, with its texts' encoding, and its number of sentences."""
    seconds = {f"citing_{name}": cost[name] for name in ("seconds", "cpu_seconds")}
    return {**seconds, "cited_sentences": float(len(sentences_of(answer.text)))}


def _with_scores(item: RunItem, scores: AnswerScores, cost: Mapping[str, float]) -> RunItem:
    output = {**item.output, "judgements": scores.judgements}
    return replace(item, measures=scores.measures, output=output, cost=add_costs(item.cost, cost))
