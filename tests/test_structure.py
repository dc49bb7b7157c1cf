"""The shape of the code: no circle of imports, no crowded folder."""

from __future__ import annotations

import grimp
import networkx
from paths import ROOT

MAX_FILES = 20  # in a folder; the index, the readers, one file per format, and the migrations may have more
EXCEPTIONS = {"app/ingest/readers", "app/library/store/migrations/versions", "retrieval/index"}


def test_no_module_imports_another_in_a_circle() -> None:
    """Neither when it is imported, nor inside functions, nor for the type checker."""
    graph = grimp.build_graph("propcite", cache_dir=None)
    imports = networkx.DiGraph()
    for module in graph.modules:
        imports.add_edges_from((module, other) for other in graph.find_modules_directly_imported_by(module))
    circles = [sorted(part) for part in networkx.strongly_connected_components(imports) if len(part) > 1]
    assert circles == []


def test_no_folder_is_crowded() -> None:
    folders = [path for name in ("app", "attribution", "retrieval", "ui") for path in (ROOT / name).rglob("*/")]
    sizes = {str(path.relative_to(ROOT)): len(list(path.glob("*.py"))) for path in folders}
    assert {name: size for name, size in sizes.items() if size > MAX_FILES and name not in EXCEPTIONS} == {}
