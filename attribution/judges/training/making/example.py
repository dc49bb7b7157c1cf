"""Examples for training a judge, and their files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from propcite.attribution.errors import AttributionError
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.saving import atomic_write

SUPPORTED = "supported"
UNSUPPORTED = "unsupported"
CONTRADICTED = "contradicted"
LABELS = (SUPPORTED, UNSUPPORTED, CONTRADICTED)
LABELLED, YES_NO = "labelled", "yes_no"  # the kinds of claims that people labelled
SCENES = "scenes"  # the source of what was made up
SAYS_MORE = ("absent", "hedge", "modal", "attribution", "condition", "scope")  # kinds that state more than the evidence

Spans = tuple[tuple[int, int], ...]  # character positions: start, and end behind the last one


@dataclass(frozen=True, slots=True)
class Example:
    """A claim, its evidence and the label of the two.

    `wrong` holds the spans of the claim that make it wrong: empty for a supported claim, None where they are not known.
    Examples of one `group` share a passage.  `is_binary` says that people gave two labels, so that "unsupported" may
    hide a contradiction.
    """

    claim: str
    evidence: str
    label: str
    kind: str
    source: str
    title: str = ""
    group: str = ""
    wrong: Spans | None = None
    is_binary: bool = False

    @property
    def tells_denial(self) -> bool:
        """Return whether a wrong claim is known to be denied by its evidence, or known not to be."""
        if self.label != UNSUPPORTED:
            return self.label == CONTRADICTED
        labelled = self.kind in (LABELLED, YES_NO) and not self.is_binary
        return labelled or self.source == SCENES or self.kind.startswith(SAYS_MORE)


def write_examples(path: Path, examples: Iterable[Example]) -> int:
    """Write examples as gzipped JSON lines and return how many there are; the same examples give the same bytes."""
    count = 0
    with (
        atomic_write(path, AttributionError) as new,
        new.open("wb") as stored,
        gzip.GzipFile(filename="", fileobj=stored, mode="wb", mtime=0) as file,
    ):
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False).encode() + b"\n")
            count += 1
    return count


def read_examples(path: Path) -> Iterator[Example]:
    """Yield the examples of a file; a row that is none raises one line with its number."""
    for number, line in numbered_lines(path):
        try:
            yield _example(json.loads(line))
        except (ValueError, TypeError, KeyError) as error:
            raise AttributionError(f"{path}, line {number}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return f"the field {error} is missing" if isinstance(error, KeyError) else str(error)


def _example(row: Any) -> Example:
    if not isinstance(row, dict):
        raise ValueError("an example must be a JSON object")
    texts = {name: row[name] for name in ("claim", "evidence", "label", "kind", "source")}
    texts |= {name: row.get(name, "") for name in ("title", "group")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise ValueError(f"{name} must be a text")
    if texts["label"] not in LABELS:
        raise ValueError(f"the label must be one of {', '.join(LABELS)}, not {texts['label']!r}")
    return Example(**texts, wrong=_spans(row.get("wrong"), len(texts["claim"])), is_binary=bool(row.get("is_binary")))


def _spans(value: Any, length: int) -> Spans | None:
    """Return the spans of a row; they must lie within the claim, in order and apart."""
    if value is None:
        return None
    spans = tuple((int(start), int(end)) for start, end in value)
    behind = 0
    for start, end in spans:
        if not behind <= start < end <= length:
            raise ValueError(f"the wrong spans {value} do not lie in the claim one after another")
        behind = end
    return spans
