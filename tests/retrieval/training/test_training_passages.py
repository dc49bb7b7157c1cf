"""Training the network for passages: sentences are separated, passages rank as before, queries stay."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny_models as tiny
import torch
from sentence_transformers import MultiVectorEncoder
from small_trainings import WORDS, halves, row_about, run_until

from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.trained_networks import load_routed_model, write_network
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.passage_trainer import CHECKPOINT, PassageRecipe, PassageTrainer
from propcite.retrieval.training.passages import EncodedPassages
from propcite.retrieval.training.query_trainer import QueryRecipe, QueryTrainer
from propcite.retrieval.training.rows import read_questions
from propcite.retrieval.training.teacher import Teacher
from propcite.retrieval.training.teacher_trainer import TeacherRecipe, TeacherTrainer

RECIPE = PassageRecipe(
    layers=1, steps=60, batch_size=8, learning_rate=5e-3, warmup=1, claims=0.0, likeness=2.0, share=1.0
)
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
def passages(encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> EncodedPassages:
    encoded = EncodedPassages(ROWS, encoder, tmp_path_factory.mktemp("work"), halves)
    encoded.encode()
    return encoded


@pytest.fixture(scope="module")
def queries(base: Path, passages: EncodedPassages, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained network for queries."""
    folder = tmp_path_factory.mktemp("queries")
    recipe = QueryRecipe(steps=20, batch_size=8, learning_rate=1e-2, warmup=1, claims=0.0)
    t = QueryTrainer(recipe, ROWS, passages, str(base), folder)
    t.run()
    write_network(
        folder / "queries.safetensors", t.trained_weights(0.0), t.trained_weights(1.0), t.queries.salience(), {}
    )
    return folder / "queries.safetensors"


def trainer(
    recipe: PassageRecipe, passages: EncodedPassages, encoder: Encoder, queries: Path, folder: Path, base: Path
):
    return PassageTrainer(recipe, ROWS, passages, encoder, queries, folder, base=str(base), precision="float32")


def divergence_from_base(t: PassageTrainer) -> float:
    return t._ranking_loss([row.query for row in ROWS], NUMBERS, t.encode(NUMBERS)).item()


def test_at_first_passages_are_encoded_as_by_the_base(passages, encoder, queries, base, tmp_path: Path) -> None:
    t = trainer(RECIPE, passages, encoder, queries, tmp_path, base)
    for number, vectors in zip(NUMBERS, t.encode(NUMBERS), strict=True):
        expected = passages.tokens(number).vectors
        assert vectors.detach().numpy() == pytest.approx(expected, abs=2e-3)  # half precision on disk
    assert divergence_from_base(t) == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("level", [Granularity.SENTENCE, Granularity.PROPOSITION])
def test_the_top_layer_learns_to_separate_sentences_and_the_others_stay(
    level: Granularity, passages, encoder, queries, base, tmp_path: Path
) -> None:
    share = float(level == Granularity.PROPOSITION)
    t = trainer(replace(RECIPE, propositions=share), passages, encoder, queries, tmp_path, base)
    before = t.loss(ROWS, level).item()
    query_weights = {name: p.clone() for name, p in t.queries.named_parameters()}
    t.run()
    assert t.loss(ROWS, level).item() < 0.97 * before
    trained = t.trained_weights()
    changed = {name for name in trained if not torch.equal(trained[name], t._start[name])}
    assert changed
    assert all(name.startswith("encoder.layer.1.") for name in changed)
    assert all(torch.equal(p, query_weights[name]) for name, p in t.queries.named_parameters())


def test_more_weight_on_likeness_keeps_the_ranking_of_passages_closer(
    passages, encoder, queries, base, tmp_path: Path
) -> None:
    divergences = []
    for likeness in (0.0, 50.0):
        recipe = replace(RECIPE, likeness=likeness)
        t = trainer(recipe, passages, encoder, queries, tmp_path / str(likeness), base)
        t.run()
        divergences.append(divergence_from_base(t))
    assert divergences[1] < 0.5 * divergences[0]


def test_a_batch_has_hard_negatives_and_no_passage_twice(passages, encoder, queries, base, tmp_path: Path) -> None:
    t = trainer(replace(RECIPE, negatives="means"), passages, encoder, queries, tmp_path, base)
    for _ in range(10):
        rows = t.draw()
        assert len(rows) == len({row.passage for row in rows}) == 8
        numbers = [passages.number(row) for row in rows]
        assert all(beside in t._negatives(row) for row, beside in zip(rows[:4], numbers[4:], strict=True))
    means = {n: passages.tokens(n).vectors.mean(axis=0) for n in range(len(passages))}
    means = {n: m / np.linalg.norm(m) for n, m in means.items()}
    for row in ROWS:
        number, near = passages.number(row), t._negatives(row)
        others = [n for n in means if n != number]
        nearest = sorted(others, key=lambda n: -float(means[n] @ means[number]))[: len(near)]
        assert min(float(means[n] @ means[number]) for n in near) == pytest.approx(
            float(means[nearest[-1]] @ means[number]), abs=1e-5
        )


def test_index_negatives_rank_just_below_the_right_passage(passages, encoder, queries, base, tmp_path: Path) -> None:
    """Compared with a slow loop: passages by MaxSim, below the row's own, without the same query."""
    t = trainer(RECIPE, passages, encoder, queries, tmp_path, base)
    answering = {row.query: {passages.number(r) for r in ROWS if r.query == row.query} for row in ROWS}
    seen = 0
    for row in ROWS:
        query = encoder.encode_queries([row.query])[0]
        scores = {n: (query.vectors @ passages.tokens(n).vectors.T).max(axis=1).mean() for n in NUMBERS}
        own = scores[passages.number(row)]
        expected = [scores[n] for n in NUMBERS if scores[n] < own - 0.02 and n not in answering[row.query]]
        near = t._negatives(row)
        assert not answering[row.query] & set(near)
        assert all(scores[n] < own + 0.02 for n in near)  # the index has four bits per number
        assert len(near) >= min(6, len(expected))
        if near and expected:
            assert min(scores[n] for n in near) > sorted(expected)[-min(len(near), len(expected))] - 0.04
            seen += 1
    assert seen > len(ROWS) / 2
    rows = t.draw()
    beside = {passages.number(row) for row in rows[4:]}
    assert beside <= {n for row in rows[:4] for n in t._negatives(row)}


def test_an_index_for_negatives_is_built_once_and_repaired(encoder, tmp_path: Path) -> None:
    def open_index() -> str:
        passages = EncodedPassages(ROWS, encoder, tmp_path, halves)
        passages.encode()
        return passages.index.version

    def segments() -> dict[Path, int]:
        return {file: file.stat().st_mtime_ns for file in next(tmp_path.rglob("index")).glob("*.tokens")}

    version, files = open_index(), segments()
    assert files
    assert open_index() == version
    assert segments() == files
    next(tmp_path.rglob("manifest.json")).unlink()  # as after an interrupt while it was built
    assert open_index() == version
    for pattern in ("manifest.json", "*.tokens"):
        damaged = next(tmp_path.rglob(pattern))
        damaged.write_bytes(damaged.read_bytes()[:-9])
        assert open_index() == version


def test_no_negatives_are_drawn_if_the_recipe_has_none(passages, encoder, queries, base, tmp_path: Path) -> None:
    t = trainer(replace(RECIPE, negatives="none"), passages, encoder, queries, tmp_path, base)
    assert len(t.draw()) == RECIPE.batch_size // 2
    with pytest.raises(ValueError, match="negatives must be index, means or none, not 'hard'"):
        trainer(replace(RECIPE, negatives="hard"), passages, encoder, queries, tmp_path, base)


def test_other_rows_of_a_passage_are_added_to_the_batch(passages, encoder, queries, base, tmp_path: Path) -> None:
    more = [replace(row, query=f"{row.query} {word}") for row in ROWS[:4] for word in ("the", "was", "in")]
    options = {"base": str(base), "precision": "float32"}
    t = PassageTrainer(RECIPE, [*ROWS, *more], passages, encoder, queries, tmp_path, **options)
    for _ in range(10):
        rows = t._rows.with_siblings(ROWS, RECIPE.together, t._rng)
        assert rows[: len(ROWS)] == ROWS
        assert len(rows) == len(set(rows)) == len(ROWS) + 4 * (RECIPE.together - 1)
    assert t._rows.with_siblings(ROWS, 1, t._rng) == ROWS
    plain = replace(RECIPE, others=0.0, likeness=0.0)
    t = PassageTrainer(plain, [*ROWS, *more], passages, encoder, queries, tmp_path, **options)
    apart = [t.loss([row], Granularity.SENTENCE).item() for row in (ROWS[0], more[0], more[1])]
    assert t.loss([ROWS[0], more[0], more[1]], Granularity.SENTENCE).item() == pytest.approx(np.mean(apart), abs=1e-5)


@pytest.mark.parametrize("level", [Granularity.SENTENCE, Granularity.PROPOSITION])
def test_a_teacher_teaches_by_questions_and_by_rows(level, encoder, queries, base, tmp_path: Path) -> None:
    """The teacher always prefers the first sentence; labels are not part of the loss."""
    first = [replace(row, positives=frozenset({0})) for row in ROWS]
    teaching = TeacherTrainer(
        TeacherRecipe(kind="joint", steps=150, batch_size=8, learning_rate=1e-3, warmup=1), first, tmp_path, str(base)
    )
    teaching.run()
    teaching.save(tmp_path / "teacher", {})
    questions = [replace(row, title=f"q{row.title}", positives=frozenset()) for row in ROWS]
    passages = EncodedPassages([*ROWS, *questions], encoder, tmp_path, halves)
    passages.encode()
    recipe = replace(
        RECIPE, others=0.0, likeness=0.0, taught=1.0, questions=8, propositions=float(level == "proposition")
    )
    options = {"base": str(base), "precision": "float32", "questions": questions}
    t = PassageTrainer(
        recipe, ROWS, passages, encoder, queries, tmp_path, teacher=Teacher.open(tmp_path / "teacher"), **options
    )
    of_rows, of_questions = t.loss(ROWS, level).item(), t.loss(ROWS[:1], level, questions).item()
    t.run()
    assert t.loss(ROWS, level).item() < 0.8 * of_rows
    assert t.loss(ROWS[:1], level, questions).item() < 0.8 * of_questions
    with pytest.raises(RetrievalError, match="made with a different teacher"):
        PassageTrainer(recipe, ROWS, passages, encoder, queries, tmp_path, **options).resume()


def test_rows_are_weighted_by_the_bases_share_of_their_passage(
    passages, encoder, queries, base, tmp_path: Path
) -> None:
    """Compared with a slow loop: a row's weight is its passage's share among the negatives in the batch."""
    plain = trainer(replace(RECIPE, others=0.0, likeness=0.0), passages, encoder, queries, tmp_path, base)
    t = trainer(replace(plain.recipe, weighed=True), passages, encoder, queries, tmp_path, base)
    rows, expected = ROWS[:8], 0.0
    numbers = [passages.number(row) for row in rows]
    for row in rows:
        query = encoder.encode_queries([row.query])[0]
        scores = {n: (query.vectors @ passages.tokens(n).vectors.T).max(axis=1).sum() for n in numbers}
        own = passages.number(row)
        candidates = [own, *(n for n in numbers if n in t._negatives(row))]
        share = np.exp(scores[own]) / sum(np.exp(scores[n]) for n in candidates)
        expected += share * plain.loss([row], Granularity.SENTENCE).item() / len(rows)
    assert t.loss(rows, Granularity.SENTENCE).item() == pytest.approx(expected, rel=1e-3)
    assert expected < plain.loss(rows, Granularity.SENTENCE).item()
    claim = replace(rows[0], query="a claim of the passage")
    assert t._negatives(claim) == ()


def test_a_teacher_teaches_by_hard_negatives_too(passages, encoder, queries, base, tmp_path: Path) -> None:
    """AGRaME's L_sent: the divergence in each passage of the batch, weighted by the base's share of it."""
    teaching = TeacherTrainer(TeacherRecipe(kind="joint", steps=2, batch_size=8, warmup=1), ROWS, tmp_path, str(base))
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
        scores = t._scores(rows, Granularity.SENTENCE, t.encode(numbers), units)
    expected, start = 0.0, np.cumsum([0, *(len(u.lengths) for u in units)])
    for i, row in enumerate(rows):
        for j, other in enumerate(rows):
            target = torch.tensor(teacher.scores(replace(row, title=other.title, sentences=other.sentences)))
            ours = scores[i, start[j] : start[j + 1]].log_softmax(0)
            divergence = (target.softmax(0) * (target.log_softmax(0) - ours)).sum()
            expected += float(shares[i, j] * divergence) / len(rows)
    assert t.loss(rows, Granularity.SENTENCE).item() == pytest.approx(expected, abs=1e-4)


def test_passages_of_several_windows_are_left_out(encoder, queries, base, tmp_path: Path) -> None:
    long = replace(ROWS[0], title="long", sentences=("the harbour was dredged in spring " * 12, *ROWS[0].sentences))
    rows = [long, *ROWS]
    passages = EncodedPassages(rows, encoder, tmp_path, halves)
    passages.encode()
    t = PassageTrainer(RECIPE, rows, passages, encoder, queries, tmp_path, base=str(base), precision="float32")
    assert passages.number(long) not in t._rows.rows_by_passage
    assert len(t._rows.rows_by_passage) == len(ROWS)


def test_questions_are_ranked_as_before_and_separate_no_sentences(encoder, queries, base, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    lines = [{"query": f"steel {n}", "title": "t", "text": f"the {word} of steel {n}"} for n, word in enumerate(WORDS)]
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    questions = read_questions(file)
    passages = EncodedPassages([*ROWS, *questions], encoder, tmp_path, halves)
    passages.encode()
    t = PassageTrainer(
        replace(RECIPE, steps=51, questions=4), ROWS, passages, encoder, queries, tmp_path, base=str(base),
        questions=questions, precision="float32",
    )  # fmt: skip
    drawn = t.draw_questions()
    assert len({row.passage for row in drawn}) == 4
    assert set(drawn) <= set(questions)
    without = t.loss(ROWS, Granularity.SENTENCE).item()
    assert t.loss(ROWS, Granularity.SENTENCE, drawn).item() == pytest.approx(without, abs=1e-3)  # before any step
    t.run()
    options = {"base": str(base), "questions": questions}
    again = PassageTrainer(t.recipe, ROWS, passages, encoder, queries, tmp_path, **options)
    assert again.resume()
    assert again.draw_questions() == t.draw_questions()
    file.write_text('{"query": "q"}', "utf-8")
    with pytest.raises(RetrievalError, match=r"questions\.jsonl, line 1: .*KeyError\('text'\)"):
        read_questions(file)


def test_a_resumed_training_ends_like_an_uninterrupted_one(passages, encoder, queries, base, tmp_path: Path) -> None:
    recipe = replace(RECIPE, steps=53)
    whole = trainer(recipe, passages, encoder, queries, tmp_path / "whole", base)
    whole.run()

    run_until(trainer(recipe, passages, encoder, queries, tmp_path / "broken", base), 51)
    resumed = trainer(recipe, passages, encoder, queries, tmp_path / "broken", base)
    assert resumed.resume()
    assert resumed.step == 50
    resumed.run()
    expected = whole.trained_weights()
    assert all(torch.allclose(t, expected[name], atol=1e-6) for name, t in resumed.trained_weights().items())
    with pytest.raises(RetrievalError, match="made with a different seed: use the same"):
        trainer(replace(recipe, seed=4), passages, encoder, queries, tmp_path / "broken", base).resume()
    assert (tmp_path / "broken" / CHECKPOINT).exists()


def test_the_saved_model_has_new_passages_and_the_old_queries(passages, encoder, queries, base, tmp_path: Path) -> None:
    t = trainer(replace(RECIPE, share=0.5), passages, encoder, queries, tmp_path, base)
    t.run()
    paths = t.save(tmp_path / "out", {})
    assert "difference" not in paths  # only for the bundled base is the difference written too
    both = Encoder(str(paths["model"]), precision="float32")
    with_queries, salience = load_routed_model(queries, str(base), "cpu")
    query = both.encode_queries(["the harbour"])[0]
    assert query.vectors == pytest.approx(encoder.encode_queries(["the harbour"])[0].vectors, abs=1e-5)
    assert query.salience is None
    ours = both.encode_queries(["the harbour"], Granularity.SENTENCE)[0]
    theirs = with_queries.encode(["the harbour"], task="sentence", prompt_name="query_sentence")[0]
    assert ours.vectors == pytest.approx(np.asarray(theirs), abs=1e-5)
    assert ours.salience == pytest.approx(salience.of_query(ours.ids, ours.vectors), rel=1e-2)
    tokens = both.encode_passages([PASSAGE])[0]
    assert np.abs(tokens.vectors - encoder.encode_passages([PASSAGE])[0].vectors).max() > 1e-2
    native = MultiVectorEncoder(str(paths["model"]), device="cpu").encode_document(["gates. " + PASSAGE.text])[0]
    assert tokens.vectors == pytest.approx(np.asarray(native), abs=1e-5)
    small = tmp_path / "passages.safetensors"
    write_network(small, t._start, t.trained_weights(), None, {"reads": "passages"})
    model, _ = load_routed_model(queries, str(base), "cpu", trained=small)
    eight_bits = np.asarray(model.encode_document(["gates. " + PASSAGE.text])[0])
    assert (eight_bits * tokens.vectors).sum(axis=1).min() > 0.999
    again = np.asarray(model.encode_query(["the harbour"])[0])
    assert again == pytest.approx(query.vectors, abs=1e-5)


def test_the_encoders_name_changes_with_the_network_for_passages(
    passages, encoder, queries, base, tmp_path: Path
) -> None:
    names = []
    for steps in (1, 1, 2):
        t = trainer(replace(RECIPE, steps=steps), passages, encoder, queries, tmp_path / str(len(names)), base)
        t.run()
        names.append(Encoder(str(t.save(tmp_path / f"out{len(names)}", {})["model"])).name)
    assert names[0] == names[1] != names[2]


def test_a_base_with_fewer_layers_is_an_error(passages, encoder, queries, base, tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="the base has only 2 layers: give --layers 2 or less"):
        trainer(replace(RECIPE, layers=3), passages, encoder, queries, tmp_path, base)


def test_bfloat16_leads_to_nearly_the_same_loss(passages, encoder, queries, base, tmp_path: Path) -> None:
    exact, fast = (
        PassageTrainer(RECIPE, ROWS, passages, encoder, queries, tmp_path / kind, base=str(base), precision=kind)
        for kind in ("float32", "bfloat16")
    )
    loss = exact.loss(ROWS, Granularity.SENTENCE).item()
    assert fast.loss(ROWS, Granularity.SENTENCE).item() == pytest.approx(loss, rel=0.05)
    fast.run()
    assert fast.loss(ROWS, Granularity.SENTENCE).item() < 0.97 * loss
    assert all(t.dtype == exact.trained_weights()[name].dtype for name, t in fast.trained_weights().items())
