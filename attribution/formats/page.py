"""A page that stands alone: no script, nothing from elsewhere, in the light or the dark as its reader has it."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

from propcite.attribution.formats.plain import printable

POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # whatever a text holds, a browser loads and runs nothing


def page(title: str, body: str, style: str = "") -> str:
    """A whole document; `body` is markup, `style` comes after that of all pages."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="generator" content="PropCite">\n<title>{escape(title)}</title>\n'
        f"<style>\n{_style()}{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def safe(text: str) -> str:
    """Any text; a carriage return is spelt out, since a reader of HTML would make another line's end of it."""
    return escape(printable(text)).replace("\r", "&#13;")


@cache
def _style() -> str:
    return Path(__file__).with_name("report.css").read_text("utf-8")
