"""Asking a collection, in parts: the conversation, the steps while it works, the meter, the history."""
