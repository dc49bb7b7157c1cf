"""Kept runs: their items, what figures are made of them, and how they are compared and shown."""

from pathlib import Path

REPORT = Path(__file__).with_name("report.css")  # how a run's tables and plots look
