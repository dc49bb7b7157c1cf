"""Train the question reader over the reader of claims: low-rank changes of its upper layers, and heads."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.attribution.english import content_words
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.reader_files import READER
from propcite.attribution.judges.reader_files import load as load_reader
from propcite.attribution.judges.training.trainer import batches
from propcite.attribution.questions.files import learned, over, restore, save
from propcite.attribution.questions.network import Logits, QuestionNetwork
from propcite.attribution.questions.training.examples import SECTIONS, QuestionExample, window
from propcite.attribution.questions.training.making import made
from propcite.attribution.reading.pairs import Pair, PairTokenizer
from propcite.retrieval.training.loop import TrainingLoop
from propcite.retrieval.training.lowrank import add_low_rank_changes

CHECKPOINT = "questions.pt"
DRAWN = 300  # examples whose batches are made together
# Shares of what is drawn; a question with the sections of its document is drawn as one.
KINDS = {"asked": 0.3, "written": 0.45, "document": 0.15, "alone": 0.09, "other": 0.1, "swapped": 0.06}
WINDOWS = (40, 60, 75, 90)  # words
ANSWERING_WEIGHT = 3.0  # of a sentence that answers: most do not
WORDS_WEIGHT = 0.7  # of the loss of the answer's words
NO_WORDS_WEIGHT = 0.5  # of an example without an answer in it
EARLIER_PACE, HEADS_PACE = 0.1, 2.0  # learning rates of the reader's heads and of new ones, in those of the changes
MASKED = -1e4


@dataclass(frozen=True, slots=True)
class QuestionRecipe:
    """The settings that determine the result, apart from the examples."""

    steps: int = 1200
    batch_pieces: int = 2048
    learning_rate: float = 5e-4
    warmup: int = 30
    rank: int = 16
    title_share: float = 0.6
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Encoded:
    """An example as word pieces: its sentences and the words that answer, as first and last piece plus one."""

    example: QuestionExample
    pair: Pair
    sentences: list[tuple[int, int]]
    answering: list[bool | None]
    words: tuple[int, int] | None


class QuestionTrainer(TrainingLoop):
    """Trains a question reader; the checkpoint is in `folder`."""

    error = AttributionError
    checkpoint_every = 100

    def __init__(
        self,
        recipe: QuestionRecipe,
        examples: Sequence[QuestionExample],
        network: QuestionNetwork,
        tokenizer: PairTokenizer,
        folder: Path,
    ) -> None:
        self.recipe, self.network = recipe, network.train()
        self._tokenizer, self._rng = tokenizer, random.Random(recipe.seed)
        self._examples = [*examples, *made([e for e in examples if not e.group], self._rng)]
        torch.manual_seed(recipe.seed)
        groups = _prepared(network, recipe)
        inputs = {**asdict(recipe), "examples": len(examples)}
        super().__init__(recipe, network, groups, folder / CHECKPOINT, inputs=inputs)
        self._remaining = enumerate(self._batches())

    @property
    def num_examples(self) -> dict[str, int]:
        return dict(Counter(example.kind for example in self._examples))

    def next_loss(self) -> Tensor:
        """Compute the loss of the next batch; the batches of an earlier run are skipped."""
        batch = next(batch for number, batch in self._remaining if number >= self.step)
        with torch.autocast(self.network.piece.weight.device.type, torch.bfloat16):
            logits = self.network([one.pair for one in batch])
        weights = torch.tensor([one.example.weight for one in batch], device=logits.answered.device)
        answered = torch.tensor([float(one.example.is_answered) for one in batch], device=weights.device)
        whole = F.binary_cross_entropy_with_logits(logits.answered, answered, reduction="none")
        sentences = _sentence_logits(logits.pieces, batch)
        of_sentences = _sentence_loss(sentences, batch) + _order_loss(sentences, batch)
        return (whole * weights).mean() + of_sentences + WORDS_WEIGHT * _words_loss(logits, batch)

    def _batches(self) -> Iterator[list[_Encoded]]:
        """Yield batches of examples of similar length, of at most `batch_pieces` word pieces."""
        by_kind: dict[str, dict[str, list[QuestionExample]]] = {}
        for number, example in enumerate(self._examples):
            by_kind.setdefault(example.kind, {}).setdefault(example.group or str(number), []).append(example)
        together = {kind: list(own.values()) for kind, own in by_kind.items()}
        kinds = [kind for kind in KINDS if kind in together]
        while True:
            drawn = self._rng.choices(kinds, [KINDS[kind] for kind in kinds], k=DRAWN)
            shown = [self._shown(self._rng.choice(together[kind])) for kind in drawn]
            encoded = [self._encoded(own) for own in shown]
            lengths = [len(own) * max(len(one.pair.pieces) for one in own) for own in encoded]
            groups = batches(lengths, self.recipe.batch_pieces)
            self._rng.shuffle(groups)
            for group in groups:
                yield [one for i in group for one in encoded[i]]

    def _shown(self, examples: Sequence[QuestionExample]) -> list[QuestionExample]:
        """Return windows of a question's texts: of those that answer, and of others that share most words with it."""
        asked = set(content_words(examples[0].question))

        def order(example: QuestionExample) -> tuple[bool, int, float]:
            return not example.is_answered, -len(asked & set(content_words(example.text))), self._rng.random()

        chosen = sorted(examples, key=order)[:SECTIONS] if len(examples) > 1 else examples
        return [window(example, self._rng.choice(WINDOWS), self._rng) for example in chosen]

    def _encoded(self, examples: Sequence[QuestionExample]) -> list[_Encoded]:
        """Encode what is read together, with titles as often as the recipe says: a reader must do without them too."""
        with_titles = self._rng.random() < self.recipe.title_share
        leads = [f"{e.title}: " if e.title and with_titles else "" for e in examples]
        pairs = self._tokenizer.encode([(e.question, lead + e.text) for e, lead in zip(examples, leads, strict=True)])
        return [_encode(*one) for one in zip(examples, pairs, map(len, leads), strict=True)]


def _prepared(network: QuestionNetwork, recipe: QuestionRecipe) -> list[dict[str, Any]]:
    """Freeze all but low-rank changes of the upper layers and the heads, and return them with their learning rates."""
    network.requires_grad_(False)
    for layer in network.upper_layers:
        add_low_rank_changes(layer, recipe.rank)
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    changes = [p for layer in network.upper_layers for p in layer.parameters() if p.requires_grad]
    earlier = [*network.reader.piece.parameters(), *network.reader.first.parameters()]
    heads = [*network.ends.parameters(), *network.piece.parameters(), network.scale]
    for parameter in (*earlier, *heads):
        parameter.requires_grad_(True)
    paces = ((changes, 1.0), (earlier, EARLIER_PACE), (heads, HEADS_PACE))
    return [{"params": params, "lr": recipe.learning_rate * pace} for params, pace in paces]


def _encode(example: QuestionExample, pair: Pair, lead: int) -> _Encoded:
    """Find the word pieces of each sentence and of the words that answer; what was cut off is left out."""
    starts = torch.tensor([span.start for span in pair.second_spans])
    sentences, answering = [], []
    start = lead
    for sentence, answers in zip(example.sentences, example.answering, strict=True):
        first, end = torch.searchsorted(starts, torch.tensor([start, start + len(sentence)])).tolist()
        if end > first:
            sentences.append((pair.second + first, pair.second + end))
            answering.append(answers)
        start += len(sentence) + 1
    return _Encoded(example, pair, sentences, answering, _word_pieces(example, pair, lead))


def _word_pieces(example: QuestionExample, pair: Pair, lead: int) -> tuple[int, int] | None:
    if example.words is None:
        return None
    words = example.words.shifted(lead)
    held = [i for i, span in enumerate(pair.second_spans) if span.overlaps(words)]
    if not held or pair.second_spans[-1].end < words.end:
        return None
    return pair.second + held[0], pair.second + held[-1]


def _sentence_logits(pieces: Tensor, batch: Sequence[_Encoded]) -> Tensor:
    """Return the logit of each sentence of a batch, one after another: that of its pieces together."""
    places = [(row, *place) for row, one in enumerate(batch) for place in one.sentences]
    rows, firsts, ends = torch.tensor(places, dtype=torch.long, device=pieces.device).reshape(-1, 3).unbind(1)
    longest = max((end - first for _, first, end in places), default=0)
    positions = firsts[:, None] + torch.arange(longest, device=pieces.device)
    held = pieces[rows[:, None], positions.clamp_max(pieces.shape[1] - 1)]
    return torch.logsumexp(held.masked_fill(positions >= ends[:, None], MASKED), 1)


def _sentence_loss(sentences: Tensor, batch: Sequence[_Encoded]) -> Tensor:
    """Return the mean loss of the sentences of which it is known whether they answer."""
    known = [(answers, one.example.weight) for one in batch for answers in one.answering]
    wanted = torch.tensor([float(bool(answers)) for answers, _ in known], device=sentences.device)
    shares = [0.0 if a is None else weight * (ANSWERING_WEIGHT if a else 1.0) for a, weight in known]
    weights = torch.tensor(shares, device=sentences.device)
    losses = F.binary_cross_entropy_with_logits(sentences, wanted, reduction="none")
    return (losses * weights).sum() / weights.sum().clamp_min(1e-6)


def _order_loss(sentences: Tensor, batch: Sequence[_Encoded]) -> Tensor:
    """Return the mean loss of which sentence, of all the sections beside a question, answers it; none may."""
    groups: dict[str, list[tuple[int, bool]]] = {}
    number = 0
    for one in batch:
        for answers in one.answering:
            if one.example.group:
                groups.setdefault(one.example.group, []).append((number, bool(answers)))
            number += 1
    if not groups:
        return sentences.sum() * 0.0
    none = sentences.new_zeros(1)  # the logit that no sentence answers
    padded, is_right = [], []
    longest = max(map(len, groups.values()))
    for own in groups.values():
        missing = longest - len(own)
        padded.append([len(sentences), *(n for n, _ in own), *[len(sentences) + 1] * missing])
        answered = any(right for _, right in own)
        is_right.append([not answered, *(right for _, right in own), *[False] * missing])
    every = torch.cat([sentences, none, none + MASKED])[torch.tensor(padded, device=none.device)]
    right = every.masked_fill(~torch.tensor(is_right, device=none.device), MASKED)
    return (torch.logsumexp(every, 1) - torch.logsumexp(right, 1)).mean()


def _words_loss(logits: Logits, batch: Sequence[_Encoded]) -> Tensor:
    """Return the mean loss of where the answer's words begin and end; the first piece stands for no answer."""
    rows = [i for i, one in enumerate(batch) if one.words or not one.example.is_answered]
    if not rows:
        return logits.starts.sum() * 0.0
    device = logits.starts.device
    mask = torch.full((len(rows), logits.starts.shape[1]), MASKED, device=device)
    for place, row in enumerate(rows):
        pair = batch[row].pair
        mask[place, 0] = 0.0
        mask[place, pair.second : pair.second + len(pair.second_spans)] = 0.0
    places = torch.tensor([batch[row].words or (0, 0) for row in rows], device=device)
    weights = torch.tensor(
        [batch[row].example.weight * (1.0 if batch[row].words else NO_WORDS_WEIGHT) for row in rows], device=device
    )
    starts = F.cross_entropy(logits.starts[rows] + mask, places[:, 0], reduction="none")
    ends = F.cross_entropy(logits.ends[rows] + mask, places[:, 1], reduction="none")
    return ((starts + ends) * weights).sum() / weights.sum() / 2


def train(
    examples: Sequence[QuestionExample],
    out: Path,
    folder: Path,
    recipe: QuestionRecipe,
    *,
    base: Path = READER,
    start: Path | None = None,
    device: str = "",
    resume: bool = False,
    note: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, float], None] = lambda *_: None,
) -> dict[str, Any]:
    """Train on the examples and write the question reader to the file `out`; return the description stored with it.

    Training begins with the weights of the question reader in `start`, if one is given.
    """
    if (folder / CHECKPOINT).exists() and not resume:
        raise AttributionError(f"{folder} has an unfinished training: go on with --resume, or give another --work")
    if not {True, False} <= {example.is_answered for example in examples}:
        raise AttributionError("training needs questions that their text answers and others: give rows of both kinds")
    reader = load_reader(base, "cpu", "float32")
    network = over(reader, {}).to(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    folder.mkdir(parents=True, exist_ok=True)
    trainer = QuestionTrainer(recipe, examples, network, reader.tokenizer, folder)
    if resume and trainer.resume():
        note(f"going on from step {trainer.step}")
    elif start is not None:
        restore(network, start, reader.about)
    trainer.run(progress)
    about = {
        "recipe": asdict(recipe), "examples": trainer.num_examples, "made": datetime.date.today().isoformat(),
    }  # fmt: skip
    save(out, dict(learned(network)), reader.about, about)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return about
