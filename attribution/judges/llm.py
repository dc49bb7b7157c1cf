"""Judge with a language model behind any OpenAI-compatible server.

The reply is parsed as a verdict and nothing else: none of the model's words are shown to users.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import Literal, TypeVar

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import NOT_JUDGED, SUPPORTED_FROM, Case, label_of
from propcite.attribution.judges.chunks import chunks
from propcite.attribution.judges.llm_prompts import (
    GUARDIAN_FORM,
    MINICHECK_FORM,
    UNGROUNDED,
    VERDICT_FORM,
    ModelVerdict,
    PromptForm,
)
from propcite.attribution.llm.endpoint import ARGUMENTS, Endpoint, EndpointNames, Message
from propcite.attribution.llm.failures import NoAnswerError, one_line
from propcite.attribution.llm.parallel import in_threads

Style = Literal["auto", "verdict", "minicheck", "guardian"]

FORMS: dict[Style, PromptForm] = {"verdict": VERDICT_FORM, "minicheck": MINICHECK_FORM, "guardian": GUARDIAN_FORM}

MAX_EVIDENCE_CHARACTERS = 12_000  # per request; longer evidence is judged in pieces
MAX_CLAIM_CHARACTERS = 4_000
MAX_ATTEMPTS = 2
JUST_BELOW = 1e-4

T = TypeVar("T")


class LlmJudge:
    """Asks `model` at `base_url` about each case.  Safe to share among threads, which share `num_parallel` requests.

    With the style "auto" the model's name decides: Bespoke-MiniCheck and Granite Guardian 3.3 have their own prompts.
    The latter needs a server that gives the request's documents to the chat template, as vLLM does.  A case without a
    usable verdict is unchecked, and its reason says why; `num_unjudged` counts these, `last_failure` is the latest
    reason.
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
        names: EndpointNames = ARGUMENTS,
    ) -> None:
        if style not in ("auto", *FORMS):
            raise ValueError(f"expected style auto, {', '.join(FORMS)}, got {style!r}")
        self.form = FORMS[style_of(model) if style == "auto" else style]
        options = {**self.form.options, "seed": seed, "temperature": temperature, "max_tokens": max_tokens}
        self._endpoint = Endpoint(
            base_url,
            model,
            options,
            api_key=api_key,
            timeout=timeout,
            retries=retries,
            num_parallel=num_parallel,
            names=names,
        )
        self.name = f"llm/{model}"
        self.supported_from = supported_from
        self.num_unjudged, self.last_failure = 0, ""
        self._lock = Lock()
        self._is_checked = self.form.fields is None

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        """Return a verdict per case; equal cases are sent once.

        Raises AttributionError if the server is down, rejects the API key, lacks the model, or ignores what the form
        of the model needs.
        """
        distinct = list(dict.fromkeys(cases))
        if distinct and not self._is_checked:
            self._in_threads([self._check_server])
        judged = self._in_threads([partial(self._verdict, case) for case in distinct])
        verdicts = dict(zip(distinct, judged, strict=True))
        return [verdicts[case] for case in cases]

    def _in_threads(self, works: Sequence[Callable[[], T]]) -> list[T]:
        return in_threads(works, self._endpoint.num_parallel, "llm-judge")

    def _check_server(self) -> None:
        """Raise AttributionError if a claim that the evidence does not state is supported: the server ignores fields.

        The model would then judge something else, and support every claim.
        """
        claim, evidence = UNGROUNDED
        with suppress(NoAnswerError):  # the cases report it
            if self._model_verdict(claim, evidence, "").support >= SUPPORTED_FROM:
                advice = "serve the model with vLLM, with its own chat template"
                raise AttributionError(f"{self._endpoint.base_url} gives {self.name} no evidence to read: {advice}")
            self._is_checked = True

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
            return Verdict(Label.UNCHECKED, 0.0, NOT_JUDGED + failure.summary)
        return _combined(verdicts, self.supported_from)

    def _model_verdict(self, claim: str, evidence: str, context: str) -> ModelVerdict:
        """Return the model's verdict on one piece; after a reply without one, ask again with a reminder."""
        reminder: list[Message] = []

        def messages(structured: bool) -> list[Message]:
            return self.form.messages(claim, evidence, context, structured) + reminder

        attempts = MAX_ATTEMPTS if self.form.reminder else 1
        for _ in range(attempts):
            answer = self._endpoint.ask(messages, self.form.fields and self.form.fields(evidence))
            if verdict := self.form.parse(answer):
                return verdict
            self._endpoint.drop_options("response_format")  # it was ignored: one word is easier for the model
            reminder = [
                {"role": "assistant", "content": one_line(answer.content)},
                {"role": "user", "content": self.form.reminder},
            ]
        raise NoAnswerError(f"the model gave no verdict in {attempts} answer{'s' * (attempts > 1)}")


def style_of(model: str) -> Style:
    """Return the style of the prompt that a model was trained with, by its name.

    >>> style_of("bespoke-minicheck:7b"), style_of("ibm-granite/granite-guardian-3.3-8b"), style_of("qwen3-8b")
    ('minicheck', 'guardian', 'verdict')
    """
    name = model.lower()
    if "guardian-3.3" in name:
        return "guardian"
    return "minicheck" if "minicheck" in name else "verdict"


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
