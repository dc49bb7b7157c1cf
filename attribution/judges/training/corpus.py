"""All pairs of a set of files, and which rows are kept out to be measured on."""

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
from propcite.attribution.judges.training.roles import Roles
from propcite.attribution.judges.training.rows import Row, names_of, read
from propcite.attribution.judges.training.texts import Claims, TextMaker

ONE_IN = 3  # of the rows that people marked, one in so many is kept out
TIMES = {"fool_me_twice": 3, "expertqa": 3, "attribute_first_lfqa": 3, "propsegment_ent": 2}
UNMARKED = frozenset({"squad_train_pairs"})  # lower-cased, with sentences of several passages
READ = 1800  # passages whose sentences are parted in claims
ASKED = 4000  # rows of questions
MADE = 8000  # pairs on who did what to whom
PARTED = 0.3  # share of the sentences that were parted in two
STRANGERS = 0.03  # share of pairs made of a claim and evidence that have nothing to do with each other
SENTENCES = 3  # of a passage that are asked about


def is_held_out(row: Row) -> bool:
    """Whether a marked row is kept out: all rows of one question, or of one passage where there is none."""
    key = str(row.get("question") or row.get("title") or "".join(row.get("sentences", ())))
    return int.from_bytes(hashlib.sha256(key.encode(errors="replace")).digest()[:4]) % ONE_IN == 0


def rows_of(files: Sequence[Path]) -> list[Row]:
    return [row for file in files for row in read(file)]


def pairs_of(rows: Sequence[Row], lexicon: Lexicon, claims: Claims, seed: int) -> list[Pair]:
    """The pairs of these rows in an order that the seed decides."""
    try:
        made = _all(rows, TextMaker(lexicon, seed), claims, random.Random(seed))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise AttributionError(f"a row of these files is not of a known kind: {error!r}") from error
    if not made:
        raise AttributionError("no row of these files tells what supports what: there is nothing to learn")
    random.Random(seed).shuffle(made)
    return with_strangers([p for p in made if p.claim.strip() and p.evidence.strip()], random.Random(seed + 1))


def with_strangers(pairs: Sequence[Pair], dice: random.Random) -> list[Pair]:
    """These pairs and a few whose claim stands beside evidence of something else altogether, in a new order."""
    chosen = dice.sample(pairs, int(len(pairs) * STRANGERS))
    made = [*pairs, *(replace(p, evidence=dice.choice(pairs).evidence, label=NO, kind="stranger") for p in chosen)]
    dice.shuffle(made)
    return made


def _all(rows: Sequence[Row], maker: TextMaker, claims: Claims, dice: random.Random) -> list[Pair]:
    ranked = [row for row in rows if "positive_sentence_ids" in row and row.get("source") not in UNMARKED]
    marked = [row for row in rows if ("docs" in row or row.get("kind") in ("claim", "proposition"))]
    marked = [row for row in marked if row["source"] in TIMES and not is_held_out(row)]
    made = [p for row in marked for _ in range(TIMES[row["source"]]) for p in maker.labelled(row)]
    asked = [row for row in ranked if row.get("kind") == "question"]
    for row in dice.sample(asked, min(len(asked), ASKED)):
        made += maker.question(row)
    for row in (row for row in rows if "propositions" in row):
        if row.get("source") == "factscore":
            made += maker.facts(row)
        elif row.get("source") == "wikisplit" and dice.random() < PARTED:
            made += maker.halves(row)
    made += _of_passages(asked, maker, claims, dice)
    return made + _of_roles(names_of(asked), dice)


def _of_passages(rows: Sequence[Row], maker: TextMaker, claims: Claims, dice: random.Random) -> list[Pair]:
    passages = list({tuple(map(str, row["sentences"])): row for row in rows}.values())
    made = []
    for row in dice.sample(passages, min(len(passages), READ)):
        sentences = [str(s) for s in row["sentences"]]
        start = dice.randrange(max(1, len(sentences) - 12))
        sentences = sentences[start : start + 14]
        usable = [i for i, s in enumerate(sentences) if 6 <= len(s.split()) <= 60]
        wanted = sorted(dice.sample(usable, min(len(usable), SENTENCES)))
        told: list[list[str]] = [[] for _ in sentences]
        for i, found in zip(wanted, claims([sentences[i].strip() for i in wanted]), strict=True):
            told[i] = found
        made += maker.passage(sentences, told, str(row.get("title") or "").replace("_", " "))
    return made


def _of_roles(names: Sequence[str], dice: random.Random) -> list[Pair]:
    made: list[Pair] = []
    roles = Roles(names, dice)
    while len(names) > 50 and len(made) < MADE:
        made += roles.draw()
    return made


def told_of(pairs: Sequence[Pair]) -> dict[str, int]:
    """How many pairs there are of each kind."""
    return dict(Counter(pair.kind for pair in pairs).most_common())
