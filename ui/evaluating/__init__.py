"""Evaluation runs on the page: found, read, compared, looked at item by item, started and watched."""
