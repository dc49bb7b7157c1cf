"""Start the page.  Streamlit's flags are set here, because its config file would be read from any working folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

APP = Path(__file__).with_name("serving.py")

SERVER = {
    "server.address": "localhost",  # the documents are the user's own: nobody else on the network may see them
    "server.fileWatcherType": "none",
    "server.showEmailPrompt": "false",  # the first run must not stop and ask for an e-mail address
    "browser.gatherUsageStats": "false",
    "client.toolbarMode": "minimal",
    "client.showErrorDetails": "type",
    # Send no message as a reference to one that the browser may just have forgotten: it would receive nothing more.
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


# A request comes from who sends it, not from whom a header names: Uvicorn would believe headers from this machine.
ENVIRONMENT = {"FORWARDED_ALLOW_IPS": ""}


def no_screen() -> bool:
    """Return whether there is no desktop to open a browser on."""
    return sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def command(port: int | None = None, headless: bool = False) -> list[str]:
    """Return the command that starts the page.  `-P` keeps the working folder off the import path."""
    flags = {**SERVER, **THEME, "server.headless": str(headless or no_screen()).lower()}
    if port is not None:
        flags["server.port"] = str(port)
    options = [word for name, value in flags.items() for word in (f"--{name}", value)]
    return [sys.executable, "-P", "-m", "streamlit", "run", str(APP), *options]


def main(arguments: list[str]) -> None:
    """Run `[PORT] [--headless]`: this process becomes the server, so that signals reach it directly."""
    port = next((int(word) for word in arguments if word.isdigit()), None)
    words = command(port, headless="--headless" in arguments)
    os.execve(words[0], words, {**os.environ, **ENVIRONMENT})


if __name__ == "__main__":
    main(sys.argv[1:])
