"""Why vLLM did not start, by the texts that vLLM 0.32, PyTorch, the hub's client and Python write."""

from __future__ import annotations

import json
import logging.config
import os
import subprocess
import sys
from pathlib import Path

import pytest

from propcite.app.answering.generators.vllm_failures import GUARD, OWN_LOGGING, ProcessLog, texts_of, why_not_started

ENGINE = "Engine core initialization failed. See root cause above. Failed core proc(s): {}"
NO_GUARD = """
        An attempt has been made to start a new process before the
        current process has finished its bootstrapping phase.

        This probably means that you are not using fork to start your
        child processes and you have forgotten to use the proper idiom
        in the main module:
"""
NO_MODEL = {
    "wrong folder": "Invalid repository ID or local directory specified: '/x/y'.\nPlease verify the following "
    "requirements:\n1. Provide a valid Hugging Face repository ID.\n2. Specify a local directory that contains a "
    "recognized configuration file.\n",
    "no config": "Could not detect config format for no config file found. With config_format 'auto', ensure your "
    "model has either config.json (HF format) or params.json (Mistral format).",
    "no repository": "404 Client Error. (Request ID: Root=1)\n\nRepository Not Found for url: https://huggingface.co/a/b.",
    "no name": "Repo id must be in the form 'repo_name' or 'namespace/repo_name': 'a/b/c'. Use `repo_type` argument.",
    "no weights": "Cannot find any model weights with `/x/y`",
    "no chat model": "Model architectures ['BertX'] are not supported for now. Supported architectures: dict_keys([])",
    "no such folder": "/x/y is not a local folder and is not a valid model identifier listed on 'https://hf.co/models'",
}
MEMORY = {
    "other programs": (
        "Free memory on device cuda:0 (3.11/79.19 GiB) on startup is less than desired GPU memory utilization (0.8, "
        "63.35 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
        "lower PROPCITE_VLLM_GPU_SHARE",
    ),
    "other programs on a processor": (
        "Available memory on node 0 (11.37/16.46 GiB) on startup is less than desired CPU memory utilization (0.8, "
        "13.17 GiB). On the CPU backend, the `--gpu-memory-utilization` flag controls the fraction of CPU memory",
        "lower PROPCITE_VLLM_GPU_SHARE",
    ),
    "cache on a processor": (
        "Available memory on node 0 (11.37/16.46 GiB) on kv cache allocation is less than requested memory for kv "
        "(5000.0 GiB). Decrease --kv-cache-memory-bytes, VLLM_CPU_KVCACHE_SPACE, or reduce CPU memory used by other",
        "lower VLLM_CPU_KVCACHE_SPACE",
    ),
    "no cache": (
        "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the",
        "raise PROPCITE_VLLM_GPU_SHARE",
    ),
    "long context": (
        "To serve at least one request with the model's max seq len (131072), (16.0 GiB KV cache is needed, which is "
        "larger than the available KV cache memory (4.5 GiB). Based on the available memory, the estimated maximum",
        "lower PROPCITE_VLLM_CONTEXT",
    ),
    "weights": (
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.1 GiB is "
        "free.",
        "choose a smaller model",
    ),
    "weights on a processor": (
        "[enforce fail at alloc_cpu.cpp:121] . DefaultCPUAllocator: can't allocate memory: you tried to allocate",
        "choose a smaller model",
    ),
    "killed by the system": (
        "Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': -9}",
        "choose a smaller model",
    ),
}


def why(*texts: str) -> str:
    line = why_not_started("org/model", texts)
    assert "\n" not in line
    assert len(line) < 500
    return line


def test_a_script_without_a_guard_is_told() -> None:
    assert GUARD in why(NO_GUARD)
    assert GUARD in why(ENGINE, f"ERROR 11-26 [vllm] {NO_GUARD}")


def test_python_words_it_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import multiprocessing\nmultiprocessing.get_context('spawn').Process(target=print).start()\n")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert GUARD in why(ENGINE, run.stderr)


@pytest.mark.parametrize("text", NO_MODEL.values(), ids=NO_MODEL)
def test_what_is_no_model_is_told(text: str) -> None:
    assert why(text).startswith("vLLM cannot load 'org/model', which is no model that it knows (")
    assert why(ENGINE, f"ValueError: {text}") == why(text)


def test_a_hub_that_does_not_answer_is_told() -> None:
    text = (
        "We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files."
    )
    assert why("Invalid repository ID or local directory specified: 'x'", text).startswith(
        "vLLM cannot load 'org/model', which is no folder here and cannot be fetched (couldn't connect to 'https://"
    )


@pytest.mark.parametrize(("text", "step"), MEMORY.values(), ids=MEMORY)
def test_too_little_memory_is_told_with_what_to_do(text: str, step: str) -> None:
    for line in (why(text), why(ENGINE, f"ERROR 11-26 [vllm.v1.engine.core] EngineCore failed to start.\n{text}")):
        assert line.startswith("there is too little memory for 'org/model' (")
        assert step in line


def test_a_context_beyond_the_model_is_told() -> None:
    text = (
        "1 validation error for ModelConfig\n  Value error, User-specified max_model_len (99999) is greater than the "
        "derived max_model_len (max_position_embeddings=4096.0 or model_max_length=None in model's config.json). To"
    )
    assert why(text).startswith("PROPCITE_VLLM_CONTEXT is longer than 'org/model' can read (User-specified")


def test_another_reason_is_quoted() -> None:
    assert why(ENGINE).startswith("vLLM cannot load 'org/model' (Engine core initialization failed.")
    assert why("").startswith("vLLM cannot load 'org/model'")
    assert why().startswith("vLLM cannot load 'org/model'")


def test_an_error_tells_those_that_it_came_from() -> None:
    error = RuntimeError()
    error.__cause__ = ValueError("inner")
    error.__cause__.__context__ = error
    assert list(texts_of(error)) == ["RuntimeError: ", "inner"]


def test_what_processes_log_as_errors_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OWN_LOGGING:
        monkeypatch.delenv(name, raising=False)
    log, logger = ProcessLog(), logging.getLogger("vllm.v1.engine.core")
    with log.kept():
        with open(os.environ["VLLM_LOGGING_CONFIG_PATH"], encoding="utf-8") as config:
            logging.config.dictConfig(json.load(config))
        logger.error("CUDA out of memory.\nTried to allocate")
        logger.info("not kept")
    assert "CUDA out of memory.\nTried to allocate" in log.text
    assert "not kept" not in log.text
    assert "VLLM_LOGGING_CONFIG_PATH" not in os.environ
    for handler in [*logging.getLogger("vllm").handlers]:
        logging.getLogger("vllm").removeHandler(handler)
        handler.close()


def test_a_logging_of_the_users_own_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_LOGGING_CONFIG_PATH", "mine.json")
    log = ProcessLog()
    with log.kept():
        assert os.environ["VLLM_LOGGING_CONFIG_PATH"] == "mine.json"
    assert log.text == ""
