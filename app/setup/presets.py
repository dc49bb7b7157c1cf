"""Settings by kind of machine, with the reason for each, as they are written to propcite.toml."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from propcite.retrieval.extras import install_command

FILE = "propcite.toml"


@dataclass(frozen=True, slots=True)
class Line:
    """A setting, its value, and why.  A value of None is asked for, and `asks` is the question."""

    setting: str
    value: str | float | None
    why: str
    asks: str = ""
    default: str = ""


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings for one kind of machine.  `packages` maps a package that is needed to the extra that brings it.

    `downloads` maps a setting to what its model weighs, for those that come from the hub at the first use.
    """

    name: str
    what: str
    lines: tuple[Line, ...]
    packages: Mapping[str, str]
    downloads: Mapping[str, str]

    @property
    def asked(self) -> list[Line]:
        return [line for line in self.lines if line.asks]


BUNDLED_ENCODER = Line("encoder", "propcite-minilm", "Bundled. It ranks passages, sentences and facts from one index.")
BUNDLED_JUDGE = Line(
    "judge", "reader", "Bundled. It reads claim and evidence together and names the words that differ."
)
BUNDLED_SPLITTER = Line("splitter", "learned", "Bundled. It cuts the sentences of an answer into facts.")
EXTRACTIVE = Line(
    "generator", "extractive", "Answers are whole sentences of the sources: no language model, none of it made up."
)
INDEX = Line("index", "auto", "Reads every token of a small collection, and goes by centroids in a large one.")

PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "laptop",
            "this computer alone, without a GPU",
            (BUNDLED_ENCODER, BUNDLED_JUDGE, EXTRACTIVE, INDEX),
            {},
            {},
        ),
        Preset(
            "gpu",
            "a server with an NVIDIA GPU of 24 GB or more",
            (
                BUNDLED_ENCODER,
                Line("judge", "minicheck", "A published network of 0.8 billion parameters, for a GPU."),
                Line("judge_model", "lytang/MiniCheck-Flan-T5-Large", "Its folder or hub name (MIT licence)."),
                Line("generator", "vllm", "vLLM in this process writes the answers."),
                Line(
                    "generator_model",
                    "Qwen/Qwen2.5-7B-Instruct",
                    "The folder or hub name of a chat model (Apache 2.0).",
                    asks="Chat model, a folder or hub name",
                    default="Qwen/Qwen2.5-7B-Instruct",
                ),
                Line("vllm_gpu_share", 0.7, "Of the GPU's memory; encoder and judge use the rest."),
                Line("vllm_context", 16384, "Tokens of the longest prompt with its answer; more takes more memory."),
                INDEX,
            ),
            {"vllm": "gpu"},
            {"generator_model": "15 GB with the suggested model", "judge_model": "3 GB"},
        ),
        Preset(
            "endpoint",
            "an OpenAI-compatible server writes the answers",
            (
                BUNDLED_ENCODER,
                BUNDLED_JUDGE,
                Line("generator", "openai", "A chat model behind any OpenAI-compatible server writes the answers."),
                Line(
                    "llm_url",
                    None,
                    "The server's address, up to /v1.",
                    asks="The server's address, up to /v1",
                    default="http://localhost:8000/v1",
                ),
                Line("generator_model", None, "The model's name there.", asks="The model's name there"),
                INDEX,
            ),
            {"openai": "llm"},
            {},
        ),
        Preset(
            "offline",
            "a computer without a network: every part comes with the installation",
            (BUNDLED_ENCODER, BUNDLED_SPLITTER, BUNDLED_JUDGE, EXTRACTIVE, INDEX),
            {},
            {},
        ),
    )
}  # fmt: skip


def suggested() -> str:
    """Return the preset that this machine looks like."""
    return "gpu" if shutil.which("nvidia-smi") else "laptop"


def to_install(preset: Preset) -> list[str]:
    """Return the commands that install what the preset needs; empty where nothing is missing."""
    return [install_command(extra) for package, extra in preset.packages.items() if find_spec(package) is None]


def to_download(preset: Preset, answers: Mapping[str, str]) -> list[str]:
    """Return the models that the first use fetches, with their size; empty where all is there."""
    values = {line.setting: answers.get(line.setting, line.value) for line in preset.lines}
    return [f"{values[setting]} ({size})" for setting, size in preset.downloads.items()]


def as_toml(preset: Preset, answers: Mapping[str, str], key_variable: str = "") -> str:
    """Return the file's text: each setting below the reason for it.  No key is ever part of it."""
    head = [
        f"# PropCite, written by: propcite setup --preset {preset.name} ({preset.what})",
        "# docs/settings.md has every setting. The environment (PROPCITE_NAME) and options of commands come first.",
    ]
    blocks = ["\n".join(head), *(_block(line, answers.get(line.setting, line.value)) for line in preset.lines)]
    if any(line.setting == "llm_url" for line in preset.lines):
        blocks.append("\n".join(_about_key(key_variable)))
    return "\n\n".join(blocks) + "\n"


def _block(line: Line, value: str | float | None) -> str:
    return f"# {line.why}\n{line.setting} = {json.dumps(value, ensure_ascii=False)}"  # a TOML value too


def _about_key(variable: str) -> Sequence[str]:
    value = f'"${variable}"' if variable else "…"
    return [
        "# The server's key is not kept in this file. Set it where PropCite runs:",
        f"# export PROPCITE_LLM_KEY={value}",
    ]
