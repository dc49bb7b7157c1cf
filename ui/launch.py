"""Starts the page: the one place that knows Streamlit's flags, since its config file would be read from anywhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path

APP = Path(__file__).with_name("serving.py")

SERVER = {
    "server.address": "localhost",  # the documents are the user's own: nobody else on the network sees them
    "server.fileWatcherType": "none",
    "server.showEmailPrompt": "false",  # the first run must not stop to ask for an address
    "browser.gatherUsageStats": "false",
    "client.toolbarMode": "minimal",
    "client.showErrorDetails": "type",
    # Nothing is sent as a reference to what the browser may just have forgotten: that would end all it hears.
    "global.minCachedMessageSize": "1e12",
}
THEME = {
    "theme.baseRadius": "0.5rem",
    "theme.headingFontSizes": "1.75rem",
    "theme.light.yellowColor": "#f0b429",
    "theme.light.yellowTextColor": "#8a6100",
    "theme.dark.yellowColor": "#d9a72e",
    "theme.light.primaryColor": "#2f5fa5",
    "theme.light.backgroundColor": "#fefefd",
    "theme.light.secondaryBackgroundColor": "#f5f4f0",
    "theme.light.textColor": "#26272b",
    "theme.light.borderColor": "#e3e0d8",
    "theme.light.sidebar.backgroundColor": "#f7f6f2",
    "theme.dark.primaryColor": "#7eabf0",
    "theme.dark.backgroundColor": "#16181c",
    "theme.dark.secondaryBackgroundColor": "#202329",
    "theme.dark.textColor": "#e6e4df",
    "theme.dark.borderColor": "#343841",
    "theme.dark.sidebar.backgroundColor": "#1b1e23",
}


def no_screen() -> bool:
    """Whether there is no desktop to open a browser on."""
    return sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def command(port: int | None = None, headless: bool = False) -> list[str]:
    """The words that start the page.  `-P`: a folder `app` where the user stands is not imported in place of ours."""
    flags = {**SERVER, **THEME, "server.headless": str(headless or no_screen()).lower()}
    if port is not None:
        flags["server.port"] = str(port)
    written = [word for name, value in flags.items() for word in (f"--{name}", value)]
    return [sys.executable, "-P", "-m", "streamlit", "run", str(APP), *written]


def main(arguments: list[str]) -> None:
    """`ui/launch.py [PORT] [--headless]` becomes the server itself, so a signal reaches it directly."""
    port = next((int(word) for word in arguments if word.isdigit()), None)
    words = command(port, headless="--headless" in arguments)
    os.execv(words[0], words)


if __name__ == "__main__":
    main(sys.argv[1:])
