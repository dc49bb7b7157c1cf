"""Training the network that reads passages: sentences part, passages rank as before, queries stay."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny_models as tiny
import torch
from sentence_transformers import MultiVectorEncoder
from small_trainings import WORDS, halves, row_about, stopped

from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.trained_networks import routed, write
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.passage_trainer import CHECKPOINT, PassageTrainer, Recipe
from propcite.retrieval.training.passages import Passages
from propcite.retrieval.training.rows import read_questions
from propcite.retrieval.training.teacher import Teacher
from propcite.retrieval.training.teaching import Recipe as Teachings
from propcite.retrieval.training.teaching import Teaching
from propcite.retrieval.training.trainer import Recipe as QueriesRecipe
from propcite.retrieval.training.trainer import Trainer

RECIPE = Recipe(layers=1, steps=60, batch_size=8, learning_rate=5e-3, warmup=1, claims=0.0, likeness=2.0, share=1.0)
PASSAGE = passage_from_text("p", "the harbour was dredged in spring", "gates")


ROWS = [row_about(number, "the {word} was in {number}") for number in range(24)]
NUMBERS = range(len(ROWS))  # each has a passage of its own


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save_backbone(tmp_path_factory.mktemp("base"), tiny.word_piece_tokenizer())


@pytest.fixture(scope="module")
def encoder(base: Path) -> Encoder:
    return Encoder(str(base), precision="float32")


@pytest.fixture(scope="module")
def passages(encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Passages:
    made = Passages(ROWS, encoder, tmp_path_factory.mktemp("work"), halves)
    made.encode()
    return made


@pytest.fixture(scope="module")
def queries(base: Path, passages: Passages, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A queries' network that was trained before."""
    folder = tmp_path_factory.mktemp("queries")
    recipe = QueriesRecipe(steps=20, batch_size=8, learning_rate=1e-2, warmup=1, claims=0.0)
    t = Trainer(recipe, ROWS, passages, str(base), folder)
    t.run()
    write(folder / "queries.safetensors", t.averaged(0.0), t.averaged(1.0), t.queries.salience(), {})
    return folder / "queries.safetensors"


def trainer(recipe: Recipe, passages: Passages, encoder: Encoder, queries: Path, folder: Path, base: Path):
    return PassageTrainer(recipe, ROWS, passages, encoder, queries, folder, base=str(base), precision="float32")


def unlike_the_base(t: PassageTrainer) -> float:
    return t._unlike_the_base([row.query for row in ROWS], NUMBERS, t.read(NUMBERS)).item()


def test_at_first_passages_are_read_as_the_base_reads_them(passages, encoder, queries, base, tmp_path: Path) -> None:
    t = trainer(RECIPE, passages, encoder, queries, tmp_path, base)
    for number, vectors in zip(NUMBERS, t.read(NUMBERS), strict=True):
        wanted = passages.tokens(number).vectors
        assert vectors.detach().numpy() == pytest.approx(wanted, abs=2e-3)  # they lie on disk in half precision
    assert unlike_the_base(t) == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("level", [Granularity.SENTENCE, Granularity.PROPOSITION])
def test_the_top_learns_to_part_sentences_and_what_is_below_stays(
    level: Granularity, passages, encoder, queries, base, tmp_path: Path
) -> None:
    share = float(level == Granularity.PROPOSITION)
    t = trainer(replace(RECIPE, propositions=share), passages, encoder, queries, tmp_path, base)
    before = t.loss(ROWS, level).item()
    asked = {name: p.clone() for name, p in t.queries.named_parameters()}
    t.run()
    assert t.loss(ROWS, level).item() < 0.97 * before
    trained = t.trained()
    changed = {name for name in trained if not torch.equal(trained[name], t._start[name])}
    assert changed
    assert all(name.startswith("encoder.layer.1.") for name in changed)
    assert all(torch.equal(p, asked[name]) for name, p in t.queries.named_parameters())


def test_more_weight_on_likeness_keeps_the_ranking_of_passages_nearer(
    passages, encoder, queries, base, tmp_path: Path
) -> None:
    left = []
    for likeness in (0.0, 50.0):
        recipe = replace(RECIPE, likeness=likeness)
        t = trainer(recipe, passages, encoder, queries, tmp_path / str(likeness), base)
        t.run()
        left.append(unlike_the_base(t))
    assert left[1] < 0.5 * left[0]


def test_a_batch_holds_neighbours_and_no_passage_twice(passages, encoder, queries, base, tmp_path: Path) -> None:
    t = trainer(replace(RECIPE, negatives="means"), passages, encoder, queries, tmp_path, base)
    for _ in range(10):
        rows = t.draw()
        assert len(rows) == len({row.passage for row in rows}) == 8
        numbers = [passages.number(row) for row in rows]
        assert all(beside in t._near(row) for row, beside in zip(rows[:4], numbers[4:], strict=True))
    means = {n: passages.tokens(n).vectors.mean(axis=0) for n in range(len(passages))}
    means = {n: m / np.linalg.norm(m) for n, m in means.items()}
    for row in ROWS:
        number, near = passages.number(row), t._near(row)
        others = [n for n in means if n != number]
        nearest = sorted(others, key=lambda n: -float(means[n] @ means[number]))[: len(near)]
        assert min(float(means[n] @ means[number]) for n in near) == pytest.approx(
            float(means[nearest[-1]] @ means[number]), abs=1e-5
        )


def test_the_index_finds_what_the_base_takes_for_an_answer(passages, encoder, queries, base, tmp_path: Path) -> None:
    """Beside the slow loop: whole passages by MaxSim, those below a row's own that no row asks the same of."""
    t = trainer(RECIPE, passages, encoder, queries, tmp_path, base)
    answering = {row.query: {passages.number(r) for r in ROWS if r.query == row.query} for row in ROWS}
    seen = 0
    for row in ROWS:
        asked = encoder.encode_queries([row.query])[0]
        scores = {n: (asked.vectors @ passages.tokens(n).vectors.T).max(axis=1).mean() for n in NUMBERS}
        own = scores[passages.number(row)]
        wanted = [scores[n] for n in NUMBERS if scores[n] < own - 0.02 and n not in answering[row.query]]
        near = t._near(row)
        assert not answering[row.query] & set(near)
        assert all(scores[n] < own + 0.02 for n in near)  # the index keeps four bits a number
        assert len(near) >= min(6, len(wanted))
        if near and wanted:
            assert min(scores[n] for n in near) > sorted(wanted)[-min(len(near), len(wanted))] - 0.04
            seen += 1
    assert seen > len(ROWS) / 2
    rows = t.draw()
    beside = {passages.number(row) for row in rows[4:]}
    assert beside <= {n for row in rows[:4] for n in t._near(row)}


def test_an_index_for_negatives_is_made_once_and_mended(encoder, tmp_path: Path) -> None:
    def opened() -> str:
        passages = Passages(ROWS, encoder, tmp_path, halves)
        passages.encode()
        return passages.index.version

    def segments() -> dict[Path, int]:
        return {file: file.stat().st_mtime_ns for file in next(tmp_path.rglob("index")).glob("*.tokens")}

    version, made = opened(), segments()
    assert made
    assert opened() == version
    assert segments() == made
    next(tmp_path.rglob("manifest.json")).unlink()  # as where the making was cut off
    assert opened() == version
    for pattern in ("manifest.json", "*.tokens"):
        damaged = next(tmp_path.rglob(pattern))
        damaged.write_bytes(damaged.read_bytes()[:-9])
        assert opened() == version


def test_no_negatives_are_drawn_where_none_are_wanted(passages, encoder, queries, base, tmp_path: Path) -> None:
    t = trainer(replace(RECIPE, negatives="none"), passages, encoder, queries, tmp_path, base)
    assert len(t.draw()) == RECIPE.batch_size // 2
    with pytest.raises(ValueError, match="wanted negatives by index, means or none, got 'hard'"):
        trainer(replace(RECIPE, negatives="hard"), passages, encoder, queries, tmp_path, base)


def test_what_else_is_asked_of_a_passage_is_asked_with_it(passages, encoder, queries, base, tmp_path: Path) -> None:
    more = [replace(row, query=f"{row.query} {word}") for row in ROWS[:4] for word in ("the", "was", "in")]
    given = {"base": str(base), "precision": "float32"}
    t = PassageTrainer(RECIPE, [*ROWS, *more], passages, encoder, queries, tmp_path, **given)
    for _ in range(10):
        asked = t._rows.with_siblings(ROWS, RECIPE.together, t._dice)
        assert asked[: len(ROWS)] == ROWS
        assert len(asked) == len(set(asked)) == len(ROWS) + 4 * (RECIPE.together - 1)
    assert t._rows.with_siblings(ROWS, 1, t._dice) == ROWS
    plain = replace(RECIPE, others=0.0, likeness=0.0)
    t = PassageTrainer(plain, [*ROWS, *more], passages, encoder, queries, tmp_path, **given)
    apart = [t.loss([row], Granularity.SENTENCE).item() for row in (ROWS[0], more[0], more[1])]
    assert t.loss([ROWS[0], more[0], more[1]], Granularity.SENTENCE).item() == pytest.approx(np.mean(apart), abs=1e-5)


@pytest.mark.parametrize("level", [Granularity.SENTENCE, Granularity.PROPOSITION])
def test_a_teacher_tells_of_questions_and_of_rows(level, encoder, queries, base, tmp_path: Path) -> None:
    """It prefers the first sentence always; labels have no part in the loss."""
    first = [replace(row, positives=frozenset({0})) for row in ROWS]
    teaching = Teaching(
        Teachings(kind="joint", steps=150, batch_size=8, learning_rate=1e-3, warmup=1), first, tmp_path, str(base)
    )
    teaching.run()
    teaching.save(tmp_path / "teacher", {})
    questions = [replace(row, title=f"q{row.title}", positives=frozenset()) for row in ROWS]
    passages = Passages([*ROWS, *questions], encoder, tmp_path, halves)
    passages.encode()
    recipe = replace(
        RECIPE, others=0.0, likeness=0.0, taught=1.0, questions=8, propositions=float(level == "proposition")
    )
    given = {"base": str(base), "precision": "float32", "questions": questions}
    t = PassageTrainer(
        recipe, ROWS, passages, encoder, queries, tmp_path, teacher=Teacher.open(tmp_path / "teacher"), **given
    )
    of_rows, of_questions = t.loss(ROWS, level).item(), t.loss(ROWS[:1], level, questions).item()
    t.run()
    assert t.loss(ROWS, level).item() < 0.8 * of_rows
    assert t.loss(ROWS[:1], level, questions).item() < 0.8 * of_questions
    with pytest.raises(RetrievalError, match="made with another teacher"):
        PassageTrainer(recipe, ROWS, passages, encoder, queries, tmp_path, **given).resume()


def test_rows_count_by_how_sure_the_base_is_of_their_passage(passages, encoder, queries, base, tmp_path: Path) -> None:
    """Beside the slow loop: of labels a row's own share, which passages of the batch near to its own take from."""
    plain = trainer(replace(RECIPE, others=0.0, likeness=0.0), passages, encoder, queries, tmp_path, base)
    t = trainer(replace(plain.recipe, weighed=True), passages, encoder, queries, tmp_path, base)
    rows, wanted = ROWS[:8], 0.0
    numbers = [passages.number(row) for row in rows]
    for row in rows:
        asked = encoder.encode_queries([row.query])[0]
        scores = {n: (asked.vectors @ passages.tokens(n).vectors.T).max(axis=1).sum() for n in numbers}
        own = passages.number(row)
        taking_part = [own, *(n for n in numbers if n in t._near(row))]
        share = np.exp(scores[own]) / sum(np.exp(scores[n]) for n in taking_part)
        wanted += share * plain.loss([row], Granularity.SENTENCE).item() / len(rows)
    assert t.loss(rows, Granularity.SENTENCE).item() == pytest.approx(wanted, rel=1e-3)
    assert wanted < plain.loss(rows, Granularity.SENTENCE).item()
    claim = replace(rows[0], query="a claim that is made of it")
    assert t._near(claim) == ()


def test_a_teacher_tells_of_passages_that_come_near_too(passages, encoder, queries, base, tmp_path: Path) -> None:
    """AGRaME's L_sent: the divergence in each passage of the batch, by the share that the base gives it."""
    teaching = Teaching(Teachings(kind="joint", steps=2, batch_size=8, warmup=1), ROWS, tmp_path, str(base))
    teacher = teaching.teacher.eval()
    recipe = replace(RECIPE, others=0.0, likeness=0.0, taught=1.0, weighed=True)
    t = PassageTrainer(
        recipe, ROWS, passages, encoder, queries, tmp_path, base=str(base), precision="float32", teacher=teacher
    )
    rows = ROWS[:6]
    numbers = [passages.number(row) for row in rows]
    shares = t._shares(rows, numbers, range(len(rows)))
    assert shares.sum(dim=1).tolist() == pytest.approx([1.0] * len(rows))
    assert (shares > 0).sum() > len(rows)
    units = [passages.sentences(n) for n in numbers]
    with torch.no_grad():
        scores = t._scores(rows, Granularity.SENTENCE, t.read(numbers), units)
    wanted, start = 0.0, np.cumsum([0, *(len(u.lengths) for u in units)])
    for i, row in enumerate(rows):
        for j, other in enumerate(rows):
            told = torch.tensor(teacher.scores(replace(row, title=other.title, sentences=other.sentences)))
            ours = scores[i, start[j] : start[j + 1]].log_softmax(0)
            divergence = (told.softmax(0) * (told.log_softmax(0) - ours)).sum()
            wanted += float(shares[i, j] * divergence) / len(rows)
    assert t.loss(rows, Granularity.SENTENCE).item() == pytest.approx(wanted, abs=1e-4)


def test_a_passage_of_several_windows_is_left_out(encoder, queries, base, tmp_path: Path) -> None:
    long = replace(ROWS[0], title="long", sentences=("the harbour was dredged in spring " * 12, *ROWS[0].sentences))
    rows = [long, *ROWS]
    passages = Passages(rows, encoder, tmp_path, halves)
    passages.encode()
    t = PassageTrainer(RECIPE, rows, passages, encoder, queries, tmp_path, base=str(base), precision="float32")
    assert passages.number(long) not in t._rows.of_passage
    assert len(t._rows.of_passage) == len(ROWS)


def test_questions_are_ranked_as_before_and_part_no_sentences(encoder, queries, base, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    told = [{"query": f"steel {n}", "title": "t", "text": f"the {word} of steel {n}"} for n, word in enumerate(WORDS)]
    file.write_text("\n".join(map(json.dumps, told)), "utf-8")
    questions = read_questions(file)
    passages = Passages([*ROWS, *questions], encoder, tmp_path, halves)
    passages.encode()
    t = PassageTrainer(
        replace(RECIPE, steps=51, questions=4), ROWS, passages, encoder, queries, tmp_path, base=str(base),
        questions=questions, precision="float32",
    )  # fmt: skip
    drawn = t.draw_questions()
    assert len({row.passage for row in drawn}) == 4
    assert set(drawn) <= set(questions)
    parted = t.loss(ROWS, Granularity.SENTENCE).item()
    assert t.loss(ROWS, Granularity.SENTENCE, drawn).item() == pytest.approx(parted, abs=1e-3)  # at first nothing moved
    t.run()
    given = {"base": str(base), "questions": questions}
    again = PassageTrainer(t.recipe, ROWS, passages, encoder, queries, tmp_path, **given)
    assert again.resume()
    assert again.draw_questions() == t.draw_questions()
    file.write_text('{"query": "q"}', "utf-8")
    with pytest.raises(RetrievalError, match=r"questions\.jsonl, line 1: KeyError\('text'\)"):
        read_questions(file)


def test_an_interrupted_training_ends_as_one_that_was_not(passages, encoder, queries, base, tmp_path: Path) -> None:
    recipe = replace(RECIPE, steps=53)
    whole = trainer(recipe, passages, encoder, queries, tmp_path / "whole", base)
    whole.run()

    stopped(trainer(recipe, passages, encoder, queries, tmp_path / "broken", base), 51)
    resumed = trainer(recipe, passages, encoder, queries, tmp_path / "broken", base)
    assert resumed.resume()
    assert resumed.step == 50
    resumed.run()
    wanted = whole.trained()
    assert all(torch.allclose(t, wanted[name], atol=1e-6) for name, t in resumed.trained().items())
    with pytest.raises(RetrievalError, match="made with another seed: give the same"):
        trainer(replace(recipe, seed=4), passages, encoder, queries, tmp_path / "broken", base).resume()
    assert (tmp_path / "broken" / CHECKPOINT).exists()


def test_what_is_saved_reads_passages_anew_and_queries_as_before(
    passages, encoder, queries, base, tmp_path: Path
) -> None:
    t = trainer(replace(RECIPE, share=0.5), passages, encoder, queries, tmp_path, base)
    t.run()
    made = t.save(tmp_path / "out", {})
    assert "difference" not in made  # the small file is a difference to the bundled base alone
    both = Encoder(str(made["model"]), precision="float32")
    with_queries, salience = routed(queries, str(base), "cpu")
    asked = both.encode_queries(["the harbour"])[0]
    assert asked.vectors == pytest.approx(encoder.encode_queries(["the harbour"])[0].vectors, abs=1e-5)
    assert asked.salience is None
    ours = both.encode_queries(["the harbour"], Granularity.SENTENCE)[0]
    theirs = with_queries.encode(["the harbour"], task="sentence", prompt_name="query_sentence")[0]
    assert ours.vectors == pytest.approx(np.asarray(theirs), abs=1e-5)
    assert ours.salience == pytest.approx(salience(ours.ids, ours.vectors), rel=1e-2)
    tokens = both.encode_passages([PASSAGE])[0]
    assert np.abs(tokens.vectors - encoder.encode_passages([PASSAGE])[0].vectors).max() > 1e-2
    native = MultiVectorEncoder(str(made["model"]), device="cpu").encode_document(["gates. " + PASSAGE.text])[0]
    assert tokens.vectors == pytest.approx(np.asarray(native), abs=1e-5)
    small = tmp_path / "passages.safetensors"
    write(small, t._start, t.trained(), None, {"reads": "passages"})
    model, _ = routed(queries, str(base), "cpu", trained=small)
    eight_bits = np.asarray(model.encode_document(["gates. " + PASSAGE.text])[0])
    assert (eight_bits * tokens.vectors).sum(axis=1).min() > 0.999
    again = np.asarray(model.encode_query(["the harbour"])[0])
    assert again == pytest.approx(asked.vectors, abs=1e-5)


def test_an_index_goes_with_what_reads_passages(passages, encoder, queries, base, tmp_path: Path) -> None:
    names = []
    for steps in (1, 1, 2):
        t = trainer(replace(RECIPE, steps=steps), passages, encoder, queries, tmp_path / str(len(names)), base)
        t.run()
        names.append(Encoder(str(t.save(tmp_path / f"out{len(names)}", {})["model"])).name)
    assert names[0] == names[1] != names[2]


def test_a_base_of_fewer_layers_is_told(passages, encoder, queries, base, tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="the base has 2 layers: 3 cannot learn"):
        trainer(replace(RECIPE, layers=3), passages, encoder, queries, tmp_path, base)


def test_half_the_bits_lead_to_nearly_the_same(passages, encoder, queries, base, tmp_path: Path) -> None:
    exact, fast = (
        PassageTrainer(RECIPE, ROWS, passages, encoder, queries, tmp_path / kind, base=str(base), precision=kind)
        for kind in ("float32", "bfloat16")
    )
    loss = exact.loss(ROWS, Granularity.SENTENCE).item()
    assert fast.loss(ROWS, Granularity.SENTENCE).item() == pytest.approx(loss, rel=0.05)
    fast.run()
    assert fast.loss(ROWS, Granularity.SENTENCE).item() < 0.97 * loss
    assert all(t.dtype == exact.trained()[name].dtype for name, t in fast.trained().items())
