"""Check the pods and the other objects of a KubeRay file by the schemas of Kubernetes, where no field may be unknown.

.venv-tools/bin/python tests/benchmarks/deployment/kuberay.py deploy/kuberay.yaml
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

RELEASE = "1.34"


def objects(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a name and an object for each pod of a RayService, and for each object that Kubernetes knows itself."""
    for one in yaml.safe_load_all(text):
        if one["kind"] != "RayService":
            yield one["kind"], one
            continue
        cluster = one["spec"]["rayClusterConfig"]
        for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
            name = group.get("groupName", "head")
            yield f"pod {name}", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, **group["template"]}


def main() -> None:
    from kubernetes_validate import ValidationError, validate

    file, wrong = Path(sys.argv[1]), 0
    for name, one in objects(file.read_text("utf-8")):
        try:
            validate(one, RELEASE, strict=True)
        except ValidationError as error:
            wrong = 1
            print(f"{file}: {name}: {'.'.join(map(str, error.path))}: {error.message}", file=sys.stderr)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
