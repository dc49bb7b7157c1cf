"""A language model behind any OpenAI-compatible server as the judge.

What it writes is read as a verdict and as nothing else: no word of it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Literal

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.judges import SUPPORTED_FROM, Case, label_of
from propcite.attribution.judges.chunks import chunks
from propcite.attribution.judges.verdicts import VERDICTS, WORDS, Form, Said
from propcite.attribution.llm.endpoint import Endpoint, Message
from propcite.attribution.llm.failures import NoAnswerError, one_line

Style = Literal["auto", "verdict", "minicheck"]

MOST_CHARACTERS = 12_000  # of evidence in one request; what is longer is judged in pieces
LONGEST_CLAIM = 4_000
ATTEMPTS = 2
JUST_BELOW = 1e-4


class LlmJudge:
    """Asks `model` at `base_url` about each case.  Safe to share among threads, which share `num_parallel` requests.

    `style` is told by the model's name: Bespoke-MiniCheck has a form of its own.  A case without a usable verdict is
    unsupported and its reason says so; `num_unjudged` counts them and `last_failure` says why the last was one.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        style: Style = "auto",
        api_key: str = "none",
        timeout: float = 30.0,
        retries: int = 2,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = 2048,
        num_parallel: int = 4,
        supported_from: float = SUPPORTED_FROM,
    ) -> None:
        if style not in ("auto", "verdict", "minicheck"):
            raise ValueError(f"wanted style auto, verdict or minicheck, got {style!r}")
        is_minicheck = "minicheck" in (model.lower() if style == "auto" else style)
        self.form: Form = WORDS if is_minicheck else VERDICTS
        options = {**self.form.options, "seed": seed, "temperature": temperature, "max_tokens": max_tokens}
        self._endpoint = Endpoint(
            base_url, model, options, api_key=api_key, timeout=timeout, retries=retries, num_parallel=num_parallel
        )
        self.name = f"llm/{model}"
        self.supported_from = supported_from
        self.num_unjudged, self.last_failure = 0, ""
        self._lock = Lock()

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        """A verdict for each case; equal cases are asked once.  AttributionError: no server, key or model."""
        different = list(dict.fromkeys(cases))
        with ThreadPoolExecutor(self._endpoint.num_parallel, thread_name_prefix="llm-judge") as pool:
            verdicts = dict(zip(different, pool.map(self._verdict, different), strict=True))
        return [verdicts[case] for case in cases]

    def _verdict(self, case: Case) -> Verdict:
        if not case.claim.strip() or not case.text.strip():
            return Verdict(Label.UNSUPPORTED, 0.0)
        try:
            if len(case.claim) > LONGEST_CLAIM:
                raise NoAnswerError(f"the claim has more than {LONGEST_CLAIM:,} characters")
            pieces = chunks(case.text, lambda piece: len(piece) <= MOST_CHARACTERS)
            said = [self._said(case.claim, piece, case.context) for piece in pieces if piece.strip()]
        except NoAnswerError as failure:
            with self._lock:
                self.num_unjudged += 1
                self.last_failure = failure.what
            return Verdict(Label.UNSUPPORTED, 0.0, f"not judged: {failure.what}")
        return _joined(said, self.supported_from)

    def _said(self, claim: str, evidence: str, context: str) -> Said:
        """The model's verdict on one piece; after an answer that holds none it is asked once more, in other words."""
        reminder: list[Message] = []

        def messages(structured: bool) -> list[Message]:
            return self.form.messages(claim, evidence, context, structured) + reminder

        for _ in range(ATTEMPTS):
            answer = self._endpoint.ask(messages)
            if said := self.form.read(answer):
                return said
            self._endpoint.leave_out("response_format")  # it was ignored: a word is easier for the model
            reminder = [
                {"role": "assistant", "content": one_line(answer.content)},
                {"role": "user", "content": self.form.reminder},
            ]
        raise NoAnswerError(f"the model gave no verdict in {ATTEMPTS} answers")


def _joined(said: Sequence[Said], supported_from: float) -> Verdict:
    """The best piece's verdict; what one piece contradicts and none supports is contradicted.

    The model's word and its number must agree: a claim that it does not call supported stays under the threshold.
    """
    best = max(said, key=lambda one: (one.label is Label.SUPPORTED, one.support))
    if best.label in (None, Label.SUPPORTED):
        return Verdict(label_of(best.support, supported_from), round(best.support, 4))
    probability = round(max(0.0, min(best.support, supported_from - JUST_BELOW)), 4)
    contradicted = any(one.label is Label.CONTRADICTED for one in said)
    return Verdict(Label.CONTRADICTED if contradicted else best.label, probability)
