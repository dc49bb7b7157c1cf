"""Stored evaluation runs: measuring, figures, comparison and export."""

from pathlib import Path

REPORT_CSS = Path(__file__).with_name("report.css")  # style of a run's tables and plots
