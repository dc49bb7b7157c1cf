"""Try settings that are not saved yet: what each group does with them, in a thread that can be left."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread

from propcite.app.configuring.changing import without_hidden
from propcite.app.errors import AppError, LeftError
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.attribution.llm.failures import NoAnswerError
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.interrupting import check_interrupt, interruptible
from propcite.retrieval.text import Passage

log = logging.getLogger("propcite.page")

QUESTION = "Which day of the week comes after Monday? Answer in one short sentence."
SENTENCE = "The barrier is 6.4 metres high. It was finished on 18 October 2024."
CLAIM = "The barrier was finished in October 2024."
MAX_SHOWN = 500  # characters of a model's reply
NO_MODEL = "answers are in the sources' own words: choose another generator to try a language model"
NOT_WRITING = "(It writes no answers yet: choose openai as their writer.)"

Work = Callable[["Trial"], str]


class Trial:
    """Work with settings that are being tried, `of` these and what else was given.

    Once `ended` is true, `result` or `error` is one text to show.
    """

    def __init__(self, settings: Settings, work: Work, of: object = None) -> None:
        self.of = of
        self.result = self.error = ""
        self.seconds = 0.0
        self.ended = self.stopped = False
        self._begun = time.monotonic()
        self._stoppers: list[Callable[[], object]] = []
        self._lock = Lock()
        Thread(target=self._run, args=(settings, work), name="propcite-trial", daemon=True).start()

    @property
    def waited_s(self) -> float:
        return self.seconds if self.ended else time.monotonic() - self._begun

    def stop(self) -> None:
        """Leave the work; what can be ended ends."""
        with self._lock:
            self.stopped = True
            stoppers = list(self._stoppers)
        for stop in stoppers:
            with suppress(RuntimeError):  # it has just ended by itself
                stop()

    def on_stop(self, stop: Callable[[], object]) -> None:
        """Call this if the trial is stopped, at once if it is already."""
        with self._lock:
            self._stoppers.append(stop)
            stopped = self.stopped
        if stopped:
            stop()

    def _check(self) -> None:
        if self.stopped:
            raise LeftError("it was stopped")

    def _run(self, settings: Settings, work: Work) -> None:
        try:
            with interruptible(self._check):
                result = work(self)
            self.result = without_hidden(result, settings)
        except (asyncio.CancelledError, LeftError):
            self.error = "you stopped it"
        except PropCiteError as error:
            self.error = without_hidden(str(error), settings)
        except Exception as error:  # nobody would see it in this thread
            line = without_hidden(f"{type(error).__name__}: {error}", settings)
            log.error("settings could not be tried: %s", line)
            self.error = " ".join(line.split())[:MAX_SHOWN]
        finally:
            self.of, self.seconds = None, time.monotonic() - self._begun  # no key is kept longer than it is needed
            self.ended = True


def language_model(settings: Settings) -> Work:
    """Ask the language model one short question."""

    def work(trial: Trial) -> str:
        from propcite.app.answering.generators.prompted import reply_of
        from propcite.app.building import build_model

        is_writing = settings.generator != "extractive"
        if not (is_writing or (settings.llm_url and settings.generator_model)):
            raise AppError(NO_MODEL)
        model = build_model(settings if is_writing else settings.model_copy(update={"generator": "openai"}))

        async def ask() -> str:
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            assert task is not None
            trial.on_stop(lambda: loop.call_soon_threadsafe(task.cancel))
            return await reply_of(model, [{"role": "user", "content": QUESTION}])

        try:
            reply = asyncio.run(ask())
        except NoAnswerError as error:
            raise AppError(f"the language model gave no answer: {error}") from error
        if not reply.strip():
            raise AppError("the language model gave an empty answer: raise max_tokens, or choose another model")
        said = " ".join(reply.split())[:MAX_SHOWN]
        return said if is_writing else f"{said} {NOT_WRITING}"

    return work


def judge(parts: Parts, sentence: str, claim: str) -> Work:
    """Judge whether a sentence supports a claim."""

    def work(_: Trial) -> str:
        from propcite.attribution.formats.wording import SIGNS
        from propcite.attribution.judges import plain_case

        if not (sentence.strip() and claim.strip()):
            raise AppError("there is nothing to judge: write a sentence and a claim")
        chosen = parts.judge  # it may have to be loaded first
        check_interrupt()
        if chosen is None:
            facts = parts.propcite.cite(claim, [Passage("tried", sentence)]).propositions
            verdict = facts[0].verdict if facts else None
        else:
            verdict = chosen.judge([plain_case(claim, [sentence])])[0]
        if verdict is None:
            raise AppError("the claim states nothing that could be judged: write a whole sentence")
        sign, words = SIGNS[verdict.label]
        least = parts.settings.min_score if parts.judge is None else parts.settings.supported_from
        what = "similarity" if parts.judge is None else "probability of support"
        reason = f" {verdict.reason}." if verdict.reason else ""
        return f"{sign} {words}: {what} {verdict.probability:.2f}, cited from {least:g}.{reason}"

    return work


def encoder(parts: Parts) -> Work:
    """Load the encoder and encode a sentence."""

    def work(_: Trial) -> str:
        encoded = parts.encoder.encode_passages([Passage("tried", SENTENCE)])[0]
        tokens, numbers = encoded.vectors.shape
        return f"{parts.encoder.name} encodes a passage of {tokens} tokens with {numbers} numbers for each"

    return work


def demo(settings: Settings, names: tuple[str, ...]) -> Work:
    """Answer the demo question, over the demo's documents, in a data directory that is removed afterwards."""

    def work(_: Trial) -> str:
        from propcite.app.setup.checking import demo_answer, demo_question

        answer = demo_answer(**{name: getattr(settings, name) for name in names})
        held = sum(bool(fact.citations) for fact in answer.facts)
        text = " ".join(answer.text.split())[:MAX_SHOWN]
        return f"{demo_question()} {text} ({held} of {len(answer.facts)} facts have support)"

    return work
