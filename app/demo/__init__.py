"""The demo collection: documents about an invented city's harbour, with questions and answers about them."""

from pathlib import Path

DOCUMENTS = Path(__file__).parent / "documents"
QUESTIONS = Path(__file__).parent / "questions.jsonl"
ANSWERS = Path(__file__).parent / "answers.jsonl"
