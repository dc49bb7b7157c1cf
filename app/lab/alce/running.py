"""A run over one of ALCE's files in steps: the judge's own test, answers, citations, scores; each kept as it is done.

What a run holds already is not done again: an answer that is written, an output that is cited, a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from propcite.app.errors import AppError
from propcite.app.lab.alce import shortcuts
from propcite.app.lab.alce.files import Question
from propcite.app.lab.alce.fluency import Mauve, as_compared
from propcite.app.lab.alce.measuring import Scored, Scorer
from propcite.app.lab.alce.scores import first_line, remove_citations
from propcite.app.lab.alce.ways import GENERATE, REPAIR, Way, Written, is_judged, read_ahead, sharing, ways_of
from propcite.app.lab.alce.writing import TOGETHER, Answer, Row, answer_of, as_written, read_all, written_by
from propcite.app.lab.runs.aggregates import OWN_TEST, WHOLE, WRITTEN
from propcite.app.lab.runs.keeping import added, clocked, portion
from propcite.app.library.store.runs import RunInfo, RunItem
from propcite.app.parts import Parts
from propcite.app.terminal import Advance, counting
from propcite.attribution.propcite import PropCite

OWN_MARKERS = (GENERATE, REPAIR)


@dataclass(frozen=True, slots=True)
class Work:
    """What is measured: rows by ways, with what scores them."""

    rows: Sequence[Row]
    names: Sequence[str]
    margin: float
    scorer: Scorer
    mauve: Mauve | None = None
    given: Mapping[str, Answer] | None = None  # answers that are there already, by key; None: the generator writes
    failed_as_empty: bool = False


@dataclass(slots=True)
class Steps:
    """One run on its way.  `kept` are its items by way and key."""

    parts: Parts
    run: RunInfo
    work: Work
    kept: dict[tuple[str, str], RunItem] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for item in self.parts.runs.items(self.run.id):
            self.kept[item.way, item.key] = item

    def test_the_judge(self, questions: Sequence[Question], *, force: bool) -> None:
        """A judge that fails ALCE's shortcuts is refused: its scores would say nothing."""
        done = self.own_test()
        if not done:
            with clocked() as cost:
                done = list(shortcuts.tried(shortcuts.sample(questions), self.work.scorer.entailment))
            share = portion(cost, len(done))
            self._keep([RunItem(one.key, OWN_TEST + one.check.name, one.measures, cost=share) for one in done])
        failed = [one for one in shortcuts.passed(done) if not one.holds]
        if failed and not force:
            told = "; ".join(
                f"{one.check.what}: {100 * one.recall:.1f} recall, {100 * one.precision:.1f} precision,"
                f" {one.check.wanted} is right"
                for one in failed
            )
            if len(self.kept) == len(done):  # nothing was measured yet: no unfinished run stands in another judge's way
                self.parts.runs.remove(self.run.id)
            raise AppError(f"{self.run.judge} fails ALCE's shortcuts ({told}): give another --judge, or --force")

    def write(self, encoder: PropCite) -> None:
        """The answers that the generator has not written yet."""
        lacking = [row for row in self.work.rows if (row.way(WRITTEN), row.key) not in self.kept]
        if self.work.given is not None or not lacking:
            return
        with counting(len(lacking), "writing") as advance:

            def keep(items: Sequence[RunItem]) -> None:
                self._keep(items)
                advance("writing", len(items))

            for _, rows in groupby(lacking, key=lambda row: row.label):
                written_by(self.parts, encoder.encoder, list(rows), keep, failed_as_empty=self.work.failed_as_empty)

    def expect(self, names: Sequence[str]) -> None:
        """How many items there are once these ways are done."""
        work, tested = self.work, len(self.own_test())
        written = len(work.rows) if work.given is None else 0
        together = len({row.label for row in work.rows}) if work.mauve else 0
        self.parts.runs.expect(self.run.id, tested + written + (len(work.rows) + together) * len(names))

    def answer(self, row: Row) -> Answer:
        if self.work.given is not None:
            return self.work.given[row.key]
        return answer_of(self.kept[row.way(WRITTEN), row.key])

    @property
    def names(self) -> list[str]:
        """The ways, without those that need the writer's own markers where there are none."""
        marked = any(self.answer(row).given for row in self.work.rows)
        return [name for name in self.work.names if marked or name not in OWN_MARKERS]

    @property
    def own_judge(self) -> frozenset[str]:
        """The ways that cite by the judge that scores."""
        judge = self.parts.judge
        is_same = judge is not None and judge.name == self.run.judge
        return frozenset(name for name in self.names if is_same and is_judged(name))

    def note(self, more: Sequence[str] = ()) -> None:
        """What a reader of the figures must know stands with the run."""
        own = ", ".join(sorted(self.own_judge))
        told = [f"by the judge that scores cite: {own}"] if own else []
        self.parts.runs.note(self.run.id, [*told, *more])

    def cite_and_score(self, shared: PropCite) -> None:
        """Batch by batch, so that all ways share what is read and what is judged."""
        names, most = self.names, self.parts.settings.most_citations
        lists = self.work.scorer.kind == "qampari"
        ways = ways_of(shared, names, most, self.work.margin, lists=lists)
        rows = [row for row in self.work.rows if any(not self._scored(row, name) for name in names)]
        with counting(len(rows) * len(names), "citing") as advance:
            for first in range(0, len(rows), TOGETHER):
                batch = rows[first : first + TOGETHER]
                self._recall(batch, names)
                self._cite(batch, ways, shared, advance)
                self._score(batch, names)

    def compare_with_people(self) -> None:
        """MAUVE is of all answers of a way together."""
        if self.work.mauve is None:
            return
        for label, group in groupby(self.work.rows, key=lambda row: row.label):
            rows = list(group)
            people = [as_compared(row.question.text, (row.question.references or [""])[0]) for row in rows]
            for name in self.names:
                if (name + label, WHOLE) in self.kept:
                    continue
                told = [remove_citations(first_line(self.kept[row.way(name), row.key].output["text"])) for row in rows]
                texts = [as_compared(row.question.text, text) for row, text in zip(rows, told, strict=True)]
                self._keep([RunItem(WHOLE, name + label, {"mauve": self.work.mauve.score(texts, people)})])

    def _cite(self, batch: Sequence[Row], ways: Mapping[str, Way], shared: PropCite, advance: Advance) -> None:
        lacking = {n: [row for row in batch if (row.way(n), row.key) not in self.kept] for n in ways}
        written: dict[str, Written] = {}
        if any(lacking.values()):
            read_all(batch, shared.encoder)
            written = {row.key: as_written(row, self.answer(row), shared.encoder) for row in batch}
            read_ahead(shared, list(written.values()))
        for name, way in ways.items():
            if rows := lacking[name]:
                with clocked() as cost:
                    outputs = way.outputs([written[row.key] for row in rows])
                share = portion(cost, len(rows))
                both = zip(rows, outputs, strict=True)
                self._keep([_cited(row, row.way(name), output, share) for row, output in both])
            advance("citing", len(batch))

    def _score(self, batch: Sequence[Row], names: Sequence[str]) -> None:
        todo = [(row, row.way(name)) for row in batch for name in names if not self._scored(row, name)]
        with clocked() as cost:
            answers = [(row.question, self.kept[way, row.key].output["text"]) for row, way in todo]
            scored = self.work.scorer.scored(answers)
        share = portion(cost, len(todo))
        both = zip(todo, scored, strict=True)
        self._keep([_with_scores(self.kept[way, row.key], told, share) for (row, way), told in both])

    def _recall(self, batch: Sequence[Row], names: Sequence[str]) -> None:
        """What the judge said of these rows in an earlier call, by any way."""
        for row in batch:
            for name in names:
                if item := self.kept.get((row.way(name), row.key)):
                    self.work.scorer.remember(row.question, item.output.get("judgements", ()))

    def _scored(self, row: Row, name: str) -> bool:
        item = self.kept.get((row.way(name), row.key))
        return item is not None and bool(item.measures)

    def _keep(self, items: Sequence[RunItem]) -> None:
        self.parts.runs.add(self.run.id, items)
        self.kept.update({(item.way, item.key): item for item in items})

    def own_test(self) -> list[shortcuts.Told]:
        """The judge's own test, as far as it is done."""
        return [self._told(item) for (way, _), item in self.kept.items() if way.startswith(OWN_TEST)]

    def _told(self, item: RunItem) -> shortcuts.Told:
        name = item.way.removeprefix(OWN_TEST)
        check = next(check for check in shortcuts.CHECKS if check.name == name)
        return shortcuts.Told(item.key, check, dict(item.measures))


def go_through(steps: Steps, say: Callable[[str], None]) -> Iterable[RunItem]:
    """All steps behind the judge's own test, and what there is then."""
    steps.expect(steps.work.names)
    shared = sharing(steps.parts)
    steps.write(shared)
    steps.expect(steps.names)
    steps.note()
    for line in _left_out(steps):
        say(line)
    steps.cite_and_score(shared)
    steps.compare_with_people()
    steps.parts.runs.finish(steps.run.id)
    return steps.kept.values()


def _left_out(steps: Steps) -> Iterator[str]:
    absent = [name for name in steps.work.names if name not in steps.names]
    if absent:
        yield f"left out: {' and '.join(absent)}, since the answers hold no markers of their writer's own"


def _cited(row: Row, way: str, output: str, cost: Mapping[str, float]) -> RunItem:
    return RunItem(row.key, way, {}, {"question": row.question.text, "text": output}, cost)


def _with_scores(item: RunItem, told: Scored, cost: Mapping[str, float]) -> RunItem:
    output = {**item.output, "judgements": told.judgements}
    return replace(item, measures=told.measures, output=output, cost=added(item.cost, cost))
