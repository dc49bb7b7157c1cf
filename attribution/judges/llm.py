"""Judge with a language model behind any OpenAI-compatible server.

The reply is parsed as a verdict and nothing else: none of the model's words are shown to users.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Literal

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.judges import SUPPORTED_FROM, Case, label_of
from propcite.attribution.judges.chunks import chunks
from propcite.attribution.judges.llm_prompts import MINICHECK_FORM, VERDICT_FORM, ModelVerdict, PromptForm
from propcite.attribution.llm.endpoint import Endpoint, Message
from propcite.attribution.llm.failures import NoAnswerError, one_line

Style = Literal["auto", "verdict", "minicheck"]

MAX_EVIDENCE_CHARACTERS = 12_000  # per request; longer evidence is judged in pieces
MAX_CLAIM_CHARACTERS = 4_000
MAX_ATTEMPTS = 2
JUST_BELOW = 1e-4


class LlmJudge:
    """Asks `model` at `base_url` about each case.  Safe to share among threads, which share `num_parallel` requests.

    With the style "auto" the model's name decides: Bespoke-MiniCheck has its own prompt.  A case without a usable
    verdict is unsupported, and its reason says why; `num_unjudged` counts these, `last_failure` is the latest reason.
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
            raise ValueError(f"expected style auto, verdict or minicheck, got {style!r}")
        is_minicheck = "minicheck" in (model.lower() if style == "auto" else style)
        self.form: PromptForm = MINICHECK_FORM if is_minicheck else VERDICT_FORM
        options = {**self.form.options, "seed": seed, "temperature": temperature, "max_tokens": max_tokens}
        self._endpoint = Endpoint(
            base_url, model, options, api_key=api_key, timeout=timeout, retries=retries, num_parallel=num_parallel
        )
        self.name = f"llm/{model}"
        self.supported_from = supported_from
        self.num_unjudged, self.last_failure = 0, ""
        self._lock = Lock()

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        """Return a verdict per case; equal cases are sent once.

        Raises AttributionError if the server is down, rejects the API key or lacks the model.
        """
        distinct = list(dict.fromkeys(cases))
        with ThreadPoolExecutor(self._endpoint.num_parallel, thread_name_prefix="llm-judge") as pool:
            verdicts = dict(zip(distinct, pool.map(self._verdict, distinct), strict=True))
        return [verdicts[case] for case in cases]

    def _verdict(self, case: Case) -> Verdict:
        if not case.claim.strip() or not case.text.strip():
            return Verdict(Label.UNSUPPORTED, 0.0)
        try:
            if len(case.claim) > MAX_CLAIM_CHARACTERS:
                raise NoAnswerError(f"the claim has more than {MAX_CLAIM_CHARACTERS:,} characters")
            pieces = chunks(case.text, lambda piece: len(piece) <= MAX_EVIDENCE_CHARACTERS)
            verdicts = [self._model_verdict(case.claim, piece, case.context) for piece in pieces if piece.strip()]
        except NoAnswerError as failure:
            with self._lock:
                self.num_unjudged += 1
                self.last_failure = failure.summary
            return Verdict(Label.UNSUPPORTED, 0.0, f"not judged: {failure.summary}")
        return _combined(verdicts, self.supported_from)

    def _model_verdict(self, claim: str, evidence: str, context: str) -> ModelVerdict:
        """Return the model's verdict on one piece; after a reply without one, ask again with a reminder."""
        reminder: list[Message] = []

        def messages(structured: bool) -> list[Message]:
            return self.form.messages(claim, evidence, context, structured) + reminder

        for _ in range(MAX_ATTEMPTS):
            answer = self._endpoint.ask(messages)
            if verdict := self.form.parse(answer):
                return verdict
            self._endpoint.drop_options("response_format")  # it was ignored: one word is easier for the model
            reminder = [
                {"role": "assistant", "content": one_line(answer.content)},
                {"role": "user", "content": self.form.reminder},
            ]
        raise NoAnswerError(f"the model gave no verdict in {MAX_ATTEMPTS} answers")


def _combined(verdicts: Sequence[ModelVerdict], supported_from: float) -> Verdict:
    """Return the best piece's verdict; contradicted if a piece contradicts the claim and none supports it.

    The model's label and its number must agree: a claim that it does not label supported stays below the threshold.
    """
    best = max(verdicts, key=lambda verdict: (verdict.label is Label.SUPPORTED, verdict.support))
    if best.label in (None, Label.SUPPORTED):
        return Verdict(label_of(best.support, supported_from), round(best.support, 4))
    probability = round(max(0.0, min(best.support, supported_from - JUST_BELOW)), 4)
    is_contradicted = any(verdict.label is Label.CONTRADICTED for verdict in verdicts)
    return Verdict(Label.CONTRADICTED if is_contradicted else best.label, probability)
