"""Train the judge that reads, from files of rows to its folder: what `propcite train judge` runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from propcite.app.errors import AppError
from propcite.app.lab.runs.inputs import file_digests
from propcite.app.terminal_progress import counting, sharing
from propcite.retrieval.saving import atomic_write

if TYPE_CHECKING:
    from propcite.attribution.judges.training.making.example import Example

SCENES_PER_KIND = 1000
EXAMPLES, INPUTS = "examples.jsonl.gz", "examples.json"  # in the folder for work: the examples, and what they are of


def train_judge(
    files: Sequence[Path],
    base: str,
    parser: str,
    out: Path,
    work: Path,
    *,
    held_out: Sequence[Path] = (),
    lexicon: Path | None = None,
    scenes: int = SCENES_PER_KIND,
    device: str = "",
    resume: bool,
    note: Callable[[str], None],
    **options: Any,
) -> dict[str, Any]:
    """Make examples of the files' rows, train a reader on them, and write it to the folder `out`.

    The examples are kept in `work` and made once.  Return the description stored with the reader.
    """
    from propcite.attribution.judges.training.making.corpus import make_examples
    from propcite.attribution.judges.training.making.probes import probe
    from propcite.attribution.judges.training.trainer import JudgeRecipe, check_start, train

    recipe = JudgeRecipe(**options)
    check_start(base, work, recipe, resume=resume)
    inputs = {
        "files": file_digests(files), "held out": file_digests(held_out), "parser": parser,
        "lexicon": file_digests(sorted(lexicon.glob("data.*")) if lexicon else ()),
        "scenes": scenes, "seed": recipe.seed,
    }  # fmt: skip

    def make(progress: Callable[[int, int], None]) -> Iterator[Example]:
        return make_examples(
            files, parser, held_out=held_out, lexicon=lexicon,
            scenes=scenes, seed=recipe.seed, note=note, progress=progress,
        )  # fmt: skip

    examples = _examples(work, inputs, make)
    note(f"{len(examples)} examples in {work / EXAMPLES}")
    probes = [asdict(row) for row in probe(examples)]
    with counting(recipe.steps, "training") as advance:
        about = train(
            examples, base, out, work, recipe, device=device,
            resume=resume, note=note, progress=lambda step, loss: advance(f"step {step}, loss {loss:.2f}"),
        )  # fmt: skip
    return {"reader": str(out), **about, "probes": probes}


def _examples(
    work: Path, inputs: dict[str, Any], make: Callable[[Callable[[int, int], None]], Iterator[Example]]
) -> list[Example]:
    """Return the examples in the folder `work`, which are made first unless they stand there."""
    from propcite.attribution.judges.training.making.example import read_examples, write_examples

    made, described = work / EXAMPLES, work / INPUTS
    if made.exists() and described.exists():
        stored = json.loads(described.read_text())
        if different := [name for name, value in inputs.items() if stored.get(name) != value]:
            raise AppError(
                f"{made} was made with a different {', '.join(different)}: use the same, or another --work folder"
            )
        return list(read_examples(made))
    with sharing() as report:
        write_examples(made, make(lambda done, total: report("rewriting", done / total)))
    with atomic_write(described, AppError) as file:
        file.write_text(json.dumps(inputs))
    return list(read_examples(made))
