"""List the models that need no download."""

from __future__ import annotations

from propcite.app.commands import AsJson, cli, note, open_parts, write_json


@cli.command()
def models(as_json: AsJson = False) -> None:
    """List the models that are here without a download; other settings name a folder or a hub name."""
    from dataclasses import asdict

    from propcite.app.building import could_read_faster, reading_precision
    from propcite.app.models import shipped
    from propcite.app.terminal import show_models

    settings = open_parts().settings
    found = list(shipped(settings))
    if as_json:
        write_json([asdict(model) for model in found])
    else:
        show_models(found)
        note(f"passages are read in {reading_precision(settings)} here (PROPCITE_PRECISION)")
        if could_read_faster(settings):
            note("pip install 'propcite[openvino]' would have them read in eight bits, 1.6 times as fast")
