"""Packages and megabytes that PropCite and each of its extras install, counted in this environment.

    python -m tests.benchmarks.installs

Extras are counted beyond what PropCite alone brings.  A package that is not installed here is named.
"""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SHOWN = (
    "app client cluster eval llm local mcp telemetry postgres "
    "langchain llamaindex faiss openvino judges train mauve gpu"
).split()


def closure(name: str, extras: frozenset[str] = frozenset()) -> tuple[dict[str, Distribution], set[str]]:
    """Return a package with everything it requires, and the names of what is missing here."""
    installed: dict[str, Distribution] = {}
    missing: set[str] = set()
    visited: set[tuple[str, frozenset[str]]] = set()
    pending = [(canonicalize_name(name), extras)]
    while pending:
        one, wanted = pending.pop()
        if (one, wanted) in visited:
            continue
        visited.add((one, wanted))
        try:
            found = installed[one] = distribution(one)
        except PackageNotFoundError:
            missing.add(one)
            continue
        for line in found.requires or ():
            requirement = Requirement(line)
            environments = [{**default_environment(), "extra": extra} for extra in (wanted or {""})]
            if requirement.marker is None or any(map(requirement.marker.evaluate, environments)):
                pending.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    return installed, missing


def megabytes(packages: dict[str, Distribution]) -> float:
    files = [file for package in packages.values() for file in package.files or ()]
    return sum(file.size or 0 for file in files) / 1e6


def main() -> None:
    base, missing = closure("propcite")
    rows = [("propcite", base, missing)]
    for extra in SHOWN:
        installed, lacking = closure("propcite", frozenset({extra}))
        rows.append((f"propcite[{extra}]", {n: d for n, d in installed.items() if n not in base}, lacking - missing))
    for name, packages, lacking in rows:
        note = f"  not installed here: {', '.join(sorted(lacking))}" if lacking else ""
        print(f"{name:24} {len(packages):4} packages {megabytes(packages):8.0f} MB{note}")


if __name__ == "__main__":
    main()
