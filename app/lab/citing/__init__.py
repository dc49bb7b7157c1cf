"""Evaluation of citations and judges on labelled rows and on people's feedback."""
