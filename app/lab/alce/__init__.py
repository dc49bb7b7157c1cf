"""Evaluation on ALCE's files: ASQA, ELI5 and QAMPARI."""
