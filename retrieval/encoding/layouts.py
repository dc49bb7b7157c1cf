"""What a loaded model says of how it reads: its networks, and where it would cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder


def routes(model: MultiVectorEncoder) -> set[str]:
    """The networks that a routed model has, by the task they serve; none when one network serves all."""
    routed = getattr(model[0], "sub_modules", None)
    mapped = {task for task, _ in getattr(model[0], "route_mappings", {})}
    return {*(routed or ()), *mapped} - {None}


def document_length(model: MultiVectorEncoder) -> int | None:
    """Where a checkpoint cuts documents, if it does so earlier than its model would."""
    return getattr(model[0], "document_length", None)


def read_queries_whole(model: MultiVectorEncoder) -> None:
    """Lift a checkpoint's limit on queries: [MASK] tokens still fill short ones, but long ones are not cut there."""
    transformer: Any = model[0]
    if getattr(transformer, "query_length", None):
        transformer.query_length = None
    if expansion := getattr(transformer, "query_expansion", None):
        transformer.query_expansion = {**expansion, "strategy": "min"}
