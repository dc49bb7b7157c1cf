"""Build the training pairs of a set of files, and decide which labelled rows are held out for evaluation."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.training.lexicon import Lexicon
from propcite.attribution.judges.training.pairs import NO, Pair
from propcite.attribution.judges.training.roles import RolePairs
from propcite.attribution.judges.training.rows import Row, names_of, read_rows
from propcite.attribution.judges.training.text_pairs import PairMaker, SplitClaims

ONE_IN = 3  # of the labelled rows one in three is held out
REPEATS = {"fool_me_twice": 3, "expertqa": 3, "attribute_first_lfqa": 3, "propsegment_ent": 2}
EXCLUDED = frozenset({"squad_train_pairs"})  # lower-cased, and its rows mix sentences of several passages
MAX_PASSAGES = 1800  # passages whose sentences are split into claims
MAX_QUESTIONS = 4000
MIN_ROLE_PAIRS = 8000  # pairs from templates about who did what to whom
SPLIT_SHARE = 0.3  # share of the rows with a sentence split in two
UNRELATED_SHARE = 0.03  # share of pairs that get the evidence of another pair
SENTENCES_PER_PASSAGE = 3  # that are split into claims


def is_held_out(row: Row) -> bool:
    """Return whether a labelled row is held out: the same for all rows of a question, or of a passage without one."""
    key = str(row.get("question") or row.get("title") or "".join(row.get("sentences", ())))
    return int.from_bytes(hashlib.sha256(key.encode(errors="replace")).digest()[:4]) % ONE_IN == 0


def read_files(files: Sequence[Path]) -> list[Row]:
    return [row for file in files for row in read_rows(file)]


def training_pairs(rows: Sequence[Row], lexicon: Lexicon, split_claims: SplitClaims, seed: int) -> list[Pair]:
    """Make the pairs of these rows; the seed determines their order too."""
    try:
        pairs = _all_pairs(rows, PairMaker(lexicon, seed), split_claims, random.Random(seed))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise AttributionError(f"a row of these files has an unknown format: {error!r}") from error
    if not pairs:
        raise AttributionError("no row of these files has a label or positive sentences: there is nothing to learn")
    random.Random(seed).shuffle(pairs)
    return with_unrelated([p for p in pairs if p.claim.strip() and p.evidence.strip()], random.Random(seed + 1))


def with_unrelated(pairs: Sequence[Pair], rng: random.Random) -> list[Pair]:
    """Add a few pairs whose evidence comes from another pair, and shuffle."""
    chosen = rng.sample(pairs, int(len(pairs) * UNRELATED_SHARE))
    mixed = [*pairs, *(replace(p, evidence=rng.choice(pairs).evidence, label=NO, kind="stranger") for p in chosen)]
    rng.shuffle(mixed)
    return mixed


def _all_pairs(rows: Sequence[Row], maker: PairMaker, split_claims: SplitClaims, rng: random.Random) -> list[Pair]:
    ranked = [row for row in rows if "positive_sentence_ids" in row and row.get("source") not in EXCLUDED]
    labelled = [row for row in rows if ("docs" in row or row.get("kind") in ("claim", "proposition"))]
    labelled = [row for row in labelled if row["source"] in REPEATS and not is_held_out(row)]
    pairs = [p for row in labelled for _ in range(REPEATS[row["source"]]) for p in maker.labelled(row)]
    questions = [row for row in ranked if row.get("kind") == "question"]
    for row in rng.sample(questions, min(len(questions), MAX_QUESTIONS)):
        pairs += maker.question(row)
    for row in (row for row in rows if "propositions" in row):
        if row.get("source") == "factscore":
            pairs += maker.facts(row)
        elif row.get("source") == "wikisplit" and rng.random() < SPLIT_SHARE:
            pairs += maker.halves(row)
    pairs += _passage_pairs(questions, maker, split_claims, rng)
    return pairs + _role_pairs(names_of(questions), rng)


def _passage_pairs(rows: Sequence[Row], maker: PairMaker, split_claims: SplitClaims, rng: random.Random) -> list[Pair]:
    passages = list({tuple(map(str, row["sentences"])): row for row in rows}.values())
    pairs = []
    for row in rng.sample(passages, min(len(passages), MAX_PASSAGES)):
        sentences = [str(s) for s in row["sentences"]]
        start = rng.randrange(max(1, len(sentences) - 12))
        sentences = sentences[start : start + 14]
        usable = [i for i, s in enumerate(sentences) if 6 <= len(s.split()) <= 60]
        chosen = sorted(rng.sample(usable, min(len(usable), SENTENCES_PER_PASSAGE)))
        claims: list[list[str]] = [[] for _ in sentences]
        for i, own in zip(chosen, split_claims([sentences[i].strip() for i in chosen]), strict=True):
            claims[i] = own
        pairs += maker.passage(sentences, claims, str(row.get("title") or "").replace("_", " "))
    return pairs


def _role_pairs(names: Sequence[str], rng: random.Random) -> list[Pair]:
    pairs: list[Pair] = []
    roles = RolePairs(names, rng)
    while len(names) > 50 and len(pairs) < MIN_ROLE_PAIRS:
        pairs += roles.draw()
    return pairs


def counts_by_kind(pairs: Sequence[Pair]) -> dict[str, int]:
    return dict(Counter(pair.kind for pair in pairs).most_common())
