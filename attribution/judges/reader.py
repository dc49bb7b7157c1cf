"""The reader: a network reads claim, evidence and title together, marks what is wrong, and decides."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.english import contradiction, underived_numbers, without_titled
from propcite.attribution.judges import SUPPORTED_FROM, Case, label_of
from propcite.attribution.judges.embedded import EmbeddedJudge, Features, probability, support_logit
from propcite.attribution.judges.entailment import TOO_LONG
from propcite.attribution.judges.excerpts import PRONOUN, excerpt
from propcite.attribution.judges.reader_files import READER, load
from propcite.attribution.reading.pairs import batches
from propcite.retrieval.encoding.base import TextEncoder, TokenVectors
from propcite.retrieval.interrupting import check_interrupt
from propcite.retrieval.recent import RecentValues
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.text import Span

if TYPE_CHECKING:
    from propcite.attribution.reading.pairs import Pair

BATCH_ROWS, DEVICE_BATCH_ROWS = 4, 32  # pairs of one forward pass at most, on a processor and on a GPU
MAX_WORDS = 80  # longer evidence is cut down to an excerpt: the network was trained on no more
MAX_LOGIT = 12.0  # of the network
WRONG_FROM = 0.0  # logit from which a word piece counts as wrong
MAX_NAMED = 3  # wrong phrases that a reason names
VERBATIM = 0.99  # probability of a claim that is a sentence of its evidence, word by word
MIN_SIMILARITY = -2.5  # of the embedded judge's logit: what is less similar is not worth reading
UNREAD = -MAX_LOGIT / 2  # logit of a claim that is not read
MAX_UNSTATED = 0.2  # probability of a claim with a number that neither stands in its evidence nor follows from it
MAX_KEPT = 4_000_000  # characters of pairs whose readings are kept: some ten thousand pairs
NUMBERS = "numbers2"  # version of that rule, part of the name: results under another are not comparable


@dataclass(frozen=True, slots=True)
class Reading:
    """What the network says of a claim beside evidence.

    A logit of support, the reason against it if any, and a logit that the evidence denies the claim if it does not
    support it.
    """

    logit: float
    reason: str = ""
    denied: float = -MAX_LOGIT


_WORD = re.compile(r"\d+(?:[.,:/]\d+)+|[^\W_]+")  # a version or a time is one word
QUOTED = Reading(MAX_LOGIT)  # of a claim that is a sentence of its evidence
UNSTATED = Reading(-MAX_LOGIT)  # of a claim with a number that neither stands in its evidence nor follows from it


@dataclass(frozen=True, slots=True)
class Calibration:
    """Turns what the network reads into a logit of support; scale and intercept are fitted.

    A claim that is not supported is contradicted from the logit `denied_from` on; without one, none is.
    """

    scale: float = 0.5
    intercept: float = 0.0
    denied_from: float | None = None

    def logit(self, reading: float) -> float:
        return self.scale * max(-MAX_LOGIT, min(MAX_LOGIT, reading)) + self.intercept

    def denies(self, reading: Reading) -> bool:
        return self.denied_from is not None and reading.denied >= self.denied_from


class Reader:
    """Reads pairs of claim and evidence; those read lately are not read again.

    One network, safe to share among threads.
    """

    def __init__(self, folder: Path = READER, *, device: str = "", precision: str = "auto") -> None:
        loaded = load(folder, device, precision)
        self.network, self.name, self.about = loaded.network, loaded.name, loaded.about
        self._tokenizer, self._lock = loaded.tokenizer, loaded.lock
        self._recent: RecentValues[tuple[str, str], Reading] = RecentValues(
            MAX_KEPT, lambda pair, _: sum(map(len, pair))
        )
        weight = self.network.piece.weight
        self._is_device = weight.device.type != "cpu"
        # A processor adds up in the same order for any number of rows in bfloat16, but not in float32.
        self._rows = DEVICE_BATCH_ROWS if self._is_device else BATCH_ROWS if weight.dtype.itemsize == 2 else 1

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """Return a reading per (claim, evidence); equal pairs are read once."""
        return self._recent.recall(pairs, pairs, self._read)

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        import torch

        with self._lock:
            encoded = self._tokenizer.encode(pairs)
        readings: dict[tuple[str, str], Reading] = {}
        with torch.inference_mode():
            lengths = [len(pair.pieces) for pair in encoded]
            for width, batch in batches(lengths, self._rows, are_filled=self._is_device):
                check_interrupt()
                logits = (tensor.tolist() for tensor in self.network([encoded[i] for i in batch], width))
                for i, pieces, refused, denied in zip(batch, *logits, strict=True):
                    claim, evidence = pairs[i]
                    readings[pairs[i]] = _reading(claim, evidence, encoded[i], pieces, -refused, denied)
        return [readings[pair] for pair in pairs]


def _reading(claim: str, evidence: str, pair: Pair, pieces: Sequence[float], logit: float, denied: float) -> Reading:
    """Return the reading of a claim and its evidence, given the logits of all pieces of its pair."""
    if not pair.is_whole:
        return Reading(UNREAD, TOO_LONG)
    wrong = [span for span, value in zip(pair.spans, pieces[pair.first :], strict=False) if value > WRONG_FROM]
    return Reading(logit, reason(claim, whole_words(claim, wrong), evidence), denied)


def whole_words(text: str, spans: Iterable[Span]) -> list[Span]:
    """Widen pieces to the words that hold them, and join neighbours; punctuation alone is left out.

    >>> [span.of("found in Vienna, Austria.") for span in whole_words("found in Vienna, Austria.", [Span(9, 12)])]
    ['Vienna']
    >>> [span.of("new in Python 3.10.") for span in whole_words("new in Python 3.10.", [Span(16, 18)])]
    ['3.10']
    """
    every = [Span(*word.span()) for word in _WORD.finditer(text)]
    words: list[Span] = []
    for span in spans:
        held = [word for word in every if word.start < span.end and span.start < word.end]
        if not held:
            continue
        start, end = held[0].start, held[-1].end
        if words and not text[words[-1].end : start].strip() and start - words[-1].end <= 1:
            words[-1] = Span(words[-1].start, max(end, words[-1].end))
        elif not words or start >= words[-1].end:
            words.append(Span(start, end))
    return words


class ReaderJudge:
    """Decides by what the network reads; a claim that its evidence hardly resembles is refused unread.

    A claim with a number that neither stands in its evidence nor follows from it is never supported, unless it is part
    of a name in the title or heading above the evidence ("Python 3.11").  The network is
    not run for those, nor where the claim is a sentence of its evidence, or its evidence is not even similar.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        *,
        folder: Path = READER,
        device: str = "",
        precision: str = "auto",
        supported_from: float = SUPPORTED_FROM,
    ) -> None:
        self.embedded = EmbeddedJudge(encoder, supported_from=supported_from)
        self.reader = Reader(folder, device=device, precision=precision)
        self.calibration = Calibration(**self.reader.about.get("calibration", {}))
        self.supported_from = supported_from
        self.name = f"reader/{self.reader.name}+{NUMBERS}"
        self.trust = trust(self.reader.about.get("reliability", {}))

    @property
    def encoder(self) -> TextEncoder:
        return self.embedded.encoder

    def with_encoder(self, encoder: TextEncoder) -> ReaderJudge:
        """Return the same judge with another encoder for claims; both share the network and the cache of evidence."""
        other = copy(self)
        other.embedded = self.embedded.with_encoder(encoder)
        return other

    def encode_evidence(self, evidence: Sequence[str]) -> list[TokenVectors]:
        """Return the vectors of each text, and cache them for later cases."""
        return self.embedded.encode_evidence(evidence)

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        cases = [replace(case, claim=undecorated(case.claim)) for case in cases]
        features = self.embedded.features(cases)
        known = [_known_without_reading(case, f) for case, f in zip(cases, features, strict=True)]
        readings = iter(self.readings([case for case, own in zip(cases, known, strict=True) if own is None]))
        return [
            self._verdict(case, next(readings) if own is None else own, f)
            for case, own, f in zip(cases, known, features, strict=True)
        ]

    def readings(self, cases: Sequence[Case]) -> list[Reading]:
        """Return the network's reading of each case."""
        return self.reader.read([(undecorated(case.claim), shown_evidence(case)) for case in cases])

    def _verdict(self, case: Case, reading: Reading, features: Features) -> Verdict:
        p = probability(self.calibration.logit(reading.logit))
        if reading is QUOTED:
            p = VERBATIM
        elif reading is UNSTATED:
            p = min(p, MAX_UNSTATED)
        label = label_of(p, self.supported_from)
        if label is Label.SUPPORTED:
            return Verdict(label, p)
        differs = contradiction(case.claim, case.text, features.overlap, case.context)
        is_denied = bool(differs) or (label is Label.UNSUPPORTED and self.calibration.denies(reading))
        return Verdict(Label.CONTRADICTED if is_denied else label, p, differs or reading.reason)


def _known_without_reading(case: Case, features: Features) -> Reading | None:
    """Return a reading that needs no network; None where it has to be run."""
    if is_quoted(case):
        return QUOTED
    if underived_numbers(without_titled(case.claim, case.context, case.text), case.text):
        return UNSTATED
    is_hopeless = support_logit(features) < MIN_SIMILARITY or not (case.claim.strip() and case.text.strip())
    return Reading(UNREAD) if is_hopeless else None


def trust(reliability: Mapping[str, float]) -> str:
    """Say how often a verdict "supported" is right; empty if it was not measured.

    >>> trust({"supported_right": 81.0, "claims": 2417, "sources": 9})
    '“supported” is right in 81 of 100 cases (2,417 labelled claims of 9 sources)'
    """
    if not reliability:
        return ""
    claims, sources = int(reliability["claims"]), int(reliability["sources"])
    right = f"{reliability['supported_right']:.0f} of 100 cases"
    return f"“supported” is right in {right} ({claims:,} labelled claims of {sources} source{'s' * (sources > 1)})"


def reason(claim: str, wrong: Sequence[Span], evidence: str) -> str:
    """Name the words that the source does not say, and those that it says of something else; empty if none are known.

    >>> reason("It opened in Vienna in 1911.", [Span(13, 19)], "It opened in 1911.")
    'the source does not say “Vienna”'
    >>> reason("It opened in Vienna in 1911.", [Span(13, 19), Span(23, 27)], "It closed in 1911.")
    'the source does not say “Vienna”; it says “1911”, but not of this'
    """
    words = [span.of(claim) for span in wrong[:MAX_NAMED]]
    elsewhere = [word for word in words if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", evidence, re.IGNORECASE)]
    missing = " or ".join(f"“{word}”" for word in words if word not in elsewhere)
    found = " and ".join(f"“{word}”" for word in elsewhere)
    parts = [f"the source does not say {missing}"] * bool(missing)
    parts += [f"{'it' if missing else 'the source'} says {found}, but not of this"] * bool(found)
    return "; ".join(parts)


def is_quoted(case: Case) -> bool:
    """Return whether the claim is a whole sentence of its evidence; words inside a longer sentence may mean less.

    >>> is_quoted(Case("It rained.", ("It rained. We left.",))), is_quoted(Case("It rained.", ("He said: It rained.",)))
    (True, False)
    """
    text = case.text
    if not case.claim or case.claim not in text:
        return False
    return any(span.of(text).strip() == case.claim for span in split_sentences(text))


def undecorated(claim: str) -> str:
    """Return a claim without pictures before and after it, which chatbots like and the network cannot read.

    >>> undecorated("✅ It rained. 🌧️"), undecorated("© 2024"), undecorated("🌧️")
    ('It rained.', '© 2024', '')
    """
    first, last = 0, len(claim)
    while first < last and _decorates(claim[first]):
        first += 1
    while first < last and _decorates(claim[last - 1]):
        last -= 1
    return claim[first:last]


def _decorates(character: str) -> bool:
    return character.isspace() or (character > "\u2000" and unicodedata.category(character) in ("So", "Sk", "Cf", "Mn"))


def shown_evidence(case: Case) -> str:
    """Return the evidence as the network reads it: after its title, and the sentence before if it begins with "it"."""
    evidence = excerpt(case, MAX_WORDS)
    lines = [line.strip() for line in case.context.split("\n") if line.strip()]
    title = lines[0] if lines and lines[0][-1] not in ".!?" else ""
    before = lines[-1] if lines and lines[-1] != title and PRONOUN.match(evidence) else ""
    text = f"{before} {evidence}" if before else evidence
    return f"{title}: {text}" if title else text
