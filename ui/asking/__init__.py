"""Ask a collection: the question box, the progress, the conversation, the meter, the history."""
