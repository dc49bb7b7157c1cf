"""Settings are tried in a thread: a real server of scripted replies, real judges, one line for each failure."""

from __future__ import annotations

import logging
import threading
import time
from threading import Event
from unittest.mock import Mock

import pytest
from scripted_llm import Reply, ScriptedLlm, error, free_url
from serving import wait_until

from propcite.app.configuring import trying
from propcite.app.configuring.trying import CLAIM, NO_MODEL, NOT_WRITING, SENTENCE, Trial
from propcite.app.parts import Parts
from propcite.app.settings import Settings, load_settings
from propcite.attribution.judges import Judge
from propcite.retrieval.encoding.encoder import Encoder

SECRET = "sk-very-secret"
PATIENCE_S = 60.0


def ended(trial: Trial) -> Trial:
    end = time.monotonic() + PATIENCE_S
    while not trial.ended:
        assert time.monotonic() < end
        time.sleep(0.01)
    return trial


def of_server(url: str, **more: object) -> Settings:
    return load_settings(generator="openai", generator_model="test-model", llm_url=url, llm_key=SECRET, **more)


def ask(settings: Settings) -> Trial:
    return ended(Trial(settings, trying.language_model(settings)))


def test_a_language_model_is_asked_one_question() -> None:
    with ScriptedLlm("<think>Which is it?</think>Tuesday comes\nafter Monday.") as llm:
        trial = ask(of_server(llm.base_url, temperature=0.6))
        assert (trial.result, trial.error) == ("Tuesday comes after Monday.", "")
        assert 0 < trial.seconds < PATIENCE_S
        [request] = llm.requests
    assert request.body["temperature"] == 0.6
    assert request.headers["authorization"] == f"Bearer {SECRET}"


def test_a_server_is_tried_before_its_generator_is_chosen() -> None:
    with ScriptedLlm("Tuesday.") as llm:
        settings = of_server(llm.base_url).model_copy(update={"generator": "extractive"})
        assert ask(settings).result == f"Tuesday. {NOT_WRITING}"
    assert ask(load_settings()).error == NO_MODEL


def test_what_fails_is_one_line_without_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    quoting = error(400, f"Incorrect API key provided: {SECRET}")
    with ScriptedLlm([error(401, SECRET), " "]) as llm:
        refused, empty = ask(of_server(llm.base_url)), ask(of_server(llm.base_url))
    with ScriptedLlm(quoting) as llm:
        quoted = ask(of_server(llm.base_url))
    away = ask(of_server(free_url()))
    assert "refuses the API key" in refused.error
    assert "Incorrect API key provided: …" in quoted.error
    assert "empty answer" in empty.error
    assert "no server answers at" in away.error
    for trial in (refused, quoted, empty, away):
        assert "\n" not in trial.error
        assert SECRET not in trial.error + caplog.text


def test_a_silent_model_is_left_at_once() -> None:
    with ScriptedLlm(Reply(chunks=("x",), stalls_after=0)) as llm:
        settings = of_server(llm.base_url, llm_timeout=300)
        trial = Trial(settings, trying.language_model(settings))
        while not llm.requests:
            time.sleep(0.01)
        trial.stop()
        assert ended(trial).error == "you stopped it"
        assert trial.seconds < PATIENCE_S
        assert llm.client_left.wait(PATIENCE_S)


def test_a_silent_model_ends_with_its_timeout() -> None:
    with ScriptedLlm(Reply(chunks=("x",), stalls_after=0)) as llm:
        assert "sent nothing for 0.3 seconds" in ask(of_server(llm.base_url, llm_timeout=0.3)).error


def judged(encoder: Encoder, sentence: str, claim: str, **settings: object) -> Trial:
    parts = Parts(load_settings(**settings))
    parts.__dict__["encoder"] = encoder
    return ended(Trial(parts.settings, trying.judge(parts, sentence, claim)))


def test_a_claim_is_judged_by_a_sentence(encoder: Encoder) -> None:
    supported = judged(encoder, SENTENCE, CLAIM)
    assert supported.result.startswith("✓ supported: probability of support")
    assert supported.result.endswith("cited from 0.5.")
    assert "✗ contradicted" in judged(encoder, SENTENCE, "The barrier is 9 metres high.").result
    assert judged(encoder, SENTENCE, CLAIM, supported_from=1.0).result.endswith("cited from 1.")
    assert "similarity" in judged(encoder, SENTENCE, CLAIM, judge="none").result
    assert "nothing to judge" in judged(encoder, SENTENCE, " ").error
    assert "PROPCITE_LLM_URL" in judged(encoder, SENTENCE, CLAIM, judge="llm").error


def test_a_silent_judge_is_left_at_once() -> None:
    with ScriptedLlm(Reply("{}", delay=20)) as llm:
        parts = Parts(load_settings(judge="llm", judge_model="m", llm_url=llm.base_url, llm_timeout=300))
        trial = Trial(parts.settings, trying.judge(parts, SENTENCE, CLAIM))
        while not llm.requests:
            time.sleep(0.01)
        trial.stop()
        assert ended(trial).error == "you stopped it"
        assert trial.seconds < 20
        wait_until(lambda: not llm.num_in_flight, "the request goes on")
        assert "propcite-trial" not in [thread.name for thread in threading.enumerate()]


def test_a_judge_that_was_stopped_while_it_loads_judges_nothing() -> None:
    parts, loading, going_on = Parts(load_settings()), Event(), Event()

    class Slow(Parts):
        @property
        def judge(self) -> Judge:
            loading.set()
            assert going_on.wait(PATIENCE_S)
            raise_if_judged = Mock(spec=["judge", "name"])
            raise_if_judged.judge.side_effect = AssertionError("it judges")
            return raise_if_judged

    trial = Trial(parts.settings, trying.judge(Slow(parts.settings), SENTENCE, CLAIM))
    assert loading.wait(PATIENCE_S)
    trial.stop()
    going_on.set()
    assert ended(trial).error == "you stopped it"


def test_an_encoder_says_what_it_makes_of_a_passage(encoder: Encoder) -> None:
    parts = Parts(load_settings())
    parts.__dict__["encoder"] = encoder
    assert encoder.name in ended(Trial(parts.settings, trying.encoder(parts))).result


def test_the_demo_is_answered_with_the_values_tried() -> None:
    settings = load_settings(num_passages=3)
    trial = ended(Trial(settings, trying.demo(settings, ("num_passages", "most_citations"))))
    assert "flood barrier" in trial.result
    assert "have support" in trial.result
