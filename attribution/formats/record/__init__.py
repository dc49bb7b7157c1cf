"""The record of a kept answer: who asked and when, and the versions of its sources, as a section of the report."""
