"""Say why vLLM did not start, from the texts of its errors and of the processes that it starts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from propcite.attribution.llm.failures import one_line

OWN_LOGGING = ("VLLM_LOGGING_CONFIG_PATH", "VLLM_CONFIGURE_LOGGING")  # users who set these read vLLM's log themselves
GUARD = 'put what your script does under `if __name__ == "__main__":`'

_NO_GUARD = re.compile(r"start a new process before the\s+current process has finished its bootstrapping phase")
_NO_MODEL = re.compile(
    r"Invalid repository ID or local directory|Could not detect config format|does not appear to have a file named"
    r"|is not a (?:local folder and is not a )?valid model identifier|Repo id must[^:.]*|Repository Not Found"
    r"|Cannot find any model weights|Model architectures .{1,200} are not supported|Unrecognized model in"
    r"|Cannot access gated repo|model type `?.{1,80} but Transformers does not recognize"
    r"|Can't load the configuration of"
)
_NOT_FETCHED = re.compile(r"couldn't connect to '[^']*'|LocalEntryNotFoundError|outgoing traffic has been disabled")
_TOO_LONG = re.compile(r"User-specified max_model_len \(\d+\) is greater than the derived max_model_len[^)]*\)?")
# What to do about too little memory, by what vLLM, PyTorch or the system says.
_MEMORY = (
    (
        re.compile(
            r"(?:Free|Available) memory on (?:device|node) .{1,200}? is less than desired (?:GPU|CPU) memory"
            r" utilization \([^)]*\)"
        ),
        "lower PROPCITE_VLLM_GPU_SHARE, or end what else uses the memory",
    ),
    (
        re.compile(
            r"Available memory on node .{1,200}? on kv cache allocation is less than requested memory for kv \([^)]*\)"
        ),
        "lower VLLM_CPU_KVCACHE_SPACE or PROPCITE_VLLM_GPU_SHARE, or end what else uses the memory",
    ),
    (
        re.compile(r"No available memory for the cache blocks|To serve at least one request with .{1,300}?GiB\)"),
        "raise PROPCITE_VLLM_GPU_SHARE (on a processor VLLM_CPU_KVCACHE_SPACE), or lower PROPCITE_VLLM_CONTEXT",
    ),
    (
        re.compile(
            r"(?:CUDA|HIP|XPU) out of memory[^.]*|CUDA error: out of memory|DefaultCPUAllocator: .{0,20}allocate memory"
            r"|OutOfMemoryError|std::bad_alloc|Cannot allocate memory|Failed core proc\(s\): \{[^}]*: -9\b[^}]*\}"
        ),
        "lower PROPCITE_VLLM_CONTEXT, choose a smaller model, or end what else uses the memory",
    ),
)


def why_not_started(model: str, texts: Iterable[str]) -> str:
    """Return one line that says why vLLM did not start and what to do; the first text stands for unknown reasons.

    >>> why_not_started("m", ["Engine core initialization failed.", "CUDA out of memory. Tried to allocate 2.00 GiB."])
    "there is too little memory for 'm' (CUDA out of memory): lower PROPCITE_VLLM_CONTEXT, choose a smaller model, \
or end what else uses the memory"
    """
    texts = [" ".join(text.split()) for text in texts]
    if any(_NO_GUARD.search(text) for text in texts):
        return f"vLLM starts processes of its own, which run the script of this one again: {GUARD}"
    for pattern, step in _MEMORY:
        if found := _first(pattern, texts):
            return f"there is too little memory for {model!r} ({one_line(found)}): {step}"
    if found := _first(_TOO_LONG, texts):
        return f"PROPCITE_VLLM_CONTEXT is longer than {model!r} can read ({one_line(found)}): lower it"
    if found := _first(_NOT_FETCHED, texts):
        return (
            f"vLLM cannot load {model!r}, which is no folder here and cannot be fetched ({one_line(found)}): "
            "PROPCITE_GENERATOR_MODEL names a folder with a config.json, or a hub name"
        )
    if found := _first(_NO_MODEL, texts):
        return (
            f"vLLM cannot load {model!r}, which is no model that it knows ({one_line(found)}): "
            "PROPCITE_GENERATOR_MODEL names a folder with a config.json, or a hub name"
        )
    why = one_line(texts[0] if texts else "")
    return (
        f"vLLM cannot load {model!r} ({why}): PROPCITE_GENERATOR_MODEL names a folder or a hub name, "
        "PROPCITE_VLLM_CONTEXT and PROPCITE_VLLM_GPU_SHARE how much memory it may use"
    )


def _first(pattern: re.Pattern[str], texts: Iterable[str]) -> str:
    return next((found.group() for text in texts if (found := pattern.search(text))), "")


def texts_of(error: BaseException) -> Iterator[str]:
    """Yield the messages of an error and of those that it came from, the last first."""
    seen: set[int] = set()
    now: BaseException | None = error
    while now is not None and id(now) not in seen:
        seen.add(id(now))
        yield f"{type(now).__name__}: {now}" if not str(now) else str(now)
        now = now.__cause__ or now.__context__


class ProcessLog:
    """What vLLM's processes log as errors while the block runs; its own error only says that one of them failed."""

    text = ""

    @contextmanager
    def kept(self) -> Iterator[None]:
        if any(name in os.environ for name in OWN_LOGGING):
            yield
            return
        with TemporaryDirectory(prefix="propcite-vllm-") as folder:
            log, config = Path(folder, "log"), Path(folder, "logging.json")
            config.write_text(json.dumps(_logging_to(log)), "utf-8")
            os.environ["VLLM_LOGGING_CONFIG_PATH"] = str(config)
            try:
                yield
            finally:
                del os.environ["VLLM_LOGGING_CONFIG_PATH"]
                self.text = log.read_text("utf-8", errors="replace") if log.is_file() else ""


def _logging_to(file: Path) -> dict[str, object]:
    """Return vLLM's logging as it is by default, with errors in a file too."""
    level = os.environ.get("VLLM_LOGGING_LEVEL", "INFO").upper()
    stream = os.environ.get("VLLM_LOGGING_STREAM", "ext://sys.stdout")
    shown = {"class": "logging.StreamHandler", "formatter": "plain", "level": level, "stream": stream}
    kept = {"class": "logging.FileHandler", "formatter": "plain", "level": "ERROR", "filename": str(file)}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"plain": {"format": "%(levelname)s %(asctime)s [%(name)s] %(message)s"}},
        "handlers": {"shown": shown, "kept": kept},
        "loggers": {"vllm": {"handlers": ["shown", "kept"], "level": level, "propagate": False}},
    }
