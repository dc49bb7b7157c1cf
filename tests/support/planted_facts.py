"""Many synthetic passages alike, in each of which a name, a number or a code stands that no other passage has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.encoding.bundled import bundled_model
from propcite.retrieval.encoding.windows import NO_CHARACTER
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Passage

KINDS = ("name", "number", "code")
THINGS = "bridge ferry harbour tunnel market school museum library tower station canal mill lighthouse dam".split()
VERBS = "finished opened repaired painted measured sold closed visited".split()
SYLLABLES = "va ren mo lith dor sa qui bel tan ost hul ek zor bla min fre gar nol pes wyn tri ka".split()
ENDINGS = "mouth ham wick stead by ford ness port".split()
DIMENSION = 32


@dataclass(frozen=True, slots=True)
class Planted:
    """A question that one passage answers, by its number, and the words that stand there alone."""

    kind: str
    passage: int
    words: str
    question: str


def passages(end: int, seed: int = 0, *, first: int = 0) -> Iterator[Passage]:
    """Yield passages of three sentences, by their numbers; `planted` asks of some of them."""
    for at in range(first, end):
        yield passage_from_text(f"p{at}", " ".join(_sentence(kind, at, seed)[0] for kind in KINDS))


def planted(number: int, wanted: int, seed: int = 0) -> list[Planted]:
    """Return facts of each kind in turn, from passages that are spread over all."""
    places = np.linspace(0, number - 1, wanted).astype(int).tolist()
    chosen = [(KINDS[i % len(KINDS)], at) for i, at in enumerate(places)]
    return [Planted(kind, at, *_sentence(kind, at, seed)[1:]) for kind, at in chosen]


def _sentence(kind: str, at: int, seed: int) -> tuple[str, str, str]:
    """Return the sentence of a kind in a passage, the words that only it has, and a question that names them."""
    random = np.random.default_rng([seed, KINDS.index(kind), at])
    thing, other, verb = random.choice(THINGS), random.choice(THINGS), random.choice(VERBS)
    year, count = random.integers(1850, 2025), random.integers(2, 900)
    if kind == "name":
        name = _name(at)
        return f"The {thing} of {name} was {verb} in {year}.", name, f"When was the {thing} of {name} {verb}?"
    if kind == "number":
        permit = str(100_000 + 7 * at)
        text = f"Permit {permit} was given to the {thing} for {count} days in {year}."
        return text, permit, f"For how many days was permit {permit} given?"
    code = f"{'ABCDEFGHKLMNPRSTVXYZ'[at % 20]}Q-{at // 20 + 17}/{'abcdefg'[at % 7]}"
    text = f"Part {code} of the {thing} is kept with {count} others in the {other}."
    return text, code, f"Where is part {code} kept?"


def _name(at: int) -> str:
    """Return a name for each number, of syllables that many names share."""
    rest, ending = divmod(at * 99_991 % (len(SYLLABLES) ** 4 * len(ENDINGS)), len(ENDINGS))
    syllables = [SYLLABLES[rest // len(SYLLABLES) ** place % len(SYLLABLES)] for place in range(4)]
    return ("".join(syllables) + ENDINGS[ending]).capitalize()


class SmallEncoder:
    """An encoder without a network: the default's pieces, each with a vector drawn at random, half of it its context's.

    So vectors know which pieces stand near each other, and blur what is made of the same pieces.
    """

    name = query_name = "small@1"
    dimension = DIMENSION

    def __init__(self) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(Path(bundled_model()) / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        drawn = np.random.default_rng(0).standard_normal((self._tokenizer.get_vocab_size(), DIMENSION))
        self._pieces = _units(drawn.astype(np.float32))

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        return self._encode([passage.text for passage in passages])

    def encode_queries(
        self,
        texts: Sequence[str],
        granularity: Granularity = Granularity.PASSAGE,  # noqa: ARG002 - it has no markers
    ) -> list[TokenVectors]:
        return self._encode(texts)

    def worths(self, query: TokenVectors) -> Floats | None:
        return query.salience

    def knows(self, granularity: Granularity) -> bool:
        return granularity == Granularity.PASSAGE

    def _encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        encoded = []
        for one in self._tokenizer.encode_batch(list(texts)):
            ids = np.array(one.ids, np.int64)
            offsets = np.array(one.offsets, np.int32)
            offsets[np.array(one.special_tokens_mask, bool)] = NO_CHARACTER
            own = self._pieces[ids]
            padded = np.pad(own, ((2, 2), (0, 0)))
            around = _units(padded[:-4] + padded[1:-3] + padded[3:-1] + padded[4:])
            encoded.append(TokenVectors(_units(own + around), offsets, None, ids))
        return encoded


def _units(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units: Floats = vectors / np.maximum(lengths, 1e-9)
    return units
