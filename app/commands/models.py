"""The command that lists the models shipped with PropCite."""

from __future__ import annotations

from propcite.app.commands import AsJson, Panel, cli, note, open_parts, write_json


@cli.command(rich_help_panel=Panel.LISTS)
def models(as_json: AsJson = False) -> None:
    """List the models that need no download; other settings take a folder or a hub name."""
    from dataclasses import asdict

    from propcite.app.building import could_read_faster, reading_precision
    from propcite.app.models import shipped
    from propcite.app.terminal import show_models
    from propcite.retrieval.extras import install_command

    settings = open_parts().settings
    shipped_models = list(shipped(settings))
    if as_json:
        write_json([asdict(model) for model in shipped_models])
    else:
        show_models(shipped_models)
        note(f"passages are read in {reading_precision(settings)} here (PROPCITE_PRECISION)")
        if could_read_faster(settings):
            note(f"to read them in eight bits, 1.6 times as fast: {install_command('openvino')}")
