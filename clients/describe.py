"""Write the OpenAPI description of the server to standard output; `make client-types` makes types of it."""

from __future__ import annotations

import json
import sys
import tempfile

from propcite.app.parts import Parts
from propcite.app.server.application import create_app
from propcite.app.settings import load_settings


def description() -> str:
    """Return the description as JSON, without the routes that the clients of model servers call."""
    with tempfile.TemporaryDirectory() as folder:
        described = create_app(Parts(load_settings(data_dir=folder))).openapi()
    paths = {
        path: methods
        for path, methods in described["paths"].items()
        if not any("chat" in operation["tags"] for operation in methods.values())
    }
    return json.dumps({**described, "paths": paths}, ensure_ascii=False)


if __name__ == "__main__":
    sys.stdout.write(description())
