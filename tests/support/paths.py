"""Folders that tests and the programs they start name."""

from pathlib import Path

SUPPORT = Path(__file__).parent  # modules that several tests share, and programs that tests start
ROOT = SUPPORT.parents[1]
REAL_FILES = SUPPORT / "real_files"  # documents written by real programs
