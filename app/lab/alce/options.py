"""The options of `propcite eval asqa|eli5|qampari|judge`, from the command line to the last step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from propcite.app.building import build_judge
from propcite.app.errors import AppError
from propcite.app.lab.alce.files import Kind
from propcite.app.lab.alce.ways import MARGIN, WAYS
from propcite.app.lab.runs.runner import RunOptions
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.attribution.judges import Judge

CONTEXTS = (5,)  # documents per question


@dataclass(frozen=True, slots=True)
class ScoringJudge:
    """The judge that scores: chosen apart from the one that PropCite cites by, with a threshold of its own."""

    name: str = "embedded"
    model: str = ""
    labels: str = ""

    def settings(self, settings: Settings) -> Settings:
        chosen = {"judge": self.name, "judge_model": self.model, "judge_labels": self.labels}
        return settings.model_copy(update={**chosen, "judge_checks": False, "supported_from": 0.5})

    def build(self, parts: Parts) -> Judge:
        judge = build_judge(self.settings(parts.settings), lambda: parts.encoder)
        if judge is None:
            raise AppError("scores need a judge: give one with --judge")
        return judge


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions(RunOptions):
    """What an evaluation on one of ALCE's files measures, and how."""

    kind: Kind
    path: Path
    ways: Sequence[str] = WAYS
    contexts: Sequence[int] = CONTEXTS
    outputs: Path | None = None
    human: bool = False
    margin: float = MARGIN
    judge: ScoringJudge = ScoringJudge()
    rouge: bool = True
    qa_model: str = ""
    mauve_model: str = ""
    out: Path | None = None
    force: bool = False
    failed_as_empty: bool = False
