"""The recogniser that the settings name and this machine has."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from shutil import which
from typing import TYPE_CHECKING, Literal

from propcite.retrieval.extras import install_command

if TYPE_CHECKING:
    from propcite.app.ingest.ocr.recogniser import Recogniser

Choice = Literal["auto", "off", "rapidocr", "tesseract"]

_chosen: Choice = "auto"


def choose(choice: Choice) -> None:
    """Set which recogniser this process uses; `auto` is RapidOCR, else Tesseract, else none."""
    global _chosen
    _chosen = choice


def recogniser() -> Recogniser | None:
    """Return the recogniser of this process; None if it is off or not installed."""
    name = available(_chosen)
    return _load(name) if name else None


def available(choice: Choice) -> str:
    """Return the name of the recogniser that a choice leads to; empty if it is off or not installed."""
    installed = {"rapidocr": _has_rapidocr, "tesseract": _has_tesseract}
    names = installed if choice == "auto" else [choice]
    return next((name for name in names if name in installed and installed[name]()), "")


def way_to_read(choice: Choice | None = None) -> str:
    """Say what makes a choice, this process's if none is given, read scanned pages that were not read."""
    if available(choice or _chosen):
        return "scan the pages again with 200 to 300 dots per inch"
    match choice or _chosen:
        case "off":
            return "set PROPCITE_OCR=auto"
        case "tesseract":
            return "install Tesseract (Debian: apt install tesseract-ocr)"
    return install_command("ocr")


def _has_rapidocr() -> bool:
    return all(find_spec(module) for module in ("rapidocr", "onnxruntime"))


def _has_tesseract() -> bool:
    return which("tesseract") is not None


@cache
def _load(name: str) -> Recogniser:
    if name == "rapidocr":
        from propcite.app.ingest.ocr.rapid import Rapid

        return Rapid()
    from propcite.app.ingest.ocr.tesseract import Tesseract

    return Tesseract()
